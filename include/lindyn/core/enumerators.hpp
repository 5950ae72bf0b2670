// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Enumerators by name: every enumeration that a user may choose from by a text has a function `name`, and its texts are
/// read by `parse`.

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <lindyn/core/errors.hpp>

namespace lindyn {

/// An enumeration whose enumerators count from 0 and have names: `name(value)`, found beside it, is empty for what is no
/// enumerator.
template <class Enumeration>
concept named_enumeration = std::is_enum_v<Enumeration> && requires(Enumeration value) {
  { name(value) } -> std::same_as<std::string_view>;
};

/// All enumerators, in their order.
template <named_enumeration Enumeration>
[[nodiscard]] std::vector<Enumeration> enumerators() {
  std::vector<Enumeration> result;
  for (int value = 0; !name(static_cast<Enumeration>(value)).empty(); ++value)
    result.push_back(static_cast<Enumeration>(value));
  return result;
}

namespace detail {

/// "lr_scaled, absolute, ratio or coupled_l2".
template <named_enumeration Enumeration>
[[nodiscard]] std::string listed_names() {
  const auto all = enumerators<Enumeration>();
  std::string result;
  for (const Enumeration value : all) {
    if (value != all.front()) result += value == all.back() ? " or " : ", ";
    result += name(value);
  }
  return result;
}

}  // namespace detail

/// The enumerator of that name.
/// \param text      as `name` gives it
/// \param argument  what errors call it
/// Throws argument_error, listing the names, if there is none.
///
///     const auto mode = lindyn::parse<optimizer::decay_mode>("coupled_l2", "decay-mode");
template <named_enumeration Enumeration>
[[nodiscard]] Enumeration parse(std::string_view text, std::string_view argument) {
  for (const Enumeration value : enumerators<Enumeration>())
    if (name(value) == text) return value;
  throw argument_error(std::string(argument), std::string(text), detail::listed_names<Enumeration>());
}

/// Throws argument_error, listing the names, unless the value is an enumerator.
template <named_enumeration Enumeration>
void require_enumerator(std::string_view argument, Enumeration value) {
  if (name(value).empty())
    throw argument_error(std::string(argument), std::to_string(static_cast<int>(value)),
                         detail::listed_names<Enumeration>());
}

}  // namespace lindyn
