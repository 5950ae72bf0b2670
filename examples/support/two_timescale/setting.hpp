// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What all parts of two_timescale share: the options, the linearised network, and the rate systems that stand for it.

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <lindyn/compare/linearised_rates.hpp>
#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/model/linearised_attention.hpp>
#include <lindyn/model/linearised_hessian.hpp>
#include <lindyn/model/linearised_masses.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/population/finite/vector_composition.hpp>
#include <lindyn/rates/critical_window_map.hpp>
#include <lindyn/rates/linearised_system.hpp>
#include <lindyn/rates/printed_system.hpp>
#include <lindyn/rates/reduced_system.hpp>
#include <lindyn/rates/window_protocol.hpp>
#include <lindyn/sweep/journal.hpp>
#include <lindyn/sweep/map.hpp>
#include <lindyn/task/vector_composition.hpp>

namespace examples::two_timescale {

namespace model = lindyn::model;
namespace rates = lindyn::rates;
using lindyn::index;

/// The command line.
struct options {
  int keys = 16, anchors = 8, pairs = 45, width = 64;
  double gamma = 0.8;
  std::uint64_t seed = 1;
  std::string reduction = "mean";                     ///< of the loss over pairs
  double lr = 1, updates = 20'000;                    ///< of a training
  std::vector<double> onsets{0, 200, 5'000, 15'000};  ///< windows whose courses are drawn
  double window = 5'000, budget = 20;                 ///< updates of a window, and what its decay adds up to
  std::string decay_mode = "lr_scaled";               ///< what a schedule's values mean
  double delta = 0.05;                                ///< of printed windows
  double onset_to = 2'000, width_from = 500, width_to = 8'000, gamma_from = 0.1, gamma_to = 2;  ///< ends of the maps
  index resolution = 64;                                    ///< of the maps, both ways
  index seeds = 3;                                          ///< of the comparison with all weights over gamma
  index starts = 256, module_updates = 3'000;               ///< of modules under Adam
  std::vector<double> module_onsets{0, 50, 100, 200, 400};  ///< of the windows under which they are trained
  std::string module_rule = "adam";                         ///< adam, momentum or sgd
  double module_lr = 3e-3;                                  ///< their learning rate
  int threads = 2;
  std::filesystem::path out = "out/two_timescale";
  bool force = false, resume = false;
};

/// The network and what its rates are made of. Weights of another gamma are these times gamma.
struct setting {
  const options& o;
  lindyn::progress::callback tell = {};
  model::linearised_attention<> net{
      lindyn::population::vector_composition(
          {.keys = o.keys, .anchors = o.anchors, .training_pairs = o.pairs, .width = o.width}),
      lindyn::parse<lindyn::task::pair_reduction>(o.reduction, "reduction")};
  lindyn::optimizer::decay_mode mode = lindyn::parse<lindyn::optimizer::decay_mode>(o.decay_mode, "decay-mode");
  lindyn::compare::linearised_reduction reduction = lindyn::compare::reduction_of(net);
  model::linearised_masses unit_masses = {};          ///< at gamma = 1
  model::linearised_curvature unit_curvature = {};    ///< likewise
  lindyn::compare::linearised_rates unit_rates = {};  ///< likewise

  /// \param chosen    the command line
  /// \param progress  hears of what is done
  setting(const options& chosen, lindyn::progress::callback progress) : o(chosen), tell(std::move(progress)) {
    const std::vector<double> start = weights(1);
    model::linearised_attention<>::workspace memory;
    unit_masses = model::masses(net, std::span(start), memory);
    unit_curvature = model::curvature(net, std::span(start), memory);
    unit_rates = lindyn::compare::rates_of(net, std::span(start), memory);
  }

  /// The weights drawn at a gamma.
  [[nodiscard]] std::vector<double> weights(double gamma) const {
    return model::initial_weights(net, {.gamma = gamma, .seed = o.seed});
  }
  /// What printed rates are made of, at a gamma.
  [[nodiscard]] rates::linearised_statistics statistics(double gamma) const {
    rates::linearised_statistics result = unit_rates.statistics;
    result.coupling *= gamma * gamma;
    return result;
  }
  /// s_m and s_r.
  [[nodiscard]] rates::slopes slopes() const { return reduction.slopes.reduced(); }
  /// A state in which everything is proportional to gamma.
  [[nodiscard]] static std::vector<double> scaled(std::vector<double> state, double gamma) {
    for (double& coordinate : state) coordinate *= gamma;
    return state;
  }
  /// A training with its window at this onset.
  [[nodiscard]] rates::window_protocol protocol(double onset) const {
    return {.updates = o.updates,
            .onset = onset,
            .width = o.window,
            .budget = o.budget,
            .step = {.learning_rate = o.lr, .mode = mode}};
  }
  /// Decay per unit of time within a window.
  [[nodiscard]] double level() const {
    const rates::window_protocol early = protocol(0);
    return early.decay()(0);
  }
};

/// How a part is found that has a journal of its name.
[[nodiscard]] inline lindyn::sweep::map_options journaled(const setting& s, const std::string& name,
                                                          const std::string& configuration) {
  return {.threads = s.o.threads,
          .journal = s.o.out / (name + ".journal"),
          .configuration = configuration,
          .task = name,
          .tell = s.tell};
}

/// Forgets what an earlier run has left of such a part, which not every run has.
inline void remove_part(const setting& s, const std::string& name) {
  lindyn::sweep::remove_journal(s.o.out / (name + ".journal"));
  for (const char* kind : {".csv", ".gnuplot", ".png", ".svg"}) std::filesystem::remove(s.o.out / (name + kind));
}

/// Calls act(name, about, make) for each rate system, make(gamma) being a rates::trial of it.
template <class Act>
void for_each_system(const setting& s, const Act& act) {
  act("printed", "two masses apart, rates as printed", [&s](double gamma) {
    return rates::trial<rates::printed_system>{
        rates::printed_system({.growth = rates::printed_growth(s.statistics(gamma))}), {0, 0}};
  });
  act("corrected", "two masses apart, rates as the loss has them", [&s](double gamma) {
    return rates::trial<rates::printed_system>{
        rates::printed_system(
            {.growth = rates::corrected_growth(s.statistics(gamma), s.net.reduction()), .exponent = 2}),
        {0, 0}};
  });
  act("reduced_2", "one error, two factors, from the weights drawn", [&s](double gamma) {
    return rates::trial<rates::reduced_system<2>>{rates::reduced_system<2>(s.slopes()),
                                                  s.scaled(s.reduction.reduced_state(s.unit_masses), gamma)};
  });
  act("reduced_3", "one error, three equal factors of gamma / sqrt(d)", [&s](double gamma) {
    return rates::trial<rates::equal_factor_system<3>>{rates::equal_factor_system<3>(s.slopes()),
                                                       {0, rates::initial_factor(gamma, s.o.width)}};
  });
  act("reduced_4", "one error, four equal factors of gamma / sqrt(d)", [&s](double gamma) {
    return rates::trial<rates::equal_factor_system<4>>{rates::equal_factor_system<4>(s.slopes()),
                                                       {0, rates::initial_factor(gamma, s.o.width)}};
  });
  act("linearised", "the eight numbers of linearised attention, from the weights drawn", [&s](double gamma) {
    return rates::trial<rates::linearised_system>{
        rates::linearised_system(s.reduction.slopes),
        s.scaled(s.reduction.linearised_state(s.unit_masses, s.unit_curvature), gamma)};
  });
}

}  // namespace examples::two_timescale
