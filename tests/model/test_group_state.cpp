// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <vector>

#include <lindyn/model/attention_only/group_state.hpp>

using lindyn::model::detail::group_state;
using lindyn::model::detail::lane_memory;

TEST_CASE("the parts of a group's memory fill it, each entry in one of them") {
  for (const int heads : {1, 2})
    for (const int layers : {0, 1, 2, 3})
      for (const lindyn::index n : {1, 5}) {
        CAPTURE(heads);
        CAPTURE(layers);
        CAPTURE(n);
        group_state<double> state{nullptr, n, heads, layers};
        lane_memory<double> memory;
        memory.reserve(state.size());
        state.data = memory.data();
        std::vector<int> owners(static_cast<std::size_t>(state.size()));
        const auto own = [&](const lindyn::model::detail::lane_entry<double>* first, lindyn::index count) {
          const lindyn::index offset = first - state.data;
          REQUIRE(offset >= 0);
          REQUIRE(offset + count <= state.size());
          for (lindyn::index place = 0; place < count; ++place) ++owners[static_cast<std::size_t>(offset + place)];
        };
        for (int layer = 0; layer < layers; ++layer)
          for (int head = 0; head < heads; ++head) {
            own(state.pattern(layer, head), n * n);
            own(state.d_pattern(layer, head), n * n);
            if (layer == 0) continue;
            const auto relations = state.relations(layer, head);
            CHECK(relations.count == lindyn::copies(layer, heads));
            for (lindyn::index c = 0; c < relations.count; ++c)
              for (lindyn::index d = 0; d < relations.count; ++d) own(relations(c, d), n * n);
          }
        own(state.path(), state.copies() * n);
        for (int head = 0; head < heads; ++head) {
          own(state.key(head), state.copies() * n);
          own(state.readout(head), state.copies() * n);
        }
        CHECK(owners == std::vector<int>(owners.size(), 1));
      }
}
