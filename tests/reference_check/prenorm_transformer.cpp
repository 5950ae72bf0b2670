// SPDX-License-Identifier: MIT
/// \file
/// Kind `prenorm_transformer`: logits, loss, gradients, attention and its order parameters, in double on the backend
/// `host`, with all exact savings and with none; loss, logits and gradients in float too.

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/model/prenorm_transformer.hpp>

#include "diagnostics.hpp"
#include "prenorm_file.hpp"
#include "reference_check.hpp"

namespace {

using namespace lindyn;
using io::member;
using io::member_as;
using lindyn::index;  // there is a function of that name in <strings.h>
using reference_check::compared;

/// Evaluates the file's network in one precision, and compares what of the file `what` names.
/// \param suffix  of the quantities' names
template <class Scalar>
void compare(const io::json& file, const std::string& what, const model::savings& use, const std::string& suffix,
             double tolerance, reference_check::report& errors) {
  using reference_check::extents_of;
  const model::prenorm_transformer<Scalar, backend::host> net(reference_check::prenorm_shape(file));
  typename decltype(net)::workspace memory(backend::host(1), use);
  const parameter_table& table = net.parameters();
  const model::prenorm_shape& shape = net.shape();
  const auto weights = reference_check::prenorm_weights<Scalar>(file, table);
  const auto set = reference_check::prenorm_inputs(file);
  const index count = set.count();
  std::vector<Scalar> gradient(weights.size());
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  const double loss =
      net.loss_and_gradient(std::span<const Scalar>(weights), set, all, std::span<Scalar>(gradient), memory).loss;

  const auto as_double = [](const auto& values) { return std::vector<double>(values.begin(), values.end()); };
  const auto& expected = member(file, "expected");
  if (what == "loss") {
    errors.add(what + suffix, {{what, {loss}, {member_as<double>(expected, what)}}}, tolerance);
  } else if (what == "logits") {
    errors.add(what + suffix,
               {{what, as_double(net.logits(std::span<const Scalar>(weights), set, all, memory)),
                 reference_check::numbers(expected, what, {count, shape.outputs})}},
               tolerance);
  } else if (what == "grads") {
    std::vector<compared> group;
    for (const parameter& which : table)
      group.push_back({which.name, as_double(table.view(which, std::span(gradient))),
                       reference_check::numbers(expected.at(what), which.name, extents_of(which))});
    if constexpr (std::is_same_v<Scalar, float>) {
      // Gradients of the keys' biases vanish but for rounding, of which float has more than a millionth: all as one.
      compared all_of_them{.name = what, .ours = {}, .theirs = {}};
      for (const compared& one : group) {
        all_of_them.ours.insert(all_of_them.ours.end(), one.ours.begin(), one.ours.end());
        all_of_them.theirs.insert(all_of_them.theirs.end(), one.theirs.begin(), one.theirs.end());
      }
      group = {all_of_them};
    }
    errors.add("gradients" + suffix, group, tolerance);
  } else {
    const auto attention = net.attention(std::span<const Scalar>(weights), set, all, memory);
    std::vector<std::vector<double>> ours;
    for (const auto& layer : attention) ours.push_back(as_double(layer));
    if (what == "attention") {
      const auto& theirs = expected.at(what);
      require_extent("attention.size()", theirs.size(), ours.size());
      std::vector<compared> group;
      for (std::size_t layer = 0; layer < ours.size(); ++layer) {
        const std::string name = "layer " + std::to_string(layer);
        const io::json named{{name, theirs[layer]}};
        group.push_back({name, ours[layer],
                         reference_check::numbers(named, name, {count, shape.heads, shape.context, shape.context})});
      }
      errors.add(what + suffix, group, tolerance);
    } else if (what == "diagnostics") {
      std::map<std::string, double> largest;
      reference_check::compare_diagnostics(
          expected.at(what), ours, {.heads = shape.heads, .length = shape.context, .causal = shape.causal}, largest);
      for (const auto& [name, error] : largest) errors.add_error(name + suffix, error, tolerance);
    } else {
      throw argument_error("expected", what, "loss, logits, grads, attention or diagnostics");
    }
  }
}

void check_prenorm_transformer(const io::json& file, reference_check::report& errors) {
  for (const auto& quantity : member(file, "expected").items()) {
    const std::string& what = quantity.key();
    compare<double>(file, what, {}, "", 1e-9, errors);
    compare<double>(file, what, model::no_savings, " (dense)", 1e-9, errors);
    // Float rounds by 6e-8; sums over two layers make some of it.
    compare<float>(file, what, {}, " (float)", 2e-6, errors);
  }
}

const reference_check::kind registered("prenorm_transformer", check_prenorm_transformer);

}  // namespace
