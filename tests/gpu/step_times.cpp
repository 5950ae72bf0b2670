// SPDX-License-Identifier: MIT
/// \file
/// Times of training steps on the device backend: ensembles in one pass, batches planned on the host included. Prints a line
/// of JSON each. Arguments: windows or regimes, full or tf32, steps to measure, numbers of runs.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <lindyn/device.hpp>
#include <lindyn/lindyn.hpp>

#include "../../benchmarks/experiments.hpp"

namespace {

using lindyn::index;
using lindyn::backend::thrust_device;

void measure(const std::string& name, const benchmarks::experiment& what, lindyn::backend::products how, index steps,
             int runs) {
  using net_type = lindyn::model::prenorm_transformer<float, thrust_device>;
  const net_type net(what.shape);
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  auto ensemble = lindyn::train::make_batched_ensemble<float>(
      runs, net.parameters().size(), lindyn::optimizer::adam_options{.beta2 = 0.98},
      [&](index run, std::span<float> weights) {
        const auto seed = static_cast<std::uint64_t>(run);
        std::ranges::copy(lindyn::model::initial_weights<float>(net.shape(), {.seed = seed}), weights.begin());
        return lindyn::train::batched_run{
            lindyn::train::set_objective(net, what.data.training, {.size = what.batch, .seed = seed}),
            lindyn::train::trainer_options{.learning_rate = what.learning_rate}};
      },
      net_type::workspace(thrust_device(runs, how)));
  const index before = std::min<index>(steps, 10);  // memory grows, graphs are captured
  ensemble.run(before, {.threads = threads});
  const auto start = std::chrono::steady_clock::now();
  ensemble.run(before + steps, {.threads = threads});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;  // a step ends with its loss
  std::printf(R"({"system": "%s", "training": "%s", "products": "%s", "runs": %d, "step_us": %.1f})"
              "\n",
              std::string(thrust_device::system()).c_str(), name.c_str(),
              how == lindyn::backend::products::tf32 ? "tf32" : "full", runs,
              1e6 * taken.count() / static_cast<double>(steps));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return std::fprintf(stderr, "step_times windows|regimes full|tf32 STEPS RUNS..\n"), 2;
  const std::string name = arguments[1];
  const auto how =
      std::string_view(arguments[2]) == "tf32" ? lindyn::backend::products::tf32 : lindyn::backend::products::full;
  for (int number = 4; number < count; ++number)
    measure(name, name == "windows" ? benchmarks::windows() : benchmarks::regimes(), how, std::atol(arguments[3]),
            std::atoi(arguments[number]));
}
