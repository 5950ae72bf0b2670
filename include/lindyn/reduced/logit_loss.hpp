// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The loss of eight queries, from the logits of the tokens that their sequences relate to.

#include <algorithm>
#include <cmath>
#include <vector>

#include <lindyn/reduced/lanes.hpp>
#include <lindyn/reduced/relational_plan.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::reduced::detail {

/// Logits by slot, and a shift for each class of tokens: it is the logit of all tokens of the class without slot, and
/// is added to every slot's of the class. Scoring turns logits and shifts into the derivatives of the loss by them.
class logit_loss {
public:
  explicit logit_loss(task::loss kind) : kind_(kind) {}

  /// Sets all logits and shifts to zero.
  void clear(const relation_context& context) {
    context_ = &context;
    logits_.assign(context.slots.size(), lanes{});
    shifts_.assign(context.others.size(), lanes{});
  }
  [[nodiscard]] lanes& operator[](int slot) noexcept { return logits_[at(slot)]; }
  /// Whether shifts matter: cross-entropy doesn't depend on the one of all tokens.
  [[nodiscard]] bool has_shifts() const noexcept { return kind_ == task::loss::squared_error || shifts_.size() > 1; }
  [[nodiscard]] lanes& shift(int token_class) noexcept { return shifts_[at(token_class)]; }

  /// The weighted loss of the queries; leaves its derivatives in place of the logits, and of the shifts if they matter.
  double score(const query_block& queries) {
    if (has_shifts())
      for (std::size_t slot = 0; slot < logits_.size(); ++slot) logits_[slot] += shift_of(slot);
    const double loss = kind_ == task::loss::squared_error ? squared_error(queries) : cross_entropy(queries);
    if (has_shifts())
      for (std::size_t slot = 0; slot < logits_.size(); ++slot) shift_of(slot) += logits_[slot];
    return loss;
  }

private:
  [[nodiscard]] lanes& shift_of(std::size_t slot) noexcept { return shifts_[at(context_->slots[slot])]; }

  double squared_error(const query_block& queries) {
    const lanes weight = queries.weight;
    lanes sum{};
    for (std::size_t which = 0; which < shifts_.size(); ++which) {
      lanes& z = shifts_[which];
      const double others = context_->others[which];
      sum += z * z * (0.5 * others);
      z *= weight * others;
    }
    for (int lane = 0; lane < queries.count; ++lane) logits_[at(queries.answer[at(lane)])][lane] -= 1;
    for (lanes& z : logits_) {
      sum += z * z * 0.5;
      z *= weight;
    }
    return (sum * weight).sum();
  }

  double cross_entropy(const query_block& queries) {
    const lanes weight = queries.weight;
    lanes largest = logits_.front();
    for (std::size_t which = 0; which < shifts_.size(); ++which)
      if (context_->others[which] > 0) largest = larger(largest, shifts_[which]);
    for (const lanes& z : logits_) largest = larger(largest, z);
    lanes answers{}, sum{};
    for (int lane = 0; lane < queries.count; ++lane)
      answers[lane] = logits_[at(queries.answer[at(lane)])][lane] - largest[lane];
    for (std::size_t which = 0; which < shifts_.size(); ++which) {
      lanes& z = shifts_[which];
      z = context_->others[which] > 0 ? exponential(z - largest) * context_->others[which] : lanes{};
      sum += z;
    }
    for (lanes& z : logits_) {
      z -= largest;
      z = exponential(z);
      sum += z;
    }
    const lanes scale{weight / sum};
    for (lanes& z : shifts_) z *= scale;
    for (lanes& z : logits_) z *= scale;
    double total = 0;
    for (int lane = 0; lane < queries.count; ++lane) {
      total += weight[lane] * (std::log(sum[lane]) - answers[lane]);
      logits_[at(queries.answer[at(lane)])][lane] -= weight[lane];
    }
    return total;
  }

  task::loss kind_;
  const relation_context* context_ = nullptr;
  std::vector<lanes> logits_, shifts_;
};

}  // namespace lindyn::reduced::detail
