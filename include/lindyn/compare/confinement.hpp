// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The certificate of gradient confinement: on the manifold, does the gradient of the full network stay on it?

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/compare/confinement_gradient.hpp>
#include <lindyn/compare/confinement_invariance.hpp>
#include <lindyn/compare/confinement_leak.hpp>
#include <lindyn/compare/confinement_sample.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/model/embedding.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/population/whole_population.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::compare {

/// How confinement is certified.
enum class confinement_method {
  automatic,            ///< enumerate where the sequences are few, else symmetry_and_sample
  enumerate,            ///< the exact population gradient at random points of the manifold
  sample,               ///< the same from sampled batches, with its error bar: it can refute, and bounds what it can't
  symmetry,             ///< the law is invariant, and the manifold is the centred commutant: a proof, no residual
  symmetry_and_sample,  ///< both
};

/// "enumerate", "sample", ..
[[nodiscard]] constexpr std::string_view name(confinement_method method) noexcept {
  switch (method) {
    case confinement_method::automatic:
      return "automatic";
    case confinement_method::enumerate:
      return "enumerate";
    case confinement_method::sample:
      return "sample";
    case confinement_method::symmetry:
      return "symmetry";
    case confinement_method::symmetry_and_sample:
      return "symmetry and sample";
  }
  return {};
}

/// Options of `confinement`.
struct confinement_options {
  confinement_method method = confinement_method::automatic;  ///< how it is certified
  task::loss loss = task::loss::cross_entropy;                ///< whose gradient is meant
  model::embedding embedding = model::embedding::one_hot;     ///< squared error and several orbits need `centred`
  bool throw_on_failure = true;       ///< false: a law that isn't confined yields a certificate with holds = false
  double tolerance = 1e-12;           ///< enumerate: largest relative residual of a weight
  int points = 1;                     ///< random points of the manifold
  double scale = 0.5;                 ///< standard deviation of their coordinates, which are normal; at most 1
  std::uint64_t seed = 1;             ///< of the points and of all samples
  double bound = 2'000'000;           ///< enumerate: largest number of sequences
  double few = 200'000;               ///< automatic: sequences that are few enough to enumerate
  int batches = 32;                   ///< sample: independent batches a point
  index batch = 2048;                 ///< sample: sequences of a batch
  double deviations = 5;              ///< sample: standard errors within which a leak counts as none
  double compared = 20'000;           ///< symmetry: up to so many sequences are all compared with their images ..
  index samples = 1'000;              ///< .. else so many sampled ones
  int threads = 1;                    ///< of the network's gradient
  lindyn::progress::callback tell{};  ///< hears of the progress
};

/// What was found.
struct confinement_certificate {
  confinement_method method{};         ///< the method used, never `automatic`
  bool holds = false;                  ///< whether the gradient is confined, as far as the method can tell
  index dimension = 0;                 ///< of the manifold
  double sequences = 0;                ///< sequences visited, a point
  std::optional<double> residual_max;  ///< largest residual of a weight; none for the method `symmetry`
  double tolerance = 0;                ///< what that weight's residual must not exceed
  std::vector<weight_leak> weights;    ///< by weight, the largest over the points; empty for `symmetry`
  std::string worst_weight;            ///< the weight of which most leaves the manifold
  std::string worst_block;             ///< where: "W_KQ.1.0, query copy x, key copy 1: token x token part"
  std::string statement;               ///< all of this in words
};

namespace detail {

/// Certifies one basis for one law.
template <population::data_law Law>
class certifier {
public:
  certifier(const manifold::basis& basis, const Law& law, const confinement_options& options)
      : basis_(basis),
        law_(law),
        options_(options),
        net_(basis.shape()),
        centre_(basis.structure()),
        tell_(options.tell) {
    require(!name(options.method).empty(), "method", static_cast<int>(options.method), "a confinement_method");
    require_positive("tolerance", options.tolerance);
    require(options.points >= 1, "points", options.points, "at least 1");
    // Large weights saturate every softmax, and of the gradients that vanish then, rounding is what is left: measured on
    // invariant laws, residuals are 1e-13 at most at scale 1, 1e-11 at 2, 1e-4 at 10.
    require(options.scale > 0 && options.scale <= 1, "scale", options.scale, "positive, and at most 1");
    require(options.bound >= 0, "bound", options.bound, "not negative");
    require(options.few >= 0, "few", options.few, "not negative");
    require(options.compared >= 0, "compared", options.compared, "not negative");
    require(options.batch >= 1, "batch", options.batch, "at least 1");
    require_positive("deviations", options.deviations);
    require(options.samples >= 1, "samples", options.samples, "at least 1");
    require_extent("basis.tokens().size()", basis.tokens().size(), law.sizes().vocabulary);
    require_extent("basis.positions().size()", basis.positions().size(), law.sizes().positions);
  }

  [[nodiscard]] confinement_certificate certify() {
    using enum confinement_method;
    result_.dimension = basis_.dimension();
    result_.method = options_.method;
    if (options_.method == automatic)
      result_.method = population::sequence_count(law_, options_.few) <= options_.few ? enumerate : symmetry_and_sample;
    result_.holds = true;
    if (result_.method == enumerate) certify_by_enumeration();
    if (result_.method == symmetry || result_.method == symmetry_and_sample) certify_by_symmetry();
    if (result_.method == sample || result_.method == symmetry_and_sample) certify_by_samples();
    result_.statement = (result_.holds ? "confined (method " : "not confined (method ") +
                        std::string(name(result_.method)) + "): " + result_.statement;
    if (!result_.holds && options_.throw_on_failure) throw invariance_error(result_.statement);
    return std::move(result_);
  }

private:
  void certify_by_enumeration() {
    const double count = population::sequence_count(law_, options_.bound);
    if (count > options_.bound) throw too_many_sequences("sequences", count, options_.bound);
    std::vector<double> gradient(static_cast<std::size_t>(basis_.parameters().size()));
    for (int point = 0; point < options_.points; ++point) {
      result_.sequences =
          enumerated_gradient(law_, net_, random_point(point), options_.loss, options_.bound, options_.threads,
                              gradient, [&](double visited) {
                                tell_("confinement by enumeration", point * count + visited, options_.points * count);
                              });
      if (options_.embedding == model::embedding::centred) centre_(basis_.parameters(), std::span(gradient));
      const manifold::projection projection = basis_.project(gradient);
      std::vector<double> squares = projection.off_manifold, norms;
      for (double& entry : squares) entry *= entry;
      for (const auto& weight : projection.weights) norms.push_back(weight.norm);
      norms = reference_norms(std::move(norms));
      std::vector<weight_leak> leaks;
      for (const parameter& which : basis_.parameters())
        leaks.push_back({which.name, std::sqrt(sum_of(which, squares)) / norms[leaks.size()], 0, options_.tolerance});
      record(leaks, squares);
    }
    conclude("the exact gradient of " + lindyn::detail::to_text(result_.sequences) + " sequences");
  }

  void certify_by_samples() {
    std::vector<double> gradient(static_cast<std::size_t>(basis_.parameters().size()));
    model::attention_only<>::workspace scratch(options_.threads);
    population::sampler draw(law_, options_.seed);
    population::minibatch batch;
    index drawn = 0;
    for (int point = 0; point < options_.points; ++point) {
      batch_gradients gradients(basis_, options_.batches);
      const std::vector<double> weights = random_point(point);
      for (int number = 0; number < options_.batches; ++number, drawn += options_.batch) {
        draw.draw(drawn, options_.batch, batch);
        net_.loss_and_gradient(weights, batch, options_.loss, gradient, scratch);
        if (options_.embedding == model::embedding::centred) centre_(basis_.parameters(), std::span(gradient));
        gradients.add(gradient);
        tell_("confinement by sampling", point * options_.batches + number + 1, options_.points * options_.batches);
      }
      record(gradients.leaks(options_.deviations), gradients.squares());
    }
    result_.sequences = static_cast<double>(options_.batches * options_.batch);
    conclude("the gradient estimated from " + lindyn::detail::to_text(result_.sequences) + " sampled sequences");
  }

  void certify_by_symmetry() {
    invariance_check<Law> check(law_);
    const bool all = population::sequence_count(law_, options_.compared) <= options_.compared;
    if (all) {
      population::enumerate(law_, [&](const task::sequence& sequence) { check(sequence); });
    } else {
      population::sampler draw(law_, options_.seed);
      population::minibatch batch;
      draw.draw(0, options_.samples, batch);
      for (index place = 0; place < batch.count(); ++place) check(batch.view()[place]);
    }
    result_.sequences = check.visited();
    std::string fault = check.fault();
    if (fault.empty()) fault = commutant_fault(basis_, law_.structure());
    if (fault.empty()) fault = embedding_fault();
    result_.holds = fault.empty();
    result_.statement =
        !fault.empty() ? fault
                       : std::to_string(check.generators()) + " generators leave the probabilities of " +
                             (all ? "all " : "") + lindyn::detail::to_text(check.visited()) + (all ? "" : " sampled") +
                             " sequences unchanged, and the matrices that commute with them, centred, are the " +
                             "manifold of dimension " + std::to_string(result_.dimension);
  }

  /// Why the gradient leaves the manifold even if the law is invariant; empty if it doesn't then.
  [[nodiscard]] std::string embedding_fault() const {
    if (options_.embedding == model::embedding::centred) return {};
    if (options_.loss == task::loss::squared_error)
      return "squared error moves the readout along the mean of one-hot embeddings; centred ones are needed "
             "(options.embedding)";
    const auto& structure = basis_.structure();
    if (structure.tokens.orbit_count() == 1 && structure.positions.orbit_count() == 1) return {};
    return "one-hot embeddings tell several orbits of tokens or positions apart; centred ones are needed "
           "(options.embedding)";
  }

  /// The weights at a random point of the manifold. Its stream is counted from the end, as samples have the first ones.
  [[nodiscard]] std::vector<double> random_point(int point) const {
    counter_generator generator(options_.seed, ~static_cast<std::uint64_t>(point));
    std::vector<double> coordinates(static_cast<std::size_t>(basis_.dimension()));
    for (double& coordinate : coordinates) coordinate = options_.scale * standard_normal(generator);
    return basis_.embed(coordinates);
  }

  /// Keeps the leaks of a point where they are the worst so far, relative to what is allowed.
  void record(const std::vector<weight_leak>& leaks, std::span<const double> squares) {
    const auto severity = [](const weight_leak& leak) { return leak.residual / leak.bound; };
    if (result_.weights.empty()) result_.weights = leaks;
    for (std::size_t w = 0; w < leaks.size(); ++w)
      if (severity(leaks[w]) > severity(result_.weights[w])) result_.weights[w] = leaks[w];
    const auto worst = std::ranges::max_element(leaks, {}, severity) - leaks.begin();
    const weight_leak& leak = leaks[static_cast<std::size_t>(worst)];
    if (result_.residual_max && severity(leak) <= *result_.residual_max / result_.tolerance) return;
    result_.residual_max = leak.residual;
    result_.tolerance = leak.bound;
    result_.worst_weight = leak.weight;
    result_.worst_block = largest_part(basis_, basis_.parameters()[worst], squares);
  }

  void conclude(const std::string& subject) {
    const bool confined = std::ranges::all_of(result_.weights, &weight_leak::holds);
    result_.holds = result_.holds && confined;
    if (!result_.statement.empty()) result_.statement += "; ";
    result_.statement += subject + " leaves the manifold by " + brief(*result_.residual_max) + " of its norm in " +
                         result_.worst_weight + (confined ? ", no more than the " : ", more than the ") +
                         brief(result_.tolerance) +
                         (result_.method == confinement_method::enumerate ? " allowed" : " of the error bar");
    if (confined) return;
    result_.statement += "; it leaks most in " + result_.worst_block;
    const std::string fault = embedding_fault();
    if (!fault.empty() && result_.method != confinement_method::symmetry_and_sample) result_.statement += "; " + fault;
  }

  const manifold::basis& basis_;
  const Law& law_;
  const confinement_options& options_;
  model::attention_only<> net_;
  model::centred_stream centre_;
  lindyn::progress tell_;
  confinement_certificate result_;
};

}  // namespace detail

/// Certifies that the population gradient of an attention-only network, at any point of the manifold, is tangent to it.
///
/// If the law is invariant under a group \f$G\f$ that acts on the stream by orthogonal \f$\rho(g)\f$, then
/// \f[
///   L(\rho(g)\, W \rho(g)^\top) = L(W) \;\Rightarrow\;
///   \nabla L(\rho(g)\, W \rho(g)^\top) = \rho(g)\, \nabla L(W)\, \rho(g)^\top ,
/// \f]
/// so that the gradient of weights that commute with the group commutes with it too (IMIR, section 4).
///
/// Throws invariance_error, naming what leaks, unless the certificate holds or options.throw_on_failure is false;
/// too_many_error for the method `enumerate` with more than options.bound sequences; argument_error for bad options,
/// shape_error if basis and law differ in sizes.
///
///     const auto certificate = compare::confinement<imir>(law);
///     std::cout << certificate.statement << '\n';
template <population::data_law Law>
confinement_certificate confinement(const manifold::basis& basis, const Law& law,
                                    const confinement_options& options = {}) {
  return detail::certifier<Law>(basis, law, options).certify();
}

/// The same for a compile-time manifold, manifold::imir.
template <class Imir, population::data_law Law>
confinement_certificate confinement(const Law& law, const confinement_options& options = {}) {
  return confinement(Imir::basis(law), law, options);
}

}  // namespace lindyn::compare
