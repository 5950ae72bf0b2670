// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What an object of the device backend holds: memory for what kernels leave to each other, and, on a GPU, its stream,
/// the handle of cuBLAS and memory for copies.

#include <lindyn/backend/device/system.hpp>

#include <array>
#include <cstddef>
#include <cstring>

#include <lindyn/backend/thrust_device.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend::detail {

/// What kernels leave to each other.
enum class scratch {
  scores,   ///< of attention: derivatives by the scores
  columns,  ///< sums of columns over chunks of rows
  rows,     ///< what rows, or chunks of a vector, contribute to a sum
  results,  ///< one number a run
  count,    ///< how many these are
};

/// See above. Nothing grows once all sizes have been seen, so that work can be captured.
struct device_state {
  index runs;                                                                          ///< computed at once
  products how;                                                                        ///< of matrix products
  std::array<device_array<std::byte>, static_cast<std::size_t>(scratch::count)> held;  ///< see memory()

  /// Room for `size` elements, of any content.
  template <class T>
  [[nodiscard]] T* memory(scratch what, index size) {
    auto& bytes = held[static_cast<std::size_t>(what)];
    const std::size_t wanted = static_cast<std::size_t>(size) * sizeof(T);
    if (bytes.size() < wanted) {
      finish();
      bytes.resize(wanted);
    }
    return reinterpret_cast<T*>(bytes.data());
  }

#if LINDYN_ON_CUDA
  cudaStream_t stream = nullptr;      ///< all work of the object goes there, in order
  cublasHandle_t blas = nullptr;      ///< works on `stream`, in `workspace`
  device_array<std::byte> workspace;  ///< of cuBLAS: fixed, so that results are the same bits each time
  cudaEvent_t copied = nullptr;       ///< `staging` may be written again
  std::byte* staging = nullptr;       ///< page-locked memory of the host, through which copies go
  std::size_t staging_size = 0;       ///< its bytes

  device_state(index runs_of, products how_of) : runs(runs_of), how(how_of) {
    try {
      require_success(cudaStreamCreate(&stream), "a stream");
      require_success(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming), "an event");
      require_success(cublasCreate(&blas), "cuBLAS");
      workspace.resize(std::size_t{32} << 20);
      require_success(cublasSetStream(blas, stream), "the stream of cuBLAS");
      require_success(cublasSetWorkspace(blas, workspace.data(), workspace.size()), "the workspace of cuBLAS");
    } catch (...) {
      release();
      throw;
    }
  }
  device_state(const device_state&) = delete;
  device_state& operator=(const device_state&) = delete;
  ~device_state() { release(); }

  /// Waits for all work.
  void finish() { require_success(cudaStreamSynchronize(stream), "work on the device"); }

  /// Page-locked memory that no copy uses any more.
  [[nodiscard]] std::byte* free_staging(std::size_t bytes) {
    require_success(cudaEventSynchronize(copied), "a copy to the device");
    if (staging_size < bytes) {
      if (staging) require_success(cudaFreeHost(staging), "page-locked memory");
      staging = nullptr, staging_size = 0;
      require_success(cudaMallocHost(reinterpret_cast<void**>(&staging), bytes), "page-locked memory");
      staging_size = bytes;
    }
    return staging;
  }
  /// Copies from the host; what is at `from` may change at once.
  void upload(const void* from, void* to, std::size_t bytes) {
    std::memcpy(free_staging(bytes), from, bytes);
    require_success(cudaMemcpyAsync(to, staging, bytes, cudaMemcpyHostToDevice, stream), "a copy to the device");
    require_success(cudaEventRecord(copied, stream), "a copy to the device");
  }
  /// Copies to the host, when all work before is done.
  void download(const void* from, void* to, std::size_t bytes) {
    std::byte* const between = free_staging(bytes);
    require_success(cudaMemcpyAsync(between, from, bytes, cudaMemcpyDeviceToHost, stream), "a copy from the device");
    finish();
    std::memcpy(to, between, bytes);
  }

private:
  void release() noexcept {
    if (stream) cudaStreamSynchronize(stream);
    if (blas) cublasDestroy(blas);
    if (copied) cudaEventDestroy(copied);
    if (staging) cudaFreeHost(staging);
    if (stream) cudaStreamDestroy(stream);
  }
#else
  device_state(index runs_of, products how_of) : runs(runs_of), how(how_of) {}

  /// Nothing is ever left to be done.
  void finish() {}
  /// Copies from the host.
  void upload(const void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); }
  /// Copies to the host.
  void download(const void* from, void* to, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif
};

}  // namespace lindyn::backend::detail
