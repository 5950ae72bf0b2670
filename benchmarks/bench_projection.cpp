// SPDX-License-Identifier: MIT
/// \file
/// Between the full weights w (double, |w| of them) and the coordinates: embedding, products with the basis, projection.
///
/// The floors are memory's, at the speed that the machine has within as large a working set:
///   embed, inner_products   8 |w| bytes, w written or read once
///   project                 24 |w|: w is read once for its products and once for what is left, which is written
/// and for solving with the Gram matrix 16 bytes a coordinate.

#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>

#include "support.hpp"

namespace {

using benchmarks::lines_of_sizes;
using benchmarks::sizes;
using lindyn::manifold::basis;
using recall = lindyn::task::associative_recall<lindyn::block<2>>;
using stored = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;

template <class Task = stored>
basis basis_of(const sizes& size) {
  const lindyn::population::recall_law<Task> law({.pairs = size.pairs, .vocabulary = size.vocabulary});
  return {size.layers, size.heads, law.structure()};
}

void set_floor(benchmark::State& state, const basis& of, double read_and_written, double held) {
  const double bytes = sizeof(double) * static_cast<double>(of.parameters().size());
  benchmarks::set_floor(state, {.bytes = read_and_written * bytes, .working_set = held * bytes});
}

void embed(benchmark::State& state, const sizes& size) {
  const basis of = basis_of(size);
  const auto coordinates = benchmarks::normal_numbers(of.dimension(), 1);
  std::vector<double> weights(static_cast<std::size_t>(of.parameters().size()));
  for (auto _ : state) {
    of.embed(coordinates, weights);
    benchmark::DoNotOptimize(weights.data());
  }
  set_floor(state, of, 1, 1);
}

void inner_products(benchmark::State& state, const sizes& size) {
  const basis of = basis_of(size);
  const auto weights = benchmarks::normal_numbers(of.parameters().size(), 1);
  std::vector<double> products(static_cast<std::size_t>(of.dimension()));
  for (auto _ : state) {
    of.inner_products(weights, products);
    benchmark::DoNotOptimize(products.data());
  }
  set_floor(state, of, 1, 1);
}

template <class Task = stored>
void project(benchmark::State& state, const sizes& size) {
  const basis of = basis_of<Task>(size);
  const auto weights = benchmarks::normal_numbers(of.parameters().size(), 1);
  lindyn::manifold::projection result;
  for (auto _ : state) {
    of.project(weights, result);
    benchmark::DoNotOptimize(result.off_manifold.data());
  }
  set_floor(state, of, 3, 2);
}

void solve_gram(benchmark::State& state, const sizes& size) {
  const basis of = basis_of(size);
  auto coordinates = benchmarks::normal_numbers(of.dimension(), 1);
  std::vector<double> result(coordinates.size());
  for (auto _ : state) {
    of.solve_gram(coordinates, result);
    benchmark::DoNotOptimize(result.data());
  }
  const double bytes = 16.0 * static_cast<double>(coordinates.size());
  benchmarks::set_floor(state, {.bytes = bytes, .working_set = bytes});
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function, const auto&... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  };
  const lines_of_sizes lines{{}, {1, 2, 3, 4}, {1, 2, 3, 4}, {4, 16, 64}, {64, 128, 256, 512, 1024}};
  for (const auto& size : lines.points()) add("projection/project/IC" + size.name(), project<>, size);
  const lines_of_sizes line{.vocabularies = {64, 128, 256, 512, 1024}};
  for (const auto& size : line.points()) add("projection/embed/IC" + size.name(), embed, size);
  for (const auto& size : line.points()) add("projection/inner_products/IC" + size.name(), inner_products, size);
  add("projection/project/I" + sizes{}.name(), project<recall>, sizes{});
  for (const auto& size : lines_of_sizes{.layers = {1, 2, 3, 4}}.points())
    add("projection/solve_gram/IC" + size.name(), solve_gram, size);
  return true;
}();

}  // namespace
