// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What uses Boost: the headers that the target lindyn::flows adds. CMakeLists.txt reads this list.

#include <lindyn/integrate/flow.hpp>
