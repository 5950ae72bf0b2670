// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The loss of eight queries, from the logits of the tokens that their sequences relate to.

#include <algorithm>
#include <cmath>
#include <vector>

#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/reduced/row_block.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced::detail {

/// Logits by slot; all tokens without slot have the common logit, and it is added to every slot's. Scoring turns the
/// logits into the derivatives of the loss by them.
class logit_loss {
public:
  logit_loss(task::loss kind, int most_slots) : kind_(kind), logits_(at(most_slots)) {}

  /// Sets all logits, and the common one, to zero.
  void clear(const relation_context& context) {
    slots_ = context.slots;
    others_ = context.others;
    std::fill_n(logits_.data(), slots_, lanes{});
    common_ = 0;
  }
  [[nodiscard]] lanes& operator[](int slot) noexcept { return logits_[at(slot)]; }
  [[nodiscard]] double& common() noexcept { return common_; }
  /// dL/d(common logit), after scoring. Cross-entropy doesn't depend on it.
  [[nodiscard]] double common_gradient() const noexcept { return common_gradient_; }

  /// The weighted loss of the queries; leaves its derivatives in place of the logits.
  double score(const query_block& queries) {
    return kind_ == task::loss::squared_error ? squared_error(queries) : cross_entropy(queries);
  }

private:
  double squared_error(const query_block& queries) {
    const lanes weight = queries.weight;
    lanes sum = lanes::all(0.5 * others_ * common_ * common_), shift{};
    for (int lane = 0; lane < queries.count; ++lane) logits_[at(queries.answer[at(lane)])][lane] -= 1;
    for (int slot = 0; slot < slots_; ++slot) {
      lanes& z = logits_[at(slot)];
      z += lanes::all(common_);
      sum += z * z * 0.5;
      z *= weight;
      shift += z;
    }
    common_gradient_ = shift.sum() + others_ * common_ * weight.sum();
    return (sum * weight).sum();
  }

  double cross_entropy(const query_block& queries) {
    const lanes weight = queries.weight;
    common_gradient_ = 0;
    lanes largest = others_ > 0 ? lanes{} : logits_[0];
    for (int slot = 0; slot < slots_; ++slot) largest = larger(largest, logits_[at(slot)]);
    lanes answers{}, sum = -largest;
    for (int lane = 0; lane < queries.count; ++lane)
      answers[lane] = logits_[at(queries.answer[at(lane)])][lane] - largest[lane];
    sum = exponential(sum);
    sum *= others_;
    for (int slot = 0; slot < slots_; ++slot) {
      lanes& z = logits_[at(slot)];
      z -= largest;
      z = exponential(z);
      sum += z;
    }
    const lanes scale{weight / sum};
    for (int slot = 0; slot < slots_; ++slot) logits_[at(slot)] *= scale;
    double total = 0;
    for (int lane = 0; lane < queries.count; ++lane) {
      total += weight[lane] * (std::log(sum[lane]) - answers[lane]);
      logits_[at(queries.answer[at(lane)])][lane] -= weight[lane];
    }
    return total;
  }

  task::loss kind_;
  std::vector<lanes> logits_;
  int slots_ = 0;
  double others_ = 0, common_ = 0, common_gradient_ = 0;
};

}  // namespace lindyn::reduced::detail
