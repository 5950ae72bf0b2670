// SPDX-License-Identifier: MIT
/// \file
/// The one main() of all test programs, compiled once.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
