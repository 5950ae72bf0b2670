// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Numbers as texts that are read back as the same number.

#include <array>
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace lindyn::io {

/// The number in decimals, as few as bring it back; NaN and infinities as "nan", "inf" and "-inf".
template <class Number>
requires(std::integral<Number> || std::floating_point<Number>) [[nodiscard]] std::string number_text(Number value) {
  std::array<char, 64> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

/// The number that the whole text is, as number_text writes it; nothing if the text is no number of that type.
template <class Number>
requires(std::integral<Number> || std::floating_point<Number>)
    [[nodiscard]] std::optional<Number> number_from_text(std::string_view text) {
  Number value{};
  const auto [end, reason] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (reason != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

}  // namespace lindyn::io
