// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <utility>

#include <lindyn/optimizer/adam.hpp>
#include <lindyn/rates/module_extinction.hpp>
#include <lindyn/rates/module_system.hpp>
#include <lindyn/schedule/shapes.hpp>

namespace rates = lindyn::rates;

TEST_CASE("the share of starts that coupled decay extinguishes is that of the room's table") {
  const rates::module_system system{
      .modules = {{.powers = {1, 1, 1}, .memorises = 1}, {.powers = {1, 1, 1}, .memorises = 0}},
      .reasons = 20,
      .scale = 0.18,
      .signal = 2.2e-3,
      .noise = 1e-2,
      .units = 4};
  for (const auto& [onset, share] : {std::pair(0.0, 0.775), std::pair(50.0, 0.170)}) {
    const auto ends =
        rates::train_modules(system, lindyn::optimizer::adam_options{.beta2 = 0.98},
                             {.starts = 512, .steps = 1'500, .decay = lindyn::schedule::window{onset, 5'000, 4e-3}});
    // Five starts of 512: other processors round otherwise.
    CHECK(rates::outcomes(system, ends.back()).extinct.value() ==
          doctest::Approx(share).scale(0).epsilon(0.01 / share));
  }
}
