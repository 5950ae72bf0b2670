// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Quantiles of any number of values in constant memory.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <lindyn/core/errors.hpp>

namespace lindyn::observe {

/// Counts values in buckets that grow geometrically on both sides of zero: every quantile is right to 1 % of itself, or
/// to 1e-9 near zero, whatever the values and their order. Values beyond 1e9 count as that; the smallest and the largest
/// are exact. Memory: 33 KiB. Source: Masson, Rim and Lee, "DDSketch", PVLDB 12, 2195 (2019).
class quantile_sketch {
public:
  static constexpr double accuracy = 0.01;    ///< relative error of quantiles
  static constexpr double resolution = 1e-9;  ///< absolute error of quantiles near zero
  static constexpr double range = 1e9;        ///< values are told apart up to this magnitude

  /// Without values.
  quantile_sketch() : negative_(buckets()), positive_(buckets()) {}

  /// Adds `count` equal values. Throws non_finite_error, argument_error for a negative count.
  void add(double value, std::int64_t count = 1) {
    if (!std::isfinite(value)) throw non_finite_error("value", lindyn::detail::to_text(value), "finite");
    require(count >= 0, "count", count, "not negative");
    if (count == 0) return;
    count_ += count;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
    const double magnitude = std::abs(value);
    if (magnitude <= resolution)
      zero_ += count;
    else
      (value < 0 ? negative_ : positive_)[bucket(magnitude)] += count;
  }

  /// Adds all values of another sketch: the same as if they had been added here.
  void add(const quantile_sketch& other) {
    count_ += other.count_;
    zero_ += other.zero_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    for (std::size_t which = 0; which < buckets(); ++which) {
      negative_[which] += other.negative_[which];
      positive_[which] += other.positive_[which];
    }
  }

  /// Number of values.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  /// The smallest value, exactly; infinity without values.
  [[nodiscard]] double min() const noexcept { return min_; }
  /// The largest value, exactly; -infinity without values.
  [[nodiscard]] double max() const noexcept { return max_; }

  /// The value below or at which the share q of the values lies: that of rank floor(q (count - 1)), from 0, in ascending
  /// order. Throws argument_error unless q is in [0, 1] and there are values.
  [[nodiscard]] double quantile(double q) const {
    require(q >= 0 && q <= 1, "q", q, "in [0, 1]");
    require(count_ > 0, "count", count_, "positive: there are no quantiles without values");
    const auto rank = static_cast<std::int64_t>(std::floor(q * static_cast<double>(count_ - 1)));
    if (rank == 0) return min_;
    if (rank == count_ - 1) return max_;
    std::int64_t below = 0;
    for (std::size_t which = buckets(); which-- > 0;)
      if ((below += negative_[which]) > rank) return std::clamp(-centre(which), min_, max_);
    if ((below += zero_) > rank) return std::clamp(0.0, min_, max_);
    for (std::size_t which = 0; which < buckets(); ++which)
      if ((below += positive_[which]) > rank) return std::clamp(centre(which), min_, max_);
    return max_;
  }

private:
  static constexpr double growth = (1 + accuracy) / (1 - accuracy);

  [[nodiscard]] static std::size_t buckets() noexcept {
    static const auto count = static_cast<std::size_t>(std::ceil(std::log(range / resolution) / std::log(growth))) + 1;
    return count;
  }
  /// Bucket i has magnitudes in (resolution growth^i, resolution growth^(i + 1)].
  [[nodiscard]] static std::size_t bucket(double magnitude) noexcept {
    const double place = std::ceil(std::log(magnitude / resolution) / std::log(growth)) - 1;
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(buckets() - 1)));
  }
  /// Of a bucket the magnitude that is wrong by the same share at both ends.
  [[nodiscard]] static double centre(std::size_t bucket) noexcept {
    return resolution * std::pow(growth, static_cast<double>(bucket)) * (1 + accuracy);
  }

  std::vector<std::int64_t> negative_, positive_;
  std::int64_t zero_ = 0, count_ = 0;
  double min_ = std::numeric_limits<double>::infinity(), max_ = -min_;
};

}  // namespace lindyn::observe
