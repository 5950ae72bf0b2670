// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The subsets of a given size, numbered, so that one integer chooses among them.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/core/errors.hpp>

namespace lindyn::population {

/// The C(n, k) subsets of k of the numbers 0 .. n - 1, in the order of the combinatorial number system: by their
/// largest members first. (Knuth, The Art of Computer Programming 4A, section 7.2.1.3.)
class subsets {
public:
  /// \param size      k, in [0, of]
  /// \param of        n, at most 2^20
  /// \param argument  the name of k in the error message
  /// Throws argument_error if C(n, k) exceeds 2^31 - 1, the largest number of options that a process can choose among.
  subsets(int size, int of, std::string_view argument) : size_(size), of_(of) {
    require(of >= 0 && of <= 1 << 20, "of", of, "in [0, 2^20]");
    require(size >= 0 && size <= of, argument, size, "in [0, " + std::to_string(of) + "]");
    for (int taken = 1, all = std::min(size, of - size); taken <= all; ++taken) {
      count_ = count_ * (of - all + taken) / taken;  // C(of - all + taken, taken): grows up to C(n, k)
      require(count_ <= std::numeric_limits<int>::max(), argument, size,
              "so small (or large) that at most 2^31 - 1 subsets of so many of " + std::to_string(of) + " exist");
    }
  }

  /// C(n, k).
  [[nodiscard]] int count() const noexcept { return static_cast<int>(count_); }

  /// The members of the subset of this rank in [0, count()), ascending.
  [[nodiscard]] std::vector<int> operator[](int rank) const {
    std::vector<int> members(static_cast<std::size_t>(size_));
    std::int64_t left = rank, ways = count_;  // ways: C(number + 1, missing), the subsets left to choose among
    for (int number = of_ - 1, missing = size_; missing > 0; --number) {
      const std::int64_t without = ways * (number + 1 - missing) / (number + 1);
      if (left < without) {
        ways = without;
      } else {
        left -= without;
        ways -= without;
        members[static_cast<std::size_t>(--missing)] = number;
      }
    }
    return members;
  }
  /// The rank of the subset of these members: `size` different ones, ascending, which isn't checked.
  [[nodiscard]] int rank(std::span<const int> members) const noexcept {
    std::int64_t result = 0, ways = count_;  // as above
    for (int number = of_ - 1, missing = size_; missing > 0; --number) {
      const std::int64_t without = ways * (number + 1 - missing) / (number + 1);
      if (members[static_cast<std::size_t>(missing - 1)] < number) {
        ways = without;
      } else {
        result += without;
        ways -= without;
        --missing;
      }
    }
    return static_cast<int>(result);
  }

private:
  int size_, of_;
  std::int64_t count_ = 1;
};

}  // namespace lindyn::population
