// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a user may not have meant by a schedule.

#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <lindyn/core/views.hpp>
#include <lindyn/schedule/schedule.hpp>
#include <lindyn/schedule/text.hpp>

namespace lindyn::schedule {

/// Sentences about a schedule that is allowed but may not be meant: a shape that lies behind the run's end or goes on
/// there, an empty window, zero at every update (unless it is the constant 0, or has a window of which one of
/// the former was said). The caller prints them.
/// \param of       the schedule
/// \param updates  of the run
/// \param name     what the sentences call the schedule
[[nodiscard]] inline std::vector<std::string> warnings(const schedule& of, index updates, std::string_view name) {
  const auto end = static_cast<double>(updates);
  const std::string run = "the run's " + std::to_string(updates) + " updates";
  std::vector<std::string> sentences;
  const auto say = [&](const std::string& what) { sentences.push_back(std::string(name) + ": " + what); };
  bool idle = false;  // a window changes nothing
  for (const auto& term : of.terms())
    for (const shape& factor : term)
      std::visit(
          [&]<class Shape>(const Shape& one) {
            const auto edges = one.edges();
            const double last = edges.empty() ? 0 : edges.back();
            bool absent = false, empty = false;
            if constexpr (std::same_as<Shape, window>) {
              empty = one.end == one.begin;
              absent = one.begin >= end;
              idle = idle || empty || absent;
            } else if constexpr (std::same_as<Shape, steps>) {
              absent = !edges.empty() && last == end;
            }
            if (empty)
              say(to_text(one) + " is empty");
            else if (absent)
              say(to_text(one) + " changes nothing any more: it begins behind " + run);
            else if (std::isfinite(last) && last > end)
              say(to_text(one) + " goes on behind " + run);
          },
          factor);
  bool zero = !idle && updates > 0 && of != schedule();
  for (index t = 0; zero && t < updates; ++t) zero = of.value(t) == 0;
  if (zero) say(to_text(of) + " is zero at all of " + run);
  return sentences;
}

}  // namespace lindyn::schedule
