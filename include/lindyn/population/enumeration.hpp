// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Exact enumeration of a process, its probabilities, and its relational types.

#include <algorithm>
#include <concepts>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/process.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

namespace detail {

/// How many combinations of choices may be run, and what is said of more.
struct combination_bound {
  index most = std::numeric_limits<index>::max();
  const char* what = "combinations";
  const char* advice = "take fewer";

  /// Throws too_many_error where at least `count` are to be run, and that is too many.
  void require(index count) const {
    if (count > most) throw too_many_error(what, static_cast<double>(count), static_cast<double>(most), advice);
  }
};

/// Runs a process once for every combination of its choices: each run repeats the choices recorded for it and takes
/// the first option wherever it goes beyond; between runs the last choice that has another option moves on to it.
class odometer {
public:
  /// One way to go on. It may stand for several outcomes that are alike.
  struct option {
    int value = 0;
    double probability = 1;
    double outcomes = 1;
  };

  explicit odometer(const combination_bound& bound) : bound_(bound) {}

  /// Takes one of the numbers 0 .. count - 1, which are alike. As there may be very many, they aren't listed.
  int among(int count) {
    if (depth_ == choices_.size()) {
      bound_.require(count);  // each leads to a combination at least
      choices_.push_back({.count = count});
    }
    weight_ *= 1.0 / count;
    return choices_[depth_++].next;
  }
  /// Takes an option; `list(options)` is asked for them when the choice is a new one.
  template <class List>
  int choose(List&& list) {
    if (depth_ == choices_.size()) {
      choice& added = choices_.emplace_back();
      list(added.options);
      added.count = static_cast<int>(added.options.size());
    }
    const choice& made = choices_[depth_++];
    const option& taken = made.options[static_cast<std::size_t>(made.next)];
    weight_ *= taken.probability;
    outcomes_ *= taken.outcomes;
    return taken.value;
  }
  void begin() {
    bound_.require(++combinations_);
    depth_ = 0;
    weight_ = outcomes_ = 1;
  }
  /// Moves on to the next combination; false when there is none.
  bool advance() {
    while (!choices_.empty() && ++choices_.back().next == choices_.back().count) choices_.pop_back();
    return !choices_.empty();
  }
  /// Probability of the combination that was run.
  [[nodiscard]] double weight() const noexcept { return weight_; }
  /// Number of outcomes that the combination stands for.
  [[nodiscard]] double outcomes() const noexcept { return outcomes_; }

private:
  struct choice {
    int count = 0, next = 0;
    std::vector<option> options{};  // none where all are alike
  };
  combination_bound bound_;
  index combinations_ = 0;
  std::vector<choice> choices_;
  std::size_t depth_ = 0;
  double weight_ = 1, outcomes_ = 1;
};

/// Takes every combination of choices in turn.
class all_choices : public choices_base {
public:
  explicit all_choices(const process_sizes& sizes, const combination_bound& bound = {})
      : choices_base(sizes), odometer_(bound) {}
  int token(int, const pool& from) { return member(from); }
  int position(int, const pool& from) { return member(from); }
  int token(int, int certain) { return certain; }
  int position(int, int certain) { return certain; }
  int among(int count) { return odometer_.among(count); }
  int weighted(std::span<const int> weights) {
    return odometer_.choose([&](auto& options) {
      const double total = std::accumulate(weights.begin(), weights.end(), 0);
      for (int value = 0; const int weight : weights) {
        if (weight > 0) options.push_back({value, weight / total});
        ++value;
      }
    });
  }
  bool chance(double p) {
    if (p <= 0 || p >= 1) return p >= 1;
    return odometer_.choose([&](auto& options) { options = {{1, p}, {0, 1 - p}}; }) != 0;
  }
  void begin() { odometer_.begin(); }
  bool advance() { return odometer_.advance(); }
  [[nodiscard]] double weight() const noexcept { return odometer_.weight(); }
  [[nodiscard]] double outcomes() const noexcept { return odometer_.outcomes(); }

protected:
  odometer odometer_;

private:
  int member(const pool& from) { return from[odometer_.among(from.size())]; }
};

/// Takes one token of each class of tokens that stand in the same relations to all tokens drawn so far (likewise
/// positions). For binary groups these classes are the orbits of the stabiliser of what was drawn, so that the
/// sequences reached are one of each orbit, weighted with its size.
class class_choices : public all_choices {
public:
  class_choices(const process_sizes& sizes, const combination_bound& bound, const symmetry::structure& tokens,
                const symmetry::structure& positions)
      : all_choices(sizes, bound), token_structure_(tokens), position_structure_(positions) {}
  int token(int, const pool& from) { return representative(from, token_structure_, drawn_tokens_); }
  int position(int, const pool& from) { return representative(from, position_structure_, drawn_positions_); }
  int token(int, int certain) { return note(certain, drawn_tokens_); }
  int position(int, int certain) { return note(certain, drawn_positions_); }
  void begin() {
    all_choices::begin();
    drawn_tokens_.clear();
    drawn_positions_.clear();
  }

private:
  /// Something drawn again stands in no further relation.
  static int note(int value, std::vector<int>& drawn) {
    if (std::ranges::find(drawn, value) == drawn.end()) drawn.push_back(value);
    return value;
  }
  int representative(const pool& from, const symmetry::structure& structure, std::vector<int>& drawn) {
    const int result = odometer_.choose([&](auto& options) {
      std::vector<int> members;
      for (int place = 0; place < from.size(); ++place) members.push_back(from[place]);
      std::ranges::sort(members);  // the smallest member represents its class
      std::map<std::vector<int>, std::size_t> classes;
      std::vector<int> signature;
      for (const int member : members) {
        structure.visit([&](const auto& group) {
          signature.assign(1, group.orbit(member));
          for (std::size_t place = 0; place < drawn.size(); ++place) {
            // Only relations other than the remainder are recorded, so that the signature stays short.
            const int forth = group.orbital(member, drawn[place]), back = group.orbital(drawn[place], member);
            if (forth >= 0 || back >= 0) signature.insert(signature.end(), {static_cast<int>(place), forth, back});
          }
        });
        const auto [found, added] = classes.try_emplace(signature, options.size());
        if (added) options.push_back({member, 0, 0});
        options[found->second].outcomes += 1;
      }
      for (auto& option : options) option.probability = option.outcomes / from.size();
    });
    return note(result, drawn);
  }

  const symmetry::structure& token_structure_;
  const symmetry::structure& position_structure_;
  std::vector<int> drawn_tokens_, drawn_positions_;
};

/// Follows a given sequence; choices that leave no trace in it are taken in turn, as long as it can still be reached.
class given_choices : public all_choices {
public:
  given_choices(const process_sizes& sizes, const combination_bound& bound, const task::sequence& given)
      : all_choices(sizes, bound), given_(given) {}
  int token(int place, const pool& from) { return follow(given_.tokens, place, from); }
  int position(int place, const pool& from) { return follow(given_.positions, place, from); }
  int token(int place, int certain) { return check(given_.tokens, place, certain); }
  int position(int place, int certain) { return check(given_.positions, place, certain); }
  int among(int count) { return factor_ > 0 ? all_choices::among(count) : 0; }
  template <class Only>
  int among(int count, Only&& only) {
    const std::optional<int> followed = only(given_.tokens);
    factor_ = followed ? factor_ / count : 0;
    return followed.value_or(0);
  }
  int weighted(std::span<const int> weights) {
    if (factor_ > 0) return all_choices::weighted(weights);
    return static_cast<int>(std::ranges::find_if(weights, [](int weight) { return weight > 0; }) - weights.begin());
  }
  bool chance(double p) { return factor_ > 0 && all_choices::chance(p); }
  void begin() {
    all_choices::begin();
    factor_ = 1;
  }
  [[nodiscard]] double weight() const noexcept { return all_choices::weight() * factor_; }

private:
  int follow(std::span<const int> values, int place, const pool& from) {
    const int value = values[static_cast<std::size_t>(place)];
    if (value >= 0 && value < from.capacity() && from.contains(value)) return factor_ /= from.size(), value;
    factor_ = 0;  // not reached along this path: finish it with anything valid
    return from[0];
  }
  int check(std::span<const int> values, int place, int certain) noexcept {
    if (values[static_cast<std::size_t>(place)] != certain) factor_ = 0;
    return certain;
  }
  task::sequence given_;
  double factor_ = 1;
};

/// Runs the process for every combination of choices: `visit(sequence, outcomes)`; stops when it returns false.
template <class Process, class Choices, class Visit>
void run_all(const Process& draw, Choices& choose, Visit&& visit) {
  const process_sizes sizes = draw.sizes();
  std::vector<int> tokens(static_cast<std::size_t>(sizes.length)), positions(tokens.size());
  do {
    choose.begin();
    const int answer = draw(choose, std::span(tokens), std::span(positions));
    if (choose.weight() > 0 && !visit(task::sequence{tokens, positions, answer, choose.weight()}, choose.outcomes()))
      return;
  } while (choose.advance());
}

/// Shows a sequence to a visitor; false if it answers so. A visitor without an answer goes on.
template <class Visit>
bool goes_on(Visit& visit, const task::sequence& sequence) {
  if constexpr (std::same_as<std::invoke_result_t<Visit&, const task::sequence&>, bool>)
    return visit(sequence);
  else
    return visit(sequence), true;
}

}  // namespace detail

/// Visits every sequence of the law with its exact weight: `visit(const task::sequence&)`, which may return a bool,
/// false to end here. The weights sum to 1; a sequence that the process reaches along several paths is visited once for
/// each. A law that lists its sequences has a member `enumerate` of its own (likewise `probability` and
/// `enumerate_types`), which is called instead.
template <process Process, class Visit>
void enumerate(const Process& draw, Visit&& visit) {
  if constexpr (requires { draw.enumerate(visit); }) {
    draw.enumerate(visit);
  } else {
    detail::all_choices choose(draw.sizes());
    detail::run_all(draw, choose,
                    [&](const task::sequence& sequence, double) { return detail::goes_on(visit, sequence); });
  }
}

/// The probability of one sequence under the law; 0 for one that it never draws. Its weight plays no role.
///
/// It is the sum over all paths of choices that may lead to the sequence. Most choices show in it, whatever the
/// burstiness, but beside associations it doesn't tell which blocks are the distractors: there are
/// C(pairs + distractors, distractors) paths or more.
/// Throws shape_error if it has another length than the law's sequences, too_many_error beyond `bound` paths.
template <process Process>
[[nodiscard]] double probability(const Process& draw, const task::sequence& given, index bound = 1'000'000) {
  const process_sizes sizes = draw.sizes();
  require_extent("given.tokens.size()", given.tokens.size(), sizes.length);
  require_extent("given.positions.size()", given.positions.size(), sizes.length);
  if constexpr (requires { draw.probability(given); }) {
    return draw.probability(given);
  } else {
    detail::given_choices choose(
        sizes, {bound, "paths to a sequence", "there are at least so many; take fewer distractors, or sample"}, given);
    double result = 0;
    detail::run_all(draw, choose, [&](const task::sequence& drawn, double) {
      if (drawn.answer == given.answer && std::ranges::equal(drawn.tokens, given.tokens) &&
          std::ranges::equal(drawn.positions, given.positions))
        result += drawn.weight;
      return true;
    });
    return result;
  }
}

/// Sequences that stand for all relational types, with exact weights, and the number of sequences.
///
/// A type whose sequences the process reaches along several paths may be listed once for each, with its share of the
/// weight, and its sequences are counted likewise, as `enumerate` visits them. Of the laws here these are the ones with
/// distractors beside associations, where a sequence may not tell which of its blocks are the distractors; of all others
/// every type is listed once. (`reduced::relational_model` merges what is listed more than once.)
struct relational_types {
  sequence_table types;       ///< one sequence of each type, or a few; their weights sum to 1
  double sequence_count = 0;  ///< of the whole law; a double, as it may exceed every integer
};

/// The relational types of the law under a group: sequences that a group element carries into each other count as one.
/// On the manifold all sequences of a type have the same loss, so that the population average is a sum over types.
/// \param tokens,positions  the group's structure: binary ones, as the named groups are (argument_error for others, of
///                          which relations don't tell the types)
/// Throws too_many_error beyond `bound` listed types.
template <process Process>
[[nodiscard]] relational_types enumerate_types(const Process& draw, const symmetry::structure& tokens,
                                               const symmetry::structure& positions, index bound = 20'000) {
  const process_sizes sizes = draw.sizes();
  require_extent("tokens.size()", tokens.size(), sizes.vocabulary);
  require_extent("positions.size()", positions.size(), sizes.positions);
  const auto require_binary = [](const char* name, const symmetry::structure& of) {
    require(of.is_binary(), name, "a group that isn't known to be binary",
            "one of the named groups or trivial: of others, relations don't tell the types; list the sequences in a "
            "listed_law instead");
  };
  require_binary("tokens", tokens);
  require_binary("positions", positions);
  detail::class_choices choose(sizes,
                               {bound, "relational types",
                                "there are at least so many; take fewer pairs, a certain association (within_class = "
                                "0), or draw a stratified sample of types"},
                               tokens, positions);
  relational_types result{sequence_table(sizes.length)};
  detail::run_all(draw, choose, [&](const task::sequence& sequence, double outcomes) {
    result.types.append(sequence);
    result.sequence_count += outcomes;
    return true;
  });
  return result;
}

}  // namespace lindyn::population
