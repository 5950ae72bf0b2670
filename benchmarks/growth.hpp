// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Growth of a figure with a size: the fit, and how good it is.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benchmarks {

/// A figure as the table of growth needs it.
struct figure {
  std::string name;    ///< ends with the sizes, "/L2/H1/N16/V256"
  double seconds = 0;  ///< processor time, median
  double floor = 0;    ///< seconds; 0 if none is known
};

/// How a figure grows with one size, all others fixed. A power, seconds = b x^p with x = N, V or H + 1; or a factor for
/// each layer, seconds = b e^(p L). Where a power alone doesn't fit, one behind a fixed part, seconds = a + b x^p.
struct growth {
  std::string family;                    ///< the figures' name with * for the size
  char size = 'N';                       ///< N, V, L or H
  int smallest = 0, largest = 0;         ///< of the sizes
  std::size_t points = 0;                ///< number of them, at least three
  double rate = 0;                       ///< p
  double fixed = 0;                      ///< a, seconds
  double rms = 0;                        ///< root mean square of fit / seconds - 1
  double first_rate = 0, last_rate = 0;  ///< p between the two smallest and between the two largest sizes, for a = 0
  double floor_rate = 0;                 ///< p of the floors, for a = 0; NaN without floors

  /// Whether the fit describes all points. Else the sizes reach across a bend, and the local rates alone may be quoted.
  static constexpr double largest_rms = 0.1;
  [[nodiscard]] bool holds() const noexcept { return rms <= largest_rms; }
  /// A rate as it is quoted: the factor of a layer for L, the exponent otherwise.
  [[nodiscard]] double quoted(double of) const noexcept { return size == 'L' ? std::exp(of) : of; }
};

namespace detail {

/// Least squares of the relative errors of seconds = a + b e^(p u), a >= 0; with a = 0 if `proportional`.
struct power_fit {
  power_fit(const std::vector<double>& u, const std::vector<double>& seconds, bool proportional) {
    rms = std::numeric_limits<double>::infinity();
    for (double p = -1; p <= 8; p += 0.002) {
      // With g = e^(p u) / seconds and h = 1 / seconds: minimise sum (a h + b g - 1)^2 over a and b.
      double g = 0, h = 0, gg = 0, gh = 0, hh = 0;
      for (std::size_t i = 0; i < u.size(); ++i) {
        const double one_h = 1 / seconds[i], one_g = std::exp(p * (u[i] - u.back())) / seconds[i];
        g += one_g, h += one_h, gg += one_g * one_g, gh += one_g * one_h, hh += one_h * one_h;
      }
      double a = proportional ? 0 : (gg * h - gh * g) / (gg * hh - gh * gh);
      if (!(a > 0)) a = 0;
      const double b = (g - a * gh) / gg;
      const double squares = static_cast<double>(u.size()) - a * h - b * g;  // at the minimum
      const double error = std::sqrt(std::max(0.0, squares) / static_cast<double>(u.size()));
      if (error < rms) rms = error, rate = p, fixed = a;
    }
  }
  double rate = 0, fixed = 0, rms = 0;
};

[[nodiscard]] inline growth fit_growth(const std::string& family, char size, const std::map<int, figure>& by_size) {
  std::vector<double> u, seconds, floors;
  for (const auto& [value, one] : by_size) {
    u.push_back(size == 'L' ? value : std::log(size == 'H' ? value + 1 : value));
    seconds.push_back(one.seconds);
    if (one.floor > 0) floors.push_back(one.floor);
  }
  const auto between = [&](std::size_t i) { return std::log(seconds[i + 1] / seconds[i]) / (u[i + 1] - u[i]); };
  power_fit fit(u, seconds, true);
  if (fit.rms > growth::largest_rms && size != 'L' && u.size() >= 5) fit = power_fit(u, seconds, false);
  return {.family = family,
          .size = size,
          .smallest = by_size.begin()->first,
          .largest = by_size.rbegin()->first,
          .points = u.size(),
          .rate = fit.rate,
          .fixed = fit.fixed,
          .rms = fit.rms,
          .first_rate = between(0),
          .last_rate = between(u.size() - 2),
          .floor_rate =
              floors.size() == u.size() ? power_fit(u, floors, true).rate : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace detail

/// The growth of all families: figures whose names differ in the number behind /N, /V, /L or /H alone, and are three
/// or more. Families come in the order of their first figures.
[[nodiscard]] inline std::vector<growth> growth_of(const std::vector<figure>& figures) {
  struct family {
    std::string name;
    char size;
    std::map<int, figure> by_size;
  };
  std::vector<family> families;
  for (const figure& one : figures)
    for (const char size : std::string_view("NVLH")) {
      const std::size_t begin = one.name.find(std::string("/") + size);
      if (begin == std::string::npos) continue;
      const std::size_t end = std::min(one.name.find('/', begin + 1), one.name.size());
      const std::string name = one.name.substr(0, begin + 2) + "*" + one.name.substr(end);
      auto place = std::ranges::find(families, name, &family::name);
      if (place == families.end()) place = families.insert(place, {name, size, {}});
      place->by_size[std::stoi(one.name.substr(begin + 2, end - begin - 2))] = one;
    }
  std::vector<growth> result;
  for (const auto& [name, size, by_size] : families)
    if (by_size.size() >= 3) result.push_back(detail::fit_growth(name, size, by_size));
  return result;
}

}  // namespace benchmarks
