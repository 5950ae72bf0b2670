// SPDX-License-Identifier: MIT
// One class of rare tokens, named twice.
// expect: lindyn: name each feature of associative_recall once.
#include <lindyn/task/associative_recall.hpp>

using twice = lindyn::task::associative_recall<lindyn::block<2>, lindyn::rare_tokens, lindyn::rare_tokens>;
constexpr int tokens = twice::block;
