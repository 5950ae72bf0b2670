// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Statistics of a few numbers.

#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <boost/math/statistics/univariate_statistics.hpp>

namespace examples {

using boost::math::statistics::mean;

/// The one in the middle, or the mean of the two there.
[[nodiscard]] inline double median(std::vector<double> values) { return boost::math::statistics::median(values); }

/// Standard deviation, as estimated from at least two samples.
[[nodiscard]] inline double standard_deviation(const std::vector<double>& values) {
  return std::sqrt(boost::math::statistics::sample_variance(values));
}

/// y ~ x^exponent.
struct power_law {
  double exponent = 0;
  double standard_error = 0;  ///< of the exponent
};

/// The slope of ln y against ln x by least squares, of at least three points.
[[nodiscard]] inline power_law fit_power_law(const std::vector<double>& x, const std::vector<double>& y) {
  const auto centred_logarithm = [](const std::vector<double>& values) -> Eigen::ArrayXd {
    const auto count = static_cast<Eigen::Index>(values.size());
    const Eigen::ArrayXd logarithm = Eigen::Map<const Eigen::ArrayXd>(values.data(), count).log();
    return logarithm - logarithm.mean();
  };
  const Eigen::ArrayXd across = centred_logarithm(x), up = centred_logarithm(y);
  const double square = across.square().sum(), slope = (across * up).sum() / square;
  const double rest = (up - slope * across).square().sum();
  return {slope, std::sqrt(rest / static_cast<double>(across.size() - 2) / square)};
}

}  // namespace examples
