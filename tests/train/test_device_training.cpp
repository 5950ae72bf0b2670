// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/backend/thrust_device.hpp>

#include "placed_training_cases.hpp"

namespace lindyn::testing {

using backend::thrust_device;

TEST_CASE_TEMPLATE_INVOKE(same_steps, numbers<float, thrust_device>, numbers<double, thrust_device>);
TEST_CASE_TEMPLATE_INVOKE(resumed_elsewhere, thrust_device);
TEST_CASE_TEMPLATE_INVOKE(observed_copies, thrust_device);
TEST_CASE_TEMPLATE_INVOKE(changed_between_steps, thrust_device);
TEST_CASE_TEMPLATE_INVOKE(overflow, thrust_device);
TEST_CASE_TEMPLATE_INVOKE(several_runs, thrust_device);

}  // namespace lindyn::testing
