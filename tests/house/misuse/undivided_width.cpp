// SPDX-License-Identifier: MIT
// expect: lindyn: the heads of a transformer must divide its width.
#include <lindyn/model/prenorm_shape.hpp>

constexpr auto parameters = lindyn::model::fixed_sizes<lindyn::model::prenorm_shape{
    .vocabulary = 5, .outputs = 5, .context = 3, .width = 8, .heads = 3, .layers = 2, .hidden = 16}>::parameters;
