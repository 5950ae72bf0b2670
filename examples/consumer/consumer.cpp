// SPDX-License-Identifier: MIT
/// \file
/// The smallest program that uses all parts of the library: does it find them, and are they of one version?

#include <iostream>

#include <lindyn/flows.hpp>
#include <lindyn/lindyn.hpp>
#include <lindyn/storage.hpp>

int main() {
  lindyn::counter_generator generator(1);
  std::cout << "lindyn " << LINDYN_VERSION_STRING << " throws " << 1 + lindyn::uniform_index(generator, 6) << '\n';
}
