// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include <lindyn/population/subsets.hpp>

#include "../complaint.hpp"

namespace {
using lindyn::population::subsets;
using lindyn::testing::complaint;

TEST_CASE("every rank has a subset of its own, and they come by their largest members first") {
  for (int of = 0; of <= 9; ++of)
    for (int size = 0; size <= of; ++size) {
      const subsets all(size, of, "size");
      std::vector<int> before;
      std::set<std::vector<int>> found;
      for (int rank = 0; rank < all.count(); ++rank) {
        std::vector<int> members = all[rank];
        CHECK(all.rank(members) == rank);
        REQUIRE(static_cast<int>(members.size()) == size);
        CHECK(std::ranges::is_sorted(members));
        CHECK(std::set(members.begin(), members.end()).size() == members.size());
        for (const int member : members) CHECK((member >= 0 && member < of));
        found.insert(members);
        std::ranges::reverse(members);
        CHECK((rank == 0 || before < members));
        before = members;
      }
      CHECK(static_cast<int>(found.size()) == all.count());
      int chosen = 1;  // C(of, size) by Pascal's rule, row by row
      for (int k = 0; k < size; ++k) chosen = chosen * (of - k) / (k + 1);
      CHECK(all.count() == chosen);
    }
}

TEST_CASE("the largest numbers of subsets that an int counts are exact") {
  const subsets halves(15, 31, "size");
  CHECK(halves.count() == 300'540'195);
  CHECK(halves[0] == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14});
  CHECK(halves[halves.count() - 1] == std::vector<int>{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30});
  const subsets pairs(2, 65'536, "size");
  CHECK(pairs.count() == 2'147'450'880);
  CHECK(pairs[pairs.count() - 1] == std::vector<int>{65'534, 65'535});
  CHECK(pairs.rank(pairs[2'000'000'000]) == 2'000'000'000);
  CHECK(subsets(65'535, 65'536, "size").count() == 65'536);
}

TEST_CASE("sizes without subsets, and too many subsets, are refused") {
  CHECK(complaint([] { return subsets(3, 2, "size"); }) == "size = 3 is not allowed: it must be in [0, 2]");
  CHECK(complaint([] { return subsets(-1, 2, "size"); }) == "size = -1 is not allowed: it must be in [0, 2]");
  CHECK(complaint([] { return subsets(0, -1, "size"); }).starts_with("of = -1"));
  CHECK(complaint([] { return subsets(1, std::numeric_limits<int>::max(), "size"); }).starts_with("of = 2147483647"));
  CHECK(complaint([] { return subsets(2, 65'537, "size"); }) ==
        "size = 2 is not allowed: it must be so small (or large) that at most 2^31 - 1 subsets of so many of 65537 "
        "exist");
  CHECK(complaint([] { return subsets(500, 1000, "size"); }).starts_with("size = 500"));
}

}  // namespace
