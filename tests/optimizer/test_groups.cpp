// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/budget.hpp>
#include <lindyn/optimizer/groups.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/schedule/schedule.hpp>

#include "../complaint.hpp"

namespace {
using lindyn::testing::complaint;
using namespace lindyn;
using lindyn::index;  // POSIX has a function of this name
using optimizer::group_preset;
using optimizer::grouped_decay;
using optimizer::parameter_group;
using enum optimizer::decay_mode;

/// Two embeddings, a matrix, a bias, and a head unless it is tied to the first embedding.
parameter_table small_table(index alignment = 1, bool tied = false) {
  parameter_table table(alignment);
  table.append("tok_emb", 3, 2);
  table.append("pos_emb", 2, 2);
  table.append("fc.weight", 2, 3);
  table.append_vector("fc.bias", 3);
  if (!tied) table.append("head.weight", 3, 2);
  return table;
}

/// "decayed: fc.weight fc.bias; undecayed: tok_emb; "
std::string listed(const std::vector<parameter_group>& groups) {
  std::string result;
  for (const auto& group : groups) {
    result += group.name + (group.base_decay == 1 ? " 1:" : group.base_decay == 0 ? " 0:" : " ?:");
    for (const auto& matrix : group.matrices) result += " " + matrix;
    result += "; ";
  }
  return result;
}

TEST_CASE("presets put every parameter of any table into one group") {
  const auto table = small_table();
  CHECK(listed(groups(group_preset::all_but_embeddings, table)) ==
        "decayed 1: fc.weight fc.bias head.weight; undecayed 0: tok_emb pos_emb; ");
  CHECK(listed(groups(group_preset::matrices_only, table)) ==
        "decayed 1: tok_emb pos_emb fc.weight head.weight; undecayed 0: fc.bias; ");
  CHECK(listed(groups(group_preset::everything, table)) ==
        "decayed 1: tok_emb pos_emb fc.weight fc.bias head.weight; ");
  parameter_table without_embeddings;
  without_embeddings.append("W_KQ.0.0", 4, 4);
  for (const auto preset : {group_preset::all_but_embeddings, group_preset::matrices_only, group_preset::everything}) {
    CHECK(listed(groups(preset, without_embeddings)) == "decayed 1: W_KQ.0.0; ");
    CHECK(parse<group_preset>(name(preset), "groups") == preset);
    CHECK(grouped_decay(table, groups(preset, table)).groups() == groups(preset, table));
  }
  CHECK(complaint([] { (void)parse<group_preset>("all", "groups"); }).starts_with("groups = all"));
  CHECK(complaint([&] { (void)groups(static_cast<group_preset>(3), table); }).starts_with("preset = 3"));
}

TEST_CASE("a tied head is an embedding, and there once") {
  const auto table = small_table(1, true);
  CHECK(listed(groups(group_preset::all_but_embeddings, table)) ==
        "decayed 1: fc.weight fc.bias; undecayed 0: tok_emb pos_emb; ");
  auto with_head = groups(group_preset::everything, table);
  with_head[0].matrices.push_back("head.weight");
  CHECK(complaint([&] { grouped_decay(table, with_head); }).starts_with("name = head.weight"));
}

TEST_CASE("a parameter in no group, in two or twice, and one that the table lacks are refused by name") {
  const auto table = small_table();
  const auto says = [&](std::vector<parameter_group> groups) {
    return complaint([&] { grouped_decay(table, std::move(groups)); });
  };
  const std::vector<std::string> most{"tok_emb", "pos_emb", "fc.weight", "head.weight"};
  CHECK(says({{.name = "a", .matrices = most}}).starts_with("groups = without 'fc.bias' is not allowed"));
  CHECK(says({{.name = "a", .matrices = most}, {.name = "b", .matrices = {"fc.bias", "pos_emb"}}}) ==
        "matrices = pos_emb is not allowed: it must be in one group, once; it is in 'a' and in 'b'");
  CHECK(says({{.name = "a", .matrices = {"fc.bias", "fc.bias"}}}).starts_with("matrices = fc.bias"));
  CHECK(says({{.name = "a", .matrices = {"fc.scale"}}}).starts_with("name = fc.scale"));
  CHECK(says({{.name = "a", .base_decay = -1, .matrices = most}}).starts_with("base_decay of group 'a' = -1"));
}

TEST_CASE("neighbours of one group are one range, and the gaps of an aligned table belong to none") {
  const auto ranges = [](index alignment) {
    const auto table = small_table(alignment);
    std::vector<std::vector<index>> result;
    const grouped_decay decay(table, groups(group_preset::all_but_embeddings, table));
    for (const auto& [begin, end, group] : decay.ranges()) result.push_back({begin, end, index(group)});
    return result;
  };
  CHECK(ranges(1) == std::vector<std::vector<index>>{{0, 10, 1}, {10, 25, 0}});
  CHECK(ranges(2) == std::vector<std::vector<index>>{{0, 10, 1}, {10, 19, 0}, {20, 26, 0}});
  CHECK(ranges(16) == std::vector<std::vector<index>>{{0, 6, 1}, {16, 20, 1}, {32, 38, 0}, {48, 51, 0}, {64, 70, 0}});
}

TEST_CASE("a group's base decay multiplies the schedule's, and zero stays zero") {
  const auto table = small_table();
  grouped_decay decay(table, {{.name = "double", .base_decay = 2, .matrices = {"fc.weight", "fc.bias"}},
                              {.name = "none", .base_decay = 0, .matrices = {"tok_emb", "pos_emb"}},
                              {.name = "once", .matrices = {"head.weight"}}});
  const auto at = decay.at({.rate = 0.25, .mode = lr_scaled}, 0.5, 0);
  REQUIRE(at.size() == 3);
  CHECK(at[0].factors.keep == 1);
  CHECK(at[1].factors.keep == 1 - 0.5 * 0.5);
  CHECK(at[2].factors.keep == 1 - 0.5 * 0.25);
  CHECK(decay.at({.rate = 0.25, .mode = coupled_l2}, 0.5, 0)[1].factors.coupled == 0.5);
  CHECK(complaint([&] { (void)decay.at({.rate = 0.75, .mode = absolute}, 0.5, 0); }) ==
        "decay.rate of group 'double' = 0.75 is not allowed: it must be at most 1 in the mode absolute, when "
        "base_decay = 2 has multiplied it");
}

TEST_CASE("ranges that decay alike in a step make one, whichever groups they are in") {
  const auto table = small_table();
  grouped_decay decay(table, {{.name = "a", .matrices = {"tok_emb"}},
                              {.name = "b", .matrices = {"pos_emb", "head.weight"}, .decay_schedule = 0.25},
                              {.name = "c", .base_decay = 0.5, .matrices = {"fc.weight", "fc.bias"}}});
  const auto at = decay.at({.rate = 0.25, .mode = absolute}, 0.1, 0);
  REQUIRE(at.size() == 3);
  CHECK((at[0].begin == 0 && at[1].begin == at[0].end && at[2].begin == at[1].end && at[2].end == table.size()));
  CHECK((at[0].factors == at[2].factors && at[0].factors.keep == 0.75 && at[1].factors.keep == 0.875));
  const auto without = decay.at({.rate = 0, .mode = lr_scaled}, 0, 0);
  CHECK((without.size() == 1 && without[0].end == table.size()));
}

TEST_CASE("a group's own schedule stands in for the rate of all, and its base decay multiplies that") {
  const auto table = small_table();
  const schedule::schedule own = schedule::window{5, 7, 0.5};
  grouped_decay decay(table,
                      {{.name = "own", .base_decay = 0.5, .matrices = {"fc.weight", "fc.bias"}, .decay_schedule = own},
                       {.name = "common", .matrices = {"tok_emb", "pos_emb", "head.weight"}}});
  for (const index step : {4, 5, 6, 7}) {
    const auto at = decay.at({.rate = 0.25, .mode = absolute}, 0.1, step);
    if (step == 5 || step == 6) {
      REQUIRE(at.size() == 1);  // all alike
    } else {
      REQUIRE(at.size() == 3);
      CHECK(at[1].factors.keep == 1);
      CHECK(at[2].factors.keep == 0.75);
    }
    CHECK(at[0].factors.keep == 0.75);
  }
}

/// Steps of rule by rule: with ranges, as without where all decay alike, and each range by itself otherwise.
template <class Options>
void check_ranges(Options options, optimizer::decay_mode mode) {
  const auto table = small_table(16);
  const auto size = static_cast<std::size_t>(table.size());
  const double rate = 0.25;
  const optimizer::weight_decay decay{.rate = 0.5, .mode = mode, .base_learning_rate = 0.75};
  // Entries behind the first group decay, those of the first don't: as two plain rules say of their parts.
  typename Options::template rule<double> grouped(table.size(), options), plain(table.size(), options);
  options.decay = decay;
  typename Options::template rule<double> decaying(table.size(), options);
  std::vector<double> weights(size), gradient(size);
  for (std::size_t i = 0; i < size; ++i) {
    weights[i] = std::sin(double(i));
    gradient[i] = std::cos(double(i));  // in the gaps too, where nobody may look at it
  }
  const auto start = weights;
  auto without = weights, with = weights;
  grouped_decay by_group(table, groups(group_preset::all_but_embeddings, table));
  for (int step = 0; step < 3; ++step) {
    grouped.step(weights, gradient, rate, by_group.at(decay, rate, step));
    plain.step(without, gradient, rate);
    decaying.step(with, gradient, rate);
  }
  auto expected = start;
  for (const auto& [begin, end, group] : by_group.ranges())
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      expected[i] = group == 1 ? without[i] : with[i];
  for (std::size_t i = 0; i < size; ++i) CHECK(weights[i] == doctest::Approx(expected[i]).epsilon(1e-15));
  CHECK(grouped.steps() == 3);
}

TEST_CASE("every rule decays every range as it would decay a buffer of its own, and leaves gaps as they are") {
  for (const auto mode : {lr_scaled, absolute, ratio, coupled_l2}) {
    check_ranges(optimizer::sgd_options{}, mode);
    check_ranges(optimizer::momentum_options{}, mode);
    check_ranges(optimizer::momentum_options{.nesterov = true}, mode);
    check_ranges(optimizer::adam_options{.beta2 = 0.98}, mode);
  }
}

TEST_CASE("without gradient and at learning rate zero, lr_scaled changes no bit and absolute decays what decays") {
  const auto table = small_table(16);
  std::vector<float> weights(static_cast<std::size_t>(table.size()));
  for (const auto& which : table)
    for (index i = 0; i < which.size(); ++i) weights[std::size_t(which.offset + i)] = 0.1f * float(i + 1);
  const auto start = weights;
  const std::vector<float> gradient(weights.size());
  grouped_decay decay(table, groups(group_preset::all_but_embeddings, table));
  optimizer::adam<float> rule(table.size());
  rule.step(weights, gradient, 0, decay.at({.rate = 0.5, .mode = lr_scaled}, 0, 0));
  CHECK(weights == start);
  rule.step(weights, gradient, 0, decay.at({.rate = 0.5, .mode = absolute}, 0, 0));
  for (const auto& which : table) {
    const float kept = which.name.ends_with("_emb") ? 1 : 0.5f;
    for (index i = 0; i < which.size(); ++i)
      CHECK(weights[std::size_t(which.offset + i)] == kept * start[std::size_t(which.offset + i)]);
  }
}

TEST_CASE("ranges that overlap, run backwards or leave the buffer are refused, and nothing has changed then") {
  optimizer::momentum<double> rule(8);
  std::vector<double> weights(8, 1.0);
  const auto says = [&](std::vector<optimizer::range_decay> ranges) {
    return complaint([&] { rule.step(weights, std::vector<double>(8, 1.0), 0.1, ranges); });
  };
  CHECK(says({{0, 4, {}}, {3, 8, {}}}).starts_with("ranges[1].begin = 3"));
  CHECK(says({{-1, 4, {}}}).starts_with("ranges[0].begin = -1"));
  CHECK(says({{4, 3, {}}}).starts_with("ranges[0].end = 3"));
  CHECK(says({{4, 9, {}}}).starts_with("ranges[0].end = 9"));
  CHECK(says({{0, 1, {.keep = 1.5}}}).starts_with("ranges[0].factors.keep = 1.5"));
  CHECK(says({{0, 1, {.keep = std::nan("")}}}).starts_with("ranges[0].factors.keep = nan"));
  CHECK(says({{0, 1, {.coupled = -1}}}).starts_with("ranges[0].factors.coupled = -1"));
  CHECK(weights == std::vector<double>(8, 1.0));
  CHECK(rule.steps() == 0);
}

TEST_CASE("a budget tells what each mode does to the weights") {
  const schedule::schedule lambda = schedule::window{10, 20, 0.01},
                           rate = schedule::warmup{20} * schedule::schedule(0.5);
  const auto of = [&](optimizer::decay_mode mode) {
    return optimizer::budget({.mode = mode, .base_learning_rate = 0.5}, lambda, rate, 100);
  };
  double scaled = 0, shrunk = 0;
  for (int t = 10; t < 20; ++t) {
    scaled += 0.5 * (t + 1) / 20 * 0.01;
    shrunk -= std::log(1 - 0.5 * (t + 1) / 20 * 0.01);
  }
  for (const auto mode : {lr_scaled, absolute, ratio, coupled_l2}) {
    CHECK(of(mode).rates == doctest::Approx(0.1).epsilon(1e-14));
    CHECK(of(mode).scaled_rates == doctest::Approx(scaled).epsilon(1e-14));
  }
  CHECK(of(lr_scaled).log_shrink.value() == doctest::Approx(shrunk).epsilon(1e-12));
  CHECK(of(absolute).log_shrink.value() == doctest::Approx(-10 * std::log(0.99)).epsilon(1e-14));
  CHECK(of(ratio).log_shrink.value() > of(lr_scaled).log_shrink.value());
  CHECK_FALSE(of(coupled_l2).log_shrink.has_value());
  CHECK(std::isinf(optimizer::budget({.mode = absolute}, 1.0, 0.1, 1).log_shrink.value()));
  CHECK_THROWS_AS((void)optimizer::budget({.mode = ratio}, lambda, rate, 100), argument_error);
}

TEST_CASE("the budget of twenty shrinks weights by six percent where it is multiplied by the learning rate") {
  const schedule::schedule lambda = schedule::window_of_budget(0, 5000, 20);
  CHECK(std::exp(-optimizer::budget({.mode = lr_scaled}, lambda, 3e-3, 20000).log_shrink.value()) ==
        doctest::Approx(std::exp(-0.06)).epsilon(1e-6));
  CHECK(optimizer::budget({.mode = absolute}, lambda, 3e-3, 20000).log_shrink.value() ==
        doctest::Approx(20.04).epsilon(1e-3));
}

}  // namespace
