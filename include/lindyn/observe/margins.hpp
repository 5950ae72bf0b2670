// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Margins: by how much answers are right.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/observe/quantile_sketch.hpp>

namespace lindyn::observe {

/// Margins of answers, added one by one or in batches: the answer's logit less the largest other one. Memory is that of
/// quantile_sketch.
class margins {
public:
  /// Adds the margin of an answer that stands for `count` equal ones. Throws argument_error unless there are two logits
  /// at least and the answer is one of them, non_finite_error.
  template <class T>
  void add(std::span<T> logits, int answer, std::int64_t count = 1) {
    require(logits.size() >= 2, "logits.size()", logits.size(), "at least 2");
    require(answer >= 0 && static_cast<std::size_t>(answer) < logits.size(), "answer", answer,
            "in [0, " + std::to_string(logits.size()) + ")");
    require_finite("logits", logits);
    double other = -std::numeric_limits<double>::infinity();
    for (std::size_t place = 0; place < logits.size(); ++place) {
      const auto logit = static_cast<double>(logits[place]);
      if (place != static_cast<std::size_t>(answer)) other = std::max(other, logit);
    }
    const double margin = static_cast<double>(logits[static_cast<std::size_t>(answer)]) - other;
    sketch_.add(margin, count);
    sum_ += margin * static_cast<double>(count);
    if (margin < 0) negative_ += count;
  }

  /// Adds the margins of a batch, a row of logits each. Throws shape_error unless there are as many answers, and as above.
  template <class T>
  void add(const matrix_view<T>& logits, std::span<const int> answers) {
    require_extent("answers.size()", answers.size(), logits.rows);
    for (index row = 0; row < logits.rows; ++row) add(logits.row(row), answers[static_cast<std::size_t>(row)]);
  }

  /// Number of answers.
  [[nodiscard]] std::int64_t count() const noexcept { return sketch_.count(); }
  /// The smallest margin. Throws argument_error without answers, as all below.
  [[nodiscard]] double min() const { return quantile(0); }
  /// A quantile, see quantile_sketch for its error.
  [[nodiscard]] double quantile(double q) const { return sketch_.quantile(q); }
  /// The mean margin.
  [[nodiscard]] double mean() const { return sum_ / answers(); }
  /// The share of answers with a margin below 0, which are wrong.
  [[nodiscard]] double negative_share() const { return static_cast<double>(negative_) / answers(); }

private:
  [[nodiscard]] double answers() const {
    require(count() > 0, "count", count(), "positive: there are no margins without answers");
    return static_cast<double>(count());
  }

  quantile_sketch sketch_;
  double sum_ = 0;
  std::int64_t negative_ = 0;
};

}  // namespace lindyn::observe
