// SPDX-License-Identifier: MIT
// The kernels of the device backend, for the tests on a GPU.
#include <lindyn/device_kernels.hpp>
