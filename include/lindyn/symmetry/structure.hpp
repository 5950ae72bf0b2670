// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Any of the orbital structures as one value type.

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/symmetry/closed_forms.hpp>
#include <lindyn/symmetry/orbitals.hpp>

namespace lindyn::symmetry {

/// A closed form or a table, chosen at run time; copies share the table. Itself an orbital_structure. Where many pairs
/// are asked for, `visit` reaches the type inside once, so that the queries are inlined.
class structure {
public:
  structure(full_symmetric group) noexcept : held_(group) {}
  structure(matching group) noexcept : held_(group) {}
  structure(cyclic group) noexcept : held_(group) {}
  structure(slot_phase group) noexcept : held_(group) {}
  structure(orbital_table table) : held_(std::make_shared<const orbital_table>(std::move(table))) {}

  /// Calls `work` with the concrete structure, a const reference to one of the five types above.
  template <class Work>
  decltype(auto) visit(Work&& work) const {
    return std::visit(
        [&](const auto& held) -> decltype(auto) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(held)>, std::shared_ptr<const orbital_table>>)
            return work(*held);
          else
            return work(held);
        },
        held_);
  }

  /// Whether this is a table rather than a closed form.
  [[nodiscard]] bool is_table() const noexcept {
    return std::holds_alternative<std::shared_ptr<const orbital_table>>(held_);
  }
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
  [[nodiscard]] std::vector<permutation> generators() const {
    return visit([](const auto& group) { return group.generators(); });
  }

private:
  std::variant<full_symmetric, matching, cyclic, slot_phase, std::shared_ptr<const orbital_table>> held_;
};

static_assert(orbital_structure<structure> && orbital_structure<orbital_table>);

}  // namespace lindyn::symmetry
