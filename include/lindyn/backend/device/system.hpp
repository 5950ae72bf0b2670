// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The system of Thrust that a unit of device kernels is compiled for: THRUST_DEVICE_SYSTEM, which is CUDA under nvcc,
/// and cpp elsewhere where nothing is said.

/// \def THRUST_DEVICE_SYSTEM
/// What Thrust calls its device: cpp where neither the user nor nvcc says another.
#if !defined(THRUST_DEVICE_SYSTEM) && !defined(__CUDACC__)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#endif
#include <thrust/detail/config.h>

/// \def LINDYN_ON_CUDA
/// 1 where kernels run on a GPU, 0 where they run on the host.
#if THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_CUDA
#define LINDYN_ON_CUDA 1
#else
#define LINDYN_ON_CUDA 0
#endif

#if LINDYN_ON_CUDA
#include <string>

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <lindyn/core/errors.hpp>
#endif

namespace lindyn::backend::detail {

/// The system's name, as THRUST_DEVICE_SYSTEM has it.
inline constexpr const char* system_name =
#if LINDYN_ON_CUDA
    "cuda";
#elif THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_OMP
    "omp";
#elif THRUST_DEVICE_SYSTEM == THRUST_DEVICE_SYSTEM_TBB
    "tbb";
#else
    "cpp";
#endif

#if LINDYN_ON_CUDA
/// Throws device_error, with what CUDA says, unless all went well.
inline void require_success(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw device_error(std::string(what) + ": " + cudaGetErrorString(status));
}
/// The same for cuBLAS.
inline void require_success(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw device_error(std::string(what) + ": " + cublasGetStatusString(status));
}
#endif

}  // namespace lindyn::backend::detail
