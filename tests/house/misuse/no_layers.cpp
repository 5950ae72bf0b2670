// SPDX-License-Identifier: MIT
// A network without layers.
// expect: lindyn: a network needs at least one layer
#include <lindyn/core/sizes.hpp>

constexpr int none = lindyn::layers<0>::value;
