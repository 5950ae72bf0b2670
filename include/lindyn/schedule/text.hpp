// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Schedules as texts that are read back as the same schedule: "warmup(100) * cosine(0, 20000, 0.003, 3e-05)".

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/schedule/schedule.hpp>

namespace lindyn::schedule {

/// The schedule as a text; parse makes an equal one of it.
[[nodiscard]] inline std::string to_text(const schedule& of) {
  std::string text;
  for (const auto& term : of.terms()) {
    if (!text.empty()) text += " + ";
    for (const shape& factor : term) {
      if (&factor != term.data()) text += " * ";
      std::visit(
          [&text]<class Shape>(const Shape& one) {
            text += Shape::signature.substr(0, Shape::signature.find('(') + 1);
            const auto arguments = one.arguments();
            for (std::size_t i = 0; i < arguments.size(); ++i)
              text += (i == 0 ? "" : ", ") + lindyn::detail::to_text(arguments[i]);
            text += ')';
          },
          factor);
    }
  }
  return text;
}

namespace detail {

/// Reads a schedule from a text, from left to right.
class reader {
public:
  reader(std::string_view text, std::string_view argument) : text_(text), argument_(argument) {}

  [[nodiscard]] schedule sum() {
    schedule result = product();
    while (accept('+')) result = joined(std::plus(), result, product());
    if (skip_blanks(); place_ != text_.size()) refuse("'+', '*' or the end");
    return result;
  }

private:
  [[nodiscard]] schedule product() {
    schedule result = factor();
    while (accept('*')) result = joined(std::multiplies(), result, factor());
    return result;
  }

  [[nodiscard]] schedule factor() {
    if (const auto level = number()) return checked(constant{*level});
    const std::size_t start = place_;
    while (place_ < text_.size() && text_[place_] >= 'a' && text_[place_] <= 'z') ++place_;
    const std::string_view name = text_.substr(start, place_ - start);
    std::optional<schedule> result;
    std::string known = "a number";
    try_shapes(name, result, known, std::make_index_sequence<std::variant_size_v<shape>>());
    if (!result) {
      place_ = start;
      refuse(known);
    }
    return *std::move(result);
  }

  template <std::size_t... Which>
  void try_shapes(std::string_view name, std::optional<schedule>& result, std::string& known,
                  std::index_sequence<Which...>) {
    (try_shape<std::variant_alternative_t<Which, shape>>(name, result, known), ...);
  }

  template <class Shape>
  void try_shape(std::string_view name, std::optional<schedule>& result, std::string& known) {
    (known += ", ") += Shape::signature;
    if (result || name != Shape::signature.substr(0, Shape::signature.find('('))) return;
    const std::size_t behind_name = place_;
    const auto arguments = this->arguments();
    if (!fits(Shape::signature, arguments.size())) {
      place_ = behind_name;
      refuse("the arguments of " + std::string(Shape::signature));
    }
    result = checked(Shape::of(arguments));
  }

  /// Whether a shape of this signature takes so many arguments: as many as are named, and of those that end in ".." any
  /// number of pairs fewer or more.
  [[nodiscard]] static bool fits(std::string_view signature, std::size_t count) {
    const auto named = static_cast<std::size_t>(std::ranges::count(signature, ',')) + 1;
    return signature.ends_with("..)") ? count >= 1 && count % 2 == (named - 1) % 2 : count == named;
  }

  [[nodiscard]] std::vector<double> arguments() {
    if (!accept('(')) refuse("'('");
    std::vector<double> result;
    do {
      const auto next = number();
      if (!next) refuse("a number");
      result.push_back(*next);
    } while (accept(','));
    if (!accept(')')) refuse("',' or ')'");
    return result;
  }

  template <class Operation>
  [[nodiscard]] schedule joined(const Operation& operation, const schedule& left, const schedule& right) const {
    try {
      return operation(left, right);
    } catch (const argument_error& fault) {
      throw argument_error(std::string(argument_), "'" + std::string(text_) + "'",
                           std::string("small enough; ") + fault.what());
    }
  }

  template <class Shape>
  [[nodiscard]] schedule checked(const Shape& one) const {
    try {
      return one;
    } catch (const argument_error& fault) {
      throw argument_error(std::string(argument_), "'" + std::string(text_) + "'",
                           "made of shapes that make sense; in " + std::string(Shape::signature) + ", " + fault.what());
    }
  }

  [[nodiscard]] std::optional<double> number() {
    skip_blanks();
    double result = 0;
    const auto [end, fault] = std::from_chars(text_.data() + place_, text_.data() + text_.size(), result);
    if (fault != std::errc()) return std::nullopt;
    place_ = static_cast<std::size_t>(end - text_.data());
    return result;
  }

  [[nodiscard]] bool accept(char wanted) {
    skip_blanks();
    if (place_ == text_.size() || text_[place_] != wanted) return false;
    ++place_;
    return true;
  }

  void skip_blanks() {
    while (place_ < text_.size() && text_[place_] == ' ') ++place_;
  }

  [[noreturn]] void refuse(const std::string& wanted) const {
    throw argument_error(std::string(argument_), "'" + std::string(text_) + "'",
                         "a sum of products of shapes; where '" + std::string(text_.substr(place_)) + "' stands, " +
                             wanted + " was expected");
  }

  std::string_view text_, argument_;
  std::size_t place_ = 0;
};

}  // namespace detail

/// Reads what to_text writes: shapes joined by `*` and `+`, a number standing for a constant.
/// \param text      such as "1e-3", "window(5000, 10000, 4e-3)" or "warmup(100) * steps(1e-3, 5000, 1e-4)"
/// \param argument  what errors call it
/// Throws argument_error saying what was expected where, or which number makes no sense.
[[nodiscard]] inline schedule parse(std::string_view text, std::string_view argument = "schedule") {
  return detail::reader(text, argument).sum();
}

}  // namespace lindyn::schedule
