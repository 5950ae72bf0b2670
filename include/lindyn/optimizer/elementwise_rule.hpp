// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What all optimisers have in common that move every entry by itself.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/elementwise.hpp>
#include <lindyn/optimizer/formulas.hpp>
#include <lindyn/optimizer/memory.hpp>
#include <lindyn/optimizer/optimizer.hpp>

namespace lindyn::optimizer {

/// Steps, decay and memory of a rule with a formula for what it takes from an entry, see formulas.hpp:
/// w <- keep w - formula(numbers, g + coupled w, remembered..). One pass over the weights, their gradient and the memory;
/// nothing is allocated.
/// \tparam Rule     the rule, which derives from this; it has `numbers(learning_rate, t)` and `with_formula(use)`
/// \tparam Options  of the rule; `decay` among them
/// \tparam Count    number of arrays that it remembers
template <class Rule, class Scalar, class Options, std::size_t Count>
class elementwise_rule {
public:
  using scalar = Scalar;                            ///< of weights and memory
  using options_type = Options;                     ///< of the rule
  static constexpr std::size_t remembered = Count;  ///< number of arrays that it remembers

  /// One step, with the options' decay of every entry. Throws shape_error for another number of weights or derivatives,
  /// argument_error for a negative rate; and nothing has changed then.
  void step(std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
    const range_decay whole{0, memory_.size(), factors(options_.decay, learning_rate)};
    step(weights, gradient, learning_rate, {&whole, 1});
  }

  /// One step of the entries within the ranges, each with its own decay in place of the options'. Entries between the
  /// ranges, such as the gaps of an aligned parameter table, stay as they are. See grouped_decay.
  /// \param ranges   in order, without overlap
  /// \param workers  whose threads work at once, as those of a worker_pool; results don't depend on their number
  template <class Workers = one_thread>
  void step(std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate,
            std::span<const range_decay> ranges, Workers&& workers = {}) {
    require_extent("weights.size()", weights.size(), memory_.size());
    require_extent("gradient.size()", gradient.size(), memory_.size());
    detail::require_learning_rate(learning_rate);
    detail::require_ranges(memory_.size(), ranges);
    const auto t = memory_.count_step();
    const Rule& rule = static_cast<const Rule&>(*this);
    const auto now = rule.numbers(learning_rate, t);
    rule.with_formula([&](const auto& formula) {
      const auto step = step_of(formula, now, std::make_index_sequence<Count>());
      detail::for_each_part(memory_.size(), ranges, workers, [&](index begin, index end, const decay_factors& decay) {
        detail::subtract_steps(decay, weights.data(), gradient.data(), begin, end, step);
      });
    });
  }

  /// What the rule was made with.
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  /// t, the steps made so far.
  [[nodiscard]] std::int64_t steps() const noexcept { return memory_.steps(); }
  /// The arrays that it remembers, by name, to be written to: state_array of Scalar.
  [[nodiscard]] auto state() noexcept { return memory_.arrays(); }
  /// The same to be read: state_array of const Scalar.
  [[nodiscard]] auto state() const noexcept { return memory_.arrays(); }

  /// So many steps have been made, where `state()` has been written to. Throws argument_error if they are negative.
  void set_steps(std::int64_t steps) { memory_.set_steps(steps); }

  /// Goes on where a rule was of which these are the arrays, in any order, and the number of steps.
  /// Throws argument_error for a name that is missing, unknown or there twice and for a negative number of steps,
  /// shape_error for another size, non_finite_error; and nothing has changed then.
  void restore(std::span<const state_array<const Scalar>> arrays, std::int64_t steps) {
    memory_.restore(arrays, steps);
  }

  /// Whether options, arrays and steps are equal.
  bool operator==(const elementwise_rule&) const = default;

protected:
  /// Throws argument_error for decay that makes no sense, or a size that isn't in [0, 2^40].
  elementwise_rule(index size, const Options& options, const typename memory<Scalar, Count>::name_list& names)
      : options_(options), memory_(size, names) {
    require_valid(options.decay);
  }

private:
  /// step(i, g) of the formula, on the elements of entry i in all arrays.
  template <class Formula, std::size_t... Which>
  [[nodiscard]] auto step_of(const Formula& formula, const step_numbers<Scalar>& now, std::index_sequence<Which...>) {
    if constexpr (Count == 0)
      return [formula, now](index, Scalar g) { return formula(now, g); };
    else
      return [formula, now, remembered = std::array<Scalar*, Count>{memory_[Which].data()...}](index i, Scalar g) {
        return formula(now, g, remembered[Which][i]...);
      };
  }

protected:
  Options options_;               ///< what the rule was made with
  memory<Scalar, Count> memory_;  ///< what it remembers
};

}  // namespace lindyn::optimizer
