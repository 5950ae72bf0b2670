// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Names of coordinates: short labels, at compile time too, and sentences.

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/layout.hpp>

namespace lindyn::manifold {

/// A short text that exists at compile time.
class label_text {
public:
  /// Appends a text; letters beyond the 96th are dropped.
  constexpr label_text& operator+=(std::string_view text) noexcept {
    for (const char letter : text)
      if (size_ < letters_.size()) letters_[size_++] = letter;
    return *this;
  }
  /// Appends the digits of a number that isn't negative.
  constexpr label_text& operator+=(int number) noexcept {
    if (number >= 10) *this += number / 10;
    const char digit = static_cast<char>('0' + number % 10);
    return *this += std::string_view(&digit, 1);
  }
  /// The text, which lives as long as this object.
  constexpr operator std::string_view() const noexcept { return {letters_.data(), size_}; }
  /// The same by name.
  [[nodiscard]] constexpr std::string_view view() const noexcept { return *this; }
  /// Whether both are the same text.
  friend constexpr bool operator==(const label_text& a, std::string_view b) noexcept { return a.view() == b; }

private:
  std::array<char, 96> letters_{};
  std::size_t size_ = 0;
};

namespace detail {

/// "1" for layer 1 with one head, "1b" for its second head of several.
constexpr void append_head(label_text& text, const layout& of, int layer, int head) {
  text += layer;
  if (of.heads() == 1) return;
  const char letter = static_cast<char>('a' + head % 26);
  text += std::string_view(&letter, 1);
  if (head >= 26) text += head / 26;
}

/// Copies are named by the layers that copied, the last first: "x" is the input, "21" layer 2's copy of layer 1's copy.
constexpr void append_copy(label_text& text, const layout& of, int copy) {
  if (copy == 0) {
    text += "x";
    return;
  }
  const int base = of.heads() + 1;
  bool first = true;
  for (int layer = of.layers(); layer >= 1; --layer) {
    const int digit = copy / lindyn::copies(layer - 1, of.heads()) % base;
    if (digit == 0) continue;
    if (!first && of.layers() > 9) text += ".";
    append_head(text, of, layer, digit - 1);
    first = false;
  }
}

}  // namespace detail

/// The names of {I} or {I, C}, of one class of tokens with or without partners.
inline constexpr std::array<std::string_view, 2> one_class{"I", "C"};

/// The name of a selection: of tokens as `tokens` says, in their order, of positions as `positions` says; if that is
/// empty, the positions' are "Ip", "M", "M2", .., the shifts of slots and rings.
/// Throws argument_error if there are fewer names than selections.
[[nodiscard]] constexpr label_text selection_name(const layout& of, int selection,
                                                  std::span<const std::string_view> tokens = one_class,
                                                  std::span<const std::string_view> positions = {}) {
  label_text text;
  const int place = selection - of.token_selections();
  if (static_cast<int>(tokens.size()) < of.token_selections())
    require(false, "tokens.size()", tokens.size(), "the number of selections of tokens");
  if (!positions.empty() && static_cast<int>(positions.size()) < of.position_selections())
    require(false, "positions.size()", positions.size(), "the number of selections of positions, or 0");
  if (place < 0)
    text += tokens[static_cast<std::size_t>(selection)];
  else if (!positions.empty())
    text += positions[static_cast<std::size_t>(place)];
  else if (place == 0)
    text += "Ip";
  else {
    text += "M";
    if (place > 1) text += place;
  }
  return text;
}

/// "L2[x,1]I": layer 2, query-side copy x (the input), key-side copy 1 (what layer 1 copied), token identity.
/// "out:21 I": the readout of layer 2's copy of layer 1's copy. With several heads a letter follows the layer: "L2b".
[[nodiscard]] constexpr label_text label(const layout& of, const coordinate& which, std::string_view selection) {
  label_text text;
  if (which.layer > of.layers()) {
    text += "out:";
    detail::append_copy(text, of, which.key_copy);
    text += " ";
  } else {
    text += "L";
    detail::append_head(text, of, which.layer, which.head);
    text += "[";
    detail::append_copy(text, of, which.query_copy);
    text += ",";
    detail::append_copy(text, of, which.key_copy);
    text += "]";
  }
  return text += selection;
}

/// The label with the selections of one class of tokens, and of positions on slots or a ring.
[[nodiscard]] constexpr label_text label(const layout& of, const coordinate& which) {
  return label(of, which, selection_name(of, which.selection));
}

namespace detail {

/// What a selection S says where S(query, key) holds: "<query> <relation> <the key's noun>".
struct named_relation {
  std::string relation;
  std::string noun;
};

[[nodiscard]] inline std::string unknown_relation(std::string_view name) {
  return "stands in relation " + std::string(name) + " to";
}

[[nodiscard]] inline named_relation token_relation(std::string_view name, std::span<const std::string_view> names) {
  const bool directed = std::ranges::find(names, "C'") != names.end();
  if (name == "I") return {"is", "token"};
  if (name == "Ic") return {"is", "common token"};
  if (name == "Ir") return {"is", "rare token"};
  if (name == "Ia") return {"is", "item"};
  if (name == "Ib") return {"is", "label"};
  if (name == "C") return {directed ? "is the label stored for" : "is the partner of", directed ? "item" : "token"};
  if (name == "C'") return {"is the item stored with", "label"};
  return {unknown_relation(name), "token"};
}

[[nodiscard]] inline named_relation position_relation(std::string_view name) {
  if (name == "Ip" || name == "I") return {"is", "position"};
  if (name == "M") return {"comes one place after", "position"};
  if (name.starts_with('M') && name.find_first_not_of("0123456789", 1) == std::string_view::npos)
    return {"comes " + std::string(name.substr(1)) + " places after", "position"};
  return {unknown_relation(name), "position"};
}

/// "the key's own token", "the token brought to the key by layers 1 then 2".
[[nodiscard]] inline std::string copied(const layout& of, int copy, const std::string& what, const std::string& where) {
  if (copy == 0) return where + "'s own " + what;
  std::string names;
  int bringers = 0;
  for (int layer = 1, rest = copy; rest > 0; ++layer, rest /= of.heads() + 1) {
    if (rest % (of.heads() + 1) == 0) continue;
    label_text name;
    append_head(name, of, layer, rest % (of.heads() + 1) - 1);
    names += (++bringers > 1 ? " then " : "") + std::string(name.view());
  }
  return "the " + what + " brought to " + where + (bringers > 1 ? " by layers " : " by layer ") + names;
}

}  // namespace detail

/// What a coordinate does, in a sentence: "layer 2 attends where the query's own token is the token brought to the key
/// by layer 1".
/// A selection of a name that isn't known is called a relation of that name.
/// \param of,which   the coordinate
/// \param tokens     names of the selections of tokens, as a task's token_selections or a structure's names. Known are
///                   I, C, Ic and Ir of common and rare tokens, Ia, Ib, C and C' of items and labels.
/// \param positions  names of the selections of positions, as a structure's names. Known are I, Ip, and the shifts M,
///                   M2, ..; if empty, they are Ip, M, M2, .. in this order, as on slots and rings.
/// Throws argument_error if there are fewer names than selections.
[[nodiscard]] inline std::string describe(const layout& of, const coordinate& which,
                                          std::span<const std::string_view> tokens = one_class,
                                          std::span<const std::string_view> positions = {}) {
  const bool token = which.selection < of.token_selections();
  const label_text name = selection_name(of, which.selection, tokens, positions);
  const auto [relation, noun] = token ? detail::token_relation(name, tokens) : detail::position_relation(name);
  if (which.layer > of.layers())
    return "the answer " + relation + " " + detail::copied(of, which.key_copy, noun, "the last place");
  label_text head;
  detail::append_head(head, of, which.layer, which.head);
  return "layer " + std::string(head.view()) + " attends where " +
         detail::copied(of, which.query_copy, token ? "token" : "position", "the query") + " " + relation + " " +
         detail::copied(of, which.key_copy, noun, "the key");
}

}  // namespace lindyn::manifold
