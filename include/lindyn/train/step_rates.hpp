// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The rates of a training's steps: the learning rate, and what decay does to each range of the weights.

#include <optional>
#include <span>
#include <string>
#include <utility>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/optimizer/optimizer.hpp>
#include <lindyn/train/description.hpp>
#include <lindyn/train/settings.hpp>
#include <lindyn/train/trainer_options.hpp>

namespace lindyn::train::detail {

/// What a trainer's options, and an optimiser's own decay, make of each step; and all of them as settings.
/// \tparam Rule  the optimiser
template <class Rule, class Scalar>
class step_rates {
public:
  /// Throws argument_error for bad options, and for those that don't go with that optimiser.
  step_rates(trainer_options options, const parameter_table& table, [[maybe_unused]] const Rule& rule)
      : options_(std::move(options)),
        decay_(grouped_decay_of(options_, table)),
        decays_(scheduled_decay(options_)),
        own_decay_{0, table.size(), {}} {
    require(options_.learning_rate > 0 && options_.learning_rate <= optimizer::largest_rate, "learning_rate",
            options_.learning_rate, "positive, and at most 1e6");
    require(options_.clip_norm >= 0, "clip_norm", options_.clip_norm, "not negative (0: gradients aren't clipped)");
    require_rates(options_, decay_);
    if (!decays_) return;
    require(resumable, "decay_schedule", *decays_, "0 with an optimiser that takes no decay by ranges");
    if constexpr (decays_itself)
      require(rule.options().decay.rate == 0, "decay_schedule", *decays_,
              "0 where the optimiser's options have a decay of their own");
  }

  /// As they were given.
  [[nodiscard]] const trainer_options& options() const noexcept { return options_; }
  /// Those of the options; one of all parameters, where they have none.
  [[nodiscard]] std::span<const optimizer::parameter_group> groups() const noexcept { return decay_.groups(); }
  /// lr_t.
  [[nodiscard]] double learning_rate(index step) const noexcept { return learning_rate_at(options_, step); }
  /// What decay does to the weights in a step, until the next call; nothing, where that is the optimiser's own affair.
  /// Throws argument_error for decay that would turn their sign.
  [[nodiscard]] std::span<const optimizer::range_decay> decay([[maybe_unused]] const Rule& rule,
                                                              [[maybe_unused]] index step) {
    if constexpr (resumable)
      if (decays_) return decay_.at(decay_at(options_, step), learning_rate(step), step);
    if constexpr (resumable && decays_itself) {
      own_decay_.factors = optimizer::factors(rule.options().decay, learning_rate(step));
      return {&own_decay_, 1};
    }
    return {};
  }

  /// All that a training's result depends on, but for the start and the number of steps.
  template <class Objective>
  [[nodiscard]] settings describe(Objective& objective, const Rule& rule) const {
    settings all;
    append(all, "precision", sizeof(Scalar) == 4 ? "float" : "double");
    objective.describe(all);
    append(all, "generator", "philox4x32-10");  // whose streams are counted by steps or epochs
    if constexpr (requires { rule.options(); }) describe_if_known(all, rule.options());
    detail::describe(all, options_, groups());
    return all;
  }

private:
  static constexpr bool resumable = optimizer::resumable_optimizer<Rule, Scalar>;
  static constexpr bool decays_itself = requires(const Rule& rule) { optimizer::require_valid(rule.options().decay); };

  trainer_options options_;
  optimizer::grouped_decay decay_;
  std::optional<std::string> decays_;  // a schedule of decay, if one isn't 0
  optimizer::range_decay own_decay_;
};

}  // namespace lindyn::train::detail
