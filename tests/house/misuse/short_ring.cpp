// SPDX-License-Identifier: MIT
// A ring that is no ring.
// expect: lindyn: a ring needs at least three positions.
#include <lindyn/population/position_laws.hpp>

constexpr int size = lindyn::positions::ring<2>::size;
