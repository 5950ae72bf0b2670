// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Any of the orbital structures as one value type.

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/direct_sum.hpp>
#include <lindyn/symmetry/directed_matching.hpp>
#include <lindyn/symmetry/orbitals.hpp>
#include <lindyn/symmetry/wreath.hpp>

namespace lindyn::symmetry {

class structure;

/// The sum of any structures, one after another.
using direct_sum = basic_direct_sum<structure>;

/// The wreath product of any two structures.
using wreath = basic_wreath<structure>;

/// A closed form, a table, or a sum or wreath product of structures, chosen at run time; copies share what is large.
/// Itself an orbital_structure. Where many pairs are asked for, `visit` reaches the type inside once, so that the
/// queries are inlined.
class structure {
public:
  /// \{
  /// Holds this group.
  structure(full_symmetric group) noexcept : held_(group) {}
  structure(matching group) noexcept : held_(group) {}
  structure(cyclic group) noexcept : held_(group) {}
  structure(slot_phase group) noexcept : held_(group) {}
  structure(directed_matching group) noexcept : held_(group) {}
  structure(direct_sum group) : held_(std::make_shared<const direct_sum>(std::move(group))) {}
  structure(wreath group) : held_(std::make_shared<const wreath>(std::move(group))) {}
  structure(orbital_table table) : held_(std::make_shared<const orbital_table>(std::move(table))) {}
  /// \}

  /// Calls `work` with the concrete structure, a const reference to one of the types above.
  template <class Work>
  decltype(auto) visit(Work&& work) const {
    return std::visit(
        [&](const auto& held) -> decltype(auto) {
          if constexpr (requires { *held; })
            return work(*held);
          else
            return work(held);
        },
        held_);
  }

  /// \{
  /// What orbital_structure asks.
  [[nodiscard]] int size() const {
    return visit([](const auto& group) { return group.size(); });
  }
  [[nodiscard]] int orbital_count() const {
    return visit([](const auto& group) { return group.orbital_count(); });
  }
  [[nodiscard]] int orbital(int i, int j) const {
    return visit([&](const auto& group) { return group.orbital(i, j); });
  }
  [[nodiscard]] int orbit_count() const {
    return visit([](const auto& group) { return group.orbit_count(); });
  }
  [[nodiscard]] int orbit(int i) const {
    return visit([&](const auto& group) { return group.orbit(i); });
  }
  [[nodiscard]] int orbit_size(int orbit) const {
    return visit([&](const auto& group) { return group.orbit_size(orbit); });
  }
  [[nodiscard]] std::pair<int, int> block(int s) const {
    return visit([&](const auto& group) { return group.block(s); });
  }
  [[nodiscard]] double pairs(int s) const {
    return visit([&](const auto& group) { return group.pairs(s); });
  }
  [[nodiscard]] std::string name(int s) const {
    return visit([&](const auto& group) { return group.name(s); });
  }
  [[nodiscard]] bool is_binary() const {
    return visit([](const auto& group) { return group.is_binary(); });
  }
  [[nodiscard]] std::vector<permutation> generators() const {
    return visit([](const auto& group) { return group.generators(); });
  }
  /// \}

private:
  std::variant<full_symmetric, matching, cyclic, slot_phase, directed_matching, std::shared_ptr<const direct_sum>,
               std::shared_ptr<const wreath>, std::shared_ptr<const orbital_table>>
      held_;
};

static_assert(orbital_structure<structure> && orbital_structure<direct_sum> && orbital_structure<wreath> &&
              orbital_structure<orbital_table>);

}  // namespace lindyn::symmetry
