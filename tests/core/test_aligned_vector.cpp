// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <new>

#include <lindyn/core/aligned_vector.hpp>

using lindyn::aligned_vector;

TEST_CASE("an array begins at a cache line, a large one at a large page, also where it has grown") {
  aligned_vector<float> numbers(3, 1.0f);
  CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % 64 == 0);
  numbers.resize(std::size_t{1} << 19, 2.0f);
  CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % (std::uintptr_t{1} << 21) == 0);
  CHECK(numbers.front() == 1.0f);
  CHECK(numbers.back() == 2.0f);
  const aligned_vector<float> copy = numbers;
  numbers = {};
  CHECK(copy[2] == 1.0f);
}

TEST_CASE("more elements than addresses are refused") {
  CHECK_THROWS_AS((void)lindyn::aligned_allocator<double>().allocate(std::numeric_limits<std::size_t>::max() / 4),
                  std::bad_alloc);
}
