// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// How wide the processor's vectors are, for code that computes several numbers in lock step.

namespace lindyn {

/// Bytes of the widest vector register that the compiler may use: 64 with AVX-512, 32 with AVX, else 16. Types of
/// longer vectors are correct but slow (GCC 12 keeps them in memory), those of shorter ones leave lanes idle.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

}  // namespace lindyn
