// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Weight decay: the conventions by name, and what each makes of one step.

#include <string_view>

#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::optimizer {

/// What a decay rate lambda means. The first three decouple decay from the gradient (Loshchilov and Hutter, "Decoupled
/// weight decay regularization", ICLR 2019, algorithms 1 and 2): the weights shrink, then the step is subtracted.
enum class decay_mode {
  lr_scaled,   ///< w <- (1 - learning_rate lambda) w, as AdamW is implemented everywhere
  absolute,    ///< w <- (1 - lambda) w, whatever the learning rate
  ratio,       ///< w <- (1 - lambda learning_rate / base) w: `absolute` that follows the schedule, as AdamW was printed
  coupled_l2,  ///< lambda w joins the gradient, and through it momentum and both moments of Adam
};

/// The mode's name.
[[nodiscard]] constexpr std::string_view name(decay_mode mode) noexcept {
  switch (mode) {
    case decay_mode::lr_scaled:
      return "lr_scaled";
    case decay_mode::absolute:
      return "absolute";
    case decay_mode::ratio:
      return "ratio";
    case decay_mode::coupled_l2:
      return "coupled_l2";
  }
  return {};
}

/// The largest learning rate, decay rate and base of either. None that makes sense comes near it, and larger ones would
/// take float weights or Adam's moments out of their range.
inline constexpr double largest_rate = 1e6;

/// How much the weights decay. The rate is lambda; 0 is no decay, in every mode.
struct weight_decay {
  double rate = 0;                          ///< lambda
  decay_mode mode = decay_mode::lr_scaled;  ///< what it means
  double base_learning_rate = 0;            ///< `ratio`: the configured learning rate, not the warm-up's first
  /// Whether all members are equal.
  bool operator==(const weight_decay&) const = default;
};

/// What decay does to one step: w <- keep w - step(gradient + coupled w).
struct decay_factors {
  double keep = 1;     ///< share of the weights that stays, in [0, 1]
  double coupled = 0;  ///< of the weights, joins the gradient
  /// Whether both are equal.
  bool operator==(const decay_factors&) const = default;
};

/// What decay does to the entries [begin, end) of the flat buffer in one step.
struct range_decay {
  index begin = 0;        ///< the first entry
  index end = 0;          ///< behind the last one
  decay_factors factors;  ///< of each of them
};

/// Throws argument_error, naming the member, for decay that makes no sense at any learning rate.
inline void require_valid(const weight_decay& decay) {
  require_enumerator("decay.mode", decay.mode);
  require(decay.rate >= 0 && decay.rate <= largest_rate, "decay.rate", decay.rate, "not negative, and at most 1e6");
  require(decay.mode != decay_mode::absolute || decay.rate <= 1, "decay.rate", decay.rate,
          "at most 1 in the mode absolute");
  require(decay.mode != decay_mode::ratio || (decay.base_learning_rate > 0 && decay.base_learning_rate <= largest_rate),
          "decay.base_learning_rate", decay.base_learning_rate, "positive in the mode ratio, and at most 1e6");
}

namespace detail {

/// Throws argument_error for a learning rate that makes no sense in any step.
inline void require_learning_rate(double learning_rate) {
  require(learning_rate >= 0 && learning_rate <= largest_rate, "learning_rate", learning_rate,
          "not negative, and at most 1e6");
}

}  // namespace detail

/// What a step at this learning rate takes from the weights, as a share of them: 0 where decay is coupled.
/// Throws argument_error for a decay or a rate that makes no sense, and where the weights' sign would change.
[[nodiscard]] inline double shrinkage(const weight_decay& decay, double learning_rate) {
  require_valid(decay);
  detail::require_learning_rate(learning_rate);
  if (decay.mode == decay_mode::coupled_l2) return 0;
  const double scale = decay.mode == decay_mode::lr_scaled  ? learning_rate
                       : decay.mode == decay_mode::absolute ? 1
                                                            : learning_rate / decay.base_learning_rate;
  const double result = scale * decay.rate;
  if (!(result <= 1))  // the text is made where it is needed alone
    require(false, "decay.rate", decay.rate,
            "at most " + lindyn::detail::to_text(1 / scale) + ", so that no step turns the weights' sign");
  return result;
}

/// The factors of a step at this learning rate. Throws as `shrinkage` does; coupled decay isn't checked for turning signs:
/// what it does to the weights is up to the optimiser.
[[nodiscard]] inline decay_factors factors(const weight_decay& decay, double learning_rate) {
  const double keep = 1 - shrinkage(decay, learning_rate);
  return {.keep = keep, .coupled = decay.mode == decay_mode::coupled_l2 ? decay.rate : 0};
}

}  // namespace lindyn::optimizer
