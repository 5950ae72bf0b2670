// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Counts what a test program allocates, by operator new and by malloc. For one source file of a program.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "sanitized.hpp"

namespace lindyn::testing {
inline std::atomic<long> allocations{0};  ///< of this program so far
}

// Sanitizers have a malloc of their own; elsewhere ours counts and asks that of glibc.
#if defined(__GLIBC__) && !defined(LINDYN_SANITIZED)
extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) noexcept {
  ++lindyn::testing::allocations;
  return __libc_malloc(size);
}
#endif

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++lindyn::testing::allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  ++lindyn::testing::allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* const memory = std::aligned_alloc(unit, (size / unit + 1) * unit)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
