// SPDX-License-Identifier: MIT
// A compile-time manifold of a network whose sizes are known at run time only.
// expect: lindyn: imir needs the numbers of layers and heads at compile time
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>

using recall = lindyn::task::associative_recall<lindyn::block<2>>;
constexpr auto dimension = lindyn::manifold::imir<recall, lindyn::model::attention_only<>>::dimension;
