// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The attention-only network on the kernels of a backend: for devices, and for several runs at once.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/dense_pass.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>
#include <lindyn/task/loss.hpp>

namespace lindyn::model {

/// A backend, and memory of it that evaluations reuse: after the largest batch nothing is allocated. It belongs to one
/// evaluation at a time, and may be handed from one network to another.
template <class Scalar, class Backend>
class dense_attention_workspace {
public:
  /// \param on         where kernels run
  /// \param sequences  most of a batch to be evaluated together (0: by the memory that they take, some GiB at most)
  /// Throws argument_error for a negative number.
  explicit dense_attention_workspace(Backend on = Backend(), index sequences = 0)
      : pass_(std::move(on)), sequences_(sequences) {
    require(sequences >= 0, "sequences", sequences, "not negative (0: as many as memory allows)");
  }

  /// Where kernels run.
  [[nodiscard]] Backend& on() noexcept { return pass_.on; }

private:
  template <class, class, class, class>
  friend class dense_attention_only;

  detail::dense_attention_pass<Scalar, Backend> pass_;
  index sequences_;
  std::vector<double> losses_;  // of a block
};

/// The network that `attention_only` is, with the same parameters, on dense streams and the kernels of a backend. On the
/// host `attention_only` is the faster one. Here weights and gradients lie in the backend's memory; a backend of several
/// runs evaluates as many networks of one shape at once, each with weights and a batch of its own: their buffers stand
/// one behind the other.
///
///     using network = model::dense_attention_only<layers<2>, heads<1>, float, backend::thrust_device>;
///     const network net({.vocabulary = 64, .positions = 40});
///     network::workspace memory;
///     const double loss = net.loss_and_gradient(weights, batch, task::loss::cross_entropy, gradient, memory);
///
/// \tparam Layers,Heads sizes as types; `dynamic` ones are given by the shape
/// \tparam Scalar       float or double
/// \tparam Backend      where kernels run
template <class Layers, class Heads, class Scalar, class Backend>
class dense_attention_only {
  static_assert(is_layers<Layers> && is_heads<Heads>,
                "lindyn: write dense_attention_only<layers<L>, heads<H>, Scalar, Backend>: the layers first.");
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "lindyn: the scalar of an attention-only network must be float or double.");
  static_assert(backend::backend<Backend, Scalar>,
                "lindyn: a dense network runs on a backend: write backend::host, or a class with the same kernels.");

public:
  using scalar = Scalar;                                         ///< of weights and gradients
  using workspace = dense_attention_workspace<Scalar, Backend>;  ///< memory that evaluations reuse
  static constexpr int layers = Layers::value;                   ///< L, or `dynamic`
  static constexpr int heads = Heads::value;                     ///< H, or `dynamic`

  /// Throws argument_error for sizes below 1, or sizes other than those of the type.
  explicit dense_attention_only(const attention_shape& shape)
      : shape_(resolve<Layers, Heads>(shape)), table_(attention_parameters(shape_)) {}

  /// All sizes.
  [[nodiscard]] const attention_shape& shape() const noexcept { return shape_; }
  /// Where each matrix lies in the flat buffer of a run.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }

  /// \{
  /// sum_b weight_b loss_b, on a backend of one run. Throws shape_error, argument_error or non_finite_error for
  /// arguments that don't fit, and non_finite_error if the loss isn't finite.
  [[nodiscard]] double loss(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                            workspace& memory) const {
    double result = 0;
    evaluate(weights, {&batch, 1}, kind, {}, {&result, 1}, memory);
    return finite(result, weights, memory);
  }
  /// The same; `gradient`, laid out as the weights, becomes its derivative.
  double loss_and_gradient(std::span<const Scalar> weights, const task::batch_view& batch, task::loss kind,
                           std::span<Scalar> gradient, workspace& memory) const {
    double result = 0;
    loss_and_gradient(weights, {&batch, 1}, kind, gradient, {&result, 1}, memory);
    return finite(result, weights, memory);
  }
  /// The same of every run, for a batch each, of equal extents. A loss that isn't finite is no error here.
  void loss_and_gradient(std::span<const Scalar> weights, std::span<const task::batch_view> batches, task::loss kind,
                         std::span<Scalar> gradient, std::span<double> losses, workspace& memory) const {
    require_extent("gradient.size()", gradient.size(), table_.size() * memory.on().runs());
    evaluate(weights, batches, kind, gradient, losses, memory);
  }
  /// \}

  /// count x V logits, row-major, of a backend of one run.
  [[nodiscard]] std::vector<Scalar> logits(std::span<const Scalar> weights, const task::batch_view& batch,
                                           workspace& memory) const {
    std::vector<Scalar> result(static_cast<std::size_t>(batch.count() * shape_.vocabulary)), block;
    for_blocks(weights, {&batch, 1}, false, memory, [&](auto& pass, index begin, index end) {
      fetch(pass.on, pass.logits(), block);
      std::copy_n(block.data(), (end - begin) * shape_.vocabulary, result.data() + begin * shape_.vocabulary);
    });
    return result;
  }

  /// For every layer the count x H x n x n attention (query, key), row-major, zero at keys that aren't visible, of a
  /// backend of one run.
  [[nodiscard]] std::vector<std::vector<Scalar>> attention(std::span<const Scalar> weights,
                                                           const task::batch_view& batch, workspace& memory) const {
    const index length = batch.length(), heads_here = shape_.heads;
    std::vector<std::vector<Scalar>> result(static_cast<std::size_t>(shape_.layers));
    for (auto& layer : result) layer.resize(static_cast<std::size_t>(batch.count() * heads_here * length * length));
    std::vector<Scalar> block;
    for_blocks(weights, {&batch, 1}, true, memory, [&](auto& pass, index begin, index end) {
      for (int layer = 0; layer < shape_.layers; ++layer)
        for (int head = 0; head < shape_.heads; ++head) {
          fetch(pass.on, pass.patterns(layer, head), block);
          for (index b = begin; b < end; ++b)
            for (index place = 0; place < length; ++place)
              std::copy_n(
                  block.data() + (place * pass.count() + b - begin) * length, place + 1,
                  result[static_cast<std::size_t>(layer)].data() + ((b * heads_here + head) * length + place) * length);
        }
    });
    return result;
  }

private:
  void evaluate(std::span<const Scalar> weights, std::span<const task::batch_view> batches, task::loss kind,
                std::span<Scalar> gradient, std::span<double> losses, workspace& memory) const {
    require_extent("losses.size()", losses.size(), memory.on().runs());
    std::ranges::fill(losses, 0.0);
    std::vector<double>& part = memory.losses_;
    part.resize(losses.size());
    for_blocks(weights, batches, false, memory, [&](auto& pass, index begin, index) {
      pass.score(kind, !gradient.empty());
      if (!gradient.empty())
        pass.backward(gradient.data(), begin == 0 ? backend::update::assign : backend::update::add);
      pass.losses(part);
      for (std::size_t run = 0; run < part.size(); ++run) losses[run] += part[run];
    });
  }

  /// Calls work(pass, begin, end) behind the forward pass of each block of the batches: all blocks have the same extents.
  template <class Work>
  void for_blocks(std::span<const Scalar> weights, std::span<const task::batch_view> batches, bool every_place,
                  workspace& memory, const Work& work) const {
    auto& pass = memory.pass_;
    const index runs = pass.on.runs();
    require_extent("weights.size()", weights.size(), table_.size() * runs);
    require_extent("batches.size()", batches.size(), runs);
    const index count = batches.front().count(), length = batches.front().length();
    for (const task::batch_view& batch : batches) {
      require_batch(shape_, batch);
      require_extent("batch.count()", batch.count(), count);
      require_extent("batch.length()", batch.length(), length);
    }
    const index most = memory.sequences_ > 0 ? memory.sequences_ : pass.most_sequences(shape_, length, runs);
    const index blocks = (count + most - 1) / most, size = (count + blocks - 1) / blocks;
    pass.fit(shape_, table_, size, length, every_place);
    for (index begin = 0; begin < count; begin += size) {
      pass.forward(weights.data(), batches, begin);
      work(pass, begin, std::min(count, begin + size));
    }
  }

  static void fetch(Backend& on, const backend::strided_matrix<Scalar>& from, std::vector<Scalar>& to) {
    to.resize(static_cast<std::size_t>(from.rows * from.stride));
    on.to_host(static_cast<const Scalar*>(from.data), std::span<Scalar>(to));
  }

  /// A finite loss; else throws, naming the first weight that isn't finite, if there is one.
  double finite(double loss, std::span<const Scalar> weights, workspace& memory) const {
    if (std::isfinite(loss)) return loss;
    std::vector<Scalar> copy(weights.size());
    memory.on().to_host(weights.data(), std::span<Scalar>(copy));
    require_weights(table_, std::span<const Scalar>(copy));
    return finite_loss(loss);
  }

  attention_shape shape_;
  parameter_table table_;
};

}  // namespace lindyn::model
