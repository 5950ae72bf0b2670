// SPDX-License-Identifier: MIT
// Layers and heads in the wrong order.
// expect: lindyn: write attention_only<layers<L>, heads<H>>: the layers first, then the heads.
#include <lindyn/model/attention_only.hpp>

lindyn::model::attention_only<lindyn::heads<1>, lindyn::layers<2>> net({.vocabulary = 4, .positions = 4});
