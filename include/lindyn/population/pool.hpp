// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What may still be drawn: a set of the integers 0 .. size-1 from which members are taken out and put back.

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::population {

/// Some of the integers: first, first + step, .. below end.
struct integer_class {
  int first = 0;  ///< the smallest member
  int end = 0;    ///< above all members
  int step = 1;   ///< from one member to the next, at least 1

  /// The number of members.
  [[nodiscard]] constexpr int size() const noexcept { return end <= first ? 0 : (end - first + step - 1) / step; }
  /// Whether first, end and step agree.
  friend constexpr bool operator==(const integer_class&, const integer_class&) noexcept = default;
};

/// A subset of {0, .., capacity-1} with constant-time removal, membership and access by place.
/// Removals are undone last first, so that the order of the members is a function of the removals in force alone: a
/// sequence drawn from a seed doesn't depend on what was drawn before it.
class pool {
public:
  /// All of 0 .. capacity - 1. Throws argument_error if there are none.
  explicit pool(int capacity) : pool(capacity, {0, capacity}) {}
  /// \param members  the members that the pool begins with, and comes back to; argument_error unless they are some of
  ///                 0 .. capacity - 1
  pool(int capacity, const integer_class& members)
      : members_(checked(capacity)),
        place_(members_.size()),
        full_size_(checked(members, capacity)),
        size_(full_size_),
        taken_from_(members_.size()) {
    std::iota(members_.begin(), members_.end(), 0);
    std::stable_partition(members_.begin(), members_.end(), [&](int candidate) {
      return candidate >= members.first && candidate < members.end && (candidate - members.first) % members.step == 0;
    });
    for (int place = 0; place < capacity; ++place) place_[static_cast<std::size_t>((*this)[place])] = place;
  }

  /// Integers that may ever be members: those in [0, capacity()).
  [[nodiscard]] int capacity() const noexcept { return static_cast<int>(members_.size()); }
  /// Number of members.
  [[nodiscard]] int size() const noexcept { return size_; }
  /// The member at a place in [0, size()), which isn't checked.
  [[nodiscard]] int operator[](int place) const noexcept { return members_[static_cast<std::size_t>(place)]; }
  /// Whether an integer of [0, capacity()) is a member.
  [[nodiscard]] bool contains(int member) const noexcept { return place_[static_cast<std::size_t>(member)] < size_; }

  /// Takes `member` out; does nothing if it is out already.
  void remove(int member) noexcept {
    if (!contains(member)) return;
    const int place = place_[static_cast<std::size_t>(member)];
    exchange(place, --size_);
    taken_from_[static_cast<std::size_t>(size_)] = place;
  }
  /// The number of removals in force, for `restore`.
  [[nodiscard]] int removals() const noexcept { return full_size_ - size_; }
  /// Puts back the members removed last until `removals` removals are left.
  void restore(int removals = 0) noexcept {
    for (; size_ < full_size_ - removals; ++size_) exchange(taken_from_[static_cast<std::size_t>(size_)], size_);
  }

private:
  static std::size_t checked(int capacity) {
    require(capacity >= 1, "capacity", capacity, "at least 1");
    return static_cast<std::size_t>(capacity);
  }
  static int checked(const integer_class& members, int capacity) {
    require(members.step >= 1, "members.step", members.step, "at least 1");
    require(members.first >= 0, "members.first", members.first, "at least 0");
    require(members.end > members.first && members.end <= capacity, "members.end", members.end,
            "above first = " + std::to_string(members.first) + " and at most " + std::to_string(capacity));
    return members.size();
  }
  void exchange(int a, int b) noexcept {
    auto& first = members_[static_cast<std::size_t>(a)];
    auto& second = members_[static_cast<std::size_t>(b)];
    std::swap(place_[static_cast<std::size_t>(first)], place_[static_cast<std::size_t>(second)]);
    std::swap(first, second);
  }

  std::vector<int> members_, place_;
  int full_size_, size_;
  std::vector<int> taken_from_;  // behind the members: the places from which those removed were taken
};

}  // namespace lindyn::population
