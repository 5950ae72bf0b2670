// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/device.hpp>

#include "dense_network.hpp"

using lindyn::backend::thrust_device;

TEST_CASE("on a device, losses, gradients, logits and attention are those of the plain network") {
  lindyn::testing::compare_with_plain<thrust_device, double>(1e-12);
  lindyn::testing::compare_with_plain<thrust_device, float>(2e-5);  // as attention_only in float
}

TEST_CASE("several runs on a device get the losses and gradients that each has alone") {
  lindyn::testing::compare_runs_with_plain(thrust_device(3));
}
