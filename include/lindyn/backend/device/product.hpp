// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Products of matrices on a device: cuBLAS on a GPU, tiles elsewhere.

#include <type_traits>

#include <lindyn/backend/device/launch.hpp>
#include <lindyn/backend/device/rows.hpp>

namespace lindyn::backend::detail {

/// c = op(a) op(b), or c += op(a) op(b), where op may transpose. Row-major, for all runs.
template <class S>
struct matrix_product {
  strided_matrix<const S> a, b;
  bool transpose_a, transpose_b;
  strided_matrix<S> c;
  update how;

  /// Terms of each sum.
  [[nodiscard]] LINDYN_HOST_DEVICE index inner() const { return transpose_a ? a.rows : a.columns; }
};

#if LINDYN_ON_CUDA

/// To cuBLAS, whose matrices are column-major, each is its transpose: c' = op(b)' op(a)'.
template <class S>
void multiply_matrices(device_state& on, const matrix_product<S>& of) {
  const auto type = std::is_same_v<S, float> ? CUDA_R_32F : CUDA_R_64F;
  const auto compute = !std::is_same_v<S, float>  ? CUBLAS_COMPUTE_64F
                       : on.how == products::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                  : CUBLAS_COMPUTE_32F;
  const S one = 1, beta = of.how == update::add ? S(1) : S(0);
  const auto number = [](index value) { return static_cast<int>(value); };
  if (of.c.rows == 0 || of.c.columns == 0) return;
  if (of.inner() == 0) return for_each_row(on, of.c.rows, add_bias<S>{{}, of.c, of.how});  // sums of nothing
  require_success(
      cublasGemmStridedBatchedEx(on.blas, of.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                                 of.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, number(of.c.columns), number(of.c.rows),
                                 number(of.inner()), &one, of.b.data, type, number(of.b.stride), of.b.run_stride,
                                 of.a.data, type, number(of.a.stride), of.a.run_stride, &beta, of.c.data, type,
                                 number(of.c.stride), of.c.run_stride, number(on.runs), compute, CUBLAS_GEMM_DEFAULT),
      "a product of matrices");
}

#else

/// One tile of the result: b's columns are packed, so that the innermost loop goes along memory.
template <class S>
struct product_tile {
  static constexpr index height = 32, width = 16, depth = 128;
  matrix_product<S> of;

  void operator()(index run, index tile) const {
    const index across = chunks(of.c.columns, width), inner = of.inner();
    const index row = tile / across * height, column = tile % across * width;
    const index rows = smaller(height, of.c.rows - row), columns = smaller(width, of.c.columns - column);
    const index a_row = of.transpose_a ? 1 : of.a.stride, a_inner = of.transpose_a ? of.a.stride : 1;
    const index b_column = of.transpose_b ? of.b.stride : 1, b_inner = of.transpose_b ? 1 : of.b.stride;
    const S* const a = of.a.data + run * of.a.run_stride + row * a_row;
    const S* const b = of.b.data + run * of.b.run_stride + column * b_column;
    S sums[height][width] = {}, packed[depth][width] = {};
    for (index begin = 0; begin < inner; begin += depth) {
      const index terms = smaller(depth, inner - begin);
      for (index i = 0; i < terms; ++i)
        for (index c = 0; c < columns; ++c) packed[i][c] = b[(begin + i) * b_inner + c * b_column];
      for (index r = 0; r < rows; ++r)
        for (index i = 0; i < terms; ++i) {
          const S factor = a[r * a_row + (begin + i) * a_inner];
          for (index c = 0; c < width; ++c) sums[r][c] += factor * packed[i][c];
        }
    }
    for (index r = 0; r < rows; ++r)
      for (index c = 0; c < columns; ++c) put(row_of(of.c, run, row + r)[column + c], sums[r][c], of.how);
  }

  [[nodiscard]] static index chunks(index size, index of) { return (size + of - 1) / of; }
  [[nodiscard]] static index smaller(index one, index other) { return one < other ? one : other; }
};

template <class S>
void multiply_matrices(device_state& on, const matrix_product<S>& of) {
  using tile = product_tile<S>;
  for_each_entry(on, on.runs, tile::chunks(of.c.rows, tile::height) * tile::chunks(of.c.columns, tile::width),
                 tile{of});
}

#endif

}  // namespace lindyn::backend::detail
