// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Gradients of the full network for the certificate: the exact population gradient, gradients of sampled batches, and
/// the number of sequences that the exact one costs.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/manifold/basis.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/population/sequence_table.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::compare {

/// What stands for a token or a position in the stream.
enum class embedding {
  /// Unit vectors, as model::attention_only has them. The gradient stays on the manifold for cross-entropy, and one
  /// orbit each of tokens and positions: then a constant on an orbit shifts all scores, or all logits, alike.
  one_hot,
  /// Unit vectors minus their mean over each orbit; at a point of the manifold the network computes the same from
  /// these. They are needed by squared error (centred logits sum to zero, the targets to one, and the difference moves
  /// the readout along the mean embedding) and by several orbits (whose constants say to which a token belongs).
  centred,
};

namespace detail {

/// Takes from the gradient of a network with one-hot embeddings what it would not have with centred ones: the means
/// over each orbit of tokens and of positions, along every side of a weight that reads the stream. With C the map that
/// centres the stream, the network computes L(C W C) and L(W_out C), whose derivatives are C L'(..) C and L'(..) C.
class centred_stream {
public:
  explicit centred_stream(const manifold::basis& basis) {
    const auto& [tokens, positions, generators] = basis.structure();
    for (int token = 0; token < tokens.size(); ++token) orbit_.push_back(tokens.orbit(token));
    for (int position = 0; position < positions.size(); ++position)
      orbit_.push_back(tokens.orbit_count() + positions.orbit(position));
    size_.resize(static_cast<std::size_t>(tokens.orbit_count() + positions.orbit_count()));
    for (const int orbit : orbit_) ++size_[static_cast<std::size_t>(orbit)];
  }

  void operator()(const parameter_table& table, std::span<double> gradient) const {
    for (const parameter& which : table) {
      const auto matrix = table.view(which, gradient);
      centre(matrix.data, matrix.rows, matrix.columns, matrix.columns, 1);
      if (matrix.rows == matrix.columns) centre(matrix.data, matrix.columns, matrix.rows, 1, matrix.columns);
    }
  }

private:
  /// Centres `lines` lines, `line` entries apart, of `length` entries that are `step` apart.
  void centre(double* data, index lines, index length, index line, index step) const {
    const auto width = static_cast<index>(orbit_.size());
    std::vector<double> mean(size_.size());
    for (index i = 0; i < lines; ++i)
      for (index begin = 0; begin < length; begin += width) {
        double* const first = data + i * line + begin * step;
        std::ranges::fill(mean, 0.0);
        for (index j = 0; j < width; ++j) mean[orbit(j)] += first[j * step] / size_[orbit(j)];
        for (index j = 0; j < width; ++j) first[j * step] -= mean[orbit(j)];
      }
  }
  [[nodiscard]] std::size_t orbit(index place) const noexcept {
    return static_cast<std::size_t>(orbit_[static_cast<std::size_t>(place)]);
  }

  std::vector<int> orbit_;    // of every entry of the input stream
  std::vector<double> size_;  // of every orbit
};

/// Says how to go on without enumeration.
[[nodiscard]] inline too_many_error too_many_sequences(const std::string& what, double count, double bound) {
  return {what, count, bound,
          "raise options.bound, take fewer pairs, tokens or positions, or use the methods symmetry and sample, whose "
          "cost doesn't grow with their number"};
}

/// The number of sequences that an enumeration visits: exact where it is at most `bound` or where relational types give
/// it, else just a larger one than `bound`.
template <population::data_law Law>
[[nodiscard]] double sequence_count(const Law& law, double bound) {
  try {
    return population::enumerate_types(law).sequence_count;
  } catch (const error&) {  // so many types that sequences are counted as quickly, or no types for want of invariance
  }
  struct stop {};
  double count = 0;
  try {
    population::enumerate(law, [&](const task::sequence&) {
      if (++count > bound) throw stop{};
    });
  } catch (stop) {
  }
  return count;
}

/// The gradient of the population loss, summed over the whole law; returns the number of sequences visited.
/// Throws too_many_error when there are more than `bound`.
template <population::data_law Law, class Report>
double enumerated_gradient(const Law& law, const model::attention_only<>& net, std::span<const double> weights,
                           task::loss kind, double bound, int threads, std::span<double> gradient, Report&& report) {
  constexpr index portion = 4096;  // sequences held in memory at a time
  model::attention_only<>::workspace scratch(threads);
  std::vector<double> part(gradient.size());
  population::sequence_table table(law.sizes().length);
  std::ranges::fill(gradient, 0.0);
  double visited = 0;
  const auto add = [&] {
    if (table.size() == 0) return;
    net.loss_and_gradient(weights, table, kind, part, scratch);
    std::ranges::transform(part, gradient, gradient.begin(), std::plus{});
    table = population::sequence_table(law.sizes().length);
    report(visited);
  };
  population::enumerate(law, [&](const task::sequence& sequence) {
    if (++visited > bound) throw too_many_sequences("or more sequences", visited, bound);
    table.append(sequence);
    if (table.size() == portion) add();
  });
  add();
  return visited;
}

}  // namespace detail
}  // namespace lindyn::compare
