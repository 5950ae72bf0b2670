// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Operations of two operands, given by their table, as a task: which result stands at (a, b)?

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::population {

/// The results of an operation: that of (a, b) for a in [0, rows) and b in [0, columns).
class operation_table {
public:
  /// \param rows, columns  numbers of first and second operands, in [1, 10000]
  /// \param outputs        results are in [0, outputs)
  /// \param results        rows x columns, row-major; task::no_answer where (a, b) isn't defined
  /// Throws argument_error, naming the operands, for a result out of its range, shape_error for another number of them.
  operation_table(int rows, int columns, int outputs, std::vector<int> results)
      : rows_(rows), columns_(columns), outputs_(outputs), results_(std::move(results)) {
    require(rows >= 1 && rows <= 10'000, "rows", rows, "in [1, 10000]");
    require(columns >= 1 && columns <= 10'000, "columns", columns, "in [1, 10000]");
    require(outputs >= 1, "outputs", outputs, "at least 1");
    require_extent("results.size()", results_.size(), index{rows} * columns);
    for (int a = 0; a < rows; ++a)
      for (int b = 0; b < columns; ++b)
        if ((*this)(a, b) != task::no_answer && ((*this)(a, b) < 0 || (*this)(a, b) >= outputs))
          require(false, "results(" + std::to_string(a) + ", " + std::to_string(b) + ")", (*this)(a, b),
                  "in [0, " + std::to_string(outputs) + "), or no_answer (-1)");
  }

  /// Number of first operands.
  [[nodiscard]] int rows() const noexcept { return rows_; }
  /// Number of second operands.
  [[nodiscard]] int columns() const noexcept { return columns_; }
  /// Number of results that could be.
  [[nodiscard]] int outputs() const noexcept { return outputs_; }
  /// The result of (a, b), which aren't checked, or task::no_answer.
  [[nodiscard]] int operator()(int a, int b) const noexcept {
    return results_[static_cast<std::size_t>(a) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(b)];
  }

private:
  int rows_, columns_, outputs_;
  std::vector<int> results_;
};

/// What the split of a table keeps together.
enum class pair_split {
  plain,      ///< nothing: under a commutative operation the mirror of half of the test pairs is in training
  swap_safe,  ///< (a, b) and (b, a), both on one side
};

/// The split's name.
[[nodiscard]] constexpr std::string_view name(pair_split split) noexcept {
  switch (split) {
    case pair_split::plain:
      return "plain";
    case pair_split::swap_safe:
      return "swap_safe";
  }
  return {};
}

/// Options of operation_data.
struct operation_options {
  double share = 0.5;                    ///< of the defined pairs, those in training; see training_count
  pair_split split = pair_split::plain;  ///< what stays together; see choose_training
  bool equals_sign = true;               ///< whether the sequences are (a, b, =) or (a, b)
  std::uint64_t split_seed = 1;          ///< of the split
};

/// The defined pairs of a table as sequences, split by a seed. Operand x is the token x in either place, and the sign =
/// is the token behind them: V_in = max(rows, columns) + 1, or without the sign max(rows, columns); V_out = outputs.
/// Sequences come by a, then by b.
/// Throws argument_error for a table with fewer than 2 results, and for a share that leaves a part empty.
[[nodiscard]] inline split_set operation_data(const operation_table& table, const operation_options& options = {}) {
  const int operands = std::max(table.rows(), table.columns());
  std::vector<int> tokens, answers, partners;
  std::vector<int> number(static_cast<std::size_t>(table.rows()) * static_cast<std::size_t>(table.columns()), -1);
  const auto number_of = [&](int a, int b) -> int& {
    return number[static_cast<std::size_t>(a) * static_cast<std::size_t>(table.columns()) +
                  static_cast<std::size_t>(b)];
  };
  for (int a = 0; a < table.rows(); ++a)
    for (int b = 0; b < table.columns(); ++b) {
      if (table(a, b) == task::no_answer) continue;
      const int here = number_of(a, b) = static_cast<int>(answers.size());
      tokens.insert(tokens.end(), {a, b});
      if (options.equals_sign) tokens.push_back(operands);
      answers.push_back(table(a, b));
      partners.push_back(here);
      if (options.split == pair_split::plain || a >= table.columns() || b >= table.rows()) continue;
      if (const int mirror = b < a ? number_of(b, a) : -1; mirror >= 0) {  // the mirror image came before, if it exists
        partners[static_cast<std::size_t>(here)] = mirror;
        partners[static_cast<std::size_t>(mirror)] = here;
      }
    }
  const auto training = choose_training(partners, options.share, options.split_seed);
  return split({{operands + (options.equals_sign ? 1 : 0), table.outputs(), options.equals_sign ? 3 : 2},
                std::move(tokens),
                std::move(answers)},
               training);
}

}  // namespace lindyn::population
