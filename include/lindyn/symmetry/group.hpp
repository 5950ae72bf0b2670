// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Permutation groups given by generators: their elements and their orbits.

#include <set>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/symmetry/disjoint_sets.hpp>
#include <lindyn/symmetry/permutation.hpp>

namespace lindyn::symmetry {

/// All elements of the group that the generators generate, by breadth-first search from the identity: in a finite group
/// products of generators reach the inverses too.
/// \param generators at least one permutation; all of one size
/// \param bound      largest number of elements that is still listed
/// Throws argument_error for no or invalid generators, too_many_error if the group has more than `bound` elements.
[[nodiscard]] inline std::vector<permutation> enumerate(std::span<const permutation> generators,
                                                        std::size_t bound = 1'000'000) {
  require(!generators.empty(), "generators.size()", generators.size(), "at least 1, so that the points are known");
  const int size = static_cast<int>(generators.front().size());
  require_permutations("generators", generators, size);
  std::vector<permutation> elements{identity(size)};
  std::set<permutation> known{elements.front()};
  for (std::size_t next = 0; next < elements.size(); ++next)
    for (const permutation& generator : generators) {
      permutation image = compose(generator, elements[next]);
      if (!known.insert(image).second) continue;
      elements.push_back(std::move(image));
      if (elements.size() > bound)
        throw too_many_error("or more group elements", static_cast<double>(elements.size()), static_cast<double>(bound),
                             "work with the orbitals, which need the generators alone");
    }
  return elements;
}

/// For every point of 0 .. size-1 the number of its orbit; orbits are numbered in the order of their smallest points.
/// No generators: every point is an orbit. Throws argument_error for size < 1 or invalid generators.
[[nodiscard]] inline std::vector<int> orbit_labels(std::span<const permutation> generators, int size) {
  require(size >= 1, "size", size, "at least 1");
  require_permutations("generators", generators, size);
  disjoint_sets orbits(static_cast<std::size_t>(size));
  for (const permutation& generator : generators)
    for (int i = 0; i < size; ++i) orbits.unite(i, generator[static_cast<std::size_t>(i)]);
  return std::move(orbits).labels();
}

}  // namespace lindyn::symmetry
