// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What all parts of off_the_manifold have in common: a task with its manifold, a training run seen from there, and
/// jobs side by side.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <lindyn/core/parallel.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/optimizer/adam.hpp>
#include <lindyn/optimizer/momentum.hpp>
#include <lindyn/optimizer/sgd.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/reduced/descent.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/symmetry/reynolds.hpp>
#include <lindyn/train/descent.hpp>

namespace examples::off_the_manifold {

using lindyn::index;

/// What a part is given.
struct context {
  std::filesystem::path out;          ///< folder of its files
  int threads = 2;                    ///< jobs at a time
  lindyn::progress::callback tell{};  ///< hears of the progress
};

/// A text as printf would write it.
template <class... Values>
[[nodiscard]] std::string text(const char* format, Values... values) {
  std::string result(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, values...)), ' ');
  std::snprintf(result.data(), result.size() + 1, format, values...);
  return result;
}

/// What a part found: numbers for summary.json, and sentences that say what they mean.
struct findings {
  lindyn::io::json numbers = lindyn::io::json::object();
  std::vector<std::string> sentences{};
  bool drawn = false;  ///< whether the picture could be drawn

  /// Adds a sentence, as printf would write it.
  template <class... Values>
  void say(const char* format, Values... values) {
    sentences.push_back(text(format, values...));
  }
};

/// Recall with pairs of distinct tokens on slots, two layers of one head, and its manifold.
struct experiment {
  using task = lindyn::task::associative_recall<lindyn::block<2>>;

  lindyn::population::recall_options options;
  lindyn::population::recall_law<task> law{options};
  lindyn::manifold::basis basis{2, 1, law.structure()};
  lindyn::population::sequence_table types = lindyn::population::enumerate_types(law).types;

  /// The population loss on the manifold.
  [[nodiscard]] lindyn::reduced::relational_model reduced() const { return {basis, types}; }
  /// Full weights with random coordinates of standard deviation `scale`.
  [[nodiscard]] std::vector<double> on_manifold(double scale, std::uint64_t seed) const {
    return basis.embed(normal(basis.dimension(), scale, seed));
  }
  /// Random full weights of standard deviation `scale`.
  [[nodiscard]] std::vector<double> random(double scale, std::uint64_t seed) const {
    return normal(basis.parameters().size(), scale, seed);
  }

private:
  static std::vector<double> normal(index count, double scale, std::uint64_t seed) {
    lindyn::counter_generator generator(seed, ~std::uint64_t{1});
    std::vector<double> result;
    for (index i = 0; i < count; ++i) result.push_back(scale * lindyn::standard_normal(generator));
    return result;
  }
};

/// Norm of what the whole commutant doesn't contain, constant blocks included: the distance of the weights from the
/// group's average of every block (the readout's blocks have tokens for rows).
[[nodiscard]] inline double off_commutant(const experiment& subject, std::span<const double> weights) {
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto structure = subject.law.structure();
  const index tokens = structure.tokens.size(), width = tokens + structure.positions.size();
  double off = 0;
  for (const auto& which : subject.basis.parameters()) {
    const auto view = subject.basis.parameters().view(which, weights);
    const Eigen::Map<const matrix> whole(view.data, view.rows, view.columns);
    const bool readout = view.rows != view.columns;
    for (index row = 0; row < view.rows; row += readout ? tokens : width)
      for (index column = 0; column < view.columns; column += width) {
        const auto difference = [&](const auto& block, const auto&... groups) {
          off += (block - lindyn::symmetry::reynolds(block, groups...)).squaredNorm();
        };
        if (readout) {
          difference(whole.block(row, column, tokens, tokens), structure.tokens);
          difference(whole.block(row, column + tokens, tokens, width - tokens), structure.tokens, structure.positions);
        } else {
          difference(whole.block(row, column, width, width), structure);
        }
      }
  }
  return std::sqrt(off);
}

/// Few enough sequences (11,520) for the exact population gradient.
[[nodiscard]] inline experiment small_task() { return {{.pairs = 2, .vocabulary = 5, .slots = 3}}; }
/// The main job's; trained on minibatches.
[[nodiscard]] inline experiment middle_task() { return {{.pairs = 4, .vocabulary = 16}}; }
/// Longer sequences, wider stream.
[[nodiscard]] inline experiment large_task() { return {{.pairs = 16, .vocabulary = 64}}; }

/// Any of the optimisers, chosen at run time.
using rule_options =
    std::variant<lindyn::optimizer::sgd_options, lindyn::optimizer::momentum_options, lindyn::optimizer::adam_options>;

template <class Scalar>
class chosen_rule {
public:
  static constexpr bool linear = false;
  chosen_rule(index size, const rule_options& options)
      : rule_(std::visit([&]<class Options>(const Options& chosen)
                             -> decltype(rule_) { return typename Options::template rule<Scalar>(size, chosen); },
                         options)) {}
  void step(std::span<Scalar> weights, std::span<const Scalar> gradient, double learning_rate) {
    std::visit([&](auto& rule) { rule.step(weights, gradient, learning_rate); }, rule_);
  }

private:
  std::variant<lindyn::optimizer::sgd<Scalar>, lindyn::optimizer::momentum<Scalar>, lindyn::optimizer::adam<Scalar>>
      rule_;
};

/// A moment of training.
struct moment {
  index step = 0;
  double loss = 0;           ///< exact for the population gradient, else on sequences of its own
  double norm = 0;           ///< of all weights
  double off_manifold = 0;   ///< norm of what the manifold doesn't contain
  double off_commutant = 0;  ///< norm of what the commutant with its constant blocks doesn't contain
  std::vector<double> coordinates{};

  /// Off-manifold norm over the weights' norm.
  [[nodiscard]] double share() const { return norm > 0 ? off_manifold / norm : 0; }
  /// Off-commutant norm over the weights' norm.
  [[nodiscard]] double off_commutant_share() const { return norm > 0 ? off_commutant / norm : 0; }
};

/// A training run seen from the manifold.
struct trace {
  std::vector<moment> moments{};
  double seconds = 0;  ///< of the steps, without measurements

  [[nodiscard]] const moment& first() const { return moments.front(); }
  [[nodiscard]] const moment& last() const { return moments.back(); }
  /// The step at which the loss met `level`, interpolated between the moments.
  [[nodiscard]] std::optional<double> crossing(double level) const {
    for (std::size_t i = 0; i < moments.size(); ++i) {
      if (moments[i].loss > level) continue;
      if (i == 0) return 0.0;
      const auto &before = moments[i - 1], &after = moments[i];
      const double part = (before.loss - level) / (before.loss - after.loss);
      return static_cast<double>(before.step) + part * static_cast<double>(after.step - before.step);
    }
    return {};
  }
  /// The step at which the loss was half of that at the start.
  [[nodiscard]] std::optional<double> emergence() const { return crossing(first().loss / 2); }
};

/// About 12 steps a factor of ten, and 200 evenly spaced ones, from 0 to `last`.
[[nodiscard]] inline std::vector<index> moments_until(index last) {
  std::vector<index> result{0, last};
  for (int i = 0; i <= 200; ++i) result.push_back(last * i / 200);
  for (double step = 1; step < static_cast<double>(last); step *= std::pow(10.0, 1.0 / 12))
    result.push_back(static_cast<index>(std::llround(step)));
  std::ranges::sort(result);
  result.erase(std::ranges::unique(result).begin(), result.end());
  return result;
}

/// What confines a run, if anything.
template <class Scalar>
using constraint = std::function<void(std::span<Scalar>)>;

/// Trains the full network from `start` and looks at it from the manifold, at some steps of its way.
template <class Scalar>
[[nodiscard]] trace train(
    const experiment& subject, std::span<const double> start, const lindyn::train::descent_options& options,
    const rule_options& rule, const std::vector<index>& wanted,
    const constraint<Scalar>& confine = [](std::span<Scalar>) {}) {
  using namespace lindyn;
  const model::attention_only<layers<dynamic>, heads<dynamic>, Scalar> net(subject.basis.shape());
  std::vector<Scalar> weights(start.begin(), start.end());
  chosen_rule<Scalar> optimizer(net.parameters().size(), rule);
  population::minibatch evaluation;  // numbered from the middle of the stream, which no batch reaches
  population::sampler(subject.law, options.seed).draw(index{1} << 62, 4096, evaluation);
  model::attention_workspace<Scalar> memory;
  trace result;
  auto due = wanted.begin();
  result.seconds = lindyn::train::descend(
      net, subject.law, std::span(weights), options,
      [&](const auto& point) {
        if (due == wanted.end() || point.step != *due) return;
        ++due;
        const std::vector<double> now(point.weights.begin(), point.weights.end());
        const auto projection = subject.basis.project(now);
        result.moments.push_back(
            {.step = point.step,
             .loss = options.batch == 0 ? point.loss : net.loss(point.weights, evaluation, options.loss, memory),
             .norm = projection.norm(),
             .off_manifold = projection.off_manifold_norm(),
             .off_commutant = off_commutant(subject, now),
             .coordinates = projection.coordinates});
      },
      optimizer, confine);
  return result;
}

/// The same, looking at moments_until(options.steps).
template <class Scalar>
[[nodiscard]] trace train(const experiment& subject, std::span<const double> start,
                          const lindyn::train::descent_options& options, const rule_options& rule) {
  return off_the_manifold::train<Scalar>(subject, start, options, rule, moments_until(options.steps));
}

/// Trains the coordinates alone, on the exact population loss.
[[nodiscard]] inline trace train_coordinates(const experiment& subject, std::span<const double> start,
                                             const lindyn::reduced::descent_options& options,
                                             const rule_options& rule) {
  using namespace lindyn;
  auto model = subject.reduced();
  chosen_rule<double> optimizer(model.dimension(), rule);
  const std::vector<index> wanted = moments_until(options.steps);
  trace result;
  auto due = wanted.begin();
  reduced::descend(
      model, start, options,
      [&](index step, double loss, std::span<const double> coordinates) {
        if (due == wanted.end() || step != *due) return;
        ++due;
        std::vector<double> image(coordinates.size());
        subject.basis.apply_gram(coordinates, image);
        const double square = std::inner_product(image.begin(), image.end(), coordinates.begin(), 0.0);
        result.moments.push_back({.step = step,
                                  .loss = loss,
                                  .norm = std::sqrt(square),
                                  .coordinates = {coordinates.begin(), coordinates.end()}});
      },
      optimizer);
  return result;
}

/// Calls work(i) for i in [0, count), some at a time. What a job computes must depend on i alone.
template <class Work>
void side_by_side(const context& c, const std::string& name, std::size_t count, Work&& work) {
  std::mutex guard;
  std::size_t done = 0;
  lindyn::progress tell(c.tell);
  lindyn::parallel_chunks(static_cast<index>(count), 1, c.threads, [&](index job, index, index, int) {
    work(static_cast<std::size_t>(job));
    const std::scoped_lock lock(guard);
    tell(name, static_cast<double>(++done), static_cast<double>(count));
  });
}

/// A value or JSON's null.
template <class T>
[[nodiscard]] lindyn::io::json or_null(const std::optional<T>& value) {
  return value ? lindyn::io::json(*value) : lindyn::io::json();
}

/// Slope of ln y against ln x by least squares, with its standard error.
struct power_law {
  double exponent = 0, standard_error = 0;
};
[[nodiscard]] inline power_law fit_power_law(const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += std::log(x[i]) / count, mean_y += std::log(y[i]) / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += std::pow(std::log(x[i]) - mean_x, 2);
    xy += (std::log(x[i]) - mean_x) * (std::log(y[i]) - mean_y);
  }
  const double slope = xy / xx;
  for (std::size_t i = 0; i < x.size(); ++i)
    rest += std::pow(std::log(y[i]) - mean_y - slope * (std::log(x[i]) - mean_x), 2);
  return {slope, x.size() > 2 ? std::sqrt(rest / (count - 2) / xx) : 0};
}

[[nodiscard]] inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Median; the upper one of two.
[[nodiscard]] inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// max|a - b|.
[[nodiscard]] inline double largest_difference(std::span<const double> a, std::span<const double> b) {
  double result = 0;
  for (std::size_t i = 0; i < a.size(); ++i) result = std::max(result, std::abs(a[i] - b[i]));
  return result;
}

}  // namespace examples::off_the_manifold
