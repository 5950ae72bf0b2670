// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A stratified sample of relational types, for laws that have too many to enumerate.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lindyn/population/process.hpp>
#include <lindyn/population/sequence_table.hpp>

namespace lindyn::population {

/// Contexts in which the number of stratified chances that came true lies in [fewest, most].
struct stratum {
  int fewest = 0;      ///< chances that came true
  int most = 0;        ///< likewise
  double weight = 0;   ///< its exact probability
  index contexts = 0;  ///< how many of it were drawn, at least 2
};

/// Sequences that stand for a law's relational types. A *context* is one draw of all but the query; it is here with
/// each of its queries in turn, so that the average over the query is exact.
struct type_sample {
  sequence_table sequences;       ///< context by context; the weights sum to 1
  int queries = 1;                ///< sequences of a context
  std::vector<stratum> strata;    ///< their weights sum to 1
  std::vector<int> stratum_of{};  ///< of each context

  /// Number of contexts.
  [[nodiscard]] index contexts() const noexcept { return static_cast<index>(stratum_of.size()); }
  /// The sequences of one context.
  [[nodiscard]] task::batch_view context(index place) const noexcept {
    return sequences.view().slice(place * queries, (place + 1) * queries);
  }
};

/// An average over a sample, and how far it may be from the truth.
struct estimate {
  double mean = 0;            ///< the best guess
  double standard_error = 0;  ///< its standard deviation over samples
};

/// The law's average of a quantity from its mean over the sequences of each context, with the standard error
/// \f[ \sqrt{\textstyle\sum_s W_s^2\, \mathrm{var}_s / n_s} \f]
/// of stratified sampling (strata s of weight W_s with n_s contexts; Cochran, Sampling Techniques, 3rd edition, section
/// 5.4). Throws shape_error unless there is one value for each context.
[[nodiscard]] inline estimate estimate_mean(const type_sample& sample, std::span<const double> context_values) {
  require_extent("context_values.size()", context_values.size(), sample.contexts());
  estimate result;
  double variance = 0;
  auto first = context_values.begin();
  for (const stratum& part : sample.strata) {
    const std::span values(first, static_cast<std::size_t>(part.contexts));
    first += part.contexts;
    const auto count = static_cast<double>(part.contexts);
    double mean = 0, squares = 0;
    for (const double value : values) mean += value / count;
    for (const double value : values) squares += (value - mean) * (value - mean);
    result.mean += part.weight * mean;
    variance += part.weight * part.weight * squares / (count - 1) / count;
  }
  result.standard_error = std::sqrt(variance);
  return result;
}

namespace detail {

/// What a process asked of its choices.
struct questions {
  double probability = 1;  // the first p of chance(p) that is neither 0 nor 1; without any, the first
  int chances = 0;         // calls with this p
  int query = 0;           // which among(count) is the last choice of all, 1 being the first; 0: none is
  int queries = 1;         // its count
};

[[noreturn]] inline void refuse(const std::string& what) {
  throw argument_error(
      "law", "a process " + what,
      "one whose first chances, as many as it asks for if all come true, have the same p in each draw, "
      "and whose last choice is an among(count) of the same count and place in each draw, or in none, "
      "for a stratified sample");
}

/// Chooses at random, except for the first chances of one p and the query once it is told of them; notes what is asked.
class told_choices : public random_choices {
public:
  using random_choices::random_choices;

  /// Begins a run that shows what the process asks: all chances come true that may.
  void begin() { begin(nullptr, {}, 0); }
  /// Begins a run: the i-th chance of the expected p comes true iff `outcomes[i]`, the expected query becomes `query`.
  void begin(const questions& expected, std::span<const char> outcomes, int query) {
    begin(&expected, outcomes, query);
  }
  int token(int place, const pool& from) { return no_query(), random_choices::token(place, from); }
  int position(int place, const pool& from) { return no_query(), random_choices::position(place, from); }
  int token(int place, int certain) noexcept { return random_choices::token(place, certain); }
  int position(int place, int certain) noexcept { return random_choices::position(place, certain); }
  int weighted(std::span<const int> weights) { return no_query(), random_choices::weighted(weights); }
  bool chance(double p) {
    no_query();
    if (expected_ == nullptr) {
      const auto certain = [](double probability) { return probability == 0 || probability == 1; };
      if (asked_.chances == 0 || (certain(asked_.probability) && !certain(p))) asked_ = {.probability = p};
      asked_.chances += p == asked_.probability;
      return p > 0;
    }
    const auto place = static_cast<std::size_t>(asked_.chances);
    if (p != expected_->probability || place >= outcomes_.size()) return random_choices::chance(p);
    ++asked_.chances;
    return outcomes_[place] != 0;
  }
  int among(int count) {
    asked_.query = ++amongs_;
    asked_.queries = count;
    const bool told = expected_ != nullptr && amongs_ == expected_->query && count == expected_->queries;
    return told ? query_ : random_choices::among(count);
  }
  [[nodiscard]] const questions& asked() const noexcept { return asked_; }
  /// Whether the run asked for all that it was told of.
  [[nodiscard]] bool as_expected() const noexcept {
    return asked_.chances == expected_->chances && asked_.query == expected_->query &&
           asked_.queries == expected_->queries;
  }

private:
  void begin(const questions* expected, std::span<const char> outcomes, int query) {
    expected_ = expected;
    outcomes_ = outcomes;
    query_ = query;
    amongs_ = 0;
    asked_ = {};
  }
  void no_query() noexcept {
    asked_.query = 0;
    asked_.queries = 1;
  }

  const questions* expected_ = nullptr;
  std::span<const char> outcomes_;
  int query_ = 0, amongs_ = 0;
  questions asked_;
};

/// Probabilities of 0 .. n successes in n trials of probability p: by the ratio of neighbours, from the largest.
[[nodiscard]] inline std::vector<double> binomial(int n, double p) {
  std::vector<double> weights(static_cast<std::size_t>(n) + 1, 0.0);
  const int mode = static_cast<int>(std::min<double>(n, std::floor((n + 1) * p)));
  const auto at = [&](int k) -> double& { return weights[static_cast<std::size_t>(k)]; };
  at(mode) = 1;
  for (int k = mode; k < n; ++k) at(k + 1) = at(k) * (n - k) * p / ((k + 1) * (1 - p));
  for (int k = mode; k > 0; --k) at(k - 1) = at(k) * k * (1 - p) / ((n - k + 1) * p);
  double total = 0;
  for (const double weight : weights) total += weight;
  for (double& weight : weights) weight /= total;
  return weights;
}

/// Strata of the number of true chances, whose probabilities are `weights`, with their shares of the contexts. Numbers
/// too rare for two contexts are pooled with the next ones.
[[nodiscard]] inline std::vector<stratum> stratify(std::span<const double> weights, index contexts) {
  std::vector<stratum> strata;
  stratum open;
  double cumulative = 0;
  index allotted = 0;
  for (std::size_t number = 0; number < weights.size(); ++number) {
    if (weights[number] == 0) continue;
    if (open.weight == 0) open.fewest = static_cast<int>(number);
    open.most = static_cast<int>(number);
    open.weight += weights[number];
    cumulative += weights[number];
    open.contexts = std::llround(cumulative * static_cast<double>(contexts)) - allotted;
    if (open.contexts < 2) continue;
    allotted += open.contexts;
    strata.push_back(open);
    open = {};
  }
  stratum& last = strata.back();
  if (open.weight > 0) last.most = open.most;
  last.weight += open.weight;
  last.contexts += contexts - allotted;
  return strata;
}

}  // namespace detail

/// Draws contexts of a law, stratified by how many of its chances come true. For stored_association_tokens these are
/// the stored labels: their number among N is binomial with probability 1 - within_class. Within a stratum which
/// chances come true is uniform, and all else is drawn by the process, but for the query, which takes all of its values
/// in turn. A law without chances has one stratum.
///
/// Of a law with several probabilities the chances of the first p that is neither 0 nor 1 are stratified, others are
/// drawn at random: with rare tokens (0 < rare < 1) the strata are the numbers of rare pairs, whatever labels are
/// stored. If the number of these chances depends on how others come out, it is the first that are stratified, as many
/// as there are when all chances come true. The query is the last choice of all, if that is an among(count); the
/// contexts of a law that ends with another choice (burstiness > 1) are sequences.
/// \param draw      a process; argument_error if in any draw it asks for fewer of these chances than when all come
///                  true, or for another last among(count)
/// \param contexts  number of contexts, at least 2: argument_error
/// \param seed      the sample is a function of the three arguments alone
template <process Process>
[[nodiscard]] type_sample sample_types(const Process& draw, index contexts, std::uint64_t seed) {
  require(contexts >= 2, "contexts", contexts, "at least 2, so that there is a standard error");
  const process_sizes sizes = draw.sizes();
  std::vector<int> tokens(static_cast<std::size_t>(sizes.length)), positions(tokens.size());
  detail::told_choices choose(sizes);
  choose.begin();  // a first draw only shows what the process asks
  (void)draw(choose, std::span(tokens), std::span(positions));
  const detail::questions expected = choose.asked();
  require_probability("p of chance(p)", expected.probability);

  const std::vector<double> weights = detail::binomial(expected.chances, expected.probability);
  type_sample result{.sequences = sequence_table(sizes.length),
                     .queries = expected.queries,
                     .strata = detail::stratify(weights, contexts)};
  result.sequences.reserve(contexts * expected.queries);
  std::vector<char> outcomes(static_cast<std::size_t>(expected.chances));
  for (std::size_t s = 0; s < result.strata.size(); ++s) {
    const stratum& part = result.strata[s];
    const double weight = part.weight / static_cast<double>(part.contexts) / expected.queries;
    for (index context = 0; context < part.contexts; ++context) {
      counter_generator generator(seed, static_cast<std::uint64_t>(result.contexts()));
      double level = uniform_real(generator) * part.weight;
      int left = part.fewest;
      while (left < part.most && level >= weights[static_cast<std::size_t>(left)])
        level -= weights[static_cast<std::size_t>(left++)];
      for (std::size_t place = 0; place < outcomes.size(); ++place) {
        outcomes[place] = uniform_index(generator, static_cast<index>(outcomes.size() - place)) < left;
        left -= outcomes[place];
      }
      for (int query = 0; query < expected.queries; ++query) {
        choose.use(generator);
        choose.begin(expected, outcomes, query);
        const int answer = draw(choose, std::span(tokens), std::span(positions));
        if (!choose.as_expected()) detail::refuse("whose choices differ between draws");
        result.sequences.append({tokens, positions, answer, weight});
      }
      result.stratum_of.push_back(static_cast<int>(s));
    }
  }
  return result;
}

}  // namespace lindyn::population
