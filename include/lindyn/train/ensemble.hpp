// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Runs of one shape that train together, on several threads.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/aligned_vector.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/train/trainer.hpp>

namespace lindyn::train {

/// One run of an ensemble ended in an error, which stands nested in this one where that is thrown.
class run_error : public error {
public:
  /// \param run     number of the run
  /// \param reason  what its error says
  run_error(index run, const std::string& reason) : error("run " + std::to_string(run) + ": " + reason), run_(run) {}
  /// Number of the run.
  [[nodiscard]] index run() const noexcept { return run_; }

private:
  index run_;
};

namespace detail {

/// Throws run_error, with that error nested in it; nothing for none.
inline void rethrow_as_run_error(index run, const std::exception_ptr& error) {
  if (!error) return;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& reason) {
    std::throw_with_nested(run_error(run, reason.what()));
  }
}

/// Whose turn it is among runs that wait: of those furthest behind, the first. For several threads.
class turns {
public:
  /// A run that has made so many steps waits.
  void add(index steps, index run) {
    const std::scoped_lock lock(guard_);
    waiting_.emplace(steps, run);
  }
  /// The run whose turn it is, which waits no more; none if no run waits, or at the end. Who gets none isn't needed any
  /// more, as the others go on with the runs that they have.
  [[nodiscard]] std::optional<index> next() {
    const std::scoped_lock lock(guard_);
    if (ended_ || waiting_.empty()) return std::nullopt;
    const index run = waiting_.top().second;
    waiting_.pop();
    return run;
  }
  /// No run has a turn any more.
  void end() {
    const std::scoped_lock lock(guard_);
    ended_ = true;
  }

private:
  using steps_and_run = std::pair<index, index>;

  std::mutex guard_;
  std::priority_queue<steps_and_run, std::vector<steps_and_run>, std::greater<>> waiting_;
  bool ended_ = false;
};

}  // namespace detail

/// What becomes of the other runs if one diverges.
enum class divergence {
  goes_on,  ///< they train on without it
  stops,    ///< they end at the steps where they are, which depend on the threads, and the error is thrown
};

/// Options of ensemble::run.
struct ensemble_options {
  int threads = 1;                                 ///< how many runs train at once; results don't depend on it
  divergence on_divergence = divergence::goes_on;  ///< errors of other kinds stop the ensemble always
  index stride = 50;                               ///< steps that a run makes before another one may have its turn
  progress::callback tell = {};                    ///< hears of the progress, in steps of all runs; one call at a time
  std::function<bool()> stop = {};                 ///< asked behind each stride, one call at a time; true ends all runs
};

/// R trainings of one shape that may differ in all else: seeds, data, initial weights, learning rates, decay, schedules.
/// Each of them comes out bit for bit as it would alone, with any number of threads. A run is trained by one thread at a
/// time, with that thread's workspace, whose backend should have no further threads; the run that is furthest behind
/// comes first, so that all of them end at about the same time.
///
/// Weights stand in one array, [run][total], as a device wants them that trains all runs in one go.
///
///     auto runs = train::make_ensemble<float>(12, net.parameters().size(), [&](index run, std::span<float> weights) {
///       std::ranges::copy(model::initial_weights<float>(net.shape(), {.seed = seeds[run]}), weights.begin());
///       return train::trainer(train::set_objective(net, data.training, {.seed = seeds[run]}), weights,
///                             optimizer::adam<float>(net.parameters().size()), {.learning_rate = rates[run]});
///     });
///     runs.run(15'000, {.threads = 4}, [&](index run) {  // makes the observer of each run
///       return train::every(100, [&, run](const auto& here) { losses[run].push_back(here.evaluation.loss); });
///     });
///
/// \tparam Trainer  train::trainer
template <class Trainer>
class ensemble {
public:
  using scalar = typename Trainer::scalar;        ///< of weights and gradients
  using workspace = typename Trainer::workspace;  ///< memory that evaluations reuse

  /// \param runs   R, at least 1
  /// \param total  entries of the flat buffer of a run, at least 1
  /// \param make   make(run, weights) returns the trainer of that run: it has filled the weights, and trains them in place
  /// \param memory  evaluations use it: each thread a copy
  /// Throws argument_error for no runs or weights; for what `make` throws, for a trainer of other weights, and for weights
  /// that are all zero, run_error, in which that is nested.
  template <class Make>
  ensemble(index runs, index total, Make&& make, workspace memory = workspace())
      : total_(total), memory_(std::move(memory)) {
    require(runs >= 1, "runs", runs, "at least 1");
    require(total >= 1, "total", total, "at least 1");
    weights_.assign(static_cast<std::size_t>(runs * total), scalar(0));
    trainers_.reserve(static_cast<std::size_t>(runs));
    for (index run = 0; run < runs; ++run) {
      const auto own =
          std::span(weights_).subspan(static_cast<std::size_t>(run * total), static_cast<std::size_t>(total));
      try {
        trainers_.push_back(make(run, own));
        require_extent("trainer.weights().size()", trainers_.back().weights().size(), total);
        require(trainers_.back().weights().data() == own.data(), "trainer.weights()", "an array elsewhere",
                "those of the ensemble, which were handed over");
        require(std::ranges::any_of(own, [](scalar weight) { return weight != 0; }), "weights", "all 0",
                "filled by make with those of the start");
      } catch (...) {
        detail::rethrow_as_run_error(run, std::current_exception());
      }
    }
    failures_.resize(trainers_.size());
  }
  ensemble(ensemble&&) noexcept = default;  ///< the weights stay where they are

  /// R.
  [[nodiscard]] index count() const noexcept { return static_cast<index>(trainers_.size()); }
  /// The weights of all runs: R x total.
  [[nodiscard]] matrix_view<const scalar> weights() const noexcept { return {weights_.data(), count(), total_}; }
  /// \{
  /// The training of a run, whose number isn't checked.
  [[nodiscard]] const Trainer& operator[](index run) const { return trainers_[static_cast<std::size_t>(run)]; }
  [[nodiscard]] Trainer& operator[](index run) { return trainers_[static_cast<std::size_t>(run)]; }
  /// \}
  /// How a run diverged, if it did. It makes no more steps then, until that is cleared.
  [[nodiscard]] const std::optional<std::string>& failure(index run) const {
    return failures_[static_cast<std::size_t>(run)];
  }
  /// Lets a run that has diverged try again, from the state that its trainer has by now.
  void clear_failure(index run) { failures_[static_cast<std::size_t>(run)].reset(); }

  /// Makes steps of all runs until each has made `until` of them, but for those that have diverged. A run that an
  /// observer ended goes on in the next call, as that of a trainer does.
  /// \param until         steps in all
  /// \param options       see ensemble_options; options of the trainers that tell and stop are called by any thread
  /// \param observers_of  each is called, here, with the number of each run, and returns an observer of it. Observers
  ///                      of different runs may be called at the same time, those of one run are not
  /// \return why each run ended; nothing for those that have diverged
  /// Throws argument_error for bad options; for the error that ended all runs, run_error, in which it is nested (of
  /// several, that of the first run).
  template <std::invocable<index>... ObserversOf>
  std::vector<std::optional<run_end>> run(index until, const ensemble_options& options, ObserversOf&&... observers_of) {
    require(options.threads >= 1, "threads", options.threads, "at least 1");
    require(options.stride >= 1, "stride", options.stride, "at least 1");
    std::vector<std::tuple<std::invoke_result_t<ObserversOf&, index>...>> observers;
    observers.reserve(trainers_.size());
    std::vector<std::optional<run_end>> ends(trainers_.size());
    std::vector<std::exception_ptr> errors(trainers_.size());
    detail::turns turns;
    double done = 0, all = 0;
    for (index run = 0; run < count(); ++run) {
      observers.emplace_back(observers_of(run)...);
      if (failure(run)) continue;
      ends[static_cast<std::size_t>(run)] = run_end::stopped;  // until it has its turn
      turns.add((*this)[run].steps(), run);
      done += static_cast<double>(std::min(until, (*this)[run].steps()));
      all += static_cast<double>(until);
    }
    progress tell(options.tell);
    std::mutex telling;
    const auto report = [&](index steps) {
      const std::scoped_lock lock(telling);
      done += static_cast<double>(steps);
      tell("ensemble", done, all);
      if (options.stop && options.stop()) turns.end();
    };

    const index workers = std::min<index>(options.threads, count());
    parallel_chunks(workers, 1, static_cast<int>(workers), [&](index, index, index, int) {
      workspace memory = memory_;
      while (const auto run = turns.next()) {
        const auto place = static_cast<std::size_t>(*run);
        Trainer& trainer = trainers_[place];
        const index from = trainer.steps(), to = from + std::min(until - from, options.stride);
        try {
          auto end = std::apply([&](auto&... each) { return trainer.run(to, memory, each...); }, observers[place]);
          report(trainer.steps() - from);
          const bool again = end == run_end::reached && to < until;
          ends[place] = again ? run_end::stopped : end;
          if (again) turns.add(to, *run);  // from here on it may be another thread's
        } catch (const divergence_error& reason) {
          ends[place].reset();
          failures_[place] = reason.what();
          if (options.on_divergence == divergence::goes_on) continue;
          errors[place] = std::current_exception();
          turns.end();
        } catch (...) {
          errors[place] = std::current_exception();
          turns.end();
        }
      }
    });
    for (index run = 0; run < count(); ++run) detail::rethrow_as_run_error(run, errors[static_cast<std::size_t>(run)]);
    return ends;
  }

private:
  index total_;
  workspace memory_;
  aligned_vector<scalar> weights_;
  std::vector<Trainer> trainers_;
  std::vector<std::optional<std::string>> failures_;
};

/// An ensemble of the trainers that `make` returns.
/// \tparam Scalar  float or double, of the weights
/// \param runs    R, at least 1
/// \param total   entries of the flat buffer of a run
/// \param make    make(run, weights), see ensemble
/// \param memory  evaluations use it: each thread a copy
template <class Scalar, class Make, class Trainer = std::invoke_result_t<Make&, index, std::span<Scalar>>>
[[nodiscard]] ensemble<Trainer> make_ensemble(index runs, index total, Make&& make,
                                              typename Trainer::workspace memory = typename Trainer::workspace()) {
  return {runs, total, std::forward<Make>(make), std::move(memory)};
}

}  // namespace lindyn::train
