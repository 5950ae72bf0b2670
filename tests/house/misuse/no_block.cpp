// SPDX-License-Identifier: MIT
// expect: lindyn: a block needs at least two tokens, a key and the token that follows it.
#include <lindyn/core/sizes.hpp>

int main() { return lindyn::block<1>::value; }
