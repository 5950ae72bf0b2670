// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Groups that act independently, each on points of its own, as those of token classes do.

#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/symmetry/permutation.hpp>

namespace lindyn::symmetry {

/// The direct product of groups, acting on the points of all parts one after another.
///
/// An orbital inside a part is one of its group. Between a row of one part and a column of another the groups move
/// independently, so that each (row orbit x column orbit) block is a single orbital: its remainder, never selected.
/// Selected: those of the parts, part by part. Blocks, numbers of pairs and the Gram matrix (block diagonal) are the
/// parts' own. A name that several parts use gets its part's suffix, any other stays as it is.
///
/// Binary if and only if all parts are: two tuples with the same relations have the same places in each part, where one
/// element of its group carries them into each other if the group is binary; a tuple in one part alone shows the
/// converse.
///
/// `direct_sum` is the sum of any structures.
template <class Structure>
class basic_direct_sum {
public:
  /// A group with its points.
  struct part {
    Structure group;          ///< the group
    std::string suffix = "";  ///< ends the names of its orbitals that other parts use too
  };

  /// Throws argument_error for no parts, more points than an int can count, or suffixes that leave two orbitals with
  /// one name.
  explicit basic_direct_sum(std::vector<part> parts) : parts_(std::move(parts)) {
    require(!parts_.empty(), "parts.size()", parts_.size(), "at least 1");
    std::map<std::string, int> uses;
    for (const part& one : parts_)
      for (int s = 0; s < one.group.orbital_count(); ++s) ++uses[one.group.name(s)];
    std::set<std::string> taken;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& [group, suffix] = parts_[p];
      const std::string which = "parts[" + std::to_string(p) + "]";
      const int points = group.size(), first_orbit = orbit_count();
      require(points <= std::numeric_limits<int>::max() - size(), which + ".group.size()", points,
              "small enough for all points to be counted by an int");
      first_.push_back({size(), orbital_count()});
      for (int i = 0; i < points; ++i) {
        part_.push_back(static_cast<int>(p));
        orbit_.push_back(first_orbit + group.orbit(i));
      }
      for (int orbit = 0; orbit < group.orbit_count(); ++orbit) orbit_sizes_.push_back(group.orbit_size(orbit));
      for (int s = 0; s < group.orbital_count(); ++s) {
        const auto [row, column] = group.block(s);
        std::string name = group.name(s);
        if (uses.at(name) > 1) name += suffix;
        require(taken.insert(name).second, which + ".suffix", "\"" + suffix + "\"",
                "one that gives the orbital " + group.name(s) + " a name of its own");
        orbitals_.push_back({{first_orbit + row, first_orbit + column}, group.pairs(s), std::move(name)});
      }
    }
  }

  /// The parts, in the order of their points.
  [[nodiscard]] const std::vector<part>& parts() const noexcept { return parts_; }
  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] int size() const noexcept { return static_cast<int>(part_.size()); }
  [[nodiscard]] int orbital_count() const noexcept { return static_cast<int>(orbitals_.size()); }
  [[nodiscard]] int orbital(int i, int j) const {
    const auto which = static_cast<std::size_t>(part_[static_cast<std::size_t>(i)]);
    if (part_[static_cast<std::size_t>(j)] != static_cast<int>(which)) return -1;
    const auto [point, orbital] = first_[which];
    const int inside = parts_[which].group.orbital(i - point, j - point);
    return inside < 0 ? -1 : orbital + inside;
  }
  [[nodiscard]] int orbit_count() const noexcept { return static_cast<int>(orbit_sizes_.size()); }
  [[nodiscard]] int orbit(int point) const noexcept { return orbit_[static_cast<std::size_t>(point)]; }
  [[nodiscard]] int orbit_size(int orbit) const noexcept { return orbit_sizes_[static_cast<std::size_t>(orbit)]; }
  [[nodiscard]] std::pair<int, int> block(int s) const noexcept { return orbitals_[static_cast<std::size_t>(s)].block; }
  [[nodiscard]] double pairs(int s) const noexcept { return orbitals_[static_cast<std::size_t>(s)].pairs; }
  [[nodiscard]] std::string name(int s) const { return orbitals_[static_cast<std::size_t>(s)].name; }
  [[nodiscard]] bool is_binary() const {
    for (const part& one : parts_)
      if (!one.group.is_binary()) return false;
    return true;
  }
  /// The generators of every part, which keep all other points.
  [[nodiscard]] std::vector<permutation> generators() const {
    std::vector<permutation> all;
    for (std::size_t p = 0; p < parts_.size(); ++p)
      for (const permutation& inside : parts_[p].group.generators())
        all.push_back(detail::extended(inside, first_[p].point, size()));
    return all;
  }
  /// \}

private:
  struct start {
    int point, orbital;
  };
  struct orbital_entry {
    std::pair<int, int> block;
    double pairs;
    std::string name;
  };

  std::vector<part> parts_;
  std::vector<start> first_;       // of each part
  std::vector<int> part_, orbit_;  // by point
  std::vector<int> orbit_sizes_;   // by orbit
  std::vector<orbital_entry> orbitals_;
};

}  // namespace lindyn::symmetry
