// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention-only network: batched loss and gradient, at run-time or compile-time numbers of layers and heads.

#include <span>
#include <vector>

#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only_plain.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model {

/// Memory that evaluations reuse, and the number of threads they may use (results don't depend on it).
template <class Scalar>
class attention_workspace {
public:
  explicit attention_workspace(int threads = 1) : threads_(threads) {
    require(threads >= 1, "threads", threads, "at least 1");
  }
  [[nodiscard]] int threads() const noexcept { return threads_; }

private:
  int threads_;
};

template <class Layers = lindyn::layers<dynamic>, class Heads = lindyn::heads<dynamic>, class Scalar = double>
class attention_only {
public:
  using scalar = Scalar;
  using workspace = attention_workspace<Scalar>;
  static constexpr int layers = Layers::value;
  static constexpr int heads = Heads::value;

  explicit attention_only(const attention_shape& shape)
      : shape_(resolve<Layers, Heads>(shape)), table_(attention_parameters(shape_)), plain_(shape_) {}

  [[nodiscard]] const attention_shape& shape() const noexcept { return shape_; }
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }

  [[nodiscard]] double loss(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                            workspace&) const {
    return plain_.loss(std::vector<double>(weights.begin(), weights.end()), batch, kind);
  }
  double loss_and_gradient(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                           std::span<Scalar> gradient, workspace&) const {
    std::vector<double> exact(gradient.size());
    const double result =
        plain_.loss_and_gradient(std::vector<double>(weights.begin(), weights.end()), batch, kind, exact);
    for (std::size_t place = 0; place < exact.size(); ++place) gradient[place] = static_cast<Scalar>(exact[place]);
    return result;
  }
  [[nodiscard]] std::vector<Scalar> logits(std::span<const Scalar> weights, const task::batch_view& batch,
                                           workspace&) const {
    const auto exact = plain_.logits(std::vector<double>(weights.begin(), weights.end()), batch);
    return {exact.begin(), exact.end()};
  }
  [[nodiscard]] std::vector<std::vector<Scalar>> attention(std::span<const Scalar> weights,
                                                           const task::batch_view& batch, workspace&) const {
    std::vector<std::vector<Scalar>> result;
    for (const auto& layer : plain_.attention(std::vector<double>(weights.begin(), weights.end()), batch))
      result.emplace_back(layer.begin(), layer.end());
    return result;
  }

  [[nodiscard]] double loss(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind) const {
    workspace own;
    return loss(weights, batch, kind, own);
  }
  double loss_and_gradient(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                           std::span<Scalar> gradient) const {
    workspace own;
    return loss_and_gradient(weights, batch, kind, gradient, own);
  }
  [[nodiscard]] std::vector<Scalar> logits(std::span<const Scalar> weights, const task::batch_view& batch) const {
    workspace own;
    return logits(weights, batch, own);
  }
  [[nodiscard]] std::vector<std::vector<Scalar>> attention(std::span<const Scalar> weights,
                                                           const task::batch_view& batch) const {
    workspace own;
    return attention(weights, batch, own);
  }

private:
  attention_shape shape_;
  parameter_table table_;
  attention_only_plain plain_;
};

}  // namespace lindyn::model
