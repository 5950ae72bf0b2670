// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Permutations of 0 .. n-1 in image form.

#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::symmetry {

/// A permutation in image form: p[i] is the image of i. Its matrix has a one in row p[i] of column i.
using permutation = std::vector<int>;

/// Throws argument_error, naming the entry, unless every integer of [0, images.size()) occurs exactly once.
inline void require_permutation(std::string_view argument, std::span<const int> images) {
  std::vector<bool> seen(images.size(), false);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const bool inside = images[i] >= 0 && static_cast<std::size_t>(images[i]) < images.size();
    if (!inside || seen[static_cast<std::size_t>(images[i])])
      throw argument_error(std::string(argument) + "[" + std::to_string(i) + "]", std::to_string(images[i]),
                           "an integer in [0, " + std::to_string(images.size()) +
                               ") that occurs once, as the images of a permutation do");
    seen[static_cast<std::size_t>(images[i])] = true;
  }
}

/// Throws shape_error or argument_error unless all of the `generators` are permutations of 0 .. size-1.
inline void require_permutations(std::string_view argument, std::span<const permutation> generators, int size) {
  for (std::size_t g = 0; g < generators.size(); ++g) {
    const std::string which = std::string(argument) + "[" + std::to_string(g) + "]";
    require_extent(which + ".size()", generators[g].size(), size);
    require_permutation(which, generators[g]);
  }
}

/// The permutation of 0 .. size-1 that moves nothing. Throws argument_error if size < 0.
[[nodiscard]] inline permutation identity(int size) {
  require(size >= 0, "size", size, "at least 0");
  permutation images(static_cast<std::size_t>(size));
  std::iota(images.begin(), images.end(), 0);
  return images;
}

/// First q, then p: i -> p[q[i]]. Throws shape_error if the sizes differ.
[[nodiscard]] inline permutation compose(const permutation& p, const permutation& q) {
  require_extent("q.size()", q.size(), p.size());
  permutation images(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) images[i] = p[static_cast<std::size_t>(q[i])];
  return images;
}

/// The permutation that undoes p.
[[nodiscard]] inline permutation inverse(const permutation& p) {
  permutation images(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) images[static_cast<std::size_t>(p[i])] = static_cast<int>(i);
  return images;
}

namespace detail {

/// Exchanges 0 and 1.
[[nodiscard]] inline permutation transposition(int size) {
  permutation images = identity(size);
  std::swap(images.at(0), images.at(1));
  return images;
}

/// i -> i + 1 mod size.
[[nodiscard]] inline permutation rotation(int size) {
  permutation images = identity(size);
  for (int& image : images) image = (image + 1) % size;
  return images;
}

/// The permutation of slots as one of the points slot * phases + phase.
[[nodiscard]] inline permutation move_slots(const permutation& slots, int phases) {
  permutation images;
  for (const int slot : slots)
    for (int phase = 0; phase < phases; ++phase) images.push_back(slot * phases + phase);
  return images;
}

/// The permutation of 0 .. size-1 that acts as `inside` on the points from `first` on and keeps the others.
[[nodiscard]] inline permutation extended(const permutation& inside, int first, int size) {
  permutation images = identity(size);
  for (std::size_t i = 0; i < inside.size(); ++i) images[static_cast<std::size_t>(first) + i] = first + inside[i];
  return images;
}

}  // namespace detail

}  // namespace lindyn::symmetry
