// SPDX-License-Identifier: MIT
/// \file
/// A program of two source files, one of them for processors with AVX: each has kernels of its own.

#include <cstdio>

#include "product.hpp"

int main() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 77;  // skipped
  const numbers x = numbers{7, 50}.filled(1), w = numbers{40, 50}.filled(2);
  const numbers narrow = product(x, w), wide = wide_product(x, w);
  double difference = 0;
  for (std::size_t i = 0; i < narrow.entries.size(); ++i)
    difference += std::abs(static_cast<double>(narrow.entries[i]) - static_cast<double>(wide.entries[i]));
  std::printf("sum of all differences: %g\n", difference);
  return wide_host() != typeid(lindyn::backend::host) && difference < 1e-3 ? 0 : 1;
}
