// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The pre-norm transformer: loss, gradient, logits and attention of batches of sequences.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/non_finite.hpp>
#include <lindyn/model/prenorm/layout.hpp>
#include <lindyn/model/prenorm/pass.hpp>
#include <lindyn/model/prenorm_shape.hpp>
#include <lindyn/task/evaluation.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::model {

/// A backend, what evaluations may leave out, and memory that they reuse: after the largest batch nothing is allocated.
/// It belongs to one evaluation at a time, and may be handed from one network to another.
template <class Scalar, class Backend>
class prenorm_workspace {
public:
  /// \param on   where kernels run
  /// \param use  what evaluations leave out
  explicit prenorm_workspace(Backend on = Backend(), const savings& use = {}) : pass_(std::move(on)), savings_(use) {}

  /// Where kernels run.
  [[nodiscard]] Backend& on() noexcept { return pass_.on; }
  /// What evaluations leave out.
  [[nodiscard]] const savings& use() const noexcept { return savings_; }
  /// The plan of the last evaluation.
  [[nodiscard]] const evaluation_plan& plan() const noexcept { return pass_.plans.front(); }

private:
  template <class, class, class>
  friend class prenorm_transformer;

  detail::prenorm_pass<Scalar, Backend> pass_;
  savings savings_;
  std::vector<int> block_;  // numbers of sequences
  const task::sequence_set* set_ = nullptr;
  std::vector<int> which_;       // of this set: the batch of the last evaluation of a loss
  std::vector<int> row_counts_;  // of the plan's rows
};

/// The attention of one place in one layer, which equal places of a batch share.
template <class Scalar>
struct attention_row {
  int layer = 0;                    ///< from 0
  const Scalar* weights = nullptr;  ///< of the first head, at the visible places in their order
  index head_stride = 0;            ///< from a head's weights to the next one's
  int visible = 0;                  ///< places that it sees
  bool last = false;                ///< whether it is a sequence's last place
  int count = 0;                    ///< places of the batch that it stands for
};

/// A transformer whose blocks normalise before they compute, with learned places. With row vectors,
/// \f[
///   x_i = E_{t_i} + P_i , \qquad
///   x \leftarrow x + \mathrm{attention}(\mathrm{LN}_1 x)\, W_o^\top + b_o , \qquad
///   x \leftarrow x + f(\mathrm{LN}_2 x\, W_1^\top + b_1)\, W_2^\top + b_2 , \qquad
///   \text{logits} = \mathrm{LN}_f x\, W^\top + b .
/// \f]
/// Attention: heads are consecutive blocks of d/H columns of queries, keys and values, scores q.k / sqrt(d/H), softmax
/// over the visible places. LN(x) = gain (x - mean) / sqrt(variance + 1e-5) + bias. The loss of a batch is the mean
/// cross-entropy in nats over all places where something is asked, computed in double from the logits.
///
/// Weights and gradients are flat buffers laid out by `parameters()`. Equal results however much is left out (see
/// `savings`), up to the order of sums; the same bits for any number of threads.
///
///     const model::prenorm_transformer<> net({.vocabulary = 24, .outputs = 24, .context = 3, .width = 64, .heads = 2,
///                                             .layers = 2, .hidden = 256});
///     const auto weights = model::initial_weights<float>(net.shape(), {.gamma = 0.8, .embedding_scale = 0.1});
///     std::vector<float> gradient(weights.size());
///     decltype(net)::workspace memory(backend::host(2));
///     const auto result = net.loss_and_gradient(weights, training, batch, gradient, memory);
///
/// \tparam Scalar   float or double
/// \tparam Backend  where kernels run
/// \tparam Sizes    run_time_sizes, or fixed_sizes with the shape
template <class Scalar = float, class Backend = backend::host, class Sizes = run_time_sizes>
class prenorm_transformer {
  static_assert(std::is_same_v<Scalar, float> || std::is_same_v<Scalar, double>,
                "lindyn: the scalar of a transformer must be float or double.");
  static_assert(backend::backend<Backend, Scalar>,
                "lindyn: a transformer runs on a backend: write backend::host, or a class with the same kernels.");
  static constexpr bool fixed = !std::is_same_v<Sizes, run_time_sizes>;

public:
  using scalar = Scalar;                                 ///< of weights and gradients
  using workspace = prenorm_workspace<Scalar, Backend>;  ///< memory that evaluations reuse
  /// What one run of several is evaluated on: a set, and numbers of its sequences.
  using run_batch = std::pair<const task::sequence_set*, std::span<const int>>;

  /// Number of parameters if the type fixes the sizes, else `dynamic`; the flat buffers are a little longer, as each
  /// tensor begins at a multiple of 16 entries.
  static constexpr index parameter_count = [] {
    if constexpr (fixed)
      return model::parameter_count(Sizes::shape);
    else
      return index{dynamic};
  }();

  /// Throws argument_error for a shape that makes no sense, or is another one than the type's.
  explicit prenorm_transformer(const prenorm_shape& shape)
      : shape_(shape), table_(prenorm_parameters(shape)), layout_(table_, shape.layers) {
    if constexpr (fixed)
      if (shape != Sizes::shape) throw argument_error("shape", "another one", "that of the network's type");
  }
  /// The network whose shape its type knows.
  prenorm_transformer() requires(fixed) : prenorm_transformer(Sizes::shape) {}

  /// Sizes and options.
  [[nodiscard]] const prenorm_shape& shape() const noexcept { return shape_; }
  /// Where each parameter lies in the flat buffers.
  [[nodiscard]] const parameter_table& parameters() const noexcept { return table_; }

  /// \{
  /// Mean loss and right answers of the batch of the sequences `which` of the set, by their numbers, which may repeat.
  /// Throws shape_error or argument_error for arguments that don't fit, non_finite_error, with the name of the first
  /// tensor that isn't finite, if the loss isn't.
  task::evaluation loss(std::span<const Scalar> weights, const task::sequence_set& set, std::span<const int> which,
                        workspace& memory) const {
    return evaluate(weights, set, which, detail::extent::loss, memory);
  }
  /// The same; all entries of `gradient`, laid out as the weights, become the derivative of the mean loss.
  task::evaluation loss_and_gradient(std::span<const Scalar> weights, const task::sequence_set& set,
                                     std::span<const int> which, std::span<Scalar> gradient, workspace& memory) const {
    require_extent("gradient.size()", gradient.size(), table_.size());
    const task::evaluation result = evaluate(weights, set, which, detail::extent::gradient, memory);
    memory.pass_.backward(gradient.data());
    return result;
  }
  /// \}

  /// \{
  /// Loss and right answers of each run of the backend, all in one pass; with gradients, laid out as the weights, whose every entry is
  /// assigned. A loss that isn't finite is returned.
  /// \param weights      of the first run; those of others are run_stride entries apart
  /// \param batches      of each run: its set and the sequences' numbers; all sequences are of one length
  /// \param evaluations  of each run
  /// \param threads      of the host, which plan batches
  /// Throws as loss_and_gradient.
  void losses(backend::run_vector<const Scalar> weights, std::span<const run_batch> batches, workspace& memory,
              int threads, std::span<task::evaluation> evaluations) const {
    evaluate(weights, batches, detail::extent::loss, memory, threads, evaluations);
  }
  void losses_and_gradients(backend::run_vector<const Scalar> weights, std::span<const run_batch> batches,
                            backend::run_vector<Scalar> gradients, workspace& memory, int threads,
                            std::span<task::evaluation> evaluations) const {
    evaluate(weights, batches, detail::extent::gradient, memory, threads, evaluations);
    memory.pass_.backward(gradients);
  }
  /// \}

  /// The same for all sequences of a set, in blocks of `block`, which bounds the memory. Throws for an empty set too.
  task::evaluation loss(std::span<const Scalar> weights, const task::sequence_set& set, workspace& memory,
                        index block = 1024) const {
    return sum_over_blocks(set, block, memory, [&](auto which) { return loss(weights, set, which, memory); });
  }

  /// The logits of all places of the batch where something is asked, row-major: rows are sequences in the order of
  /// `which`, and within each its places in their order; columns are outputs.
  [[nodiscard]] std::vector<Scalar> logits(std::span<const Scalar> weights, const task::sequence_set& set,
                                           std::span<const int> which, workspace& memory) const {
    auto& pass = forward(weights, set, which, memory.savings_, detail::extent::loss, memory);
    const index outputs = shape_.outputs;
    std::vector<Scalar> result(pass.plans.front().leaf_of_asked().size() * static_cast<std::size_t>(outputs));
    const auto computed = pass.on_host(pass.logits());
    visit_asked(pass.plans.front(), set, which,
                [&](index row, int leaf) { std::copy_n(computed.row(leaf), outputs, result.data() + row * outputs); });
    return result;
  }

  /// \{
  /// The loss and right answers, as `loss` has them, and what is answered: `answers` becomes, in the order of `logits`,
  /// of each place where something is asked the output with the largest logit (the first of equals).
  task::evaluation answer(std::span<const Scalar> weights, const task::sequence_set& set, std::span<const int> which,
                          std::vector<int>& answers, workspace& memory) const {
    answers.clear();
    return append_answers(weights, set, which, answers, memory);
  }
  /// The same for all sequences of a set, in blocks of `block`.
  task::evaluation answer(std::span<const Scalar> weights, const task::sequence_set& set, std::vector<int>& answers,
                          workspace& memory, index block = 1024) const {
    answers.clear();
    return sum_over_blocks(set, block, memory,
                           [&](auto which) { return append_answers(weights, set, which, answers, memory); });
  }
  /// \}

  /// For every layer the count x H x n x n attention (query, key) of the batch's sequences, row-major, zero at keys
  /// that aren't visible.
  [[nodiscard]] std::vector<std::vector<Scalar>> attention(std::span<const Scalar> weights,
                                                           const task::sequence_set& set, std::span<const int> which,
                                                           workspace& memory) const {
    savings use = memory.savings_;
    use.last_place = false;
    auto& pass = forward(weights, set, which, use, detail::extent::patterns, memory);
    const index length = set.sizes().length, heads = shape_.heads;
    std::vector<std::vector<Scalar>> result(static_cast<std::size_t>(shape_.layers));
    for (std::size_t layer = 0; layer < result.size(); ++layer) {
      result[layer].resize(which.size() * static_cast<std::size_t>(heads * length * length));
      const Scalar* const patterns = patterns_on_host(pass, static_cast<int>(layer));
      Scalar* to = result[layer].data();
      for (index i = 0; i < static_cast<index>(which.size()); ++i)
        for (index head = 0; head < heads; ++head)
          for (index place = 0; place < length; ++place, to += length)
            std::copy_n(patterns + (pass.plans.front().row(i, place) * heads + head) * length,
                        shape_.causal ? place + 1 : length, to);
    }
    return result;
  }

  /// Calls tell(attention_row) for every distinct row of the attention of the batch's sequences, layer by layer.
  template <class Tell>
  void visit_attention(std::span<const Scalar> weights, const task::sequence_set& set, std::span<const int> which,
                       workspace& memory, Tell&& tell) const {
    savings use = memory.savings_;
    use.last_place = false;
    forward(weights, set, which, use, detail::extent::patterns, memory);
    visit_rows(memory, tell);
  }

  /// The same of the batch and weights of the last `loss_and_gradient`, as long as weights and set are what they were.
  /// Next to that evaluation, it costs little more than a look; another forward pass where places behind the last one
  /// asked had been left out. Throws argument_error if the memory's last evaluation was another one, or that of a
  /// network of another shape.
  template <class Tell>
  void visit_attention(workspace& memory, Tell&& tell) const {
    require(memory.pass_.made() == detail::extent::gradient && memory.pass_.shape() == shape_, "memory",
            "that of another evaluation", "that of a loss_and_gradient of this network right before");
    if (memory.plan().leaves_out_places()) {
      savings use = memory.savings_;
      use.last_place = false;
      const std::span weights(memory.pass_.weights().data, static_cast<std::size_t>(table_.size()));
      forward(weights, *memory.set_, memory.which_, use, detail::extent::gradient, memory);
    }
    visit_rows(memory, tell);
  }

  /// The first tensor that isn't finite: among the weights, then the activations of the last `loss_and_gradient` in
  /// their order, then `gradient` (which may be empty). Empty if all is finite.
  [[nodiscard]] std::string first_non_finite(std::span<const Scalar> weights, std::span<const Scalar> gradient,
                                             workspace& memory) const {
    auto& pass = memory.pass_;
    const auto look = [&](const char* name, std::span<const Scalar> values) {
      const std::span seen(pass.on_host(values.data(), static_cast<index>(values.size())), values.size());
      return model::first_non_finite(table_, name, seen);
    };
    std::string found = look("weights", weights);
    if (found.empty()) found = pass.first_non_finite();
    if (found.empty() && !gradient.empty()) found = look("gradient", gradient);
    return found;
  }

private:
  /// The sum of evaluate(which) over the blocks of a set.
  template <class Evaluate>
  static task::evaluation sum_over_blocks(const task::sequence_set& set, index block, workspace& memory,
                                          Evaluate evaluate) {
    require(block >= 1, "block", block, "at least 1");
    require(set.count() >= 1, "set.count()", set.count(), "at least 1");
    task::evaluation result;
    memory.block_.resize(static_cast<std::size_t>(std::min(block, set.count())));
    for (index begin = 0; begin < set.count(); begin += block) {
      const auto which = std::span(memory.block_).first(static_cast<std::size_t>(std::min(block, set.count() - begin)));
      std::iota(which.begin(), which.end(), static_cast<int>(begin));
      result += evaluate(std::span<const int>(which));
    }
    return result;
  }

  task::evaluation append_answers(std::span<const Scalar> weights, const task::sequence_set& set,
                                  std::span<const int> which, std::vector<int>& answers, workspace& memory) const {
    const task::evaluation result = loss(weights, set, which, memory);
    auto& pass = memory.pass_;
    const std::size_t before = answers.size();
    answers.resize(before + pass.plans.front().leaf_of_asked().size());
    const auto logits = pass.on_host(pass.logits());
    visit_asked(pass.plans.front(), set, which, [&](index row, int leaf) {
      const Scalar* of = logits.row(leaf);
      answers[before + static_cast<std::size_t>(row)] =
          static_cast<int>(std::max_element(of, of + shape_.outputs) - of);
    });
    return result;
  }

  /// Calls visit(row, leaf) for each place of the batch where something is asked: rows are sequences in the order of
  /// `which`, and within each its places in their order; leaves come by places.
  template <class Visit>
  static void visit_asked(const evaluation_plan& plan, const task::sequence_set& set, std::span<const int> which,
                          Visit visit) {
    const index length = set.sizes().length;
    std::vector<index> next(which.size() + 1);  // free row of each sequence
    for (std::size_t i = 0; i < which.size(); ++i)
      next[i + 1] = next[i] + length - std::ranges::count(set.answers(which[i]), task::no_answer);
    auto leaf = plan.leaf_of_asked().begin();
    for (int place = 0; place < length; ++place)
      for (std::size_t i = 0; i < which.size(); ++i)
        if (set.answer(which[i], place) != task::no_answer) visit(next[i]++, *leaf++);
  }

  [[nodiscard]] const Scalar* patterns_on_host(detail::prenorm_pass<Scalar, Backend>& pass, int layer) const {
    const index rows = static_cast<index>(pass.plans.front().row_places().size());
    return pass.on_host(pass.all_patterns(layout_, layer).data, rows * shape_.heads * pass.plans.front().length());
  }

  template <class Tell>
  void visit_rows(workspace& memory, Tell& tell) const {
    auto& pass = memory.pass_;
    const int length = pass.plans.front().length();
    const std::span<const int> places = pass.plans.front().row_places();
    pass.plans.front().count_rows(memory.row_counts_);
    for (int layer = 0; layer < shape_.layers; ++layer) {
      const Scalar* const patterns = patterns_on_host(pass, layer);
      for (std::size_t row = 0; row < places.size(); ++row)
        tell(attention_row<Scalar>{.layer = layer,
                                   .weights = patterns + static_cast<index>(row) * shape_.heads * length,
                                   .head_stride = length,
                                   .visible = shape_.causal ? places[row] + 1 : length,
                                   .last = places[row] + 1 == length,
                                   .count = memory.row_counts_[row]});
    }
  }

  void require_fits(const task::sequence_set& set) const {
    const task::sequence_sizes& sizes = set.sizes();
    const auto require_at_most = [](const char* argument, int size, const char* member, int most) {
      if (size > most)  // the sentence is made where it is needed
        require(false, argument, size, std::string("at most ") + member + " = " + std::to_string(most));
    };
    require_at_most("set.sizes().vocabulary", sizes.vocabulary, "shape.vocabulary", shape_.vocabulary);
    require_at_most("set.sizes().outputs", sizes.outputs, "shape.outputs", shape_.outputs);
    require_at_most("set.sizes().length", sizes.length, "shape.context", shape_.context);
  }

  auto& forward(std::span<const Scalar> weights, const task::sequence_set& set, std::span<const int> which,
                const savings& use, detail::extent what, workspace& memory) const {
    require_extent("weights.size()", weights.size(), table_.size());
    require_fits(set);
    require(memory.on().runs() == 1, "memory.on().runs()", memory.on().runs(), "1, but in losses_and_gradients");
    memory.pass_.plans.front().build(set, which, shape_.layers, shape_.causal, use);
    memory.pass_.forward(shape_, layout_, weights.data(), what);
    return memory.pass_;
  }

  void evaluate(backend::run_vector<const Scalar> weights, std::span<const run_batch> batches, detail::extent what,
                workspace& memory, int threads, std::span<task::evaluation> evaluations) const {
    auto& pass = memory.pass_;
    const auto runs = static_cast<std::size_t>(memory.on().runs());
    require_extent("batches.size()", batches.size(), runs);
    require_extent("evaluations.size()", evaluations.size(), runs);
    for (const auto& [set, which] : batches) {
      require_fits(*set);
      require_extent("set.sizes().length", set->sizes().length, batches.front().first->sizes().length);
    }
    parallel_chunks(static_cast<index>(runs), 1, threads, [&](index run, index, index, int) {
      const auto& [set, which] = batches[static_cast<std::size_t>(run)];
      pass.plans[static_cast<std::size_t>(run)].build(*set, which, shape_.layers, shape_.causal, memory.savings_);
    });
    pass.forward(shape_, layout_, weights, what, threads);
    std::vector<backend::answer_score> scores(runs);
    pass.scores(scores);
    for (std::size_t run = 0; run < runs; ++run)
      evaluations[run] = {.loss = scores[run].loss / static_cast<double>(scores[run].total),
                          .correct = scores[run].correct,
                          .total = scores[run].total};
  }

  task::evaluation evaluate(std::span<const Scalar> weights, const task::sequence_set& set, std::span<const int> which,
                            detail::extent what, workspace& memory) const {
    auto& pass = forward(weights, set, which, memory.savings_, what, memory);
    memory.set_ = &set;
    memory.which_.assign(which.begin(), which.end());
    const backend::answer_score score = pass.score();
    const double loss = score.loss / static_cast<double>(score.total);
    if (!std::isfinite(loss)) {
      pass.forward(shape_, layout_, weights.data(), detail::extent::gradient);  // leaves all activations to look at
      const std::string first = first_non_finite(weights, {}, memory);
      throw non_finite_error("loss", lindyn::detail::to_text(loss),
                             "finite; not finite is first: " + (first.empty() ? "the loss itself" : first));
    }
    return {.loss = loss, .correct = score.correct, .total = score.total};
  }

  prenorm_shape shape_;
  parameter_table table_;
  detail::prenorm_layout layout_;
};

}  // namespace lindyn::model
