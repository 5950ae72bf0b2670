// SPDX-License-Identifier: MIT
// Couples that are directed and are not.
// expect: lindyn: stored_association and directed_association exclude each other: a couple is directed or not.
#include <lindyn/task/associative_recall.hpp>

using both =
    lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association, lindyn::directed_association>;
constexpr int tokens = both::block;
