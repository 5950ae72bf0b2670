// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "hidden_memory.hpp"
#include "placed_training_cases.hpp"

namespace lindyn::testing {

TEST_CASE_TEMPLATE_INVOKE(same_steps, numbers<float, hidden_memory>, numbers<double, hidden_memory>);
TEST_CASE_TEMPLATE_INVOKE(resumed_elsewhere, hidden_memory);
TEST_CASE_TEMPLATE_INVOKE(observed_copies, hidden_memory);
TEST_CASE_TEMPLATE_INVOKE(changed_between_steps, hidden_memory);
TEST_CASE_TEMPLATE_INVOKE(overflow, hidden_memory);
TEST_CASE_TEMPLATE_INVOKE(several_runs, hidden_memory);

}  // namespace lindyn::testing
