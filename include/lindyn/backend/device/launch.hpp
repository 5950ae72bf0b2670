// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How kernels run: a functor for every entry, or for every row, of every run. On a GPU by kernels of our own, which can be
/// captured; elsewhere by Thrust.

#include <lindyn/backend/device/system.hpp>

#if !LINDYN_ON_CUDA
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#endif

#include <lindyn/backend/device/lanes.hpp>
#include <lindyn/backend/device/state.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::backend::detail {

#if LINDYN_ON_CUDA

/// Threads of a block.
inline constexpr int block_size = 256;

template <class Work>
__global__ void __launch_bounds__(block_size) entries_kernel(Work work, index size) {
  for (index entry = index{blockIdx.x} * block_size + threadIdx.x; entry < size; entry += index{gridDim.x} * block_size)
    work(index{blockIdx.y}, entry);
}

template <int Lanes, class Work>
__global__ void __launch_bounds__(block_size) rows_kernel(Work work, index rows) {
  constexpr int groups = block_size / Lanes;
  const warp_lanes<Lanes> lanes(threadIdx.x);
  for (index row = index{blockIdx.x} * groups + threadIdx.x / Lanes; row < rows; row += index{gridDim.x} * groups)
    work(lanes, index{blockIdx.y}, row);
}

/// One row of blocks for every run.
[[nodiscard]] inline dim3 grid_of(index runs, index size, index per_block) {
  constexpr index most = index{1} << 20;
  const index blocks = (size + per_block - 1) / per_block;
  return {static_cast<unsigned>(blocks < most ? blocks : most), static_cast<unsigned>(runs), 1};
}

/// Calls work(run, entry) for all entries of so many runs.
template <class Work>
void for_each_entry(device_state& on, index runs, index size, const Work& work) {
  if (size == 0) return;
  entries_kernel<<<grid_of(runs, size, block_size), block_size, 0, on.stream>>>(work, size);
  require_success(cudaPeekAtLastError(), "a kernel");
}

/// Calls work(lanes, run, row) for all rows of all runs, with groups of `Lanes` lanes: 8, 16 or 32.
template <int Lanes = 32, class Work>
void for_each_row(device_state& on, index rows, const Work& work) {
  if (rows == 0) return;
  rows_kernel<Lanes><<<grid_of(on.runs, rows, block_size / Lanes), block_size, 0, on.stream>>>(work, rows);
  require_success(cudaPeekAtLastError(), "a kernel");
}

#else

/// What Thrust calls with the number of an entry among those of all runs.
template <class Work>
struct each_entry {
  Work work;
  index size;
  void operator()(index which) const { work(which / size, which % size); }
};

/// The same for rows, each of which has one lane.
template <class Work>
struct each_row {
  Work work;
  index rows;
  void operator()(index which) const { work(single_lane(), which / rows, which % rows); }
};

/// Calls work(run, entry) for all entries of so many runs.
template <class Work>
void for_each_entry(device_state&, index runs, index size, const Work& work) {
  const ::thrust::counting_iterator<index> first(0);
  ::thrust::for_each(::thrust::device, first, first + runs * size, each_entry<Work>{work, size});
}

/// Calls work(lane, run, row) for all rows of all runs.
template <int = 32, class Work>
void for_each_row(device_state& on, index rows, const Work& work) {
  const ::thrust::counting_iterator<index> first(0);
  ::thrust::for_each(::thrust::device, first, first + on.runs * rows, each_row<Work>{work, rows});
}

#endif

/// The first entry of a row of a run's matrix.
template <class T>
[[nodiscard]] LINDYN_HOST_DEVICE T* row_of(const strided_matrix<T>& matrix, index run, index row) {
  return matrix.data + run * matrix.run_stride + row * matrix.stride;
}
/// The first entry of a run's vector; null if there is none.
template <class T>
[[nodiscard]] LINDYN_HOST_DEVICE T* begin_of(const run_vector<T>& vector, index run) {
  return vector.data ? vector.data + run * vector.run_stride : nullptr;
}
/// The first number of a run's table; null if there is none.
[[nodiscard]] LINDYN_HOST_DEVICE inline const int* begin_of(const index_table& table, index run) {
  return table.data ? table.data + run * table.run_stride : nullptr;
}
/// An entry becomes `value`, or grows by it.
template <class T>
LINDYN_HOST_DEVICE void put(T& entry, T value, update how) {
  entry = how == update::add ? entry + value : value;
}

}  // namespace lindyn::backend::detail
