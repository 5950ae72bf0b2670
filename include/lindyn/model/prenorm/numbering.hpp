// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Numbers for keys, given in the order in which they come.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <lindyn/core/views.hpp>

namespace lindyn::model::detail {

/// A map from keys in [0, size) to numbers that forgets all in no time: an entry counts only if it bears the stamp of
/// the present round. Allocates nothing unless more keys are possible than ever before.
class numbering {
public:
  /// Forgets all numbers.
  void forget(index size) {
    if (static_cast<index>(entries_.size()) < size) entries_.resize(static_cast<std::size_t>(size));
    if (++round_ != 0) return;
    std::ranges::fill(entries_, entry{});
    round_ = 1;
  }

  /// The number of a key, which becomes `fresh` if it has none yet.
  int operator()(int key, int fresh) {
    entry& found = entries_[static_cast<std::size_t>(key)];
    if (found.round != round_) found = {round_, fresh};
    return found.number;
  }

private:
  struct entry {
    std::uint32_t round = 0;
    int number = 0;
  };
  std::vector<entry> entries_;
  std::uint32_t round_ = 0;
};

}  // namespace lindyn::model::detail
