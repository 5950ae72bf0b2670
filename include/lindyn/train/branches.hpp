// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Trainings that share their past: what they have in common is trained once.

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/train/branch_plan.hpp>
#include <lindyn/train/trainer.hpp>

namespace lindyn::train {

/// Options of run_branches.
struct branches_options {
  int threads = 1;                  ///< how many parts train at once; results don't depend on it
  index stride = 50;                ///< steps between questions whether to stop
  progress::callback tell = {};     ///< hears of the progress, in steps of all parts; one call at a time
  std::function<bool()> stop = {};  ///< asked behind each stride, one call at a time; true ends all runs
};

/// How a training among branches ended.
struct branch_end {
  std::optional<run_end> why = run_end::stopped;  ///< none: it diverged
  std::optional<std::string> failure = {};        ///< how it diverged, if it did
};

namespace detail {

/// Parts of branches that may be trained now. Those that begin last come first, so that runs end early, few states wait,
/// and little is lost when a sweep is interrupted. For several threads.
class branch_queue {
public:
  /// A part that begins at that step may be trained.
  void add(index begin, std::size_t part) {
    const std::scoped_lock lock(guard_);
    ready_.emplace(begin, -static_cast<index>(part));
    changed_.notify_one();
  }
  /// The next part, as soon as there is one; none if there won't be any more. Whoever has one says when it is `done`.
  [[nodiscard]] std::optional<std::size_t> next() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return ended_ || !ready_.empty() || in_work_ == 0; });
    if (ended_ || ready_.empty()) return std::nullopt;
    const auto part = static_cast<std::size_t>(-ready_.top().second);
    ready_.pop();
    ++in_work_;
    return part;
  }
  /// A part that `next` returned is done: those that go on from it have been added.
  void done() {
    const std::scoped_lock lock(guard_);
    --in_work_;
    changed_.notify_all();
  }
  /// No part is begun any more.
  void end() {
    const std::scoped_lock lock(guard_);
    ended_ = true;
    changed_.notify_all();
  }
  /// Whether none is begun any more.
  [[nodiscard]] bool ended() {
    const std::scoped_lock lock(guard_);
    return ended_;
  }

private:
  std::mutex guard_;
  std::condition_variable changed_;
  /// Where a part begins, and minus its number: of those that begin together, the lower number comes first.
  std::priority_queue<std::pair<index, index>> ready_;
  index in_work_ = 0;
  bool ended_ = false;
};

/// A training with all that branches take over from it.
template <class Trainer, class Observer>
class branch_state {
public:
  /// At the start, or where `parent` is, which goes on being there.
  template <class Make, class ObserverOf>
  branch_state(index run, index total, const trainer_options& options, Make& make, ObserverOf& observer_of,
               const branch_state* parent)
      : weights_(static_cast<std::size_t>(total)),
        training(make(run, options, std::span(weights_))),
        observer(parent ? parent->observer : observer_of(run)) {
    require(training.weights().data() == weights_.data(), "trainer.weights()", "an array elsewhere",
            "those that were handed over");
    if (parent) training.restart(parent->training.steps(), parent->weights_, parent->training.rule());
  }
  branch_state(const branch_state&) = delete;             ///< the training moves the weights of this one
  branch_state& operator=(const branch_state&) = delete;  ///< likewise

private:
  aligned_vector<typename Trainer::scalar> weights_;

public:
  Trainer training;   ///< moves the weights
  Observer observer;  ///< has heard of all states so far
};

}  // namespace detail

/// Trains runs that are equal but for their decay and for interventions, making the steps that they have in common once:
/// where they part, weights, what the optimiser remembers, and the observer are copied. Each run comes out bit for bit as
/// it would alone, with any number of threads, and so does what its observer has heard.
///
///     using trainer = decltype(make(0, options, weights));
///     std::vector<train::branch<trainer>> runs;
///     for (const index onset : {0, 100, 200, 300, 400, 500}) {
///       options.decay_schedule = schedule::window{double(onset), onset + 5000., 4e-3};
///       runs.push_back({.start = seed, .steps = 7'500, .options = options});
///     }
///     train::run_branches(net.parameters(), runs, {.threads = 2}, make,
///                         [&](index) { return accuracies(net, data); },  // an observer that can be copied
///                         [&](index run, const auto& trainer, auto& seen, const auto& end) { write(run, seen); });
///
/// \param table        parameters of the network
/// \param runs         see branch; whoever resumes a sweep leaves out those that are finished
/// \param options      see branches_options; options of the trainers that tell and stop are called by any thread
/// \param make         make(run, options, weights) returns a trainer of these options, which are the run's: it has filled
///                     the weights with those of the run's start, and trains them in place. Called by any thread, where
///                     runs part for one of those that go on together
/// \param observer_of  observer_of(run) returns an observer that can be copied, called for one of the runs that begin
///                     together. Those of different runs may be called at the same time
/// \param finished     finished(run, trainer, observer, end) is called as soon as a run has ended, but for those that
///                     were stopped, one call at a time. The trainer, const, has counted the seconds of the run's last
///                     part alone; the observer is a copy, also where runs end together
/// \param memory       evaluations use it: each thread a copy
/// \return how each run ended
/// Throws argument_error as branch_plan does, before anything is trained; what `make`, observers and `finished` throw, when
/// all threads have ended.
template <class Trainer, class Make, class ObserverOf, class Finished>
std::vector<branch_end> run_branches(const parameter_table& table, const std::vector<branch<Trainer>>& runs,
                                     const branches_options& options, Make&& make, ObserverOf&& observer_of,
                                     Finished&& finished,
                                     typename Trainer::workspace memory = typename Trainer::workspace()) {
  require(options.threads >= 1, "threads", options.threads, "at least 1");
  require(options.stride >= 1, "stride", options.stride, "at least 1");
  using state = detail::branch_state<Trainer, std::decay_t<std::invoke_result_t<ObserverOf&, index>>>;
  const branch_plan plan(table, runs);
  const auto& parts = plan.parts();
  std::vector<branch_end> ends(runs.size());
  std::vector<std::shared_ptr<const state>> parents(parts.size());
  std::vector<std::vector<std::size_t>> children(parts.size());
  detail::branch_queue queue;
  for (std::size_t number = 0; number < parts.size(); ++number)
    if (parts[number].parent)
      children[*parts[number].parent].push_back(number);
    else
      queue.add(parts[number].begin, number);

  progress tell(options.tell);
  std::mutex telling, finishing;
  double done = 0;
  const auto report = [&](index steps) {
    const std::scoped_lock lock(telling);
    done += static_cast<double>(steps);
    tell("branches", done, static_cast<double>(plan.steps()));
    if (options.stop && options.stop()) queue.end();
  };
  // The state at a part's end is told to observers of the parts that go on from it, which know the decay of the next step.
  const auto train = [&](const branch_part& part, state& of, typename Trainer::workspace& scratch) {
    Trainer& training = of.training;
    for (const index until = part.last ? part.end : part.end - 1;;) {
      const index from = training.steps(), to = std::min(until, from + options.stride);
      const run_end why = training.run(to, scratch, of.observer);
      report(training.steps() - from);
      if (why != run_end::reached) return why;
      if (to == until) break;
      if (queue.ended()) return run_end::stopped;
    }
    if (part.last) return run_end::reached;
    training.step(scratch);
    report(1);
    return training.options().stop && training.options().stop() ? run_end::stopped : run_end::reached;
  };

  const int workers = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(options.threads), parts.size()));
  parallel_chunks(workers, 1, std::max(1, workers), [&](index, index, index, int) {
    typename Trainer::workspace scratch = memory;
    while (const auto number = queue.next()) {
      const branch_part& part = parts[*number];
      try {
        const index first = part.runs.front();
        const branch<Trainer>& run = runs[static_cast<std::size_t>(first)];
        const auto here =
            std::make_shared<state>(first, table.size(), run.options, make, observer_of, parents[*number].get());
        parents[*number].reset();
        branch_end end;
        try {
          for (const intervention<Trainer>& each : run.interventions)
            if (each.step == part.begin) each.act(here->training);
          end.why = train(part, *here, scratch);
        } catch (const divergence_error& reason) {
          end = {std::nullopt, reason.what()};
        }
        if (end.why == run_end::reached && !part.last) {
          for (const std::size_t child : children[*number]) {
            parents[child] = here;
            queue.add(part.end, child);
          }
        } else if (end.why != run_end::stopped) {
          const std::scoped_lock lock(finishing);
          for (const index which : part.runs) {
            ends[static_cast<std::size_t>(which)] = end;
            auto seen = here->observer;  // each run has its own, to change as it likes
            finished(which, std::as_const(here->training), seen, end);
          }
        }
      } catch (...) {
        queue.end();
        queue.done();
        throw;
      }
      queue.done();
    }
  });
  return ends;
}

}  // namespace lindyn::train
