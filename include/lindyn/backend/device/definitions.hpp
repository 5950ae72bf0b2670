// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The device backend itself, for float and double: what thrust_device.hpp declares. In one unit of a program.

#include <lindyn/backend/device/system.hpp>

#include <cstdlib>
#include <new>

#include <lindyn/backend/device/attention.hpp>
#include <lindyn/backend/device/launch.hpp>
#include <lindyn/backend/device/layer_norm.hpp>
#include <lindyn/backend/device/losses.hpp>
#include <lindyn/backend/device/product.hpp>
#include <lindyn/backend/device/rows.hpp>
#include <lindyn/backend/device/state.hpp>
#include <lindyn/backend/device/sums.hpp>
#include <lindyn/backend/device/weighted_losses.hpp>
#include <lindyn/backend/thrust_device.hpp>

namespace lindyn::backend {

namespace detail {

/// How often flat memory is treated: once where all runs share it.
template <class S>
[[nodiscard]] index runs_of(const device_state& on, const run_vector<S>& shared) {
  return shared.run_stride == 0 ? 1 : on.runs;
}

template <class S>
void device_calls<S>::linear(device_state& on, input x, input w, vector bias, output y, update how) {
  if (bias.data) {
    for_each_row(on, y.rows, add_bias<S>{bias, y, how});
    how = update::add;
  }
  multiply_matrices(on, matrix_product<S>{x, w, false, true, y, how});
}

template <class S>
void device_calls<S>::linear_backward_input(device_state& on, input dy, input w, output dx, update how) {
  multiply_matrices(on, matrix_product<S>{dy, w, false, false, dx, how});
}

template <class S>
void device_calls<S>::linear_backward_weights(device_state& on, input dy, input x, output dw, vector_out dbias) {
  multiply_matrices(on, matrix_product<S>{dy, x, true, false, dw, update::assign});
  if (dbias.data) sum_columns(on, column_terms<S>{dy}, dy.rows, dy.columns, {dbias});
}

template <class S>
void device_calls<S>::layer_norm(device_state& on, input x, vector gain, vector bias, output y, vector_out saved) {
  for_each_row(on, x.rows, normalise_row<S>{x, gain, bias, y, saved});
}

template <class S>
void device_calls<S>::layer_norm_backward(device_state& on, input x, vector saved, vector gain, input dy, output dx,
                                          update how, vector_out dgain, vector_out dbias) {
  for_each_row(on, x.rows, normalise_backward_row<S>{x, saved, gain, dy, dx, how});
  sum_columns(on, normalise_terms<S>{x, saved, dy}, x.rows, x.columns, {dgain, dbias});
}

template <class S>
void device_calls<S>::activate(device_state& on, activation kind, output x, output derivative) {
  for_each_row(on, x.rows, activate_row<S>{kind, x, derivative});
}

template <class S>
void device_calls<S>::multiply(device_state& on, output x, input factor) {
  for_each_row(on, x.rows, multiply_row<S>{x, factor});
}

template <class S>
void device_calls<S>::gather_rows(device_state& on, input x, const index_table& rows, output y, update how) {
  for_each_row(on, y.rows, gather_row<S>{x, rows, y, how});
}

template <class S>
void device_calls<S>::scatter_rows(device_state& on, input dy, const row_table& table, output dx) {
  for_each_row(on, dx.rows, scatter_row<S>{dy, table.first, table.order, dx});
}

template <class S>
void device_calls<S>::attend(device_state& on, int heads, input q, const index_table& query_rows, input k, input v,
                             const visible_keys& visible, vector_out patterns, output out) {
  const attention_inputs<S> in{heads, q, query_rows, k, v, visible.keys, visible.counts, visible.context};
  with_lanes(in.width(), [&](auto lanes) {
    for_each_row<decltype(lanes)::value>(on, visible.counts.size * heads, attend_row<S>{in, patterns, out});
  });
}

template <class S>
void device_calls<S>::attend_backward(device_state& on, int heads, input q, const row_table& query_table, input k,
                                      input v, const visible_keys& visible, vector patterns, input dout, output dq,
                                      output dk, output dv) {
  const attention_inputs<S> in{heads, q, query_table.rows, k, v, visible.keys, visible.counts, visible.context};
  const index size = visible.counts.size * heads * visible.context;
  const vector_out slopes(on.memory<S>(scratch::scores, on.runs * size), size);
  with_lanes(in.width(), [&](auto lanes) {
    constexpr int count = decltype(lanes)::value;
    for_each_row<count>(on, visible.counts.size * heads, score_slopes<S>{in, patterns, dout, slopes});
    for_each_row<count>(on, dq.rows * heads, query_slopes<S>{in, query_table.first, query_table.order, slopes, dq});
    for_each_row<count>(on, dk.rows * heads,
                        key_slopes<S>{in, visible.first, visible.order, patterns, slopes, dout, dk, dv});
  });
}

template <class S>
void device_calls<S>::cross_entropy(device_state& on, input logits, const index_table& answers,
                                    const index_table& counts, double scale, output dlogits, answer_score* scores) {
  auto* const rows = on.memory<answer_score>(scratch::rows, on.runs * logits.rows);
  for_each_row(on, logits.rows, counted_row<S>{logits, answers, counts, scale, dlogits, rows});
  for_each_row(on, 1, sum_scores{rows, logits.rows, scores});
}

template <class S>
void device_calls<S>::weighted_loss(device_state& on, answer_loss kind, input logits, const index_table& answers,
                                    run_vector<const double> weights, output dlogits, double* losses) {
  detail::weighted_loss(on, kind, logits, answers, weights, dlogits, losses);
}

template <class S>
void device_calls<S>::scale(device_state& on, vector_out values, index size, double factor) {
  for_each_entry(on, runs_of(on, values), size, scale_entry<S>{values, static_cast<S>(factor)});
}

template <class S>
void device_calls<S>::fill(device_state& on, vector_out to, index size, S value) {
  for_each_entry(on, runs_of(on, to), size, fill_entry<S>{to, value});
}

template <class S>
void device_calls<S>::copy(device_state& on, vector from, vector_out to, index size) {
  for_each_entry(on, runs_of(on, to), size, copy_entry<S>{from, to});
}

template <class S>
void device_calls<S>::largest_magnitude(device_state& on, vector values, index size, std::span<double> result) {
  on.download(reduce_vector<magnitude>(on, values, size), result.data(), result.size_bytes());
}

template <class S>
void device_calls<S>::sum_of_squares(device_state& on, vector values, index size, std::span<double> result) {
  on.download(reduce_vector<square>(on, values, size), result.data(), result.size_bytes());
}

template struct device_calls<float>;
template struct device_calls<double>;

/// Copies go through page-locked memory in pieces of at most so many bytes.
inline constexpr std::size_t piece = std::size_t{1} << 26;

void device_upload(device_state& on, const void* from, void* to, std::size_t bytes) {
  const auto* const source = static_cast<const std::byte*>(from);
  auto* const target = static_cast<std::byte*>(to);
  for (std::size_t begin = 0; begin < bytes; begin += piece)
    on.upload(source + begin, target + begin, bytes - begin < piece ? bytes - begin : piece);
}
void device_download(device_state& on, const void* from, void* to, std::size_t bytes) {
  const auto* const source = static_cast<const std::byte*>(from);
  auto* const target = static_cast<std::byte*>(to);
  for (std::size_t begin = 0; begin < bytes; begin += piece)
    on.download(source + begin, target + begin, bytes - begin < piece ? bytes - begin : piece);
}

}  // namespace detail

thrust_device::thrust_device(int runs, products how) {
  require(runs >= 1 && runs <= 65535, "runs", runs, "in 1 .. 65535");
  state_.reset(new detail::device_state(runs, how));
}
int thrust_device::runs() const noexcept { return static_cast<int>(state_->runs); }
products thrust_device::how() const noexcept { return state_->how; }
std::string_view thrust_device::system() noexcept { return detail::system_name; }
void thrust_device::finish() { state_->finish(); }

#if LINDYN_ON_CUDA

struct detail::device_capture {
  cudaGraphExec_t graph = nullptr;
  ~device_capture() {
    if (graph) cudaGraphExecDestroy(graph);
  }
};

void* detail::device_allocate(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return memory;
  require_success(cudaMalloc(&memory, bytes), "memory of the device");
  require_success(cudaMemset(memory, 0, bytes), "memory of the device");
  return memory;
}
void detail::device_free(void* memory) noexcept { cudaFree(memory); }
void detail::device_copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) require_success(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice), "a copy on the device");
}

bool thrust_device::can_capture() noexcept { return true; }
void thrust_device::begin_capture() {
  detail::require_success(cudaStreamBeginCapture(state_->stream, cudaStreamCaptureModeThreadLocal), "a capture");
}
thrust_device::capture thrust_device::end_capture() {
  cudaGraph_t graph = nullptr;
  detail::require_success(cudaStreamEndCapture(state_->stream, &graph), "a capture");
  capture result(new detail::device_capture);
  const cudaError_t status = cudaGraphInstantiate(&result->graph, graph, 0);
  cudaGraphDestroy(graph);
  detail::require_success(status, "a captured graph");
  return result;
}
void thrust_device::abandon_capture() noexcept {
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(state_->stream, &graph);
  if (graph) cudaGraphDestroy(graph);
}
void thrust_device::launch(detail::device_capture& captured) {
  detail::require_success(cudaGraphLaunch(captured.graph, state_->stream), "a captured graph");
}

#else

struct detail::device_capture {};

void* detail::device_allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (void* const memory = std::calloc(bytes, 1)) return memory;
  throw std::bad_alloc();
}
void detail::device_free(void* memory) noexcept { std::free(memory); }
void detail::device_copy(const void* from, void* to, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

bool thrust_device::can_capture() noexcept { return false; }
void thrust_device::begin_capture() {}
thrust_device::capture thrust_device::end_capture() { return {}; }
void thrust_device::abandon_capture() noexcept {}
void thrust_device::launch(detail::device_capture&) {}

#endif

void detail::device_deleter::operator()(device_state* state) const noexcept { delete state; }
void detail::device_deleter::operator()(device_capture* captured) const noexcept { delete captured; }

}  // namespace lindyn::backend
