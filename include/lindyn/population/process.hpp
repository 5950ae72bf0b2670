// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A data law is written once, as the process that draws a sequence, in terms of a few kinds of choice. Who makes the
/// choices decides what comes out: a random number generator (a sample), an odometer (the exact enumeration), a given
/// sequence (its probability), or an odometer over classes of alike tokens (the relational types).

#include <algorithm>
#include <concepts>
#include <list>
#include <numeric>
#include <span>

#include <lindyn/core/random.hpp>
#include <lindyn/population/pool.hpp>

namespace lindyn::population {

/// Who makes the choices of a process.
/// - `tokens()`, `positions()`: the full pools of all V tokens and all P positions, nothing removed.
/// - `tokens(which)`: the full pool of a class of tokens, one for each class that differs.
/// - `token(place, pool)`: the token at `place` of the sequence, uniform over the pool; likewise `position`.
/// - `token(place, value)`: the token at `place` when the earlier choices leave no other; likewise `position`.
/// - `among(count)`: an integer in [0, count), uniform.
/// - `weighted(weights)`: a place in the list, with a probability in proportion to the weight there.
/// - `chance(p)`: true with probability p.
template <class C>
concept chooser = requires(C& choose, int n, const pool& from, double p, std::span<const int> weights,
                           const integer_class& which) {
  { choose.tokens() } -> std::same_as<pool&>;
  { choose.tokens(which) } -> std::same_as<pool&>;
  { choose.positions() } -> std::same_as<pool&>;
  { choose.token(n, from) } -> std::same_as<int>;
  { choose.position(n, from) } -> std::same_as<int>;
  { choose.token(n, n) } -> std::same_as<int>;
  { choose.position(n, n) } -> std::same_as<int>;
  { choose.among(n) } -> std::same_as<int>;
  { choose.weighted(weights) } -> std::same_as<int>;
  { choose.chance(p) } -> std::same_as<bool>;
};

/// The sizes of the sequences that a process draws.
struct process_sizes {
  int vocabulary = 0;  ///< V, tokens
  int positions = 0;   ///< P, positions
  int length = 0;      ///< n, tokens of a sequence
};

namespace detail {

/// The pools, which every chooser owns.
class choices_base {
public:
  explicit choices_base(const process_sizes& sizes) : tokens_(sizes.vocabulary), positions_(sizes.positions) {}
  pool& tokens() noexcept { return tokens_.restore(), tokens_; }
  pool& tokens(const integer_class& which) {
    if (which == integer_class{0, tokens_.capacity()}) return tokens();
    auto found = std::ranges::find(classes_, which, &token_class::which);
    if (found == classes_.end()) found = classes_.insert(found, {which, pool(tokens_.capacity(), which)});
    return found->members.restore(), found->members;
  }
  pool& positions() noexcept { return positions_.restore(), positions_; }

private:
  struct token_class {
    integer_class which;
    pool members;
  };
  pool tokens_, positions_;
  std::list<token_class> classes_;  // few; a list, so that pools stay where they are
};

/// As choose.among(count), where the sequence will tell what was chosen: `only(tokens)` is the number that may lead to
/// given tokens, a std::optional<int>, so that who follows a given sequence doesn't have to try them all.
template <class Choices, class Only>
int among(Choices& choose, int count, Only&& only) {
  if constexpr (requires { choose.among(count, only); })
    return choose.among(count, only);
  else
    return choose.among(count);
}

}  // namespace detail

/// Chooses at random.
class random_choices : public detail::choices_base {
public:
  /// Chooses for a process of these sizes.
  explicit random_choices(const process_sizes& sizes) : choices_base(sizes) {}

  /// Takes the numbers from here on from this generator.
  void use(const counter_generator& generator) noexcept { generator_ = generator; }

  /// \{
  /// As `chooser` says.
  int token(int, const pool& from) { return from[among(from.size())]; }
  int position(int, const pool& from) { return from[among(from.size())]; }
  int token(int, int certain) noexcept { return certain; }
  int position(int, int certain) noexcept { return certain; }
  int among(int count) { return static_cast<int>(uniform_index(generator_, count)); }
  int weighted(std::span<const int> weights) {
    int left = among(std::accumulate(weights.begin(), weights.end(), 0)), place = 0;
    for (; left >= weights[static_cast<std::size_t>(place)]; ++place) left -= weights[static_cast<std::size_t>(place)];
    return place;
  }
  bool chance(double p) { return uniform_real(generator_) < p; }
  /// \}

private:
  counter_generator generator_{0};
};

static_assert(chooser<random_choices>);

/// A process: draws a sequence of sizes().length tokens at positions, and returns the answer.
template <class P>
concept process = requires(const P& draw, random_choices& choose, std::span<int> places) {
  { draw.sizes() } -> std::convertible_to<process_sizes>;
  { draw(choose, places, places) } -> std::convertible_to<int>;
};

}  // namespace lindyn::population
