// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The population loss of a law that has too many relational types, from a sample of them, with its standard error.

#include <span>
#include <utility>
#include <vector>

#include <lindyn/manifold/basis.hpp>
#include <lindyn/population/type_sample.hpp>
#include <lindyn/reduced/compile_relations.hpp>
#include <lindyn/reduced/relational_model.hpp>
#include <lindyn/reduced/relational_plan.hpp>

namespace lindyn::reduced {

/// Estimates the loss at any point of the manifold from a sample of a law's types. For the gradient and the flow take
/// `relational_model(basis, sample.sequences)`, whose loss is this estimate's mean.
///
///     reduced::sampled_loss estimate(basis, population::sample_types(law, 1000, seed));
///     const auto [mean, standard_error] = estimate(coordinates);
class sampled_loss {
public:
  /// \param basis   the manifold
  /// \param sample  types of the law, by population::sample_types
  /// \param loss    cross-entropy or squared error
  sampled_loss(const manifold::basis& basis, population::type_sample sample,
               task::loss loss = task::loss::cross_entropy)
      : sample_(std::move(sample)), model_(basis, compile(basis), loss) {
    for (const auto& context : model_.plan().contexts) {
      double weight = 0;
      for (const auto& block : context.queries) weight += block.weight.sum();
      weights_.push_back(weight);
    }
  }

  /// The mean over the sample, and its standard error.
  [[nodiscard]] population::estimate operator()(std::span<const double> coordinates) {
    const std::vector<double> losses = model_.context_losses(coordinates);
    const auto contexts = static_cast<std::size_t>(sample_.contexts());
    std::vector<double> means(contexts), weights(contexts);
    for (std::size_t place = 0; place < losses.size(); ++place) {
      means[context_of_[place]] += weights_[place] * losses[place];
      weights[context_of_[place]] += weights_[place];
    }
    for (std::size_t context = 0; context < contexts; ++context) means[context] /= weights[context];
    return population::estimate_mean(sample_, means);
  }

private:
  /// Keeps the sample's contexts apart, though they may be alike. One of them has several trunks if the query has
  /// several tokens.
  relation_plan compile(const manifold::basis& basis) {
    detail::plan_builder builder(basis);
    for (index context = 0; context < sample_.contexts(); ++context) {
      const task::batch_view sequences = sample_.context(context);
      for (index place = 0; place < sequences.count(); ++place) builder.add(sequences[place]);
      context_of_.resize(builder.separate(), static_cast<std::size_t>(context));
    }
    return std::move(builder).finish();
  }

  population::type_sample sample_;
  std::vector<std::size_t> context_of_;  // of each trunk of the plan
  relational_model model_;
  std::vector<double> weights_;  // of each trunk
};

}  // namespace lindyn::reduced
