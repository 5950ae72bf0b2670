// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <Eigen/Core>

#include <lindyn/core/vector_width.hpp>

TEST_CASE("vectors are as wide as those that Eigen finds on this machine") {
  CHECK(lindyn::vector_bytes == EIGEN_IDEAL_MAX_ALIGN_BYTES);
  using doubles = double __attribute__((vector_size(lindyn::vector_bytes)));
  CHECK(sizeof(doubles) == lindyn::vector_bytes);
}
