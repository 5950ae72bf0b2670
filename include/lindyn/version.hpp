// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The library's version. CMakeLists.txt reads it from here, so this is the only place where it stands.

/// \{
/// The version MAJOR.MINOR.PATCH: the numbers, and all three as text.
#define LINDYN_VERSION_MAJOR 0
#define LINDYN_VERSION_MINOR 1
#define LINDYN_VERSION_PATCH 0
#define LINDYN_VERSION_STRING "0.1.0"
/// \}
