// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which steps trainings have in common that differ in nothing but their decay and in interventions.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/train/interventions.hpp>
#include <lindyn/train/trainer_options.hpp>

namespace lindyn::train {

/// One of several trainings that may have steps in common.
/// \tparam Trainer  train::trainer
template <class Trainer>
struct branch {
  /// Which start: those of one start have the same weights there, data, optimiser and options, but for what decays.
  index start = 0;
  index steps = 0;                                        ///< in all
  trainer_options options;                                ///< of its trainer
  std::vector<intervention<Trainer>> interventions = {};  ///< in the order in which those of one step are done
};

/// Steps that trainings have in common: a node of the trees of a branch_plan.
struct branch_part {
  index begin = 0;                    ///< steps made before it
  index end = 0;                      ///< steps made behind it; as many as `begin` where runs end that go on elsewhere
  std::optional<std::size_t> parent;  ///< the part that it goes on from; none: the start
  std::vector<index> runs;            ///< numbers of the trainings that have it in common
  bool last = false;                  ///< whether these end with it
};

namespace detail {

/// What a step of a training is like, of those that have all else in common.
struct branch_step {
  bool ends = false;                                            ///< there is no such step any more
  std::vector<std::string> interventions;                       ///< names of what is done before it
  std::vector<std::tuple<index, index, double, double>> decay;  ///< begin and end of each range, keep and coupled
  /// Any order, to sort by.
  auto operator<=>(const branch_step&) const = default;
};

/// The steps of trainings.
template <class Trainer>
class branch_steps {
public:
  /// Throws as grouped_decay, naming the run.
  branch_steps(const parameter_table& table, const std::vector<branch<Trainer>>& runs) : runs_(&runs) {
    for (const branch<Trainer>& run : runs)
      named(static_cast<index>(decay_.size()), [&] { decay_.push_back(grouped_decay_of(run.options, table)); });
  }

  /// The step of that number. Throws argument_error, naming the run, for decay that makes no sense.
  [[nodiscard]] branch_step operator()(index run, index step) {
    const branch<Trainer>& of = (*runs_)[static_cast<std::size_t>(run)];
    branch_step result{.ends = step >= of.steps, .interventions = {}, .decay = {}};
    for (const intervention<Trainer>& each : of.interventions)
      if (each.step == step) result.interventions.push_back(each.name);
    if (!result.ends)
      named(run, [&] {
        for (const auto& [begin, end, factors] : decay_[static_cast<std::size_t>(run)].at(
                 decay_at(of.options, step), learning_rate_at(of.options, step), step))
          result.decay.emplace_back(begin, end, factors.keep, factors.coupled);
      });
    return result;
  }

private:
  template <class Do>
  static void named(index run, const Do& what) {
    try {
      what();
    } catch (const argument_error& fault) {
      throw argument_error("runs[" + std::to_string(run) + "]: " + fault.argument(), fault.value(), fault.allowed());
    }
  }

  const std::vector<branch<Trainer>>* runs_;
  std::vector<optimizer::grouped_decay> decay_;
};

}  // namespace detail

/// Which steps trainings have in common: those before the first in which other decay acts on some weight, something else
/// is done to one of them, or one of them ends. Schedules, modes and groups count by what they do to the weights: a
/// window [400, 5400) and one at [0, 5000) part at step 0, and `absolute` and `coupled_l2` part where the window begins.
///
///     const train::branch_plan plan(net.parameters(), runs);
///     std::printf("%td steps in place of %td\n", plan.steps(), plan.steps_alone());
class branch_plan {
public:
  /// \param table  parameters of the network
  /// \param runs   the trainings
  /// Throws argument_error, naming the run, for a negative number of steps, an intervention at a step that the run
  /// doesn't reach, options of one start that differ in more than decay, and decay that makes no sense.
  template <class Trainer>
  branch_plan(const parameter_table& table, const std::vector<branch<Trainer>>& runs) {
    std::map<index, std::vector<index>> of_start;
    for (std::size_t number = 0; number < runs.size(); ++number) {
      auto& same = of_start[runs[number].start];
      same.push_back(static_cast<index>(number));
      require_valid(runs[number], runs[static_cast<std::size_t>(same.front())], "runs[" + std::to_string(number) + "]");
    }
    detail::branch_steps<Trainer> step_of(table, runs);
    for (const auto& [start, same] : of_start) add(same, 0, std::nullopt, step_of);
    for (const branch<Trainer>& run : runs) steps_alone_ += run.steps;
  }

  /// The parts, each behind the one that it goes on from.
  [[nodiscard]] const std::vector<branch_part>& parts() const noexcept { return parts_; }
  /// Steps of all parts.
  [[nodiscard]] index steps() const noexcept {
    index sum = 0;
    for (const branch_part& part : parts_) sum += part.end - part.begin;
    return sum;
  }
  /// Steps that the trainings make in all, if each is trained alone.
  [[nodiscard]] index steps_alone() const noexcept { return steps_alone_; }

private:
  template <class Trainer>
  static void require_valid(const branch<Trainer>& run, const branch<Trainer>& first, const std::string& name) {
    require(run.steps >= 0, name + ".steps", run.steps, "not negative");
    for (const intervention<Trainer>& each : run.interventions)
      require(each.step >= 0 && each.step <= run.steps, name + ".interventions",
              each.name + " at step " + std::to_string(each.step),
              "at steps in [0, " + std::to_string(run.steps) + "]");
    const auto same = [&](bool holds, const char* member) {
      require(holds, name + ".options." + member, "another value",
              "that of the first run of its start: runs of one start differ in decay alone");
    };
    same(run.options.learning_rate == first.options.learning_rate, "learning_rate");
    same(run.options.learning_rate_schedule == first.options.learning_rate_schedule, "learning_rate_schedule");
    same(run.options.clip_norm == first.options.clip_norm, "clip_norm");
  }

  /// Adds the parts of runs that have all in common before the step `begin`.
  template <class Trainer>
  void add(const std::vector<index>& runs, index begin, std::optional<std::size_t> parent,
           detail::branch_steps<Trainer>& step_of) {
    std::map<detail::branch_step, std::vector<index>> alike;
    for (const index run : runs) alike[step_of(run, begin)].push_back(run);
    for (const auto& [step, same] : alike) {
      branch_part part{.begin = begin, .end = begin, .parent = parent, .runs = same, .last = step.ends};
      for (bool together = !part.last; together;) {
        const auto next = step_of(same.front(), ++part.end);
        together = next.interventions.empty() &&
                   std::all_of(same.begin() + 1, same.end(), [&](index run) { return step_of(run, part.end) == next; });
        part.last = together && next.ends;
        together = together && !next.ends;
      }
      const std::size_t number = parts_.size();
      parts_.push_back(std::move(part));
      if (!parts_[number].last) add(same, parts_[number].end, number, step_of);
    }
  }

  std::vector<branch_part> parts_;
  index steps_alone_ = 0;
};

}  // namespace lindyn::train
