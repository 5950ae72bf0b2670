// SPDX-License-Identifier: MIT
/// \file
/// The one main() of all test programs, compiled once.

// Both: the header may have been included already, precompiled, and then draws no conclusions from the second.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
