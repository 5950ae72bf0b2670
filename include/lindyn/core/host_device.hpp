// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Marks functions that run on the host and on devices.

/// \def LINDYN_HOST_DEVICE
/// Stands before a function that nvcc compiles for the host and for the device; means nothing to other compilers.
#ifdef __CUDACC__
#define LINDYN_HOST_DEVICE __host__ __device__
#else
#define LINDYN_HOST_DEVICE
#endif
