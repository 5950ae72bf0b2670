// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Groups of lanes that work on one row together: one lane on the host, a warp or a part of one on a GPU. Kernels are written
/// once, for any group: lane number `first` takes columns first, first + count, .., and sums go over all lanes.

#include <lindyn/core/host_device.hpp>

namespace lindyn::backend::detail {

/// A lane by itself.
struct single_lane {
  static constexpr int first = 0;  ///< number of this lane
  static constexpr int count = 1;  ///< lanes of the group

  /// The sum over all lanes, which each of them gets.
  template <class T>
  LINDYN_HOST_DEVICE T sum(T value) const {
    return value;
  }
  /// The largest of all lanes' values, none of which is NaN.
  template <class T>
  LINDYN_HOST_DEVICE T largest(T value) const {
    return value;
  }
  /// Lets each lane see what others wrote before.
  LINDYN_HOST_DEVICE void meet() const {}
};

#ifdef __CUDACC__

/// `Count` neighbouring threads of a warp, all of which must be there. Sums are the same bits in all lanes, as each
/// step adds the same two numbers.
template <int Count>
struct warp_lanes {
  static constexpr int count = Count;  ///< lanes of the group
  int first;                           ///< number of this lane
  unsigned members;                    ///< the group's lanes within the warp

  /// That of a thread of the block.
  __device__ explicit warp_lanes(unsigned thread)
      : first(static_cast<int>(thread % Count)),
        members((0xFFFFFFFFU >> (32 - Count)) << (thread % 32 / Count * Count)) {}

  /// The sum over all lanes, which each of them gets.
  template <class T>
  LINDYN_HOST_DEVICE T sum(T value) const {
#ifdef __CUDA_ARCH__
    for (int apart = Count / 2; apart > 0; apart /= 2) value += __shfl_xor_sync(members, value, apart, Count);
#endif
    return value;
  }
  /// The largest of all lanes' values, none of which is NaN.
  template <class T>
  LINDYN_HOST_DEVICE T largest(T value) const {
#ifdef __CUDA_ARCH__
    for (int apart = Count / 2; apart > 0; apart /= 2) {
      const T other = __shfl_xor_sync(members, value, apart, Count);
      value = value < other ? other : value;
    }
#endif
    return value;
  }
  /// Lets each lane see what others wrote before.
  LINDYN_HOST_DEVICE void meet() const {
#ifdef __CUDA_ARCH__
    __syncwarp(members);
#endif
  }
};

#endif

}  // namespace lindyn::backend::detail
