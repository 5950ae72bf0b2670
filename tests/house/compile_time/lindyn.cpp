// SPDX-License-Identifier: MIT
// seconds: 15
#include <lindyn/lindyn.hpp>

using recall = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;
using net = lindyn::model::attention_only<lindyn::layers<2>, lindyn::heads<1>>;
using imir = lindyn::manifold::imir<recall, net, lindyn::positions::slots>;
static_assert(imir::dimension == 28);
