// SPDX-License-Identifier: MIT
// expect: lindyn: a layer needs at least one head; write heads<1> or more.
#include <lindyn/core/sizes.hpp>

int main() { return lindyn::heads<0>::value; }
