// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/core/random.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace {
using lindyn::symmetry::disjoint_sets;

TEST_CASE("sets are numbered by their smallest elements") {
  disjoint_sets sets(6);
  sets.unite(5, 1);
  sets.unite(4, 2);
  sets.unite(2, 5);
  CHECK(std::move(sets).labels() == std::vector<int>{0, 1, 1, 2, 1, 1});
}

TEST_CASE("elements that nothing joins stay alone, and joining twice changes nothing") {
  disjoint_sets sets(3);
  sets.unite(2, 2);
  sets.unite(0, 1);
  sets.unite(1, 0);
  CHECK(std::move(sets).labels() == std::vector<int>{0, 0, 1});
}

TEST_CASE("random unions agree with relabelling everything at every union") {
  lindyn::counter_generator random(3);
  for (int round = 0; round < 20; ++round) {
    const int n = 40;
    disjoint_sets sets(n);
    std::vector<int> smallest(n);
    std::iota(smallest.begin(), smallest.end(), 0);
    for (int step = 0; step < 2 * round; ++step) {
      const int a = static_cast<int>(uniform_index(random, n)), b = static_cast<int>(uniform_index(random, n));
      sets.unite(a, b);
      const int low = std::min(smallest[a], smallest[b]), high = std::max(smallest[a], smallest[b]);
      for (int& s : smallest)
        if (s == high) s = low;
    }
    const std::vector<int> labels = std::move(sets).labels();
    int next = 0;
    for (int i = 0; i < n; ++i) CHECK(labels[i] == (smallest[i] == i ? next++ : labels[smallest[i]]));
  }
}

}  // namespace
