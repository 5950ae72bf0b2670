// SPDX-License-Identifier: MIT
// Expects nothing, so it has to compile: what is refused beside this isn't refused for some other reason.
#include <lindyn/manifold/imir.hpp>
#include <lindyn/model/attention_only.hpp>

using recall = lindyn::task::associative_recall<lindyn::block<2>, lindyn::stored_association>;
using net = lindyn::model::attention_only<lindyn::layers<2>, lindyn::heads<1>>;
static_assert(lindyn::manifold::imir<recall, net>::dimension == 28);
static_assert(lindyn::manifold::imir<recall, net, lindyn::positions::ring<3>>::dimension == 28);
