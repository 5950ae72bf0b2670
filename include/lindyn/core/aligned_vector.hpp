// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arrays that begin at a cache line, as the processor's widest loads like it.

#include <cstddef>
#include <new>
#include <vector>

namespace lindyn {

/// Gets memory whose addresses are multiples of 64 bytes: a cache line, and the longest vector register.
template <class T>
struct aligned_allocator {
  using value_type = T;  ///< what the memory is for
  /// Bytes of which every address is a multiple.
  static constexpr std::align_val_t alignment{64};

  constexpr aligned_allocator() noexcept = default;
  /// The allocator of another type's memory, which has no state either.
  template <class U>
  constexpr aligned_allocator(const aligned_allocator<U>&) noexcept {}

  /// Memory for `count` elements, not initialised; std::bad_alloc where there isn't so much.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), alignment));
  }
  /// Gives memory back that `allocate` gave.
  void deallocate(T* memory, std::size_t) noexcept { ::operator delete(memory, alignment); }

  /// One allocator's memory may be given back to any other.
  friend constexpr bool operator==(const aligned_allocator&, const aligned_allocator&) noexcept { return true; }
};

/// A std::vector whose first element lies at a multiple of 64 bytes.
template <class T>
using aligned_vector = std::vector<T, aligned_allocator<T>>;

}  // namespace lindyn
