// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention-only network: batched loss and gradient, with numbers of layers and heads fixed by the type or at run
/// time.

#include <algorithm>
#include <span>
#include <type_traits>
#include <vector>

#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/attention_pass.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model::inline LINDYN_VECTORS {

/// Memory that evaluations reuse, and the number of threads they may use; results don't depend on either.
/// It belongs to one evaluation at a time, and may be handed from one network to another.
template <class Scalar>
class attention_workspace {
public:
  /// Memory for `threads` threads. Throws argument_error for fewer than one.
  explicit attention_workspace(int threads = 1) : passes_(static_cast<std::size_t>(checked(threads))) {}
  /// Number of threads that an evaluation may use.
  [[nodiscard]] int threads() const noexcept { return static_cast<int>(passes_.size()); }

private:
  template <class, class, class>
  friend class attention_only;

  [[nodiscard]] static int checked(int threads) {
    require(threads >= 1, "threads", threads, "at least 1");
    return threads;
  }

  std::vector<detail::attention_pass<Scalar>> passes_;  // one a thread
  std::vector<double> losses_;                          // one a chunk
  std::vector<Scalar> partial_gradients_;
};

/// A transformer of attention layers alone, on the exactly orthogonal stream. From one-hot \f$x\f$ = [token | position]
/// of every place, layers \f$l = 1, \dots, L\f$ with heads \f$h = 1, \dots, H\f$ compute
/// \f[
///   (A_h)_{ij} = \mathop{\mathrm{softmax}}_{j \le i}\; x_i^\top W_{lh}\, x_j , \qquad
///   x \leftarrow [\, x \mid A_1 x \mid \cdots \mid A_H x \,] , \qquad
///   \text{logits} = W_\mathrm{out}\, x_\mathrm{last} ,
/// \f]
/// where row i is the query. The loss of a batch is sum_b weight_b loss_b.
///
/// Weights and gradients are flat buffers laid out by `parameters()`. Layer 1 costs a gather of four weights a score,
/// and so does each pair of stream copies in the layers above (see attention_pass.hpp for the formulas, forward and
/// backward); `attention_only_plain` is the same network written down naively, and the oracle of the tests.
/// Results are the same bits for any number of threads.
///
///     const model::attention_only<layers<2>, heads<1>> net({.vocabulary = 16, .positions = 12});
///     std::vector<double> weights(net.parameters().size()), gradient(weights.size());
///     const double loss = net.loss_and_gradient(weights, batch, task::loss::cross_entropy, gradient);
///
/// \tparam Layers,Heads sizes as types; `dynamic` ones are given by the shape
/// \tparam Scalar       float or double
template <class Layers = lindyn::layers<dynamic>, class Heads = lindyn::heads<dynamic>, class Scalar = double>
class attention_only {
  static_assert(is_layers<Layers> && is_heads<Heads>,
                "lindyn: write attention_only<layers<L>, heads<H>>: the layers first, then the heads.");
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "lindyn: the scalar of an attention-only network must be float or double.");

public:
  using scalar = Scalar;                          ///< of weights and gradients
  using workspace = attention_workspace<Scalar>;  ///< memory that evaluations reuse
  static constexpr int layers = Layers::value;    ///< L, or `dynamic`
  static constexpr int heads = Heads::value;      ///< H, or `dynamic`

  /// Throws argument_error for sizes below 1, or sizes other than those of the type.
  explicit attention_only(const attention_shape& shape)
      : shape_(resolve<Layers, Heads>(shape)), table_(attention_parameters(shape_)) {}

  /// All sizes.
  [[nodiscard]] const attention_shape& shape() const noexcept { return shape_; }
  /// Where each matrix lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }

  /// sum_b weight_b loss_b. Throws shape_error, argument_error or non_finite_error for arguments that don't fit.
  [[nodiscard]] double loss(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                            workspace& memory) const {
    return evaluate(weights, batch, kind, {}, memory);
  }

  /// The loss; `gradient`, laid out as the weights, becomes its derivative.
  double loss_and_gradient(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                           std::span<Scalar> gradient, workspace& memory) const {
    require_extent("gradient.size()", gradient.size(), table_.size());
    return evaluate(weights, batch, kind, gradient, memory);
  }

  /// count x V logits, row-major.
  [[nodiscard]] std::vector<Scalar> logits(std::span<const Scalar> weights, const task::batch_view& batch,
                                           workspace& memory) const {
    require_arguments(weights, batch);
    std::vector<Scalar> result(static_cast<std::size_t>(batch.count() * shape_.vocabulary));
    for_blocks(batch, memory, shape_.layers - 1, [&](auto& pass, index begin, index end) {
      pass.forward(weights.data(), batch, begin, end);
      const auto logits_by_token = pass.logits();
      for (index place = begin; place < end; ++place)
        for (index token = 0; token < shape_.vocabulary; ++token)
          result[static_cast<std::size_t>(place * shape_.vocabulary + token)] =
              logits_by_token.row(token)[place - begin];
    });
    return result;
  }

  /// For every layer the count x H x n x n attention (query, key), row-major, zero at keys that aren't visible.
  [[nodiscard]] std::vector<std::vector<Scalar>> attention(std::span<const Scalar> weights,
                                                           const task::batch_view& batch, workspace& memory) const {
    require_arguments(weights, batch);
    const index size = shape_.heads * batch.length() * batch.length();
    std::vector<std::vector<Scalar>> result(static_cast<std::size_t>(shape_.layers));
    for (auto& layer : result) layer.resize(static_cast<std::size_t>(batch.count() * size));
    for_blocks(batch, memory, shape_.layers, [&](auto& pass, index begin, index end) {
      pass.attend_all(weights.data(), batch, begin, end);
      for (int layer = 0; layer < shape_.layers; ++layer)
        for (index place = begin; place < end; ++place)
          pass.copy_patterns(place - begin, layer, result[static_cast<std::size_t>(layer)].data() + place * size);
    });
    return result;
  }

  /// \{
  /// The same with memory of its own, on one thread.
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
  /// \}

private:
  void require_arguments(std::span<const Scalar> weights, const task::batch_view& batch) const {
    require_weights(table_, weights);
    require_batch(shape_, batch);
  }

  /// Calls work(pass, begin, end) for blocks of the batch that are small enough for one pass.
  template <class Work>
  void for_blocks(const task::batch_view& batch, workspace& memory, int full_layers, const Work& work) const {
    for (auto& pass : memory.passes_) pass.prepare(shape_, table_, batch.length(), full_layers);
    parallel_chunks(batch.count(), memory.passes_.front().block_rows(), memory.threads(),
                    [&](index, index begin, index end, int worker) {
                      work(memory.passes_[static_cast<std::size_t>(worker)], begin, end);
                    });
  }

  /// Chunks of whole blocks have a loss and a gradient each, which are added up in their order. On one thread the
  /// chunks' gradients share one buffer, added as soon as it is complete: the same sums in the same order.
  double evaluate(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                  std::span<Scalar> gradient, workspace& memory) const {
    require_arguments(weights, batch);
    for (auto& pass : memory.passes_) pass.prepare(shape_, table_, batch.length(), shape_.layers - 1);
    const index block = memory.passes_.front().block_rows();
    const index chunk_limit = std::clamp<index>((index{1} << 26) / table_.size(), 1, 32);
    const index smallest = std::max<index>(128, (batch.count() + chunk_limit - 1) / chunk_limit);
    const index chunk_size = (smallest + block - 1) / block * block;
    const auto chunks = static_cast<std::size_t>((batch.count() + chunk_size - 1) / chunk_size);
    memory.losses_.assign(chunks, 0.0);
    const bool differentiate = !gradient.empty(), immediate = memory.threads() == 1;
    if (differentiate && chunks > 1) memory.partial_gradients_.resize((immediate ? 1 : chunks - 1) * gradient.size());
    const auto partial = [&](std::size_t chunk) {  // the first chunk's is `gradient` itself
      return chunk == 0 ? gradient
                        : std::span(memory.partial_gradients_)
                              .subspan(immediate ? 0 : (chunk - 1) * gradient.size(), gradient.size());
    };
    const auto add = [&](std::span<const Scalar> part) {
      detail::add_entries(gradient.data(), part.data(), static_cast<index>(part.size()));
    };
    parallel_chunks(batch.count(), chunk_size, memory.threads(), [&](index which, index begin, index end, int worker) {
      const auto chunk = static_cast<std::size_t>(which);
      auto& pass = memory.passes_[static_cast<std::size_t>(worker)];
      if (differentiate) std::ranges::fill(partial(chunk), Scalar(0));
      for (index first = begin; first < end; first += block) {
        pass.forward(weights.data(), batch, first, std::min(end, first + block));
        memory.losses_[chunk] += pass.score(kind);
        if (differentiate) pass.backward(partial(chunk).data());
      }
      if (differentiate && immediate && chunk > 0) add(partial(chunk));
    });
    if (differentiate && !immediate)
      for (std::size_t chunk = 1; chunk < chunks; ++chunk) add(partial(chunk));
    double total = 0;
    for (const double loss : memory.losses_) total += loss;
    return finite_loss(total);
  }

  attention_shape shape_;
  parameter_table table_;
};

}  // namespace lindyn::model::inline LINDYN_VECTORS
