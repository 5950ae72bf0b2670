// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <lindyn/backend/plain.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/device.hpp>

#include "random_matrix.hpp"

namespace {

using backend_test::difference;
using backend_test::matrix;
using lindyn::index;
using lindyn::backend::answer_score;
using lindyn::backend::index_table;
using lindyn::backend::plain;
using lindyn::backend::row_table;
using lindyn::backend::run_vector;
using lindyn::backend::strided_matrix;
using lindyn::backend::thrust_device;
using lindyn::backend::update;
using lindyn::backend::visible_keys;

constexpr int runs = 3;
template <class T>
using device_array = thrust_device::array<T>;

/// The device backend of all tests, which has seen other sizes before.
thrust_device& device() {
  static thrust_device on(runs);
  return on;
}

template <class T>
device_array<T> placed(const std::vector<T>& numbers) {
  device_array<T> memory(numbers.size());
  device().from_host(std::span<const T>(numbers), memory.data());
  return memory;
}
template <class T>
std::vector<T> fetched(const device_array<T>& memory) {
  std::vector<T> numbers(memory.size());
  device().to_host(memory.data(), std::span<T>(numbers));
  return numbers;
}

/// A matrix of each run, or one that all share.
template <class S>
struct operand {
  std::vector<matrix<S>> of;

  operand(index rows, index columns, index gaps, std::uint64_t seed, bool shared = false) {
    for (int run = 0; run < (shared ? 1 : runs); ++run)
      of.emplace_back(rows, columns, gaps, seed + 1000 * static_cast<std::uint64_t>(run));
  }
  [[nodiscard]] matrix<S>& at(int run) { return of[of.size() == 1 ? 0 : static_cast<std::size_t>(run)]; }
};

template <class S>
strided_matrix<const S> in(const strided_matrix<S>& of) {
  return of;
}
template <class S>
run_vector<S> flat(const strided_matrix<S>& of) {
  return {of.data, of.run_stride};
}

/// Calls kernel(backend, run, m) where m(i) is operand number i: with plain for one run after the other, and with the
/// device for all at once, where run is -1. Asks that all operands become the same up to `bound`, gaps included, and the
/// same bits when it is done again.
template <class S, class Kernel>
void check_against_plain(double bound, std::vector<operand<S>> operands, Kernel&& kernel) {
  const auto on_device = [&] {
    std::vector<device_array<S>> memory;
    std::vector<index> strides;
    for (const operand<S>& each : operands) {
      strides.push_back(each.of.size() == 1 ? 0 : static_cast<index>(each.of[0].entries.size()) + 2);
      std::vector<S> all;
      for (const matrix<S>& one : each.of) {
        all.insert(all.end(), one.entries.begin(), one.entries.end());
        all.insert(all.end(), 2, S(backend_test::gap));
      }
      memory.push_back(placed(all));
    }
    kernel(device(), -1, [&](std::size_t i) {
      const matrix<S>& first = operands[i].of[0];
      return strided_matrix<S>{memory[i].data(), first.rows, first.columns, first.stride, strides[i]};
    });
    std::vector<std::vector<S>> found;
    for (const auto& each : memory) found.push_back(fetched(each));
    return found;
  };
  const auto found = on_device(), again = on_device();
  CHECK(found == again);
  plain oracle;
  for (int run = 0; run < runs; ++run) {
    auto expected = operands;
    kernel(oracle, run, [&](std::size_t i) { return expected[i].at(run).view(); });
    for (std::size_t i = 0; i < operands.size(); ++i) {
      CAPTURE(run);
      CAPTURE(i);
      const auto& entries = expected[i].at(run).entries;
      const std::size_t size = entries.size(), begin = expected[i].of.size() == 1 ? 0 : run * (size + 2);
      CHECK(difference(std::span(found[i]).subspan(begin, size), entries) < bound);
      CHECK(found[i][begin + size] == S(backend_test::gap));
    }
  }
}

/// Row numbers of each run, with their inverse lists.
class table {
public:
  /// \param destinations  the rows that are named
  table(index size, index destinations, std::uint64_t seed) : size_(size), destinations_(destinations) {
    lindyn::counter_generator generator(seed);
    for (int run = 0; run < runs; ++run)
      for (index i = 0; i < size; ++i)
        rows_.push_back(static_cast<int>(lindyn::uniform_index(generator, destinations)));
    place();
  }
  table(std::vector<int> rows, index destinations, const std::function<bool(index)>& counts)
      : size_(static_cast<index>(rows.size()) / runs), destinations_(destinations), rows_(std::move(rows)) {
    place(counts);
  }
  /// For a run of plain, or for all runs of the device, if run is -1.
  [[nodiscard]] row_table operator()(int run) const {
    if (run >= 0) return index_table(rows_.data() + run * size_, size_, 0);
    return {index_table(placed_rows_.data(), size_, size_),
            index_table(placed_first_.data(), destinations_ + 1, destinations_ + 1),
            index_table(placed_order_.data(), size_, size_)};
  }

private:
  void place(const std::function<bool(index)>& counts = [](index) { return true; }) {
    std::vector<int> first, order;
    for (int run = 0; run < runs; ++run) {
      const auto begin = order.size();
      for (index to = 0; to < destinations_; ++to) {
        first.push_back(static_cast<int>(order.size() - begin));
        for (index i = 0; i < size_; ++i)
          if (counts(i) && rows_[static_cast<std::size_t>(run * size_ + i)] == to) order.push_back(static_cast<int>(i));
      }
      first.push_back(static_cast<int>(order.size() - begin));
      order.resize(begin + static_cast<std::size_t>(size_), -1'000'000);
    }
    placed_rows_ = placed(rows_);
    placed_first_ = placed(first);
    placed_order_ = placed(order);
  }

  index size_, destinations_;
  std::vector<int> rows_;
  device_array<int> placed_rows_, placed_first_, placed_order_;
};

struct sizes {
  index rows, columns, gaps;
};

template <class S>
constexpr double rounding = std::numeric_limits<S>::epsilon();

}  // namespace

TEST_CASE_TEMPLATE("products of any shape are those of plain, for each run, with its own or with shared weights", S,
                   float, double) {
  const double bound = 40 * rounding<S>;  // sums of up to 300 products
  struct shape {
    lindyn::index rows, inputs, outputs, gaps;
  };
  std::uint64_t seed = 1;
  for (const shape size :
       {shape{1, 1, 1, 0}, shape{33, 17, 40, 3}, shape{70, 130, 16, 0}, shape{300, 24, 33, 1}, shape{5, 0, 7, 0}})
    for (const update how : {update::assign, update::add})
      for (const bool shared : {false, true}) {
        CAPTURE(size.rows);
        CAPTURE(shared);
        const operand<S> x(size.rows, size.inputs, size.gaps, seed++), y(size.rows, size.outputs, 1, seed++),
            w(size.outputs, size.inputs, size.gaps, seed++, shared), dw(size.outputs, size.inputs, 2, seed++),
            bias(1, size.outputs, 0, seed++, shared), dbias(1, size.outputs, 0, seed++);
        check_against_plain<S>(bound, {x, w, bias, y},
                               [&](auto& on, int, auto&& m) { on.linear(in(m(0)), in(m(1)), flat(m(2)), m(3), how); });
        check_against_plain<S>(bound, {x, w, y},
                               [&](auto& on, int, auto&& m) { on.linear(in(m(0)), in(m(1)), nullptr, m(2), how); });
        check_against_plain<S>(bound, {y, w, x}, [&](auto& on, int, auto&& m) {
          on.linear_backward_input(in(m(0)), in(m(1)), m(2), how);
        });
        check_against_plain<S>(bound, {y, x, dw, dbias}, [&](auto& on, int, auto&& m) {
          on.linear_backward_weights(in(m(0)), in(m(1)), m(2), flat(m(3)));
        });
      }
}

TEST_CASE_TEMPLATE("LayerNorm, nonlinearities and entry by entry products are those of plain", S, float, double) {
  const double bound = 20 * rounding<S>;
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{1, 3, 0}, sizes{5, 19, 2}, sizes{131, 128, 1}, sizes{300, 7, 0}}) {
    CAPTURE(size.rows);
    const operand<S> x(size.rows, size.columns, size.gaps, seed++), y(size.rows, size.columns, 1, seed++),
        gain(1, size.columns, 0, seed++), bias(1, size.columns, 0, seed++, true), saved(1, 2 * size.rows, 0, seed++),
        dx(size.rows, size.columns, 0, seed++), dgain(1, size.columns, 0, seed++), dbias(1, size.columns, 0, seed++);
    for (const update how : {update::assign, update::add})
      check_against_plain<S>(bound, {x, gain, bias, y, saved, dx, dgain, dbias}, [&](auto& on, int, auto&& m) {
        on.layer_norm(in(m(0)), flat(m(1)), flat(m(2)), m(5), flat(m(4)));
        on.layer_norm_backward(in(m(0)), flat(m(4)), flat(m(1)), in(m(3)), m(5), how, flat(m(6)), flat(m(7)));
      });
    for (const auto kind : {lindyn::backend::activation::gelu, lindyn::backend::activation::relu})
      check_against_plain<S>(bound, {x, y}, [&](auto& on, int, auto&& m) {
        on.activate(kind, m(0), m(1));
        on.multiply(m(0), in(m(1)));
      });
  }
}

TEST_CASE_TEMPLATE("rows are fetched and summed by each run's own table; flat memory is filled, copied and scaled", S,
                   float, double) {
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{3, 1, 0}, sizes{140, 17, 3}, sizes{20, 70, 1}}) {
    const operand<S> x(size.rows, size.columns, size.gaps, seed++), y(2 * size.rows, size.columns, 1, seed++);
    const table rows(2 * size.rows, size.rows, seed++);
    check_against_plain<S>(8 * rounding<S>, {x, y, y}, [&](auto& on, int run, auto&& m) {  // sums of a few numbers
      on.gather_rows(in(m(0)), rows(run).rows, m(1), update::add);
      on.gather_rows(in(m(0)), rows(run).rows, m(2), update::assign);
      on.scatter_rows(in(m(1)), rows(run), m(0));
    });
  }
  check_against_plain<S>(rounding<S>, {operand<S>(1, 9, 0, 1), operand<S>(1, 9, 0, 2), operand<S>(1, 9, 0, 3)},
                         [&](auto& on, int, auto&& m) {
                           on.fill(flat(m(0)), 5, S(7));
                           on.copy(run_vector<const S>(flat(m(0))), flat(m(1)), 6);
                           on.scale(flat(m(2)), 4, 0.5);
                         });
}

TEST_CASE_TEMPLATE("attention of any shape and its derivatives are those of plain", S, float, double) {
  const double bound = 40 * rounding<S>;
  struct shape {
    int heads, context;
    lindyn::index width, rows, gaps;
    bool chosen;
  };
  std::uint64_t seed = 1;
  for (const shape size : {shape{1, 1, 1, 1, 0, false}, shape{2, 3, 52, 21, 1, true}, shape{8, 3, 16, 73, 4, false},
                           shape{3, 9, 5, 40, 1, true}, shape{2, 60, 8, 60, 0, false}}) {
    CAPTURE(size.width);
    const lindyn::index columns = size.heads * size.width, key_rows = 40, queries = size.chosen ? 11 : size.rows;
    // Row r sees r % context + 1 keys; behind them stand numbers of no row.
    const auto seen = [&](lindyn::index entry) { return entry % size.context <= entry / size.context % size.context; };
    lindyn::counter_generator generator(seed++);
    std::vector<int> keys, counts;
    for (lindyn::index entry = 0; entry < runs * size.rows * size.context; ++entry)
      keys.push_back(seen(entry % (size.rows * size.context))
                         ? static_cast<int>(lindyn::uniform_index(generator, key_rows))
                         : -1'000'000);
    std::vector<lindyn::backend::row_segment> segments;
    for (lindyn::index row = 0; row < size.rows; ++row) {
      counts.push_back(static_cast<int>(row % size.context) + 1);
      segments.push_back({row, row + 1, counts.back()});
    }
    const table key_table(keys, key_rows, seen), query_table(size.rows, queries, seed++);
    const auto placed_counts = placed(counts);
    const auto visible = [&](int run) {
      const row_table named = key_table(run);
      return visible_keys{.keys = named.rows,
                          .context = size.context,
                          .segments = segments,
                          .counts = {placed_counts.data(), size.rows, 0},
                          .first = named.first,
                          .order = named.order};
    };
    const auto chosen = [&](int run) { return size.chosen ? query_table(run) : row_table(); };
    const operand<S> q(queries, columns, size.gaps, seed++), k(key_rows, columns, size.gaps + 1, seed++),
        v(key_rows, columns, size.gaps, seed++), out(size.rows, columns, size.gaps, seed++);
    operand<S> patterns(1, size.rows * size.heads * size.context, 0, seed++);
    for (auto& each : patterns.of) std::ranges::fill(each.entries, S(backend_test::gap));
    check_against_plain<S>(bound, {q, k, v, patterns, out, q, k, v}, [&](auto& on, int run, auto&& m) {
      on.attend(size.heads, in(m(0)), chosen(run).rows, in(m(1)), in(m(2)), visible(run), flat(m(3)), m(4));
      on.attend_backward(size.heads, in(m(0)), chosen(run), in(m(1)), in(m(2)), visible(run),
                         run_vector<const S>(flat(m(3))), in(m(4)), m(5), m(6), m(7));
    });
  }
}

TEST_CASE_TEMPLATE("losses, right answers and derivatives are those of plain, for each run", S, float, double) {
  const double bound = 20 * rounding<S>;
  std::uint64_t seed = 1;
  for (const sizes size : {sizes{7, 3, 2}, sizes{130, 24, 0}, sizes{65, 98, 6}}) {
    CAPTURE(size.columns);
    const operand<S> logits(size.rows, size.columns, size.gaps, seed++), slopes(size.rows, size.columns, 1, seed++);
    const table answers(size.rows, size.columns, seed++), counts(size.rows, 4, seed++);
    std::vector<double> weights;
    for (lindyn::index i = 0; i < runs * size.rows; ++i) weights.push_back(0.1 + static_cast<double>(i % 5));
    const auto placed_weights = placed(weights);
    device_array<answer_score> scores(runs);
    device_array<double> losses(runs);
    std::vector<answer_score> expected(runs);
    std::vector<double> expected_losses(runs);
    check_against_plain<S>(bound, {logits, slopes}, [&](auto& on, int run, auto&& m) {
      answer_score* const to = run < 0 ? scores.data() : &expected[static_cast<std::size_t>(run)];
      on.cross_entropy(in(m(0)), answers(run).rows, counts(run).rows, 0.01, strided_matrix<S>{}, to);
      on.cross_entropy(in(m(0)), answers(run).rows, counts(run).rows, 0.01, m(1), to);
    });
    const auto found = fetched(scores);
    for (std::size_t run = 0; run < runs; ++run) {
      CHECK(found[run].loss == doctest::Approx(expected[run].loss).epsilon(1e-13));
      CHECK(found[run].correct == expected[run].correct);
      CHECK(found[run].total == expected[run].total);
    }
    for (const auto kind : {lindyn::backend::answer_loss::cross_entropy, lindyn::backend::answer_loss::squared_error}) {
      check_against_plain<S>(bound, {logits, slopes}, [&](auto& on, int run, auto&& m) {
        const run_vector<const double> shares = run < 0 ? run_vector<const double>(placed_weights.data(), size.rows)
                                                        : run_vector<const double>(weights.data() + run * size.rows);
        double* const to = run < 0 ? losses.data() : &expected_losses[static_cast<std::size_t>(run)];
        on.weighted_loss(kind, in(m(0)), answers(run).rows, shares, m(1), to);
      });
      const auto found_losses = fetched(losses);
      for (std::size_t run = 0; run < runs; ++run)
        CHECK(found_losses[run] == doctest::Approx(expected_losses[run]).epsilon(1e-13));
    }
  }
}

TEST_CASE_TEMPLATE(
    "a logit that isn't finite shows in its run's loss, and in no other's; of equal ones the first answers", S, float,
    double) {
  constexpr S infinity = std::numeric_limits<S>::infinity();
  for (const S bad : {std::numeric_limits<S>::quiet_NaN(), infinity, -infinity})
    for (const int answer : {5, 20, 31}) {
      std::vector<S> z(37 * runs, S(1));
      for (std::size_t run = 0; run < runs; ++run) z[run * 37 + 20] = z[run * 37 + 5] = S(2);
      z[37 + 9] = bad;
      const auto logits = placed(z);
      const auto answers = placed(std::vector<int>{answer}), counts = placed(std::vector<int>{3});
      device_array<answer_score> scores(runs);
      device().cross_entropy(strided_matrix<const S>{logits.data(), 1, 37, 37, 37}, {answers.data(), 1, 0},
                             {counts.data(), 1, 0}, 1, strided_matrix<S>{}, scores.data());
      const auto found = fetched(scores);
      for (std::size_t run = 0; run < runs; ++run) {
        CHECK(std::isfinite(found[run].loss) == (run != 1));
        CHECK(found[run].correct == (run != 1 && answer == 5 ? 3 : 0));
        CHECK(found[run].total == 3);
      }
    }
}

TEST_CASE_TEMPLATE("largest magnitudes and sums of squares of each run; what isn't finite is seen wherever it stands",
                   S, float, double) {
  for (const lindyn::index size : {lindyn::index{1}, lindyn::index{40}, lindyn::index{5000}, lindyn::index{10001}}) {
    const operand<S> numbers(1, size, 0, 7);
    std::vector<S> all;
    for (const auto& each : numbers.of) all.insert(all.end(), each.entries.begin(), each.entries.end());
    std::vector<double> found(runs), expected(runs);
    const auto on_device = [&](auto&& reduce) {
      const auto memory = placed(all);
      reduce(run_vector<const S>(memory.data(), size));
    };
    for (const S bad : {S(0), std::numeric_limits<S>::quiet_NaN(), std::numeric_limits<S>::infinity()}) {
      const auto place = static_cast<std::size_t>(size + size * 2 / 3);
      if (bad != 0) all[place] = bad;
      on_device([&](auto values) { device().largest_magnitude(values, size, std::span<double>(found)); });
      for (std::size_t run = 0; run < runs; ++run) {
        CHECK(std::isfinite(found[run]) == (bad == 0 || run != 1));
        if (!std::isfinite(found[run])) continue;
        double largest = 0;
        for (const S value : numbers.of[run].entries) largest = std::max(largest, std::abs(static_cast<double>(value)));
        CHECK(found[run] == largest);
      }
      on_device([&](auto values) { device().sum_of_squares(values, size, std::span<double>(found)); });
      for (std::size_t run = 0; run < runs; ++run) {
        CHECK(std::isfinite(found[run]) == (bad == 0 || run != 1));
        if (!std::isfinite(found[run])) continue;
        double sum = 0;
        for (const S value : numbers.of[run].entries) sum += static_cast<double>(value) * static_cast<double>(value);
        CHECK(found[run] == doctest::Approx(sum).epsilon(1e-13));
      }
    }
  }
}

TEST_CASE("work is repeated as it was; what it reads may differ each time") {
  thrust_device on(2);
  device_array<double> x(6), y(6);
  const strided_matrix<double> from{x.data(), 1, 3, 3, 3}, to{y.data(), 1, 3, 3, 3};
  lindyn::backend::repeated_work repeated;
  std::vector<double> numbers(6), result(6);
  for (int call = 1; call < 5; ++call) {
    for (std::size_t i = 0; i < 6; ++i) numbers[i] = call + static_cast<double>(i);
    on.from_host(std::span<const double>(numbers), x.data());
    on.repeat(repeated, [&] {
      on.copy(run_vector<const double>(flat(from)), flat(to), 3);
      on.multiply(to, in(from));
    });
    on.to_host(y.data(), std::span<double>(result));
    for (std::size_t i = 0; i < 6; ++i) CHECK(result[i] == numbers[i] * numbers[i]);
    if (call == 3) repeated.clear();
  }
}

TEST_CASE("arrays begin as zeros, copies are copies, and backends say what they are") {
  device_array<float> memory(3);
  CHECK(fetched(memory) == std::vector<float>{0, 0, 0});
  memory = placed(std::vector<float>{1, 2, 3});
  auto copy = memory;
  device().fill(run_vector<float>(memory.data()), 3, 5.0F);
  CHECK(fetched(copy) == std::vector<float>{1, 2, 3});
  CHECK(fetched(memory) == std::vector<float>{5, 5, 5});
  copy.resize(2);
  CHECK(fetched(copy) == std::vector<float>{1, 2});
  copy.resize(4);
  CHECK(fetched(copy) == std::vector<float>{0, 0, 0, 0});

  const thrust_device on(4, lindyn::backend::products::tf32), same = on;
  CHECK(same.runs() == 4);
  CHECK(same.how() == lindyn::backend::products::tf32);
  MESSAGE("kernels run on " << thrust_device::system());
  CHECK_THROWS_WITH_AS(thrust_device(0), "runs = 0 is not allowed: it must be in 1 .. 65535", lindyn::argument_error);
}
