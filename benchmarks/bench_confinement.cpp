// SPDX-License-Identifier: MIT
/// \file
/// Certificates of confinement, by each of the three methods (double, one core).
///
/// Floors:
///   enumerate, sample   the dense products of the network's gradient for all sequences (see bench_step.cpp), and the
///                       projection of every gradient (bench_projection.cpp)
///   symmetry            bytes: every sequence's 2 n + 1 numbers are read and, for every generator, its image's written
///                       and read; its probability costs far more: a draw for each choice of the law that may lead to it

#include <string>

#include <benchmark/benchmark.h>

#include <lindyn/compare/confinement.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/law.hpp>

#include "support.hpp"

namespace {

using benchmarks::lines_of_sizes;
using benchmarks::sizes;
using lindyn::compare::confinement_method;
using recall = lindyn::task::associative_recall<lindyn::block<2>>;

constexpr int sampled_batches = 4, sampled_batch = 512, sampled_sequences = 200;

void confinement(benchmark::State& state, const sizes& size, confinement_method method) {
  const lindyn::population::recall_law<recall> law({.pairs = size.pairs, .vocabulary = size.vocabulary});
  const lindyn::manifold::basis basis(size.layers, size.heads, law.structure());
  lindyn::compare::confinement_certificate certificate;
  for (auto _ : state)
    certificate = lindyn::compare::confinement(basis, law,
                                               {.method = method,
                                                .batches = sampled_batches,
                                                .batch = sampled_batch,
                                                .compared = 0,
                                                .samples = sampled_sequences});
  const lindyn::model::attention_shape shape = basis.shape();
  const auto input = static_cast<double>(shape.input_width()),
             width = static_cast<double>(shape.width(size.layers - 1)),
             readout = static_cast<double>(shape.width(size.layers));
  benchmarks::needs all;
  if (method == confinement_method::symmetry) {
    const auto generators = static_cast<double>(law.structure().generators.size());
    all.bytes = certificate.sequences * 4 * (4.0 * size.pairs + 3) * (1 + 2 * generators);
    all.working_set = 0x1p14;
  } else {
    all.operations =
        6 * certificate.sequences * (size.heads * (width - input) * width + (readout - input) * size.vocabulary);
    const double weights = 8.0 * static_cast<double>(basis.parameters().size());
    all.bytes = 3 * weights * (method == confinement_method::sample ? sampled_batches + 1 : 1);
    all.working_set = 2 * weights;
  }
  benchmarks::set_floor(state, all);
  state.SetLabel(std::to_string(static_cast<long>(certificate.sequences)) + " sequences");
}

const bool registered = [] {
  const auto add = [](const std::string& name, const sizes& size, confinement_method method) {
    benchmark::RegisterBenchmark(("confinement/" + name + size.name()).c_str(), confinement, size, method);
  };
  for (const auto& size :
       lines_of_sizes{.base = {2, 1, 1, 8}, .layers = {1, 2, 3}, .heads = {1, 2, 3}, .vocabularies = {4, 8, 16, 32}}
           .points())
    add("enumerate", size, confinement_method::enumerate);
  for (const auto& size : lines_of_sizes{{2, 1, 8, 64}, {1, 2, 3}, {1, 2, 3}, {4, 8, 16, 32}, {16, 64, 256}}.points())
    add("sample", size, confinement_method::sample);
  for (const auto& size :
       lines_of_sizes{.base = {2, 1, 8, 64}, .pairs = {4, 8, 16, 32}, .vocabularies = {16, 64, 256}}.points())
    add("symmetry", size, confinement_method::symmetry);
  return true;
}();

}  // namespace
