// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the benchmarks have in common: sizes and the names made of them, and the floor of each figure, the time that
/// its operations or its bytes take at the speed of this machine, which is measured here.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <Eigen/Core>

#include <lindyn/core/random.hpp>
#include <lindyn/core/vector_width.hpp>

namespace benchmarks {

// ---- Sizes -----------------------------------------------------------------------------------------------------------

/// Sizes that a figure depends on.
struct sizes {
  int layers = 2;        ///< L
  int heads = 1;         ///< H
  int pairs = 16;        ///< N
  int vocabulary = 256;  ///< V

  friend constexpr bool operator==(const sizes&, const sizes&) = default;
  /// "/L2/H1/N16/V256", as which they end a benchmark's name: the table of growth finds them there.
  [[nodiscard]] std::string name() const {
    return "/L" + std::to_string(layers) + "/H" + std::to_string(heads) + "/N" + std::to_string(pairs) + "/V" +
           std::to_string(vocabulary);
  }
};

/// One line for each size that varies: all other sizes are those of `base`.
struct lines_of_sizes {
  sizes base{};
  std::vector<int> layers{}, heads{}, pairs{}, vocabularies{};

  /// All points of all lines, each once.
  [[nodiscard]] std::vector<sizes> points() const {
    std::vector<sizes> result{base};
    const auto vary = [&](int sizes::*which, const std::vector<int>& values) {
      for (const int value : values) {
        sizes point = base;
        point.*which = value;
        if (std::ranges::find(result, point) == result.end()) result.push_back(point);
      }
    };
    vary(&sizes::pairs, pairs);
    vary(&sizes::vocabulary, vocabularies);
    vary(&sizes::layers, layers);
    vary(&sizes::heads, heads);
    return result;
  }
};

/// Normal numbers, the same for every run.
template <class Scalar = double>
[[nodiscard]] std::vector<Scalar> normal_numbers(std::ptrdiff_t count, double scale) {
  lindyn::counter_generator generator(1);
  std::vector<Scalar> result(static_cast<std::size_t>(count));
  for (Scalar& number : result) number = static_cast<Scalar>(scale * lindyn::standard_normal(generator));
  return result;
}

// ---- The machine -----------------------------------------------------------------------------------------------------

/// Seconds of processor time that a call of `work` takes, the shortest of ten times `count` calls: what else runs on
/// the machine can only make it longer.
template <class Work>
[[nodiscard]] double seconds_of(int count, Work&& work) {
  double shortest = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < 10; ++attempt) {
    const std::clock_t begin = std::clock();
    for (int i = 0; i < count; ++i) work();
    shortest = std::min(shortest, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / count);
  }
  return shortest;
}

/// Multiplications and additions a second on one core, in fused operations on ten vectors that don't wait for each
/// other (two units with a latency of four need eight).
template <class Scalar>
[[nodiscard]] double peak() {
  typedef Scalar vector __attribute__((vector_size(lindyn::vector_bytes)));
  constexpr int lanes = lindyn::vector_bytes / sizeof(Scalar), chains = 10, rounds = 1000;
  static const double result = [] {
    const vector factor = vector{} + Scalar(0.999);
    vector sums[chains]{};
    const double seconds = seconds_of(1000, [&] {
      for (int round = 0; round < rounds; ++round)
        for (vector& sum : sums) sum = sum * factor + factor;
      benchmark::DoNotOptimize(sums);
    });
    return 2.0 * lanes * chains * rounds / seconds;
  }();
  return result;
}

/// Seconds for one exponential, by Eigen's vectorised one.
template <class Scalar>
[[nodiscard]] double seconds_of_exponential() {
  static const double result = [] {
    constexpr int count = 512;
    const Eigen::Array<Scalar, count, 1> values = Eigen::Array<Scalar, count, 1>::LinSpaced(-50, 0);
    Eigen::Array<Scalar, count, 1> results;
    return seconds_of(10'000,
                      [&] {
                        results = values.exp();
                        benchmark::DoNotOptimize(results.data());
                      }) /
           count;
  }();
  return result;
}

/// Bytes a second on one core within a working set of so many bytes, rounded up to a power of two from 16 KiB to 256
/// MiB (a small one stays in a cache): the most that reading, writing or copying reaches.
[[nodiscard]] inline double bandwidth(double working_set) {
  static std::map<int, double> known;
  const int power = std::clamp(static_cast<int>(std::ceil(std::log2(working_set))), 14, 28);
  const auto [place, is_new] = known.try_emplace(power, 0.0);
  if (is_new) {
    Eigen::ArrayXf memory = Eigen::ArrayXf::Ones(Eigen::Index{1} << (power - 2));
    const auto half = memory.size() / 2;
    float sum = 0;
    const auto seconds = [&](auto&& work) {
      return seconds_of(1 << std::max(0, 24 - power), [&] {
        work();
        benchmark::DoNotOptimize(memory.data());
        benchmark::DoNotOptimize(&sum);
      });
    };
    const double shortest = std::min({seconds([&] { sum += memory.sum(); }), seconds([&] { memory.setConstant(sum); }),
                                      seconds([&] { memory.head(half) = memory.tail(half); })});
    place->second = static_cast<double>(sizeof(float) * static_cast<std::size_t>(memory.size())) / shortest;
  }
  return place->second;
}

// ---- Floors ----------------------------------------------------------------------------------------------------------

/// What no way of computing a figure does without, as far as its comment tells.
struct needs {
  double operations = 0;          ///< multiplications and additions, double
  double float_operations = 0;    ///< likewise, float
  double exponentials = 0;        ///< double
  double float_exponentials = 0;  ///< float
  double bytes = 0;               ///< read and written, within the working set
  double working_set = bytes;     ///< bytes of all of these arrays
};

/// Writes the floor's parts beside the figure, as counters in seconds. Arithmetic and memory traffic may overlap, so
/// that the longer of the two is the floor.
inline void set_floor(benchmark::State& state, const needs& all) {
  state.counters["floor_arithmetic_s"] = all.operations / peak<double>() + all.float_operations / peak<float>() +
                                         all.exponentials * seconds_of_exponential<double>() +
                                         all.float_exponentials * seconds_of_exponential<float>();
  state.counters["floor_memory_s"] = all.bytes > 0 ? all.bytes / bandwidth(all.working_set) : 0.0;
}

}  // namespace benchmarks
