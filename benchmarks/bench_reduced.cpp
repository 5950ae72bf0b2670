// SPDX-License-Identifier: MIT
/// \file
/// The reduced model (double, one core): loss, loss with gradient, and the flow to emergence.
///
/// The floor counts the exponentials and the dense products of this way of computing it (relational_pass.hpp), with N
/// queries behind a trunk of T = 2 N places, c(l) = (H + 1)^(l - 1) copies entering layer l:
///   exponentials   H [L N (T + 1) + (L - 2) T (T + 1) / 2] + N T    (queries; trunk rows from layer 2 on; logits)
///   a push or fold of one row by a dense, lower triangular T x T matrix, those of the trunk in the layers 2 .. L - 1:
///                  T^2 operations; for row i of the trunk itself i^2, T^3 / 3 in all. There are
///     folds        H (c(l - 1) - 1) a row in layer l, the key copies that such a layer made last
///     copies       c(L - 1) - 1 - H (L - 2) pushes a row of a query, of the copies that the last layer reads
///                  (and c(L - 2) - 1 - H (L - 3) a row of the trunk)
///     readout      |T| (c(L) - c(2)) pushes a row of a query
///   loss with gradient: three times the products, as each has two adjoint ones; the exponentials once.
/// Layer 1 is "constant + sparse" and related pairs are few, so that these cost N T entries (trunk: T^2 / 2), each
///     relations    3 operations for each pair of copies whose query side isn't the input, H (c(l) - 1) c(l) in layer l
///     sums         2 operations for each fold and push by layer 1, H H c(l - 1) in layer l and H |T| in the readout
///   with three times as many for the gradient. The adjoint of the softmax isn't counted.

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include <benchmark/benchmark.h>

#include <lindyn/core/sizes.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/reduced/relational_model.hpp>

#include "support.hpp"

namespace {

using benchmarks::lines_of_sizes;
using benchmarks::sizes;
using lindyn::reduced::relational_model;
using recall = lindyn::task::associative_recall<lindyn::block<2>>;
using stored = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;

benchmarks::needs needs_of(const sizes& size, int token_selections, bool gradient) {
  const double n = size.pairs, t = 2 * n, heads = size.heads;
  const int layers = size.layers;
  const auto copies = [&](int layer) {
    return layer < 1 ? 0.0 : static_cast<double>(lindyn::copies(layer - 1, size.heads));
  };
  // Dense products and sparse entries of a row in the layers 2 .. last, and of the copies that layer `last` reads.
  const auto dense = [&](int last) {
    double result = last < 3 ? 0 : copies(last - 1) - 1 - heads * (last - 2);
    for (int layer = 3; layer <= last; ++layer) result += heads * (copies(layer - 1) - 1);
    return result;
  };
  const auto sparse = [&](int last) {
    double result = 0;
    for (int layer = 2; layer <= last; ++layer)
      result += heads * (3 * (copies(layer) - 1) * copies(layer) + 2 * heads * copies(layer - 1));
    return result;
  };
  double exponentials = heads * layers * n * (t + 1) + n * t;
  double operations = n * t * t * dense(layers) + n * t * sparse(layers);  // queries
  if (layers > 1)
    operations += token_selections * (n * t * t * (copies(layers) - copies(2)) + 2 * heads * n * t);  // readout
  if (layers > 2) {                                                                                   // trunk
    exponentials += heads * (layers - 2) * t * (t + 1) / 2;
    operations += t * t * t / 3 * dense(layers - 1) + t * t / 2 * sparse(layers - 1);
  }
  return {.operations = (gradient ? 3 : 1) * operations, .exponentials = exponentials};
}

/// {I} with all tokens distinct, {I, C} with every label the partner of its item: N types each.
template <class Task>
relational_model model_of(const sizes& size) {
  const lindyn::population::recall_law<Task> law(
      {.pairs = size.pairs, .vocabulary = size.vocabulary, .within_class = 0.0});
  return {lindyn::manifold::basis(size.layers, size.heads, law.structure()),
          lindyn::population::enumerate_types(law).types};
}
template <class Task>
constexpr int token_selections = std::is_same_v<Task, stored> ? 2 : 1;

template <class Task>
void loss_and_gradient(benchmark::State& state, const sizes& size) {
  relational_model model = model_of<Task>(size);
  const auto coordinates = benchmarks::normal_numbers(model.dimension(), 0.3);
  std::vector<double> gradient(coordinates.size());
  for (auto _ : state) {
    double loss = model.loss_and_gradient(coordinates, gradient);
    benchmark::DoNotOptimize(&loss);
    benchmark::DoNotOptimize(gradient.data());
  }
  benchmarks::set_floor(state, needs_of(size, token_selections<Task>, true));
}

template <class Task>
void loss(benchmark::State& state, const sizes& size) {
  relational_model model = model_of<Task>(size);
  const auto coordinates = benchmarks::normal_numbers(model.dimension(), 0.3);
  for (auto _ : state) {
    double value = model.loss(coordinates);
    benchmark::DoNotOptimize(&value);
  }
  benchmarks::set_floor(state, needs_of(size, token_selections<Task>, false));
}

void flow(benchmark::State& state, const sizes& size, const std::vector<double>& start) {
  relational_model model = model_of<recall>(size);
  double evaluations = 0;
  for (auto _ : state) {
    const auto end = lindyn::reduced::flow(model, start, {.until = 1e9, .stop_at_loss = 0.05, .tolerance = 1e-6});
    if (end.status != lindyn::integrate::flow_status::event) state.SkipWithError("the loss stays above 0.05");
    evaluations = static_cast<double>(end.evaluations);
  }
  state.counters["evaluations"] = evaluations;
  state.SetLabel(std::to_string(static_cast<int>(evaluations)) + " evaluations");
  benchmarks::needs all = needs_of(size, 1, true);
  all.operations *= evaluations;
  all.exponentials *= evaluations;
  benchmarks::set_floor(state, all);
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function, const auto&... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  };
  const std::vector<int> pairs{4, 8, 16, 24, 32, 48, 64}, vocabularies{64, 256, 1024, 4096};
  for (const auto& size : lines_of_sizes{{}, {1, 2, 3, 4}, {1, 2, 3, 4}, pairs, vocabularies}.points())
    add("reduced/loss_and_gradient/I" + size.name(), loss_and_gradient<recall>, size);
  for (const auto& size : lines_of_sizes{{.layers = 3}, {}, {1, 2, 3}, pairs, vocabularies}.points())
    add("reduced/loss_and_gradient/I" + size.name(), loss_and_gradient<recall>, size);
  for (const int layers : {2, 3}) {
    const auto line = lines_of_sizes{.base = {.layers = layers}, .pairs = pairs}.points();
    for (const auto& size : line) add("reduced/loss/I" + size.name(), loss<recall>, size);
    for (const auto& size : line) add("reduced/loss_and_gradient/IC" + size.name(), loss_and_gradient<stored>, size);
  }

  // To a loss of 0.05. The starts of the three-layer reference fit all N and V: the coordinates are the same. How long
  // a flow takes to emergence, and so how many evaluations it needs, is the dynamics' affair, and no power of a size.
  const auto file = lindyn::io::read_json(std::filesystem::path(__FILE__).parent_path().parent_path() /
                                          "tests/data/reference/reduced_flow_3layer.json");
  for (const auto& run : file.at("runs"))
    add("reduced/flow/start" + run.at("seed").dump() + sizes{3, 1, 4, 16}.name(), flow, sizes{3, 1, 4, 16},
        run.at("start").get<std::vector<double>>());
  const lines_of_sizes lines{
      .base = {3, 1, 4, 256}, .pairs = {4, 8, 16, 32, 64}, .vocabularies = {16, 32, 64, 128, 256}};
  const auto start = file.at("runs").back().at("start").get<std::vector<double>>();
  const std::string name = "reduced/flow/start" + file.at("runs").back().at("seed").dump();
  for (const auto& size : lines.points())
    if (size != sizes{3, 1, 4, 16}) add(name + size.name(), flow, size, start);
  for (const auto& size : lines_of_sizes{.base = {2, 1, 4, 16}, .layers = {2, 3, 4}, .heads = {1, 2, 3}}.points())
    add("reduced/flow/random_start" + size.name(), flow, size,
        benchmarks::normal_numbers(lindyn::manifold::layout(size.layers, size.heads, 1, 2).dimension(), 0.3));
  return true;
}();

}  // namespace
