// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/backend/plain.hpp>
#include <lindyn/core/random.hpp>

#include "random_matrix.hpp"

namespace {

using backend_test::difference;
using backend_test::matrix;
using lindyn::backend::row_segment;
using lindyn::backend::visible_keys;

/// Random keys for segments that see 1, 2, .. keys; behind the visible ones stand numbers of no row.
struct key_table {
  std::vector<int> keys;
  std::vector<row_segment> segments;
  int context;
  lindyn::index rows = 0;

  key_table(const std::vector<lindyn::index>& sizes, lindyn::index key_rows, std::uint64_t seed)
      : context(static_cast<int>(sizes.size())) {
    lindyn::counter_generator generator(seed);
    for (int seen = 1; seen <= context; ++seen) {
      const lindyn::index size = sizes[static_cast<std::size_t>(seen - 1)];
      segments.push_back({rows, rows + size, seen});
      rows += size;
      for (lindyn::index r = 0; r < size; ++r)
        for (int j = 0; j < context; ++j)
          keys.push_back(j < seen ? static_cast<int>(lindyn::uniform_index(generator, key_rows)) : -1'000'000);
    }
  }
  [[nodiscard]] visible_keys view() const { return {keys, context, segments}; }
};

struct sizes {
  int heads;
  lindyn::index width, gaps;
  std::vector<lindyn::index> segments;
  bool chosen_queries;
};

}  // namespace

TEST_CASE_TEMPLATE("attention of any shape is that of plain, and the same bits for 1, 2 and 4 threads", S, float,
                   double) {
  // Sums of up to `width` products, or over up to 60 keys, of scores and shares with a few rounding errors each.
  const double bound = 40 * std::numeric_limits<S>::epsilon();
  lindyn::backend::plain oracle;
  lindyn::backend::host hosts[]{lindyn::backend::host(1), lindyn::backend::host(2), lindyn::backend::host(4)};
  std::uint64_t seed = 1;
  std::vector<lindyn::index> long_rows(60, 1);
  for (const sizes& size :
       {sizes{1, 1, 0, {1}, false}, sizes{2, 52, 1, {3, 18}, true}, sizes{2, 32, 0, {17, 33, 5}, false},
        sizes{8, 16, 4, {3, 70}, true}, sizes{3, 5, 1, {2, 0, 9}, true}, sizes{5, 20, 3, {1, 1, 1, 8}, false},
        sizes{2, 8, 0, long_rows, false}}) {
    const lindyn::index columns = size.heads * size.width, key_rows = 40;
    const key_table table(size.segments, key_rows, seed++);
    const visible_keys visible = table.view();
    const lindyn::index query_count = size.chosen_queries ? 11 : table.rows + size.gaps;
    std::vector<int> chosen;
    lindyn::counter_generator generator(seed++);
    for (lindyn::index r = 0; size.chosen_queries && r < table.rows; ++r)
      chosen.push_back(static_cast<int>(lindyn::uniform_index(generator, query_count)));
    CAPTURE(size.heads);
    CAPTURE(size.width);

    const matrix<S> q(query_count, columns, size.gaps, seed++), k(key_rows, columns, size.gaps + 1, seed++),
        v(key_rows, columns, size.gaps, seed++), dout(table.rows, columns, size.gaps, seed++);
    const std::vector<S> unwritten(static_cast<std::size_t>(table.rows * size.heads * table.context),
                                   S(backend_test::gap));
    auto run = [&](auto& on) {
      auto patterns = unwritten;
      matrix<S> out(table.rows, columns, size.gaps, 1);
      auto dq = q, dk = k, dv = v;
      on.attend(size.heads, q.input(), chosen, k.input(), v.input(), visible, patterns.data(), out.view());
      on.attend_backward(size.heads, q.input(), chosen, k.input(), v.input(), visible,
                         static_cast<const S*>(patterns.data()), dout.input(), dq.view(), dk.view(), dv.view());
      return std::vector{patterns, out.entries, dq.entries, dk.entries, dv.entries};
    };
    const auto expected = run(oracle), found = run(hosts[0]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      CHECK(difference(found[i], expected[i]) < bound);
    }
    CHECK(run(hosts[1]) == found);
    CHECK(run(hosts[2]) == found);
  }
}

TEST_CASE(
    "scores of a million make a pattern of zeros and ones; a score that isn't a number is seen in its row alone") {
  lindyn::backend::host on;
  const key_table table({0, 20}, 5, 1);
  matrix<float> q(20, 16, 0, 2), k(5, 16, 0, 3), v(5, 16, 0, 4), out(20, 16, 0, 5);
  std::vector<float> patterns(40);
  for (float& entry : q.entries) entry *= 1e6F;
  const auto attend = [&] {
    on.attend(1, q.input(), {}, k.input(), v.input(), table.view(), patterns.data(), out.view());
  };
  attend();
  for (std::size_t r = 0; r < 20; ++r) {
    if (table.keys[2 * r] == table.keys[2 * r + 1]) continue;
    CHECK(std::max(patterns[2 * r], patterns[2 * r + 1]) == 1);
    CHECK(std::min(patterns[2 * r], patterns[2 * r + 1]) == 0);
  }
  q.view()(7, 3) = std::numeric_limits<float>::quiet_NaN();
  attend();
  for (lindyn::index r = 0; r < 20; ++r) CHECK(std::isnan(out.view()(r, 9)) == (r == 7));
}
