// SPDX-License-Identifier: MIT
// The kernels of the device backend, for the tests of one of Thrust's host systems.
#include <lindyn/device_kernels.hpp>
