// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Nonlinearities on the host, with their derivatives, and products entry by entry.

#include <algorithm>
#include <array>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_exponential.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// With t = 1 / (1 + z / 2), Phi(-sqrt(2) z) = erfc(z) / 2 = exp(-z^2) t P(2 t - 1) for z >= 0, where P is smooth on all of
/// (-1, 1]: its coefficients, by interpolation at Chebyshev's points of t for z up to 9.4 (float; relative error 5e-8) and
/// 27 (double; 2.4e-16), behind which exp(-z^2) is negligible.
template <class S>
inline constexpr auto tail_coefficients = [] {
  if constexpr (sizeof(S) == sizeof(float))
    return std::array<S, 9>{2.5539568819196532e-1F,  1.71790232645971788e-1F,  6.98673188153518123e-2F,
                            9.10897296642030938e-3F, -5.37045774792653057e-3F, -1.61011228854880582e-3F,
                            7.44376497644729561e-4F, 1.89687640300237968e-4F,  -1.15726291901887247e-4F};
  else
    return std::array<S, 24>{
        2.55395676310505737e-1,  1.7179017110345348e-1,   6.98680231390156268e-2,  9.1105578766263035e-3,
        -5.37766547245416131e-3, -1.61979626381999734e-3, 7.72653015889923607e-4,  2.09323967464152311e-4,
        -1.6576837860377861e-4,  -8.59244327737156662e-6, 3.61176190606050268e-5,  -8.53942738394793899e-6,
        -5.42332756156639017e-6, 4.03775342568120797e-6,  -2.84966322468527912e-7, -9.27809269809997592e-7,
        5.10835016528080075e-7,  2.40363573199872984e-8,  -1.61522102068641232e-7, 5.9006670240170657e-8,
        2.02341456911882649e-8,  -1.69389350214834063e-8, 4.6034559981701789e-10,  1.19175332427421786e-9};
}();

/// A nonlinearity's values and derivatives in the lanes of a register.
template <class S>
struct activated {
  typename vectors<S>::value value, derivative;
};

/// x Phi(x) and Phi(x) + x phi(x).
template <class S>
[[gnu::always_inline]] inline activated<S> gelu(typename vectors<S>::value x) noexcept {
  using value = typename vectors<S>::value;
  constexpr const auto& coefficients = tail_coefficients<S>;
  constexpr int degree = static_cast<int>(coefficients.size()) - 1;
  const value size = x < S(0) ? -x : x;
  const value t = S(1) / (S(1) + size * S(0.353553390593273762));  // z = |x| / sqrt(2)
  const value u = S(2) * t - S(1);
  value sum = vectors<S>::all(coefficients[degree]);
  lindyn::detail::unroll<degree>([&](auto k) __attribute__((always_inline)) {
    sum = sum * u + coefficients[static_cast<std::size_t>(degree - 1 - k)];
  });
  const value bell = exponential<S>(x * x * S(-0.5));
  const value tail = bell * t * sum;
  const value below = x < S(0) ? tail : S(1) - tail;
  return {x * below, below + x * bell * S(0.398942280401432678)};  // 1 / sqrt(2 pi)
}

/// max(x, 0) and its derivative, 0 at 0; what is no number remains none.
template <class S>
[[gnu::always_inline]] inline activated<S> relu(typename vectors<S>::value x) noexcept {
  using value = typename vectors<S>::value;
  return {x < S(0) ? value{} : x, x > S(0) ? vectors<S>::all(S(1)) : value{}};
}

/// Entries of a matrix that one worker takes at once, rounded to whole rows.
inline constexpr index entries_chunk = 8192;

/// Calls work(row) for all rows of a matrix of so many columns.
template <class Work>
void each_row(worker_pool& pool, index rows, index columns, Work&& work) {
  pool.chunks(rows, std::max<index>(1, entries_chunk / std::max<index>(1, columns)),
              [&](index, index begin, index end, int) {
                for (index r = begin; r < end; ++r) work(r);
              });
}

/// Calls work(first, count) for the entries of a row, a register at a time and then those that are left.
template <class S, class Work>
[[gnu::always_inline]] inline void by_registers(index columns, const Work& work) {
  constexpr index lanes = vectors<S>::lanes;
  const index whole = columns - columns % lanes;
  for (index c = 0; c < whole; c += lanes) work(c, lanes);
  if (whole < columns) work(whole, columns - whole);
}

/// x = f(x), derivative = f'(x), for one row.
template <class S, class Function>
void activate_row(S* x, S* derivative, index columns, const Function& function) {
  using registers = vectors<S>;
  by_registers<S>(
      columns, [=](index c, index count) __attribute__((always_inline)) {
        const activated<S> result = function(registers::load_some(x + c, count));
        registers::store_some(x + c, result.value, count);
        registers::store_some(derivative + c, result.derivative, count);
      });
}

/// x = f(x), derivative = f'(x). The errors of gelu, in units of the larger of 1 and |x|, are at most 1.3e-7 (value) and
/// 2.5e-7 (derivative) in float, 3e-16 and 5e-16 in double.
template <class S>
void activate(worker_pool& pool, activation kind, strided_matrix<S> x, strided_matrix<S> derivative) {
  using value = typename vectors<S>::value;
  each_row(pool, x.rows, x.columns, [&](index r) {
    if (kind == activation::gelu)
      activate_row(
          x.row(r), derivative.row(r), x.columns,
          [](const value& lanes) __attribute__((always_inline)) { return gelu<S>(lanes); });
    else
      activate_row(
          x.row(r), derivative.row(r), x.columns,
          [](const value& lanes) __attribute__((always_inline)) { return relu<S>(lanes); });
  });
}

/// x = x factor, entry by entry.
template <class S>
void multiply(worker_pool& pool, strided_matrix<S> x, strided_matrix<const S> factor) {
  using registers = vectors<S>;
  each_row(pool, x.rows, x.columns, [&](index r) {
    S* const to = x.row(r);
    const S* const by = factor.row(r);
    by_registers<S>(
        x.columns, [=](index c, index count) __attribute__((always_inline)) {
          registers::store_some(to + c, registers::load_some(to + c, count) * registers::load_some(by + c, count),
                                count);
        });
  });
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
