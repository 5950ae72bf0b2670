// SPDX-License-Identifier: MIT
/// \file
/// Kind `diagnostics`: order parameters of given attention. Errors are absolute.

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <lindyn/observe/network_order.hpp>

#include "diagnostics.hpp"
#include "reference_check.hpp"

namespace reference_check {

void compare_diagnostics(const lindyn::io::json& expected, const std::vector<std::vector<double>>& attention,
                         const lindyn::observe::attention_layout& layout, std::map<std::string, double>& largest) {
  using lindyn::observe::undefined_for_one_head;
  const auto ours = lindyn::observe::network_order_of(std::span(attention), layout).mean;
  for (const auto& member : expected.items()) {
    const std::string& name = member.key();
    const double theirs = lindyn::io::member_as<double>(expected, name);
    const auto of_pairs = [&](const std::optional<double>& of) {
      lindyn::require(of.has_value(), name, theirs,
                      std::string("absent: it is ") + std::string(undefined_for_one_head));
      return *of;
    };
    const auto number = [&]() -> double {
      if (name == "s_bar") return of_pairs(ours.s_bar);
      if (name == "spectral_gap") return of_pairs(ours.spectral_gap);
      if (name == "pr_norm") return of_pairs(ours.pr_norm_across_heads);
      if (name == "sigma_H_all") return ours.all_rows.sigma_h;
      if (name == "sigma_H_last") return ours.last_row.sigma_h;
      if (name == "entropy_mean_all") return ours.all_rows.mean;
      if (name == "entropy_mean_last") return ours.last_row.mean;
      throw lindyn::argument_error(
          "expected", name,
          "s_bar, sigma_H_all, sigma_H_last, entropy_mean_all, entropy_mean_last, spectral_gap or pr_norm");
    };
    const double error = std::abs(number() - theirs);
    const auto [place, is_new] = largest.emplace(name, error);
    if (!(error <= place->second)) place->second = error;
  }
}

}  // namespace reference_check

namespace {

using namespace lindyn;
using lindyn::index;  // there is a function of that name in <strings.h>

void check_diagnostics(const io::json& file, reference_check::report& errors) {
  std::map<std::string, double> largest;
  for (const io::json& one : io::member(file, "cases")) {
    std::vector<std::vector<double>> attention;
    observe::attention_layout layout{.causal = true};
    for (const io::json& layer : io::member(one, "attention")) {
      auto [shape, data] = io::array_from_json(layer, "attention");
      require_extent("attention.shape.size()", shape.size(), 4);
      layout.heads = static_cast<int>(shape[1]);
      layout.length = static_cast<int>(shape[3]);
      // The file doesn't say which keys are visible: under a causal mask all others are zero.
      for (index entry = 0; entry < std::ssize(data); ++entry)
        if (entry % shape[3] > entry / shape[3] % shape[2] && data[static_cast<std::size_t>(entry)] != 0)
          layout.causal = false;
      attention.push_back(std::move(data));
    }
    reference_check::compare_diagnostics(io::member(one, "expected"), attention, layout, largest);
  }
  for (const auto& [name, error] : largest) errors.add_error(name, error, 1e-9);
}

const reference_check::kind registered("diagnostics", check_diagnostics);

}  // namespace
