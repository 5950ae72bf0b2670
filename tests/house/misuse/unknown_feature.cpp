// SPDX-License-Identifier: MIT
// A task with a feature that there is not.
// expect: lindyn: the features of associative_recall are: stored_association, directed_association, rare_tokens.
#include <lindyn/task/associative_recall.hpp>

struct telepathy {};
constexpr int tokens = lindyn::task::associative_recall<lindyn::block<2>, telepathy>::block;
