// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What all parts of circuit_race share: the options, the network's manifold, and where races start.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/circuit/race/head_pair.hpp>
#include <lindyn/circuit/race/race.hpp>
#include <lindyn/circuit/race/winner_map.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/population/enumeration.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "../recall_experiment.hpp"

namespace examples::circuit_race {

namespace circuit = lindyn::circuit;
namespace sweep = lindyn::sweep;
using lindyn::index;
using lindyn::io::number_text;

/// The command line.
struct options {
  law_options law;
  int layers = 3;
  int heads = 1;
  std::string x = "L2[x,1]I", y = "L3[x,2]I";  ///< coordinates that the map varies
  double low = -1, high = 1;                   ///< of both
  index resolution = 256;                      ///< of both
  double scale = 0.3;                          ///< of random starts
  std::int64_t seed = 2;                       ///< the random start on which the map lies
  std::vector<std::string> set;                ///< LABEL=VALUE of further coordinates of the map's start
  index starts = 400;                          ///< random starts
  double loss = 0.05;                          ///< at which a race ends
  std::string measure = "needed";              ///< by which a pair wins
  index confirm = 64;                          ///< random starts, and cells of the map, from which full networks train
  double rate = 0.5;                           ///< their learning rate
  index batch = 512;
  int threads = 2;
  std::filesystem::path out = "out/circuit_race";
  bool force = false, resume = false;
};

/// The names of circuit::measure.
inline const std::vector<std::string> measures{"needed", "alone", "product"};

/// The network's manifold. Throws argument_error if it is too large for races.
[[nodiscard]] inline lindyn::manifold::basis basis_of(const options& o, const chosen_law& law) {
  lindyn::manifold::basis result(o.layers, o.heads, law.structure());
  lindyn::require(result.dimension() <= 100'000, "the number of coordinates", result.dimension(),
                  "at most 100000: choose fewer --layers or --heads");
  return result;
}

/// The network on its manifold.
struct setting {
  const options& o;
  chosen_law law = make_law(o.law);
  lindyn::reduced::relational_model model{basis_of(o, law), lindyn::population::enumerate_types(law).types};
  std::vector<circuit::head_pair> pairs = circuit::head_pairs(model.basis().layout());
  circuit::race_options race = {
      .loss = o.loss, .by = static_cast<circuit::measure>(std::ranges::find(measures, o.measure) - measures.begin())};
  std::size_t x_place = place("x", o.x), y_place = place("y", o.y);  ///< of the coordinates that the map varies
  std::vector<double> start = start_of_map();                        ///< of the map, before its two coordinates are set
  lindyn::progress::callback tell = {};

  [[nodiscard]] const lindyn::manifold::basis& basis() const { return model.basis(); }
  [[nodiscard]] std::string name(const circuit::head_pair& pair) const {
    return std::string(label(basis().layout(), pair).view());
  }
  /// The name of the pair at a place that a table holds as a number; "none" for -1.
  [[nodiscard]] std::string name(double place) const {
    return place < 0 ? "none" : name(pairs[static_cast<std::size_t>(place)]);
  }

  /// Normal coordinates of standard deviation o.scale.
  [[nodiscard]] std::vector<double> random_start(std::int64_t seed) const {
    lindyn::counter_generator generator(static_cast<std::uint64_t>(seed), ~std::uint64_t{1});
    std::vector<double> result;
    for (index i = 0; i < basis().dimension(); ++i) result.push_back(o.scale * lindyn::standard_normal(generator));
    return result;
  }
  /// The map's axes: y downwards in the table, x along its rows.
  [[nodiscard]] sweep::grid grid() const {
    return sweep::grid(
        {sweep::axis::linear(o.y, o.low, o.high, o.resolution), sweep::axis::linear(o.x, o.low, o.high, o.resolution)});
  }
  /// The start at a point of the map.
  [[nodiscard]] std::vector<double> start_at(double x, double y) const {
    std::vector<double> result = start;
    result[x_place] = x;
    result[y_place] = y;
    return result;
  }
  /// What decides the results of all parts but how many there are, in lines.
  [[nodiscard]] std::string configuration() const {
    const law_options law_of = completed(o.law);
    std::string text = "pairs " + number_text(law_of.pairs) + " vocabulary " + number_text(law_of.vocabulary) +
                       " positions " + law_of.positions + " slots " + number_text(law_of.slots) + " ring " +
                       number_text(law_of.ring) + "\nlayers " + number_text(o.layers) + " heads " +
                       number_text(o.heads) + " loss " + number_text(o.loss) + " measure " + o.measure + "\nstart";
    for (const double value : start) text += ' ' + number_text(value);
    return text + "\nmap " + o.x + ' ' + o.y + ' ' + number_text(o.low) + ' ' + number_text(o.high) + ' ' +
           number_text(o.resolution) + "\nscale " + number_text(o.scale) + " rate " + number_text(o.rate) + " batch " +
           number_text(o.batch) + '\n';
  }
  /// Options of a sweep that keeps its journal in the folder of the results.
  [[nodiscard]] sweep::map_options sweeping(const std::string& task, const std::string& file) const {
    return {
        .threads = o.threads, .journal = o.out / file, .configuration = configuration(), .task = task, .tell = tell};
  }

private:
  /// The place of a coordinate that an option names by its label. Throws argument_error, naming the option.
  [[nodiscard]] std::size_t place(const std::string& option, const std::string& label) const {
    try {
      return static_cast<std::size_t>(basis().place_of(label));
    } catch (const lindyn::argument_error& fault) {
      throw lindyn::argument_error(option, label, fault.allowed());
    }
  }
  [[nodiscard]] std::vector<double> start_of_map() const {
    std::vector<double> result = random_start(o.seed);
    std::vector<std::string> taken{o.x, o.y};
    for (const std::string& assignment : o.set) {
      const auto equals = assignment.rfind('=');
      const auto value = equals == std::string::npos
                             ? std::nullopt
                             : lindyn::io::number_from_text<double>(std::string_view(assignment).substr(equals + 1));
      lindyn::require(value && std::abs(*value) <= 100, "set", assignment, "LABEL=NUMBER, the number in [-100, 100]");
      const std::string which = assignment.substr(0, equals);
      lindyn::require(std::ranges::find(taken, which) == taken.end(), "set", assignment,
                      "of a coordinate that neither the map varies nor another --set sets");
      taken.push_back(which);
      result[place("set", which)] = *value;
    }
    return result;
  }
};

/// A text as printf would write it.
template <class... Values>
[[nodiscard]] std::string text(const char* format, Values... values) {
  std::string result(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(result.data(), result.size() + 1, format, values...);
  return result;
}

}  // namespace examples::circuit_race
