// SPDX-License-Identifier: MIT
// A network of integers.
// expect: lindyn: the scalar of an attention-only network must be float or double.
#include <lindyn/model/attention_only.hpp>

lindyn::model::attention_only<lindyn::layers<2>, lindyn::heads<1>, int> net({.vocabulary = 4, .positions = 4});
