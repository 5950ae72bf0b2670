// SPDX-License-Identifier: MIT
/// \file
/// Kind `reduced_flow`: loss and velocity of the reduced dynamics at given starts, the time at which the loss has
/// fallen to a level along the flow, and the coordinates then. Sizes, selections and positions are the file's.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "reference_check.hpp"
#include "rotated_partners.hpp"

namespace {

using namespace lindyn;
using io::member;
using io::member_as;
using lindyn::index;  // there is a function of that name in <strings.h>
using reference_check::compared;

/// Whether the file's selections of tokens are {I, C}, not {I}.
bool has_partners(const io::json& config) {
  const io::json& names = member(config, "token_basis");
  require(names == io::json({"I"}) || names == io::json({"I", "C"}), "token_basis", names.dump(), "[I] or [I, C]");
  return names.size() == 2;
}

/// The relational model of a law under the file's selections.
template <class Law>
reduced::relational_model model_of(const io::json& config, const Law& law) {
  const symmetry::structure tokens =
      has_partners(config) ? symmetry::structure(symmetry::matching(law.sizes().vocabulary)) : law.tokens().structure();
  const symmetry::structure positions = law.positions().structure();
  const manifold::basis basis(member_as<int>(config, "layers"), member_as<int>(config, "heads"),
                              symmetry::product(tokens, positions));
  require_extent("position_basis.size()", member(config, "position_basis").size(), basis.positions().count());
  const auto kind = config.value("loss", std::string("cross-entropy"));
  const bool squared = kind.starts_with("squared") || kind.starts_with("mse");
  require(squared || kind.starts_with("cross"), "loss", kind, "cross-entropy or squared error");
  return {basis, population::enumerate_types(law, tokens, positions).types,
          squared ? task::loss::squared_error : task::loss::cross_entropy};
}

/// The relational model that a file describes. Tokens: distinct in all pairs, or the stored association of the files,
/// or with `within_class` that of the library. Positions: slots, or a ring.
reduced::relational_model model_of(const io::json& config) {
  const population::block_list list{.pairs = member_as<int>(config, "pairs"),
                                    .vocabulary = member_as<int>(config, "vocab"),
                                    .block = member_as<int>(config, "block")};
  const auto on_positions = [&](const auto& tokens) {
    const bool named = member(config, "positions").is_string();
    const auto positions = member_as<std::string>(config, named ? "positions" : "position_law");
    if (positions == "ring")
      return model_of(config, population::law(tokens, population::ring_positions(
                                                          list, member_as<int>(config, named ? "ring" : "positions"))));
    require(positions == "slots", "positions", positions, "slots or ring");
    const int slots = named ? member_as<int>(config, "slots") : member_as<int>(config, "positions") / list.block;
    return model_of(config, population::law(tokens, population::slot_positions(list, slots)));
  };
  if (config.contains("within_class"))
    return on_positions(population::stored_association_tokens(list, member_as<double>(config, "within_class")));
  // A file without that flag tells by its description of the law.
  const bool partners = config.value("law", std::string()).find("partner") != std::string::npos;
  if (config.value("association", partners)) return on_positions(reference_check::rotated_partners(list));
  return on_positions(population::recall_tokens(list));
}

/// Where each of the file's coordinates stands among ours. A file that names its coordinates as we do may have them in
/// any order; one with names of its own must have them in our order, which its velocities then show.
std::vector<std::size_t> places_of(const io::json& config, const manifold::basis& basis) {
  std::vector<std::string> labels;
  for (index place = 0; place < basis.dimension(); ++place) {
    labels.push_back(basis.label(place));
    const auto blank = labels.back().find(' ');  // "out:21 I" is "out:21" where there is no other selection
    if (blank != std::string::npos) labels.back().erase(blank, basis.tokens().count() == 1 ? std::string::npos : 1);
  }
  const io::json& names = member(config, "coordinates");
  require_extent("coordinates.size()", names.size(), labels.size());
  std::vector<std::size_t> result, ours;
  for (const io::json& entry : names) {
    std::string name = entry.get<std::string>();
    std::erase(name, ' ');
    ours.push_back(ours.size());
    const auto place = std::ranges::find(labels, name);
    if (place != labels.end()) result.push_back(static_cast<std::size_t>(place - labels.begin()));
  }
  auto sorted = result;
  std::ranges::sort(sorted);
  return sorted == ours ? result : ours;
}

/// The quantities of all runs of a file.
struct quantities {
  std::vector<compared> losses, velocities, times, ends;
};

void compare_run(const io::json& run, const std::vector<std::size_t>& places, reduced::relational_model& model,
                 quantities& found) {
  const auto in_their_order = [&](const std::vector<double>& ours) {
    std::vector<double> result;
    for (const std::size_t place : places) result.push_back(ours[place]);
    return result;
  };
  const auto read = [&](const std::string& name) {
    return reference_check::numbers(run, name, {static_cast<index>(places.size())});
  };
  const std::string which = "seed " + std::to_string(member_as<int>(run, "seed"));
  std::vector<double> start(places.size()), velocity(places.size());
  const std::vector<double> given = read("start");
  for (std::size_t i = 0; i < places.size(); ++i) start[places[i]] = given[i];
  const double loss = model.velocity(start, velocity);
  found.losses.push_back({which, {loss}, {member_as<double>(run, "loss_at_start")}});
  found.velocities.push_back({which, in_their_order(velocity), read("velocity_at_start")});

  constexpr std::string_view prefix = "time_to_loss_";
  for (const auto& [name, time] : run.items()) {
    if (!name.starts_with(prefix)) continue;
    // A step's tolerance is far below that of the times, as errors of steps add up.
    const auto flow = reduced::flow(
        model, start, {.until = 1e9, .stop_at_loss = std::stod(name.substr(prefix.size())), .tolerance = 1e-11});
    require(flow.status == integrate::flow_status::event, "loss at t = 1e9", flow.value, "that of " + name);
    found.times.push_back({which, {flow.t}, {time.get<double>()}});
    found.ends.push_back({which, in_their_order(flow.state), read("coordinates_then")});
  }
}

void check_reduced_flow(const io::json& file, reference_check::report& errors) {
  const io::json& config = member(file, "config");
  reduced::relational_model model = model_of(config);
  const std::vector<std::size_t> places = places_of(config, model.basis());
  quantities found;
  for (const io::json& run : member(file, "runs")) compare_run(run, places, model, found);
  require(!found.times.empty(), "runs", "runs without time_to_loss_..", "at least one run with it");
  errors.add("loss", found.losses);
  errors.add("velocity", found.velocities);
  errors.add("time", found.times, 1e-6);
  errors.add("coordinates", found.ends, 1e-5);
}

const reference_check::kind registered("reduced_flow", check_reduced_flow);

}  // namespace
