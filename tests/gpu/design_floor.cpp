// SPDX-License-Identifier: MIT
/// \file
/// What an ensemble's training step costs at least on a GPU, kernel by kernel: the network's pass runs on a backend that
/// counts bytes and operations. Arguments: runs, memory rate in TB/s, rate of products in TFLOP/s.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <lindyn/lindyn.hpp>

#include "../../benchmarks/experiments.hpp"
#include "counting_backend.hpp"

namespace {

using lindyn::index;

void tell(const char* name, const benchmarks::experiment& what, const lindyn::model::savings& use, double runs,
          double bandwidth, double rate) {
  using net_type = lindyn::model::prenorm_transformer<float, gpu::counting_backend>;
  std::map<std::string, gpu::kernel_cost> costs;
  const net_type net(what.shape);
  typename net_type::workspace memory(gpu::counting_backend(costs), use);
  const std::vector<float> weights(static_cast<std::size_t>(net.parameters().size()), 0.01F);
  std::vector<float> gradient(weights.size());
  std::vector<int> which(static_cast<std::size_t>(what.batch));
  std::iota(which.begin(), which.end(), 0);
  const typename net_type::run_batch batch{&what.data.training, which};
  lindyn::task::evaluation evaluation;
  net.losses_and_gradients(lindyn::backend::run_vector<const float>(weights.data()), std::span(&batch, 1),
                           lindyn::backend::run_vector<float>(gradient.data()), memory, 1, std::span(&evaluation, 1));
  const double entries = static_cast<double>(weights.size());
  costs["adam"] = {1, 7 * entries * sizeof(float),
                   0};  // reads weights, gradient, both moments; writes all but the gradient
  costs["largest_magnitude"] = {1, entries * sizeof(float), 0};  // what the guard against divergence reads

  std::printf("%s, %g runs, %g TB/s, %g TFLOP/s%s\n", name, runs, bandwidth, rate,
              use == lindyn::model::no_savings ? ", nothing left out" : "");
  std::printf("%-24s %6s %10s %10s %12s %12s\n", "kernel", "calls", "GB", "GFLOP", "memory, ms", "products, ms");
  gpu::kernel_cost all;
  double floor = 0;
  for (const auto& [kernel, cost] : costs) {
    const double read = runs * cost.bytes / bandwidth / 1e9, made = runs * cost.operations / rate / 1e9;
    std::printf("%-24s %6g %10.3f %10.2f %12.3f %12.3f\n", kernel.c_str(), cost.calls, runs * cost.bytes / 1e9,
                runs * cost.operations / 1e9, read, made);
    all.calls += cost.calls, all.bytes += cost.bytes, all.operations += cost.operations;
    floor += std::max(read, made);
  }
  std::printf("%-24s %6g %10.3f %10.2f %12.3f %12.3f\n", "all", all.calls, runs * all.bytes / 1e9,
              runs * all.operations / 1e9, runs * all.bytes / bandwidth / 1e9, runs * all.operations / rate / 1e9);
  const double steps = static_cast<double>((what.data.training.count() + what.batch - 1) / what.batch);
  std::printf(
      "floor of a step, the larger of both for each kernel: %.3f ms; 5,000 epochs of %g steps: %.1f minutes\n\n", floor,
      steps, floor * steps * 5000 / 6e4);
}

}  // namespace

int main(int count, char** arguments) {
  const auto argument = [&](int number, double otherwise) {
    return number < count ? std::atof(arguments[number]) : otherwise;
  };
  const double runs = argument(1, 210), bandwidth = argument(2, 4.3), rate = argument(3, 52);
  tell("regimes", benchmarks::regimes(), {}, runs, bandwidth, rate);
  tell("regimes", benchmarks::regimes(), lindyn::model::no_savings, runs, bandwidth, rate);
  tell("windows", benchmarks::windows(), {}, runs, bandwidth, rate);
}
