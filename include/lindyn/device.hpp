// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The device backend: the headers that the target lindyn::device adds. Its kernels are in lindyn/device_kernels.hpp, in
/// one unit of the program. CMakeLists.txt reads this list.

#include <lindyn/backend/thrust_device.hpp>
