// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The exponential of all lanes of a register.

#include <array>
#include <cstdint>
#include <type_traits>

#include <lindyn/backend/host_vector.hpp>
#include <lindyn/core/unroll.hpp>
#include <lindyn/core/vector_width.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// Constants of exp(x) = 2^n exp(r), with n whole and r = x - n ln 2 within +-ln(2) / 2.
template <class S>
struct exponential_constants;

template <>
struct exponential_constants<float> {
  using whole = std::int32_t;
  static constexpr int degree = 7, mantissa = 23, bias = 127;
  static constexpr float lowest = -86.5F, highest = 89.0F;
  static constexpr float ln2_high = 0.693359375F, ln2_low = -2.12194440054690583e-4F;  ///< n ln2_high is exact
};

template <>
struct exponential_constants<double> {
  using whole = std::int64_t;
  static constexpr int degree = 13, mantissa = 52, bias = 1023;
  static constexpr double lowest = -708.0, highest = 710.0;
  static constexpr double ln2_high = 0.693145751953125, ln2_low = 1.42860682030941723212e-6;
};

/// 1 / k! for k = 0 .. 13.
inline constexpr auto inverse_factorials = [] {
  std::array<double, 14> result{1.0};
  for (std::size_t k = 1; k < result.size(); ++k) result[k] = result[k - 1] / static_cast<double>(k);
  return result;
}();

/// exp(x) in every lane, within 2 units in the last place: the Taylor polynomial of exp(r), whose remainder is below
/// rounding. Infinity and NaN as in std::exp, but 0 where the result nears subnormal numbers (2.7e-38, 3e-308), which
/// slow arithmetic down.
template <class S, int Bytes = vector_bytes>
[[gnu::always_inline]] inline typename vectors<S, Bytes>::value exponential(
    typename vectors<S, Bytes>::value x) noexcept {
  using constants = exponential_constants<S>;
  using value = typename vectors<S, Bytes>::value;
  typedef typename constants::whole whole __attribute__((vector_size(Bytes)));
  typedef std::make_unsigned_t<typename constants::whole> bits __attribute__((vector_size(Bytes)));
  constexpr S offset = 2 * constants::bias;  // makes the number to be rounded positive: conversions cut towards zero
  const auto coefficient = [](int k) { return static_cast<S>(inverse_factorials[static_cast<std::size_t>(k)]); };

  const value lowest = vectors<S, Bytes>::all(constants::lowest), highest = vectors<S, Bytes>::all(constants::highest);
  const value bounded = x < lowest ? lowest : x < highest ? x : highest;  // NaN has no whole part to convert to
  const whole n = __builtin_convertvector(bounded * S(1.44269504088896340736) + (offset + S(0.5)), whole) -
                  static_cast<typename constants::whole>(offset);
  const value real_n = __builtin_convertvector(n, value);
  const value r = (x - real_n * constants::ln2_high) - real_n * constants::ln2_low;
  value sum = vectors<S, Bytes>::all(coefficient(constants::degree));
  lindyn::detail::unroll<constants::degree>([&](auto k) __attribute__((always_inline)) {
    sum = sum * r + coefficient(constants::degree - 1 - k);
  });
  // 2^(n - 1), then twice that: 2^n alone may be too large when the result isn't.
  const value half =
      reinterpret_cast<value>((reinterpret_cast<bits>(n) + (constants::bias - 1)) << constants::mantissa);
  return x < lowest ? value{} : sum * half * S(2);
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
