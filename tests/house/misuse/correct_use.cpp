// SPDX-License-Identifier: MIT
// Expects nothing, so it has to compile: what is refused beside this isn't refused for some other reason.
#include <lindyn/core/sizes.hpp>

int main() { return lindyn::heads<1>::value + lindyn::block<2>::value; }
