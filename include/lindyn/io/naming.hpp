// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How a file that another program wrote calls the matrices of a parameter table, and how it stores them.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::io {

/// What a file calls the matrices whose names have one pattern, and how it stores them.
///
/// A pattern is a name in which a word in braces, such as {layer}, stands for a number. In the file's patterns
/// {layer+1} is that number plus 1: our tables count from 0, files may count from 1. The attention weights of
/// model::attention_only, for instance, are called "W_KQ.{layer}.{head}", and a file may call them
/// "blocks.{layer+1}.attention.{head}.weight".
///
/// In attention weights W of our tables a row belongs to the query and a column to the key: the score is x_q' W x_k.
struct naming_rule {
  /// Pattern of the table's names.
  std::string ours;
  /// Pattern of the file's names: those of the matrices or, if `key_factor` is given, of their query factors.
  std::string theirs;
  /// Whether the file has the transpose of each matrix, or of each of its factors.
  bool transposed = false;
  /// Unless empty: the file has factors W_Q (called `theirs`) and W_K (called this), with a row for each entry of a
  /// head's query and key, and the matrix is W_Q' W_K. Several matrices may have one key factor (multi-query attention).
  std::string key_factor{};
  /// What the file's matrix, or the product of the factors, is multiplied by: 1/sqrt(d) if the file's program divides
  /// its scores by the root of the d entries of a head's query. Finite and not 0.
  double scale = 1;
};

/// What a file calls the matrices of a table: by default, as the table does.
struct naming {
  std::vector<naming_rule> rules;  ///< the first that fits a name applies; a name that none fits is the file's, too
  std::string prefix{};            ///< stands before every name of the file's
};

/// Where a file has one matrix of a table.
struct stored_matrix {
  std::string tensor;       ///< name of the matrix, or of its query factor
  std::string key_factor;   ///< name of its key factor; empty if the matrix isn't stored by factors
  bool transposed = false;  ///< as in naming_rule
  double scale = 1;         ///< as in naming_rule
};

namespace detail {

/// A piece of a pattern: a text or, if `placeholder` isn't empty, a number to which `added` is added.
struct pattern_piece {
  std::string text, placeholder;
  int added = 0;
};

/// \param argument  what errors call the pattern
inline std::vector<pattern_piece> parse_pattern(const std::string& argument, const std::string& pattern) {
  const auto require_word = [&](bool holds) {
    require(holds, argument, pattern, "a name in which braces enclose words, such as {layer} or {layer+1}");
  };
  std::vector<pattern_piece> pieces;
  for (std::size_t begin = 0; begin < pattern.size();) {
    if (pattern[begin] != '{') {
      const std::size_t end = std::min(pattern.find_first_of("{}", begin), pattern.size());
      require_word(end > begin);  // a closing brace that nothing opened
      pieces.push_back({pattern.substr(begin, end - begin), ""});
      begin = end;
    } else {
      const std::size_t end = pattern.find('}', begin);
      require_word(end != std::string::npos);
      const std::string inside = pattern.substr(begin + 1, end - begin - 1);
      const std::size_t plus = std::min(inside.find('+'), inside.size());
      pieces.push_back({"", inside.substr(0, plus)});
      require_word(plus > 0 && inside.find('{') == std::string::npos);
      if (plus < inside.size()) {
        const char* const last = inside.data() + inside.size();
        const auto parsed = std::from_chars(inside.data() + plus + 1, last, pieces.back().added);
        require_word(parsed.ec == std::errc() && parsed.ptr == last && pieces.back().added >= 0);
      }
      begin = end + 1;
    }
  }
  return pieces;
}

/// The numbers at a pattern's placeholders.
using placeholder_numbers = std::map<std::string, int>;

/// The numbers that make the name of the pattern; none if it isn't of that pattern.
inline std::optional<placeholder_numbers> match(const std::vector<pattern_piece>& pattern, std::string_view name) {
  placeholder_numbers numbers;
  for (const auto& piece : pattern) {
    if (piece.placeholder.empty()) {
      if (!name.starts_with(piece.text)) return std::nullopt;
      name.remove_prefix(piece.text.size());
    } else {
      int number = -1;
      const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
      const bool same = numbers.emplace(piece.placeholder, number).first->second == number;
      if (parsed.ec != std::errc() || number < 0 || !same) return std::nullopt;
      name.remove_prefix(static_cast<std::size_t>(parsed.ptr - name.data()));
    }
  }
  return name.empty() ? std::optional(numbers) : std::nullopt;
}

/// The name that those numbers make of the pattern.
inline std::string fill(const std::vector<pattern_piece>& pattern, const placeholder_numbers& numbers) {
  std::string name;
  for (const auto& piece : pattern)
    name += piece.placeholder.empty() ? piece.text : std::to_string(long{numbers.at(piece.placeholder)} + piece.added);
  return name;
}

/// A rule whose patterns are taken apart.
struct parsed_rule {
  std::vector<pattern_piece> ours, theirs, key_factor;
};

/// \param argument  what errors call the rule
inline parsed_rule parse_rule(const std::string& argument, const naming_rule& rule) {
  const parsed_rule result{parse_pattern(argument + ".ours", rule.ours),
                           parse_pattern(argument + ".theirs", rule.theirs),
                           parse_pattern(argument + ".key_factor", rule.key_factor)};
  std::set<std::string> words;
  for (const auto& piece : result.ours) {
    words.insert(piece.placeholder);
    require(piece.added == 0, argument + ".ours", rule.ours, "a pattern that adds nothing to its numbers");
  }
  const auto require_known = [&](const std::vector<pattern_piece>& pattern, const char* member,
                                 const std::string& value) {
    for (const auto& piece : pattern)
      require(piece.placeholder.empty() || words.contains(piece.placeholder), argument + member, value,
              "a pattern with no other words in braces than " + rule.ours + " has");
  };
  require_known(result.theirs, ".theirs", rule.theirs);
  require_known(result.key_factor, ".key_factor", rule.key_factor);
  require(!rule.theirs.empty(), argument + ".theirs", rule.theirs, "a pattern that isn't empty");
  require(std::isfinite(rule.scale) && rule.scale != 0, argument + ".scale", rule.scale, "finite and not 0");
  return result;
}

}  // namespace detail

/// Where a file of that naming has the matrices of the table, in their order.
/// \throws argument_error if a pattern isn't one, a rule fits no name of the table, a scale is 0 or not finite, or two
///         matrices would be one tensor, or a key factor is what another name stands for already
[[nodiscard]] inline std::vector<stored_matrix> stored_matrices(const parameter_table& table, const naming& names) {
  std::vector<stored_matrix> result;
  for (const auto& which : table) result.push_back({names.prefix + which.name, "", false, 1});

  std::vector<bool> settled(result.size(), false);
  for (std::size_t place = 0; place < names.rules.size(); ++place) {
    const std::string argument = "naming.rules[" + std::to_string(place) + "]";
    const naming_rule& rule = names.rules[place];
    const auto parsed = detail::parse_rule(argument, rule);
    bool fits = false;
    for (std::size_t matrix = 0; matrix < result.size(); ++matrix) {
      const auto numbers = detail::match(parsed.ours, table[static_cast<index>(matrix)].name);
      if (!numbers || settled[matrix]) continue;
      fits = settled[matrix] = true;
      result[matrix] = {names.prefix + detail::fill(parsed.theirs, *numbers),
                        rule.key_factor.empty() ? "" : names.prefix + detail::fill(parsed.key_factor, *numbers),
                        rule.transposed, rule.scale};
    }
    require(fits, argument + ".ours", rule.ours, "a pattern of a name of the table's that no rule before it fits");
  }

  std::map<std::string, std::string> taken;
  for (std::size_t matrix = 0; matrix < result.size(); ++matrix) {
    const std::string& ours = table[static_cast<index>(matrix)].name;
    const auto& first = taken.emplace(result[matrix].tensor, ours).first->second;
    require(first == ours, "naming of " + ours, result[matrix].tensor, "another than that of " + first);
  }
  for (std::size_t matrix = 0; matrix < result.size(); ++matrix)
    if (const auto found = taken.find(result[matrix].key_factor); found != taken.end() && !found->first.empty())
      require(false, "key factor of " + table[static_cast<index>(matrix)].name, found->first,
              "another tensor than the matrix or query factor of " + found->second);
  return result;
}

}  // namespace lindyn::io
