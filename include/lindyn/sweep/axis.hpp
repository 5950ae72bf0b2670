// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What is varied in a sweep, and the values it takes.

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::sweep {

/// A named list of values, at least one, all finite.
class axis {
public:
  /// `count` values at equal distances, both ends among them.
  /// Throws argument_error unless count is at least 2 (or 1 with low = high) and the ends are finite.
  [[nodiscard]] static axis linear(std::string name, double low, double high, index count) {
    require_ends(name, low, high, count);
    return {std::move(name), between(low, high, count, [](double value) { return value; })};
  }

  /// `count` values at equal ratios, both ends among them. Throws as `linear`, and unless both ends are positive.
  [[nodiscard]] static axis logarithmic(std::string name, double low, double high, index count) {
    require_ends(name, low, high, count);
    require(low > 0, name + ".low", low, "positive on a logarithmic axis");
    require(high > 0, name + ".high", high, "positive on a logarithmic axis");
    auto values = between(std::log(low), std::log(high), count, [](double value) { return std::exp(value); });
    values.front() = low;  // which the logarithm may have rounded
    values.back() = high;
    return {std::move(name), std::move(values)};
  }

  /// These values, in this order. Throws argument_error if there are none, non_finite_error if one isn't finite.
  [[nodiscard]] static axis listed(std::string name, std::vector<double> values) {
    return {std::move(name), std::move(values)};
  }

  /// What is varied.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Its values.
  [[nodiscard]] const std::vector<double>& values() const noexcept { return values_; }
  /// How many there are.
  [[nodiscard]] index count() const noexcept { return static_cast<index>(values_.size()); }
  /// The value at a place in [0, count()), which isn't checked.
  [[nodiscard]] double at(index place) const noexcept { return values_[static_cast<std::size_t>(place)]; }

  /// Whether both have the same name and the same values.
  friend bool operator==(const axis&, const axis&) = default;

private:
  axis(std::string name, std::vector<double> values) : name_(std::move(name)), values_(std::move(values)) {
    require(!name_.empty() && name_.find_first_of("\r\n") == std::string::npos, "name", '"' + name_ + '"',
            "what is varied, in one line");
    require(!values_.empty(), name_ + ".count", values_.size(), "at least 1");
    require_finite(name_, values_);
  }

  static void require_ends(const std::string& name, double low, double high, index count) {
    require(std::isfinite(low), name + ".low", low, "finite");
    require(std::isfinite(high), name + ".high", high, "finite");
    require(count >= 2 || (count == 1 && low == high), name + ".count", count, "at least 2, or 1 if both ends agree");
  }

  template <class Scale>
  static std::vector<double> between(double low, double high, index count, const Scale& scale) {
    std::vector<double> values{scale(low)};
    for (index place = 1; place < count; ++place)
      values.push_back(scale(std::lerp(low, high, static_cast<double>(place) / static_cast<double>(count - 1))));
    return values;
  }

  std::string name_;
  std::vector<double> values_;
};

}  // namespace lindyn::sweep
