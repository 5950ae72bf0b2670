// SPDX-License-Identifier: MIT
// A condition that tells nothing, as it is the only one.
// expect: lindyn: conditional_retrieval needs at least two conditions.
#include <lindyn/task/conditional_retrieval.hpp>

constexpr int conditions = lindyn::task::conditional_retrieval<1>::conditions;
