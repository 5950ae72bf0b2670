// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How wide the processor's vectors are, for code that computes several numbers in lock step.

/// \def LINDYN_VECTORS
/// The inline namespace of everything whose memory or code depends on that width: source files that are compiled for
/// different processors, with -mavx2 or without, have classes and functions of their own then, and may become one program.
/// What Eigen computes is shared all the same, as its names don't differ: that asks for the same options everywhere.

namespace lindyn {

/// Bytes of the widest vector register that the compiler may use: 64 with AVX-512, 32 with AVX, else 16. Types of
/// longer vectors are correct but slow (GCC 12 keeps them in memory), those of shorter ones leave lanes idle.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#define LINDYN_VECTORS avx512
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#define LINDYN_VECTORS avx
#else
inline constexpr int vector_bytes = 16;
#define LINDYN_VECTORS sse
#endif

}  // namespace lindyn
