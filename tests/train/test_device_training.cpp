// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <lindyn/backend/thrust_device.hpp>

#include "placed_training_cases.hpp"

namespace lindyn::testing {

TEST_CASE_TEMPLATE_INVOKE(same_steps, numbers<float, backend::thrust_device>, numbers<double, backend::thrust_device>);
TEST_CASE_TEMPLATE_INVOKE(resumed_elsewhere, backend::thrust_device);
TEST_CASE_TEMPLATE_INVOKE(observed_copies, backend::thrust_device);
TEST_CASE_TEMPLATE_INVOKE(changed_between_steps, backend::thrust_device);
TEST_CASE_TEMPLATE_INVOKE(overflow, backend::thrust_device);
TEST_CASE_TEMPLATE_INVOKE(several_runs, backend::thrust_device);

}  // namespace lindyn::testing
