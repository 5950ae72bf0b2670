// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arrays that begin at a cache line, as the processor's widest loads like it, and large ones in large pages.

#include <cstddef>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lindyn {

namespace detail {

/// Bytes of a large page. Arrays of at least that size begin at one and ask for such pages: what passes through tens of
/// megabytes at each step otherwise waits for the translation of addresses (7 % of a step of the larger published network).
inline constexpr std::size_t large_page = std::size_t{1} << 21;

/// Tells the system that large pages are wanted, where it can be told; it may decline.
inline void ask_for_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  ::madvise(memory, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace detail

/// Gets memory whose addresses are multiples of 64 bytes: a cache line, and the longest vector register. From two
/// megabytes on it comes in large pages, where the system has them.
template <class T>
struct aligned_allocator {
  using value_type = T;  ///< what the memory is for
  /// Bytes of which the address of an array of so many bytes is a multiple.
  [[nodiscard]] static constexpr std::align_val_t alignment(std::size_t bytes) noexcept {
    return std::align_val_t{bytes < detail::large_page ? 64 : detail::large_page};
  }

  constexpr aligned_allocator() noexcept = default;
  /// The allocator of another type's memory, which has no state either.
  template <class U>
  constexpr aligned_allocator(const aligned_allocator<U>&) noexcept {}

  /// Memory for `count` elements, not initialised; std::bad_alloc where there isn't so much.
  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, alignment(bytes));
    if (bytes >= detail::large_page) detail::ask_for_large_pages(memory, bytes);
    return static_cast<T*>(memory);
  }
  /// Gives memory back that `allocate` gave for as many elements.
  void deallocate(T* memory, std::size_t count) noexcept { ::operator delete(memory, alignment(count * sizeof(T))); }

  /// One allocator's memory may be given back to any other.
  friend constexpr bool operator==(const aligned_allocator&, const aligned_allocator&) noexcept { return true; }
};

/// A std::vector whose first element lies at a multiple of 64 bytes.
template <class T>
using aligned_vector = std::vector<T, aligned_allocator<T>>;

}  // namespace lindyn
