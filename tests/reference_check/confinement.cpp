// SPDX-License-Identifier: MIT
/// \file
/// Kind `confinement`: at a point of the manifold, the exact population gradient of the full network and its
/// coordinates, for associative recall as the files' `config.task` describes it.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sequence_table.hpp>

#include "reference_check.hpp"
#include "rotated_partners.hpp"

namespace {

using namespace lindyn;
using io::member;
using io::member_as;
using lindyn::index;  // there is a function of that name in <strings.h>
using reference_check::compared;

/// Calls `work` with the law that a file names.
template <class Work>
void with_law(const io::json& config, Work&& work) {
  const population::block_list list{.pairs = member_as<int>(config, "pairs"),
                                    .vocabulary = member_as<int>(config, "vocab"),
                                    .block = member_as<int>(config, "block")};
  const auto on_positions = [&](const auto& tokens) {
    const auto law = member_as<std::string>(config, "position_law");
    const int positions = member_as<int>(config, "positions");
    if (law == "ring") {
      work(population::law(tokens, population::ring_positions(list, positions)));
    } else {
      require(law == "slots", "position_law", law, "ring or slots");
      require(positions % list.block == 0, "positions", positions, "slots x block");
      work(population::law(tokens, population::slot_positions(list, positions / list.block)));
    }
  };
  if (member_as<bool>(config, "association"))
    on_positions(reference_check::rotated_partners(list));
  else
    on_positions(population::recall_tokens(list));
}

/// The integer that a text begins with; the text moves on behind it.
int take_integer(std::string_view& text) {
  int result = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), result);
  require(problem == std::errc(), "label", text, "a number");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return result;
}

/// The coordinate of the attention weight of `layer` (from 1; L + 1: readout) and `head` that a label "a,b:S" names:
/// selection S between copy a of the query (row) and copy b of the key (column).
manifold::coordinate coordinate_of(const manifold::layout& layout, int layer, int head, std::string_view label) {
  const std::string whole(label);
  manifold::coordinate result{.layer = layer, .head = head};
  const auto take = [&](std::string_view word) {
    require(label.starts_with(word), "label", whole, "of the form a,b:S with S one of I, C, M^0, M^1, ..");
    label.remove_prefix(word.size());
  };
  result.query_copy = take_integer(label);
  take(",");
  result.key_copy = take_integer(label);
  take(":");
  if (label == "I" || label == "C") {
    result.selection = label == "I" ? 0 : 1;
  } else {
    take("M^");
    result.selection = layout.token_selections() + take_integer(label);
  }
  const bool readout = layer > layout.layers();
  const bool inside = result.query_copy >= 0 && result.query_copy < (readout ? 1 : layout.copies(layer)) &&
                      result.key_copy >= 0 && result.key_copy < layout.copies(layer) && result.selection >= 0 &&
                      result.selection < (readout ? layout.token_selections() : layout.selections());
  require(inside, "label", whole, "a coordinate of the manifold");
  return result;
}

/// One weight of a file, and the places of its coordinates in ours.
struct weight {
  std::string name;
  const io::json& values;
  std::vector<std::size_t> places;

  [[nodiscard]] std::vector<double> numbers(const std::string& of) const {
    return reference_check::numbers(values, of, {static_cast<index>(places.size())});
  }
  [[nodiscard]] std::vector<double> pick(std::span<const double> coordinates) const {
    std::vector<double> result;
    for (const std::size_t place : places) result.push_back(coordinates[place]);
    return result;
  }
};

/// The weights of a file in the order of the parameters: "W_KQ.0.1", or "W_KQ.0" where there is one head, and "W_out".
std::vector<weight> weights_of(const io::json& expected, const manifold::basis& basis) {
  const auto& layout = basis.layout();
  std::vector<weight> result;
  std::vector<bool> named(static_cast<std::size_t>(basis.dimension()));
  for (index which = 0; which < basis.parameters().count(); ++which) {
    std::string name = basis.parameters()[which].name;
    if (!expected.contains(name) && layout.heads() == 1) name = name.substr(0, name.rfind('.'));
    const int layer = static_cast<int>(which) / layout.heads() + 1, head = static_cast<int>(which) % layout.heads();
    weight next{name, member(expected, name), {}};
    for (const auto& label : member(next.values, "basis")) {
      const auto coordinate = coordinate_of(layout, layer, head, label.get<std::string>());
      next.places.push_back(static_cast<std::size_t>(layout.place(coordinate)));
      require(!named[next.places.back()], "label", label.get<std::string>(), "named once");
      named[next.places.back()] = true;
    }
    result.push_back(std::move(next));
  }
  for (std::size_t place = 0; place < named.size(); ++place)
    require(named[place], "basis", "without " + basis.label(static_cast<index>(place)), "complete");
  return result;
}

/// The squared norms of all basis elements.
std::vector<double> gram_diagonal(const manifold::basis& basis) {
  std::vector<double> result;
  for (index place = 0; place < basis.dimension(); ++place) {
    const int selection = basis.layout().at(place).selection, shift = selection - basis.tokens().count();
    result.push_back(shift < 0 ? basis.tokens().gram()(selection, selection) : basis.positions().gram()(shift, shift));
  }
  return result;
}

template <class Law>
void check_law(const Law& law, const io::json& file, reference_check::report& errors) {
  const auto& config = member(file, "config");
  const auto& expected = member(file, "expected");
  const manifold::basis basis(member_as<int>(config, "layers"), member_as<int>(config, "heads"), law.structure());
  const std::vector<weight> weights = weights_of(expected, basis);

  std::vector<double> coordinates(static_cast<std::size_t>(basis.dimension()));
  for (const auto& w : weights) {
    const auto values = w.numbers("coordinates");
    for (std::size_t s = 0; s < values.size(); ++s) coordinates[w.places[s]] = values[s];
  }

  population::sequence_table table(law.sizes().length);
  population::enumerate(law, [&](const task::sequence& sequence) { table.append(sequence); });
  std::vector<double> gradient(static_cast<std::size_t>(basis.parameters().size()));
  const double loss = model::attention_only<>(basis.shape())
                          .loss_and_gradient(basis.embed(coordinates), table, task::loss::cross_entropy, gradient);
  std::vector<double> slopes(coordinates.size());
  basis.inner_products(gradient, slopes);
  const manifold::projection projection = basis.project(gradient);
  const std::vector<double> squares = gram_diagonal(basis);

  std::vector<compared> of_slopes, of_coordinates, of_squares, of_norms;
  double largest_norm = 0, residual = 0;
  for (const auto& w : projection.weights) largest_norm = std::max(largest_norm, w.norm);
  for (std::size_t which = 0; which < weights.size(); ++which) {
    const auto& w = weights[which];
    const auto& [name, norm, off_manifold] = projection.weights[which];
    of_slopes.push_back({w.name, w.pick(slopes), w.numbers("dL_dtheta")});
    of_coordinates.push_back({w.name, w.pick(projection.coordinates), w.numbers("gradient_coordinates")});
    of_squares.push_back({w.name, w.pick(squares), w.numbers("gram_diagonal")});
    of_norms.push_back({w.name, {norm}, {member_as<double>(w.values, "gradient_norm")}});
    residual = std::max(residual, off_manifold / std::max(norm, 1e-6 * largest_norm));
  }
  errors.add("loss", {{"loss", {loss}, {member_as<double>(expected, "loss")}}});
  errors.add_error("sequences", std::abs(static_cast<double>(table.size()) - member_as<double>(expected, "sequences")),
                   0);
  errors.add("dL_dtheta", of_slopes);
  errors.add("gradient_coordinates", of_coordinates);
  errors.add("gram_diagonal", of_squares);
  errors.add("gradient_norm", of_norms);
  errors.add_error("relative_residual", residual, 1e-12);
}

void check_confinement(const io::json& file, reference_check::report& errors) {
  const auto& config = member(file, "config");
  const auto loss = member_as<std::string>(config, "loss");
  require(loss.find("cross-entropy") == 0, "loss", loss, "cross-entropy");
  with_law(config, [&](const auto& law) { check_law(law, file, errors); });
}

const reference_check::kind registered("confinement", check_confinement);

}  // namespace
