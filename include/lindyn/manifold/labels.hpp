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

/// Appends a head's name: "1" for layer 1 with one head, "1b" for its second head of several.
constexpr void append_head(label_text& text, const layout& of, int layer, int head) {
  text += layer;
  if (of.heads() == 1) return;
  const char letter = static_cast<char>('a' + head % 26);
  text += std::string_view(&letter, 1);
  if (head >= 26) text += head / 26;
}

namespace detail {

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
    append_head(text, of, which.layer, which.head);
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

/// What a selection S says where S(query, key) holds: the query's token is <phrase><the key's noun>; or, where it has a
/// name that isn't known, stands in <phrase><the key's noun>.
struct named_relation {
  bool known;
  std::string phrase, noun;
};

[[nodiscard]] inline named_relation token_relation(std::string_view name, std::span<const std::string_view> names) {
  const bool directed = std::ranges::find(names, "C'") != names.end();
  if (name == "I") return {true, "", "token"};
  if (name == "Ic") return {true, "", "common token"};
  if (name == "Ir") return {true, "", "rare token"};
  if (name == "Ia") return {true, "", "item"};
  if (name == "Ib") return {true, "", "label"};
  if (name == "C") return {true, directed ? "the label stored for " : "the partner of ", directed ? "item" : "token"};
  if (name == "C'") return {true, "the item stored with ", "label"};
  return {false, "relation " + std::string(name) + " to ", "token"};
}

/// How many places behind the query the key of a selection of positions is; -1 if the name says no such number.
[[nodiscard]] inline int places_back(std::string_view name) {
  if (name == "Ip" || name == "I") return 0;
  if (name == "M") return 1;
  if (!name.starts_with('M') || name.size() > 7 || name.find_first_not_of("0123456789", 1) != std::string_view::npos)
    return -1;
  return std::stoi(std::string(name.substr(1)));
}

/// "layer 1" or "layers 1 then 2": the heads that brought a copy; empty for the input.
[[nodiscard]] inline std::string bringers(const layout& of, int copy) {
  std::string names;
  int count = 0;
  for (int layer = 1, rest = copy; rest > 0; ++layer, rest /= of.heads() + 1) {
    if (rest % (of.heads() + 1) == 0) continue;
    label_text name;
    append_head(name, of, layer, rest % (of.heads() + 1) - 1);
    names += (++count > 1 ? " then " : "") + std::string(name.view());
  }
  return count == 0 ? names : (count > 1 ? "layers " : "layer ") + names;
}

/// "the key's token", "what layer 1 copied to the key", "the rare token layers 1 then 2 copied to the key"; likewise of
/// positions.
[[nodiscard]] inline std::string copied(const layout& of, int copy, const std::string& noun, const std::string& where) {
  if (copy == 0) return "the " + where + "'s " + noun;
  return (noun == "token" ? "what " : "the " + noun + " ") + bringers(of, copy) + " copied to the " + where;
}

/// "layer 2 matches the query's token with what layer 1 copied to the key".
[[nodiscard]] inline std::string describe_match(const layout& of, const coordinate& which, const std::string& head,
                                                const named_relation& relation, bool negative) {
  const std::string query = copied(of, which.query_copy, "token", "query");
  const std::string key = relation.phrase + copied(of, which.key_copy, relation.noun, "key");
  if (relation.known) return head + (negative ? " avoids a match of " : " matches ") + query + " with " + key;
  return head + (negative ? " avoids places where " : " attends where ") + query + " stands in " + key;
}

/// "layer 1 attends to the previous token".
[[nodiscard]] inline std::string describe_place(const layout& of, const coordinate& which, const std::string& head,
                                                std::string_view name, bool negative) {
  const int back = places_back(name);
  const std::string count = std::to_string(back);
  if (which.query_copy == 0 && which.key_copy == 0 && back >= 0) {
    const std::string target = back == 0   ? "its own place"
                               : back == 1 ? "the previous token"
                                           : "the token " + count + " places before";
    return head + (negative ? " avoids " : " attends to ") + target;
  }
  const std::string relation = back < 0    ? "stands in relation " + std::string(name) + " to"
                               : back == 0 ? "is"
                               : back == 1 ? "comes one place after"
                                           : "comes " + count + " places after";
  return head + (negative ? " avoids places where " : " attends where ") +
         copied(of, which.query_copy, "position", "query") + " " + relation + " " +
         copied(of, which.key_copy, "position", "key");
}

/// "the answer is what layer 2 copied".
[[nodiscard]] inline std::string describe_answer(const layout& of, const coordinate& which,
                                                 const named_relation& relation, bool negative) {
  const std::string verb =
      relation.known ? (negative ? " isn't " : " is ") : (negative ? " doesn't stand in " : " stands in ");
  if (which.key_copy == 0) return "the answer" + verb + relation.phrase + "the last " + relation.noun;
  return "the answer" + verb + relation.phrase + (relation.noun == "token" ? "what " : "the " + relation.noun + " ") +
         bringers(of, which.key_copy) + " copied";
}

}  // namespace detail

/// What a coordinate does, in a sentence: "layer 1 attends to the previous token", "layer 2 matches the query's token
/// with what layer 1 copied to the key", "the answer is what layer 2 copied". A match attracts attention; "what layers
/// 1 then 2 copied" is what layer 2 copied of what layer 1 had copied. A negative coefficient says the reverse: "layer 1
/// avoids the previous token", "the answer isn't the last token".
/// A selection of a name that isn't known is called a relation of that name.
/// \param of,which   the coordinate
/// \param tokens     names of the selections of tokens, as a task's token_selections or a structure's names. Known are
///                   I, C, Ic and Ir of common and rare tokens, Ia, Ib, C and C' of items and labels.
/// \param positions  names of the selections of positions, as a structure's names. Known are I, Ip, and the shifts M,
///                   M2, ..; if empty, they are Ip, M, M2, .. in this order, as on slots and rings.
/// \param strength   the coefficient, of which only the sign counts
/// Throws argument_error if there are fewer names than selections.
[[nodiscard]] inline std::string describe(const layout& of, const coordinate& which,
                                          std::span<const std::string_view> tokens = one_class,
                                          std::span<const std::string_view> positions = {}, double strength = 1) {
  const label_text name = selection_name(of, which.selection, tokens, positions);
  const bool token = which.selection < of.token_selections(), negative = strength < 0;
  if (which.layer > of.layers())
    return detail::describe_answer(of, which, detail::token_relation(name, tokens), negative);
  label_text text;
  text += "layer ";
  append_head(text, of, which.layer, which.head);
  const std::string head(text.view());
  return token ? detail::describe_match(of, which, head, detail::token_relation(name, tokens), negative)
               : detail::describe_place(of, which, head, name, negative);
}

}  // namespace lindyn::manifold
