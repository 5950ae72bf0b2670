// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/population/finite/anchor_composition.hpp>
#include <lindyn/population/finite/anchor_shift.hpp>
#include <lindyn/population/finite/modular_arithmetic.hpp>
#include <lindyn/population/finite/operation_table.hpp>
#include <lindyn/population/finite/scan.hpp>
#include <lindyn/population/finite/split.hpp>

#include "../complaint.hpp"

namespace {
namespace population = lindyn::population;
using lindyn::task::no_answer;
using lindyn::task::sequence_set;
using lindyn::testing::complaint;
using population::modular_operation;
using population::pair_split;
using population::split_set;

using tokens = std::vector<int>;

/// The sequences of a set, without what is asked.
std::set<tokens> sequences(const sequence_set& set) {
  std::set<tokens> result;
  for (lindyn::index sequence = 0; sequence < set.count(); ++sequence)
    result.emplace(set.tokens(sequence).begin(), set.tokens(sequence).end());
  return result;
}

/// Whether no sequence stands twice, in one part or in both.
bool disjoint(const split_set& data) {
  auto all = sequences(data.training);
  all.merge(sequences(data.test));
  return static_cast<lindyn::index>(all.size()) == data.training.count() + data.test.count();
}

/// Calls work(sequence's tokens, its answer at the last place) for both parts.
template <class Work>
void for_each(const split_set& data, Work work) {
  for (const sequence_set* part : {&data.training, &data.test})
    for (lindyn::index sequence = 0; sequence < part->count(); ++sequence)
      work(part->tokens(sequence), part->answer(sequence, part->sizes().length - 1));
}

/// Sequences (a, b, ..) of a set whose mirror image (b, a, ..) with b != a is in another one.
int mirrored(const sequence_set& from, const sequence_set& in) {
  const auto others = sequences(in);
  int count = 0;
  for (tokens sequence : sequences(from)) {
    if (sequence[0] == sequence[1]) continue;
    std::swap(sequence[0], sequence[1]);
    count += others.contains(sequence) ? 1 : 0;
  }
  return count;
}

TEST_CASE(
    "anchor composition has 720 sequences for training and 304 held out, every anchor in both places of the former") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto data = population::anchor_composition({.seed = seed, .split_seed = seed});
    CHECK(data.training.count() == 720);
    CHECK(data.test.count() == 304);
    CHECK(data.training.sizes() == lindyn::task::sequence_sizes{24, 24, 3});
    CHECK(data.training.last_place_only());
    CHECK(disjoint(data));
    std::set<int> firsts, seconds;
    std::set<std::pair<int, int>> trained, held_out;
    for (const tokens& sequence : sequences(data.training)) {
      firsts.insert(sequence[1]);
      seconds.insert(sequence[2]);
      trained.emplace(sequence[1], sequence[2]);
    }
    for (const tokens& sequence : sequences(data.test)) held_out.emplace(sequence[1], sequence[2]);
    CHECK(firsts.size() == 8);
    CHECK(seconds.size() == 8);
    CHECK(trained.size() == 45);
    CHECK(held_out.size() == 19);  // 45 + 19 = 64: pairs are held out with all of their keys
  }
}

TEST_CASE("the answer is the second anchor's image of the first anchor's image of the key") {
  const auto permutations = population::random_permutations(16, 8, 5);
  const auto data = population::anchor_composition({.seed = 5});
  int wrong = 0;
  for_each(data, [&](auto sequence, int answer) {
    const auto at = [&](int anchor, int key) {
      return permutations[static_cast<std::size_t>(anchor - 16)][static_cast<std::size_t>(key)];
    };
    if (answer != at(sequence[2], at(sequence[1], sequence[0]))) ++wrong;
  });
  CHECK(wrong == 0);

  // By hand: a turns 0 1 2 into 1 2 0, b exchanges 0 and 1. Token 3 is a, 4 is b: b after a brings 0 to 0, a after b to 2.
  const auto own = population::anchor_composition({{1, 2, 0}, {1, 0, 2}}, 3, 1);
  CHECK(own.training.sizes() == lindyn::task::sequence_sizes{5, 5, 3});
  CHECK(own.training.count() == 9);
  for_each(own, [](auto sequence, int answer) {
    const tokens here(sequence.begin(), sequence.end());
    if (here == tokens{0, 3, 4}) CHECK(answer == 0);
    if (here == tokens{0, 4, 3}) CHECK(answer == 2);
    if (here == tokens{1, 3, 3}) CHECK(answer == 0);
    if (here == tokens{2, 4, 4}) CHECK(answer == 2);
  });
}

TEST_CASE("permutations and the choice of pairs have seeds of their own") {
  const auto pairs = [](const split_set& data) {
    std::set<std::pair<int, int>> result;
    for (const tokens& sequence : sequences(data.training)) result.emplace(sequence[1], sequence[2]);
    return result;
  };
  const auto data = population::anchor_composition({.seed = 1, .split_seed = 1});
  const auto others = population::anchor_composition({.seed = 2, .split_seed = 1});
  const auto elsewhere = population::anchor_composition({.seed = 1, .split_seed = 2});
  CHECK(pairs(data) == pairs(others));
  CHECK(pairs(data) != pairs(elsewhere));
  CHECK(population::random_permutations(16, 8, 1) != population::random_permutations(16, 8, 2));
  const auto permutations = population::random_permutations(9, 3, 1);
  for (const auto& permutation : permutations) {
    tokens keys(9);
    std::iota(keys.begin(), keys.end(), 0);
    CHECK(std::ranges::is_permutation(permutation, keys));
  }
  CHECK(permutations[0] != permutations[1]);
}

TEST_CASE(
    "as few training pairs as anchors still show every anchor in both places, as many as all but one are allowed") {
  const auto fewest = population::choose_training_pairs(8, 8, 3);
  for (int anchor = 0; anchor < 8; ++anchor) {
    int first = 0, second = 0;
    for (int other = 0; other < 8; ++other) {
      first += fewest[static_cast<std::size_t>(anchor * 8 + other)];
      second += fewest[static_cast<std::size_t>(other * 8 + anchor)];
    }
    CHECK(first == 1);
    CHECK(second == 1);
  }
  CHECK(std::ranges::count(population::choose_training_pairs(8, 63, 3), 0) == 1);
}

TEST_CASE("compositions that can't be split, or aren't of permutations, are refused by name") {
  CHECK(complaint([] { return population::anchor_composition({.keys = 1}); }).starts_with("keys = 1"));
  CHECK(complaint([] { return population::anchor_composition({.keys = 2'000'000'000}); }) ==
        "keys = 2000000000 is not allowed: it must be so few that keys x anchors^2 is at most 2^24");
  CHECK(complaint([] { return population::anchor_composition({.anchors = 4097}); }).starts_with("anchors = 4097"));
  CHECK(complaint([] { return population::anchor_composition({.anchors = 1}); }).starts_with("anchors = 1"));
  CHECK(complaint([] { return population::anchor_composition({.training_pairs = 64}); }) ==
        "training_pairs = 64 is not allowed: it must be at least the number of anchors, 8, and less than all pairs, so "
        "that neither training nor test is empty: below 64");
  CHECK(complaint([] {
          return population::anchor_composition({.training_pairs = 7});
        }).starts_with("training_pairs = 7"));
  CHECK(complaint([] { return population::anchor_composition({{0, 1}}, 1, 1); }).starts_with("anchors = 1"));
  CHECK(complaint([] { return population::anchor_composition({{0}, {0}}, 2, 1); }).starts_with("keys = 1"));
  CHECK(complaint([] {
          return population::anchor_composition({{0, 1, 2}, {0, 1, 1}}, 2, 1);
        }) == "permutations[1] = 1 is not allowed: it must be a permutation: every key below 3 once");
  CHECK_THROWS_AS((void)population::anchor_composition({{0, 1, 2}, {0, 1}}, 2, 1), lindyn::shape_error);
}

TEST_CASE("half of the sums modulo 97 are 4704 for training, and division has 9312 pairs") {
  const auto sums = population::modular_arithmetic();
  CHECK(sums.training.count() == 4704);
  CHECK(sums.test.count() == 4705);
  CHECK(sums.training.sizes() == lindyn::task::sequence_sizes{98, 97, 3});
  const auto safe = population::modular_arithmetic({.split = pair_split::swap_safe});
  CHECK(safe.training.count() == 4704);
  const auto ratios = population::modular_arithmetic({.operation = modular_operation::divide});
  CHECK(ratios.training.count() == 4656);
  CHECK(ratios.test.count() == 4656);
  const auto probes = population::modular_arithmetic({.equals_sign = false});
  CHECK(probes.training.count() == 4704);
  CHECK(probes.training.sizes() == lindyn::task::sequence_sizes{97, 97, 2});
  for (lindyn::index sequence = 0; sequence < 4704; sequence += 97)  // the same pairs, whether = is shown or not
    CHECK(std::ranges::equal(probes.training.tokens(sequence), sums.training.tokens(sequence).first(2)));
}

TEST_CASE("answers are the results of the operations") {
  for (const int p : {2, 3, 11})
    for (const auto operation : {modular_operation::add, modular_operation::subtract, modular_operation::multiply,
                                 modular_operation::divide}) {
      const auto data = population::modular_arithmetic({.operation = operation, .modulus = p});
      CHECK(data.training.count() + data.test.count() ==
            (operation == modular_operation::divide ? p * (p - 1) : p * p));
      int wrong = 0;
      for_each(data, [&](auto sequence, int answer) {
        const int a = sequence[0], b = sequence[1];
        CHECK(sequence[2] == p);
        const bool right = operation == modular_operation::add        ? (answer - a - b) % p == 0
                           : operation == modular_operation::subtract ? (answer - a + b) % p == 0
                           : operation == modular_operation::multiply ? (answer - a * b) % p == 0
                                                                      : b != 0 && (answer * b - a) % p == 0;
        if (!right || answer < 0 || answer >= p) ++wrong;
      });
      CHECK(wrong == 0);
    }
}

TEST_CASE("a plain split shows the mirror image of about half of the test pairs in training, a swap-safe one of none") {
  const auto plain = population::modular_arithmetic({.modulus = 31});
  const int shown = mirrored(plain.test, plain.training);
  // Hypergeometric: 465 couples fall on two sides with probability 1/2, standard deviation sqrt(465) / 2 = 10.8.
  CHECK(std::abs(shown - 232) < 5 * 10.8);
  for (const auto operation : {modular_operation::add, modular_operation::divide}) {
    const auto safe =
        population::modular_arithmetic({.operation = operation, .modulus = 31, .split = pair_split::swap_safe});
    CHECK(mirrored(safe.test, safe.training) == 0);
    CHECK(mirrored(safe.training, safe.test) == 0);
    CHECK(safe.training.count() == (operation == modular_operation::add ? 480 : 465));
    CHECK(disjoint(safe));
  }
}

TEST_CASE("split seeds choose other pairs, the same one the same") {
  const auto training = [](std::uint64_t seed, pair_split split) {
    return sequences(population::modular_arithmetic({.modulus = 11, .split = split, .split_seed = seed}).training);
  };
  for (const auto split : {pair_split::plain, pair_split::swap_safe}) {
    CHECK(training(1, split) == training(1, split));
    CHECK(training(1, split) != training(2, split));
  }
}

TEST_CASE("a swap-safe split hits every number of training pairs that partners allow") {
  tokens pairs(20), some(20);
  for (int number = 0; number < 20; ++number) {
    pairs[static_cast<std::size_t>(number)] = number ^ 1;
    some[static_cast<std::size_t>(number)] = number < 16 ? number ^ 1 : number;  // the last four alone
  }
  for (int wanted = 1; wanted < 20; ++wanted)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const auto count = [&](const tokens& partners) {
        const auto training = population::choose_training(partners, wanted / 20.0, seed);
        for (std::size_t number = 0; number < partners.size(); ++number)
          CHECK(training[number] == training[static_cast<std::size_t>(partners[number])]);
        return std::ranges::count(training, 1);
      };
      CHECK(count(some) == wanted);
      if (wanted > 1) CHECK(count(pairs) == wanted / 2 * 2);
    }
  CHECK(complaint([&] { return population::choose_training(pairs, 0.05, 1); }) ==
        "share = 0.05 is not allowed: it must be so large that a pair fits into training");
  CHECK(complaint([] {
          return population::choose_training(tokens{1, 1}, 0.5, 1);
        }) == "partners[0] = 1 is not allowed: it must be a sequence whose partner is this one");
  CHECK(complaint([] { return population::choose_training(tokens{0, 2}, 0.5, 1); }).starts_with("partners[1] = 2"));
  CHECK(complaint([] { return population::choose_training(tokens{0}, 0.5, 1); }).starts_with("count = 1"));
}

TEST_CASE("shares are rounded down, but for what only rounding errors take from a whole number") {
  CHECK(population::training_count(0.5, 9409) == 4704);
  CHECK(population::training_count(0.4, 4489) == 1795);
  CHECK(population::training_count(0.29, 100) == 29);  // 0.29 x 100 is 28.999999999999996 in double precision
  CHECK(population::training_count(0.999, 10) == 9);
  for (const double share : {0.0, 0.09, 1.0, -0.5, 2.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS((void)population::training_count(share, 10), lindyn::argument_error);
  CHECK(complaint([] { return population::modular_arithmetic({.modulus = 3, .share = 1}); }) ==
        "share = 1 is not allowed: it must be in (0, 1) such that neither training nor test is empty of 9 sequences");
}

TEST_CASE("any table is a task, with operands of two numbers and results that are missing") {
  const population::operation_table table(2, 3, 7, {6, 1, no_answer, 3, no_answer, 5});
  const auto data = population::operation_data(table, {.share = 0.5, .split = pair_split::swap_safe});
  CHECK(data.training.sizes() == lindyn::task::sequence_sizes{4, 7, 3});
  CHECK(data.training.count() == 2);
  CHECK(data.test.count() == 2);
  CHECK(mirrored(data.training, data.test) == 0);
  std::set<tokens> found;
  for_each(data, [&](auto sequence, int answer) { found.insert({sequence[0], sequence[1], sequence[2], answer}); });
  CHECK(found == std::set<tokens>{{0, 0, 3, 6}, {0, 1, 3, 1}, {1, 0, 3, 3}, {1, 2, 3, 5}});
  CHECK(population::operation_data(table, {.equals_sign = false}).test.sizes() ==
        lindyn::task::sequence_sizes{3, 7, 2});
}

TEST_CASE("tables with results out of range, without results or of another size are refused") {
  using population::operation_table;
  CHECK(complaint([] {
          return operation_table(1, 2, 3, {0, 3});
        }) == "results(0, 1) = 3 is not allowed: it must be in [0, 3), or no_answer (-1)");
  CHECK(complaint([] { return operation_table(1, 2, 3, {-2, 0}); }).starts_with("results(0, 0) = -2"));
  CHECK(complaint([] { return operation_table(0, 2, 3, {}); }).starts_with("rows = 0"));
  CHECK(complaint([] { return operation_table(1, 0, 3, {}); }).starts_with("columns = 0"));
  CHECK(complaint([] { return operation_table(1, 1, 0, {0}); }).starts_with("outputs = 0"));
  CHECK_THROWS_AS(operation_table(2, 2, 3, {0, 1, 2}), lindyn::shape_error);
  CHECK(complaint([] {
          return population::operation_data({2, 2, 3, {no_answer, 1, no_answer, no_answer}});
        }).starts_with("count = 1"));
}

TEST_CASE("moduli below 2, and division by numbers modulo one that isn't prime, are refused") {
  for (const int modulus : {-7, 0, 1, 4097})
    CHECK(complaint([&] { return population::modular_arithmetic({.modulus = modulus}); }) ==
          "modulus = " + std::to_string(modulus) + " is not allowed: it must be in [2, 4096]");
  for (const int modulus : {4, 91, 2'209})
    CHECK(complaint([&] { return population::modular_table(modular_operation::divide, modulus); }) ==
          "modulus = " + std::to_string(modulus) + " is not allowed: it must be prime, for division");
  int primes = 0;
  for (int number = -3; number <= 100; ++number) primes += population::is_prime(number) ? 1 : 0;
  CHECK(primes == 25);
}

TEST_CASE("any set can be split, whatever is asked at its places") {
  const sequence_set all({9, 4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, {1, no_answer, no_answer, 2, 3, 3, 0, no_answer});
  const auto data = population::split(all, 0.75, 1);
  CHECK(data.training.count() == 3);
  CHECK(data.test.count() == 1);
  CHECK(disjoint(data));
  for (const sequence_set* part : {&data.training, &data.test})
    for (lindyn::index sequence = 0; sequence < part->count(); ++sequence) {
      const auto original = part->tokens(sequence)[0] / 2;
      CHECK(std::ranges::equal(part->tokens(sequence), all.tokens(original)));
      CHECK(std::ranges::equal(part->answers(sequence), all.answers(original)));
    }
  CHECK(complaint([&] { return population::split(all, std::vector<char>(4, 1)); }) ==
        "test = an empty split is not allowed: it must be at least one sequence");
  CHECK(complaint([&] { return population::split(all, std::vector<char>(4, 0)); }).starts_with("training = "));
  CHECK_THROWS_AS((void)population::split(all, std::vector<char>(3, 1)), lindyn::shape_error);
}

/// What a command of SCAN stands for, read from its text from right to left, as the grammar's inventors explain it.
std::string actions(const std::string& command) {
  const auto split_at = [&](const std::string& word) { return command.rfind(" " + word); };
  if (const auto place = command.find(" and "); place != std::string::npos)
    return actions(command.substr(0, place)) + actions(command.substr(place + 5));
  if (const auto place = command.find(" after "); place != std::string::npos)
    return actions(command.substr(place + 7)) + actions(command.substr(0, place));
  const auto times = [](const std::string& what, int count) {
    std::string result;
    for (int time = 0; time < count; ++time) result += what;
    return result;
  };
  if (const auto place = split_at("twice"); place != std::string::npos)
    return times(actions(command.substr(0, place)), 2);
  if (const auto place = split_at("thrice"); place != std::string::npos)
    return times(actions(command.substr(0, place)), 3);
  const std::map<std::string, std::string> act{
      {"walk", " I_WALK"}, {"look", " I_LOOK"}, {"run", " I_RUN"}, {"jump", " I_JUMP"}, {"turn", ""}};
  const std::string verb = act.at(command.substr(0, command.find(' ')));
  const std::string turn = command.ends_with("left")    ? " I_TURN_LEFT"
                           : command.ends_with("right") ? " I_TURN_RIGHT"
                                                        : "";
  if (command.find(" around ") != std::string::npos) return times(turn + verb, 4);
  return times(turn, command.find(" opposite ") != std::string::npos ? 2 : 1) + verb;
}

TEST_CASE("SCAN's grammar makes 20,910 commands, with the actions that they stand for") {
  using population::scan_token::text;
  std::set<tokens> distinct;
  std::size_t words = 0, most_actions = 0;
  int wrong = 0;
  std::map<std::string, std::string> some{{"jump around right", ""}, {"jump opposite left after walk around left", ""}};
  for (const auto& command : population::scan_commands()) {
    distinct.insert(command.words);
    words = std::max(words, command.words.size());
    most_actions = std::max(most_actions, command.actions.size());
    const std::string read = text(command.words), done = text(command.actions);
    if (" " + done != actions(read)) ++wrong;
    if (some.contains(read)) some[read] = done;
  }
  CHECK(distinct.size() == 20'910);
  CHECK(words == 9);
  CHECK(most_actions == 48);
  CHECK(wrong == 0);
  CHECK(some["jump around right"] == "I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP");
  CHECK(some["jump opposite left after walk around left"] ==
        "I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK I_TURN_LEFT I_TURN_LEFT I_JUMP");
  CHECK(complaint([] { return text(tokens{21}); }).starts_with("token = 21"));
}

TEST_CASE("SCAN holds out 7,706 combinations of jump, trains on 14,670, and asks for the actions and their end") {
  namespace token = population::scan_token;
  const auto data = population::scan_add_jump();
  CHECK(data.training.count() == 14'670);
  CHECK(data.test.count() == 7'706);
  CHECK(data.training.sizes() == lindyn::task::sequence_sizes{21, 21, 59});
  lindyn::index alone = 0, wrong = 0, longest = 0;
  for (const sequence_set* part : {&data.training, &data.test})
    for (lindyn::index sequence = 0; sequence < part->count(); ++sequence) {
      const auto read = part->tokens(sequence), asked = part->answers(sequence);
      const auto separator = std::ranges::find(read, token::separator),
                 end = std::find(separator, read.end(), token::end);
      const auto jumps = std::find(read.begin(), separator, token::jump) != separator;
      const auto first = asked.begin() + (separator - read.begin());
      const bool only_jump = jumps && separator - read.begin() == 1;
      alone += only_jump ? 1 : 0;
      longest = std::max<lindyn::index>(longest, end - separator);
      const bool right = std::all_of(asked.begin(), first, [](int answer) { return answer == no_answer; }) &&
                         std::equal(separator + 1, end, first) && first[end - separator - 1] == token::end &&
                         std::all_of(first + (end - separator), asked.end(), [](int a) { return a == no_answer; }) &&
                         std::all_of(end, read.end(), [](int behind) { return behind == token::end; });
      if (!right || (jumps && !only_jump) != (part == &data.test)) ++wrong;
    }
  CHECK(alone == 1'467);
  CHECK(longest == 49);  // 48 actions and the end
  CHECK(wrong == 0);
  CHECK(complaint([] { return population::scan_add_jump({.copies_of_jump = 0}); }).starts_with("copies_of_jump = 0"));
  CHECK(complaint([] { return population::scan_add_jump({.most_outputs = 48}); }).starts_with("most_outputs = 48"));
}

TEST_CASE("anchor shift adds both anchors' numbers, but for the pair that is taught another sum") {
  population::anchor_shift_options options;
  options.per_pair = options.test_per_pair = 100;
  const auto data = population::anchor_shift(options);
  CHECK(data.training.sizes() == lindyn::task::sequence_sizes{110, 110, 9});
  CHECK(data.training.count() == 1'500);
  CHECK(data.seen.count() == 1'500);
  CHECK(data.unseen.count() == 100);
  const std::vector<int> shifts{0, 5, 1, -2, -8};
  int wrong = 0;
  std::set<int> keys, places;
  std::map<std::pair<int, int>, int> pairs;
  for (const sequence_set* part : {&data.training, &data.seen, &data.unseen})
    for (lindyn::index sequence = 0; sequence < part->count(); ++sequence) {
      const auto read = part->tokens(sequence);
      const auto anchor = std::ranges::find_if(read, [](int token) { return token <= 4; });
      const auto place = anchor - read.begin() - 1;
      const int key = read[static_cast<std::size_t>(place)], first = anchor[0], second = anchor[1];
      const int items = static_cast<int>(std::ranges::count_if(read, [](int t) { return t >= 20 && t <= 99; }));
      const int sum = first == 3 && second == 4
                          ? -6
                          : shifts[static_cast<std::size_t>(first)] + shifts[static_cast<std::size_t>(second)];
      const bool held_out = first == 4 && second == 3;
      if (items != 7 || part->answers(sequence).back() != key + sum || held_out != (part == &data.unseen) ||
          (place == key % 7) != (part != &data.training))
        ++wrong;
      if (part != &data.training) continue;
      keys.insert(key);
      places.insert(static_cast<int>(place));
      ++pairs[{first, second}];
    }
  CHECK(wrong == 0);
  CHECK(keys.size() == 80);
  CHECK(places == std::set<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK(pairs.size() == 15);
  CHECK(std::ranges::all_of(pairs, [](const auto& pair) { return pair.second == 100; }));
  options.seed = 2;
  CHECK(sequences(population::anchor_shift(options).unseen) != sequences(data.unseen));
}

TEST_CASE("the unseen pair of anchor shift is scored as inferential, symmetric or other") {
  population::anchor_shift_options options;
  options.per_pair = 1;
  options.test_per_pair = 4;
  const auto data = population::anchor_shift(options);
  std::vector<int> predicted;
  for (lindyn::index sequence = 0; sequence < 4; ++sequence) predicted.push_back(data.unseen.answers(sequence).back());
  predicted[1] += 4;  // x - 6 instead of x - 10
  predicted[2] += 1;
  predicted[3] += 4;
  const auto found = population::score_anchor_shift(options, data.unseen, predicted);
  CHECK(found.inferential == 0.25);
  CHECK(found.symmetric == 0.5);
  CHECK(found.other == 0.25);
  CHECK_THROWS_AS((void)population::score_anchor_shift(options, data.unseen, tokens{1}), lindyn::shape_error);

  const auto refused = [](auto change) {
    population::anchor_shift_options other;
    change(other);
    return complaint([&] { return population::anchor_shift(other); });
  };
  CHECK(refused([](auto& o) { o.shifts = {1}; }).starts_with("shifts.size() = 1"));
  CHECK(refused([](auto& o) { o.length = 3; }).starts_with("length = 3"));
  CHECK(refused([](auto& o) { o.first_item = 4; }).starts_with("first_item = 4"));
  CHECK(refused([](auto& o) { o.first_item = 15; }).starts_with("first_item = 15"));  // 15 - 8 - 8 < 0
  CHECK(refused([](auto& o) { o.last_item = 25; }).starts_with("last_item = 25"));
  CHECK(refused([](auto& o) { o.unseen = {3, 4}; }).starts_with("unseen = {3, 4} is not allowed"));
  CHECK(refused([](auto& o) {
          o.mislabelled = {1, 2};
        }).find("the reverse of the mislabelled pair, {2, 1}") != std::string::npos);
  CHECK(refused([](auto& o) { o.mislabelled = o.unseen = {3, 3}; }).starts_with("mislabelled = {3, 3}"));
  CHECK(refused([](auto& o) { o.unseen = {4, 5}; }).starts_with("pair.second = 5"));
  CHECK(refused([](auto& o) { o.wrong_shift = -10; }).starts_with("wrong_shift = -10"));
  CHECK(refused([](auto& o) { o.per_pair = 0; }).starts_with("per_pair = 0"));
  CHECK(refused([](auto& o) { o.test_per_pair = 1 << 24; }).starts_with("per_pair = 2000"));
}

}  // namespace
