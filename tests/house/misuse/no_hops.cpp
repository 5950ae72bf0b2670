// SPDX-License-Identifier: MIT
// A chain without a hop.
// expect: lindyn: j_hop needs at least one hop.
#include <lindyn/task/j_hop.hpp>

constexpr int hops = lindyn::task::j_hop<0>::hops;
