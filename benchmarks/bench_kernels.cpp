// SPDX-License-Identifier: MIT
/// \file
/// Kernels of the host (one core) at the sizes of the two networks of the training benchmark, named rows x inputs x
/// outputs: width 64 with hidden 256, and width 128 with hidden 512. Beside them Eigen's product of the same matrices.
/// Attention is named batch x places x width x heads, causal, every place of every sequence a row of its own.
///
/// The floor of a product is its operations, that of GELU and its derivative one exponential an entry; LayerNorm takes
/// 8 operations an entry, backward 16, attention 4 width an entry of a pattern, backward 10 width, and cross-entropy an
/// exponential an entry. All read and write each array once.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <Eigen/Core>

#include <lindyn/backend/host.hpp>

#include "support.hpp"

namespace {

using lindyn::index;
using lindyn::backend::host;
using lindyn::backend::strided_matrix;
using lindyn::backend::update;

struct layer {
  index rows, inputs, outputs;

  [[nodiscard]] std::string name() const {
    std::string name = "/";
    name.append(std::to_string(rows)).append("x").append(std::to_string(inputs)).append("x");
    return name.append(std::to_string(outputs));
  }
};

/// Normal numbers in the host's memory.
template <class S>
host::array<S> numbers(index count, double scale) {
  const auto all = benchmarks::normal_numbers<S>(count, scale);
  return {all.begin(), all.end()};
}

/// The arrays of a dense layer.
template <class S>
struct dense {
  layer size;
  host::array<S> x, w, y, bias, dw;
  host on;

  explicit dense(const layer& of)
      : size(of),
        x(numbers<S>(of.rows * of.inputs, 1)),
        w(numbers<S>(of.outputs * of.inputs, 0.1)),
        y(numbers<S>(of.rows * of.outputs, 1)),
        bias(numbers<S>(of.outputs, 1)),
        dw(w) {}
  [[nodiscard]] strided_matrix<const S> weights_in() const {
    return {w.data(), size.outputs, size.inputs, size.inputs};
  }
  [[nodiscard]] strided_matrix<S> inputs() { return {x.data(), size.rows, size.inputs, size.inputs}; }
  [[nodiscard]] strided_matrix<S> outputs() { return {y.data(), size.rows, size.outputs, size.outputs}; }

  void set_floor(benchmark::State& state) const {
    const auto operations = 2.0 * static_cast<double>(size.rows * size.inputs * size.outputs);
    constexpr bool single = sizeof(S) == sizeof(float);
    benchmarks::set_floor(state, {.operations = single ? 0 : operations,
                                  .float_operations = single ? operations : 0,
                                  .bytes = static_cast<double>((x.size() + w.size() + y.size()) * sizeof(S))});
  }
};

template <class S>
void product(benchmark::State& state, const layer& size) {
  dense<S> of(size);
  for (auto _ : state) {
    of.on.template linear<S>(of.inputs(), of.weights_in(), of.bias.data(), of.outputs(), update::assign);
    benchmark::ClobberMemory();
  }
  of.set_floor(state);
}

template <class S>
void product_by_eigen(benchmark::State& state, const layer& size) {
  using matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  dense<S> of(size);
  const Eigen::Map<const matrix> x(of.x.data(), size.rows, size.inputs), w(of.w.data(), size.outputs, size.inputs);
  Eigen::Map<matrix> y(of.y.data(), size.rows, size.outputs);
  for (auto _ : state) {
    y.noalias() = x * w.transpose();
    benchmark::ClobberMemory();
  }
  of.set_floor(state);
}

template <class S>
void backward_input(benchmark::State& state, const layer& size) {
  dense<S> of(size);
  for (auto _ : state) {
    of.on.template linear_backward_input<S>(of.outputs(), of.weights_in(), of.inputs(), update::assign);
    benchmark::ClobberMemory();
  }
  of.set_floor(state);
}

template <class S>
void backward_weights(benchmark::State& state, const layer& size) {
  dense<S> of(size);
  for (auto _ : state) {
    of.on.template linear_backward_weights<S>(of.outputs(), of.inputs(),
                                              {of.dw.data(), size.outputs, size.inputs, size.inputs}, of.bias.data());
    benchmark::ClobberMemory();
  }
  of.set_floor(state);
}

/// GELU of so many entries, after they are copied from elsewhere: in place they would tend to 0.
template <class S>
void gelu(benchmark::State& state, index rows, index columns) {
  const auto start = numbers<S>(rows * columns, 1);
  auto x = start, slopes = start;
  host on;
  for (auto _ : state) {
    on.template copy<S>(start.data(), x.data(), rows * columns);
    on.template activate<S>(lindyn::backend::activation::gelu, {x.data(), rows, columns, columns},
                            {slopes.data(), rows, columns, columns});
    benchmark::ClobberMemory();
  }
  const auto entries = static_cast<double>(rows * columns);
  constexpr bool single = sizeof(S) == sizeof(float);
  benchmarks::set_floor(state, {.exponentials = single ? 0 : entries,
                                .float_exponentials = single ? entries : 0,
                                .bytes = 5 * entries * sizeof(S),
                                .working_set = 3 * entries * sizeof(S)});
}

/// The floor of a kernel that passes over arrays in float.
void set_row_floor(benchmark::State& state, double operations, double exponentials, double entries) {
  benchmarks::set_floor(
      state, {.float_operations = operations, .float_exponentials = exponentials, .bytes = entries * sizeof(float)});
}

void layer_norm(benchmark::State& state, index rows, index columns, bool backward) {
  const auto entries = static_cast<double>(rows * columns);
  const auto x = numbers<float>(rows * columns, 1), gain = numbers<float>(columns, 1);
  auto y = x, dx = x, bias = gain, slope = gain, saved = numbers<float>(2 * rows, 1);
  const strided_matrix<const float> in{x.data(), rows, columns, columns};
  const strided_matrix<float> out{y.data(), rows, columns, columns};
  host on;
  on.layer_norm(in, gain.data(), bias.data(), out, saved.data());
  for (auto _ : state) {
    if (backward)
      on.layer_norm_backward<float>(in, saved.data(), gain.data(), out, {dx.data(), rows, columns, columns},
                                    update::assign, slope.data(), bias.data());
    else
      on.layer_norm(in, gain.data(), bias.data(), out, saved.data());
    benchmark::ClobberMemory();
  }
  set_row_floor(state, (backward ? 16 : 8) * entries, 0, (backward ? 3 : 2) * entries);
}

struct attention_size {
  int batch, places;
  index width;
  int heads;
};

void attention(benchmark::State& state, const attention_size& size, bool backward) {
  const index rows = size.batch * size.places, entries = rows * size.width;
  std::vector<int> keys;
  std::vector<lindyn::backend::row_segment> segments;
  for (int place = 0; place < size.places; ++place) {
    segments.push_back({place * size.batch, (place + 1) * size.batch, place + 1});
    for (int sequence = 0; sequence < size.batch; ++sequence)
      for (int j = 0; j < size.places; ++j) keys.push_back(j * size.batch + sequence);
  }
  const lindyn::backend::visible_keys visible{keys, size.places, segments};
  auto q = numbers<float>(entries, 1), k = q, v = q, out = q, dq = q, dk = q, dv = q;
  host::array<float> patterns(keys.size() * static_cast<std::size_t>(size.heads));
  const auto in = [&](const host::array<float>& of) {
    return strided_matrix<const float>{of.data(), rows, size.width, size.width};
  };
  const auto to = [&](host::array<float>& of) {
    return strided_matrix<float>{of.data(), rows, size.width, size.width};
  };
  host on;
  on.attend(size.heads, in(q), {}, in(k), in(v), visible, patterns.data(), to(out));
  for (auto _ : state) {
    if (backward)
      on.attend_backward<float>(size.heads, in(q), {}, in(k), in(v), visible, patterns.data(), in(out), to(dq), to(dk),
                                to(dv));
    else
      on.attend(size.heads, in(q), {}, in(k), in(v), visible, patterns.data(), to(out));
    benchmark::ClobberMemory();
  }
  const double seen = 0.5 * size.batch * size.places * (size.places + 1);
  set_row_floor(state, (backward ? 10 : 4) * seen * static_cast<double>(size.width), backward ? 0 : seen * size.heads,
                (backward ? 7 : 4) * static_cast<double>(entries) + static_cast<double>(patterns.size() + keys.size()));
}

void cross_entropy(benchmark::State& state, index rows, index columns) {
  const auto logits = numbers<float>(rows * columns, 1);
  auto slopes = logits;
  std::vector<int> answers(static_cast<std::size_t>(rows)), counts(answers.size(), 1);
  for (std::size_t r = 0; r < answers.size(); ++r) answers[r] = static_cast<int>(r) % static_cast<int>(columns);
  host on;
  lindyn::backend::answer_score score;
  for (auto _ : state) {
    on.cross_entropy<float>({logits.data(), rows, columns, columns}, answers, counts, 0.01,
                            {slopes.data(), rows, columns, columns}, &score);
    benchmark::DoNotOptimize(score);
    benchmark::ClobberMemory();
  }
  const auto entries = static_cast<double>(rows * columns);
  set_row_floor(state, 0, entries, 2 * entries);
}

const bool registered = [] {
  const auto add = [](const std::string& name, auto function, const auto&... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), function, arguments...);
  };
  // Rows: of the last layer and of all others (windows), and of a small and a large layer (regimes).
  for (const layer& size : {layer{118, 64, 64}, layer{300, 64, 64}, layer{118, 64, 256}, layer{300, 64, 256},
                            layer{118, 256, 64}, layer{300, 256, 64}, layer{500, 128, 128}, layer{500, 128, 512},
                            layer{1500, 128, 512}, layer{500, 512, 128}, layer{1500, 512, 128}, layer{512, 128, 97}}) {
    add("kernel/product/float" + size.name(), product<float>, size);
    add("kernel/product_by_eigen/float" + size.name(), product_by_eigen<float>, size);
    add("kernel/backward_input/float" + size.name(), backward_input<float>, size);
    add("kernel/backward_weights/float" + size.name(), backward_weights<float>, size);
  }
  const layer size{300, 64, 256};
  add("kernel/product/double" + size.name(), product<double>, size);
  add("kernel/backward_input/double" + size.name(), backward_input<double>, size);
  add("kernel/backward_weights/double" + size.name(), backward_weights<double>, size);
  for (const index rows : {118, 300}) add("kernel/gelu/float/" + std::to_string(rows) + "x256", gelu<float>, rows, 256);
  for (const index rows : {500, 1500})
    add("kernel/gelu/float/" + std::to_string(rows) + "x512", gelu<float>, rows, 512);
  add("kernel/gelu/double/300x256", gelu<double>, 300, 256);
  for (const auto& [rows, columns] : {std::pair{300, 64}, {1500, 128}}) {
    const std::string name = "/float/" + std::to_string(rows) + "x" + std::to_string(columns);
    add("kernel/layer_norm" + name, layer_norm, rows, columns, false);
    add("kernel/layer_norm_backward" + name, layer_norm, rows, columns, true);
  }
  for (const attention_size& of : {attention_size{128, 3, 64, 2}, {512, 3, 128, 8}, {8, 60, 64, 4}}) {
    std::string name = "/float";
    for (const index number : {index(of.batch), index(of.places), of.width, index(of.heads)})
      name.append(name.ends_with("t") ? "/" : "x").append(std::to_string(number));
    add("kernel/attention" + name, attention, of, false);
    add("kernel/attention_backward" + name, attention, of, true);
  }
  add("kernel/cross_entropy/float/128x24", cross_entropy, 128, 24);
  add("kernel/cross_entropy/float/512x97", cross_entropy, 512, 97);
  return true;
}();

}  // namespace
