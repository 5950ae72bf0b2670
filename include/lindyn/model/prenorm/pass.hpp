// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The forward and backward pass of a pre-norm transformer over the rows of a plan, in terms of a backend's kernels.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/evaluation_plan.hpp>
#include <lindyn/model/non_finite.hpp>
#include <lindyn/model/placed_plan.hpp>
#include <lindyn/model/prenorm/layout.hpp>
#include <lindyn/model/prenorm/row_arena.hpp>
#include <lindyn/model/prenorm_shape.hpp>

namespace lindyn::model::detail {

/// How far a forward pass goes, and what it leaves for others.
enum class extent {
  patterns,  ///< attention patterns of all layers
  loss,      ///< logits; layers use the same memory
  gradient,  ///< logits, and all that `backward` needs
};

/// What a layer leaves for the backward pass. Moments are what the backend's layer_norm saves.
template <class Scalar>
struct prenorm_layer {
  using matrix = backend::strided_matrix<Scalar>;
  placed_rows rows;
  matrix input, normalised, query_input, queries, keys, values, attended;  // rows of `input`, from `query_input` on
                                                                           // those of queries, ..
  matrix middle, normalised_middle, hidden, derivative, output;            // output rows
  backend::run_vector<Scalar> input_moments, middle_moments, patterns;
};

/// One evaluation at a time. Everything that it needs lies in one array, sized for the largest evaluation so far.
template <class Scalar, class Backend>
class prenorm_pass {
public:
  using matrix = backend::strided_matrix<Scalar>;
  using input = backend::strided_matrix<const Scalar>;

  explicit prenorm_pass(Backend where)
      : on(std::move(where)),
        plans(static_cast<std::size_t>(on.runs())),
        scores_(static_cast<std::size_t>(on.runs())),
        arena_(on.runs()),
        completion_(on.runs()) {}

  Backend on;
  std::vector<evaluation_plan> plans;  ///< of the batch of each run

  /// Evaluates the network on the batches of `plans`, whose tables `threads` threads of the host fill. The weights stay where they are until `backward`.
  void forward(const prenorm_shape& shape, const prenorm_layout& layout, backend::run_vector<const Scalar> weights,
               extent what, int threads = 1) {
    shape_ = shape;
    layout_ = &layout;
    weights_ = weights;
    made_ = what;
    rows_.place(on, std::span<const evaluation_plan>(plans), shape.vocabulary, shape.context, threads);
    lay_out(what, &placed_plan<Backend>::most_extents, rows_.most_leaves());
    arena_.grow();
    lay_out(what, &placed_plan<Backend>::extents, rows_.leaves());
    on.gather_rows(weight(layout.token_embedding, shape.vocabulary), rows_.tokens().rows, layers_[0].input, assign);
    on.gather_rows(weight(layout.place_embedding, shape.context), rows_.places().rows, layers_[0].input, add);
    for (int layer = 0; layer < shape.layers; ++layer) {
      attend(layer);
      if (what == extent::patterns && layer + 1 == shape.layers) return;
      transform(layer);
    }
    const matrix& output = layers_.back().output;
    if (!rows_.leaf_rows().empty()) on.gather_rows(input(output), rows_.leaf_rows().rows, leaf_input_, assign);
    normalise(layout.ln_f, leaf_input_, leaf_normalised_, leaf_moments_);
    apply(layout.head, leaf_normalised_, logits_, assign);
  }

  /// What the last forward pass left.
  [[nodiscard]] extent made() const noexcept { return made_; }
  /// Of what network it was.
  [[nodiscard]] const prenorm_shape& shape() const noexcept { return shape_; }
  /// With what weights.
  [[nodiscard]] backend::run_vector<const Scalar> weights() const noexcept { return weights_; }

  /// The patterns of all rows in a layer. Where the last one computes fewer, it takes their queries and patterns, and
  /// the forward pass must have been made for gradients. The network that made it may be gone: `layout` is an equal one.
  [[nodiscard]] backend::run_vector<const Scalar> all_patterns(const prenorm_layout& layout, int number) {
    const prenorm_layer<Scalar>& layer = layers_[static_cast<std::size_t>(number)];
    if (number + 1 < shape_.layers || rows_.last_rows_are_all()) return layer.patterns;
    const placed_rows rows = rows_.all_last_rows();
    matrix queries, attended;
    backend::run_vector<Scalar> patterns;
    const auto take = [&](index inputs, index outputs) {
      completion_.rewind();
      queries = completion_.matrix(inputs, shape_.width);
      attended = completion_.matrix(outputs, shape_.width);
      patterns = completion_.flat(outputs * shape_.heads * length());
    };
    take(rows_.most_rows(), rows_.most_rows());
    completion_.grow();
    take(rows.inputs, rows.outputs);
    apply(layout.blocks[static_cast<std::size_t>(number)].q, layer.normalised, queries, assign);
    on.attend(shape_.heads, input(queries), rows.source.rows, input(layer.keys), input(layer.values), rows.visible,
              patterns, attended);
    return patterns;
  }

  /// The sum of losses, and right answers; ready for `backward` if the forward pass was made for gradients.
  [[nodiscard]] backend::answer_score score() {
    backend::answer_score result;
    scores(std::span(&result, 1));
    return result;
  }
  /// The same of each run.
  void scores(std::span<backend::answer_score> result) {
    on.cross_entropy(input(logits_), rows_.answers(), rows_.counts(), 1.0, logit_gradient_, scores_.data());
    on.to_host(scores_.data(), result);
  }

  /// Assigns the derivative of the mean loss to all entries of `gradient`.
  void backward(backend::run_vector<Scalar> gradient) {
    gradient_ = gradient;
    for (const auto& [begin, end] : layout_->gaps) clear(gradient_at(begin), end - begin);
    if (!layout_->tied()) clear(gradient_at(layout_->token_embedding), index{shape_.vocabulary} * shape_.width);
    clear(gradient_at(layout_->place_embedding), index{shape_.context} * shape_.width);

    const matrix normalised = scratch_[0].first_rows(rows_.leaves());
    apply_backward(layout_->head, logit_gradient_, leaf_normalised_, normalised, assign);
    matrix stream = stream_[0].first_rows(rows_.leaves());
    normalise_backward(layout_->ln_f, leaf_input_, leaf_moments_, normalised, stream, assign);
    if (!rows_.leaf_rows().empty()) {
      const matrix output = stream_[1].first_rows(layers_.back().rows.outputs);
      clear({output.data, output.run_stride}, output.rows * output.stride);
      on.scatter_rows(input(stream), rows_.leaf_rows(), output);
      stream = output;
    }
    for (int layer = shape_.layers; layer-- > 0;) {
      transform_backward(layer, stream);
      stream = attend_backward(layer, stream);
    }
    on.scatter_rows(input(stream), rows_.tokens(), gradient_of(layout_->token_embedding, shape_.vocabulary));
    on.scatter_rows(input(stream), rows_.places(), gradient_of(layout_->place_embedding, shape_.context));
  }

  /// The first activation of a forward pass for gradients that isn't finite, by name; empty if all are finite.
  [[nodiscard]] std::string first_non_finite() {
    for (std::size_t number = 0; number < layers_.size(); ++number) {
      const prenorm_layer<Scalar>& layer = layers_[number];
      const std::pair<const char*, const matrix*> known[] = {
          {"input", &layer.input},   {"ln1", &layer.normalised},        {"attn.q", &layer.queries},
          {"attn.k", &layer.keys},   {"attn.v", &layer.values},         {"attention", &layer.attended},
          {"attn.o", &layer.middle}, {"ln2", &layer.normalised_middle}, {"mlp", &layer.hidden},
          {"output", &layer.output}};
      for (const auto& [name, values] : known)
        if (!all_finite(on_host(*values))) return "activations blocks." + std::to_string(number) + "." + name;
    }
    if (!all_finite(on_host(leaf_normalised_))) return "activations ln_f";
    return all_finite(on_host(logits_)) ? "" : "activations logits";
  }

  /// Rows of logits, one a leaf.
  [[nodiscard]] const matrix& logits() const noexcept { return logits_; }
  /// \{
  /// Numbers of the first run where the host can read them; a copy, until the next call, if that isn't where they are.
  [[nodiscard]] const Scalar* on_host(const Scalar* numbers, index size) {
    if constexpr (Backend::host_memory) {
      return numbers;
    } else {
      copy_.resize(static_cast<std::size_t>(size));
      on.to_host(numbers, std::span(copy_));
      return copy_.data();
    }
  }
  [[nodiscard]] input on_host(const matrix& entries) {
    return {on_host(entries.data, entries.rows * entries.stride), entries.rows, entries.columns, entries.stride};
  }
  /// \}
  /// What each layer left.
  [[nodiscard]] const std::vector<prenorm_layer<Scalar>>& layers() const noexcept { return layers_; }

private:
  static constexpr auto assign = backend::update::assign;
  static constexpr auto add = backend::update::add;

  // ---- Forward --------------------------------------------------------------------------------------------------

  /// middle = input + O attention(LN1 input)
  void attend(int number) {
    const block_parts& parts = layout_->blocks[static_cast<std::size_t>(number)];
    const prenorm_layer<Scalar>& layer = layers_[static_cast<std::size_t>(number)];
    const backend::row_table& source = layer.rows.source;
    normalise(parts.ln1, layer.input, layer.normalised, layer.input_moments);
    apply(parts.k, layer.normalised, layer.keys, assign);
    apply(parts.v, layer.normalised, layer.values, assign);
    if (layer.rows.gathers_queries()) on.gather_rows(input(layer.normalised), source.rows, layer.query_input, assign);
    apply(parts.q, layer.query_input, layer.queries, assign);
    on.attend(shape_.heads, input(layer.queries), query_rows(layer).rows, input(layer.keys), input(layer.values),
              layer.rows.visible, layer.patterns, layer.attended);
    if (source.empty())
      copy(layer.input, layer.middle);
    else
      on.gather_rows(input(layer.input), source.rows, layer.middle, assign);
    apply(parts.o, layer.attended, layer.middle, add);
  }

  /// output = middle + fc2 f(fc1 LN2 middle)
  void transform(int number) {
    const block_parts& parts = layout_->blocks[static_cast<std::size_t>(number)];
    const prenorm_layer<Scalar>& layer = layers_[static_cast<std::size_t>(number)];
    normalise(parts.ln2, layer.middle, layer.normalised_middle, layer.middle_moments);
    apply(parts.fc1, layer.normalised_middle, layer.hidden, assign);
    on.activate(shape_.activation, layer.hidden, layer.derivative);
    if (layer.output.data != layer.middle.data) copy(layer.middle, layer.output);
    apply(parts.fc2, layer.hidden, layer.output, add);
  }

  // ---- Backward: `stream` is the derivative by the layer's output, then by `middle`, then by its input ------------

  void transform_backward(int number, const matrix& stream) {
    const block_parts& parts = layout_->blocks[static_cast<std::size_t>(number)];
    const prenorm_layer<Scalar>& layer = layers_[static_cast<std::size_t>(number)];
    const matrix hidden = hidden_.first_rows(stream.rows), normalised = scratch_[0].first_rows(stream.rows);
    apply_backward(parts.fc2, stream, layer.hidden, hidden, assign);
    on.multiply(hidden, input(layer.derivative));
    apply_backward(parts.fc1, hidden, layer.normalised_middle, normalised, assign);
    normalise_backward(parts.ln2, layer.middle, layer.middle_moments, normalised, stream, add);
  }

  matrix attend_backward(int number, const matrix& stream) {
    const block_parts& parts = layout_->blocks[static_cast<std::size_t>(number)];
    const prenorm_layer<Scalar>& layer = layers_[static_cast<std::size_t>(number)];
    const backend::row_table& source = layer.rows.source;
    const matrix attended = scratch_[0].first_rows(layer.rows.outputs);
    apply_backward(parts.o, stream, layer.attended, attended, assign);
    const matrix queries = scratch_[1].first_rows(layer.queries.rows), keys = scratch_[2].first_rows(layer.keys.rows),
                 values = scratch_[3].first_rows(layer.values.rows);
    on.attend_backward(shape_.heads, input(layer.queries), query_rows(layer), input(layer.keys), input(layer.values),
                       layer.rows.visible, layer.patterns, input(attended), queries, keys, values);
    const matrix normalised = scratch_[4].first_rows(layer.rows.inputs);
    apply_backward(parts.k, keys, layer.normalised, normalised, assign);
    apply_backward(parts.v, values, layer.normalised, normalised, add);
    if (layer.rows.gathers_queries()) {
      apply_backward(parts.q, queries, layer.query_input, attended, assign);
      on.scatter_rows(input(attended), source, normalised);
    } else {
      apply_backward(parts.q, queries, layer.query_input, normalised, add);
    }
    if (source.empty()) {
      normalise_backward(parts.ln1, layer.input, layer.input_moments, normalised, stream, add);
      return stream;
    }
    const matrix result = stream_[stream.data == stream_[0].data ? 1 : 0].first_rows(layer.rows.inputs);
    normalise_backward(parts.ln1, layer.input, layer.input_moments, normalised, result, assign);
    on.scatter_rows(input(stream), source, result);
    return result;
  }

  // ---- Parts ----------------------------------------------------------------------------------------------------

  [[nodiscard]] static backend::row_table query_rows(const prenorm_layer<Scalar>& layer) {
    return layer.rows.gathers_queries() ? backend::row_table() : layer.rows.source;
  }
  [[nodiscard]] input weight(index offset, index rows) const {
    return {weights_.data + offset, rows, shape_.width, shape_.width, weights_.run_stride};
  }
  [[nodiscard]] matrix gradient_of(index offset, index rows) const {
    return {gradient_.data + offset, rows, shape_.width, shape_.width, gradient_.run_stride};
  }
  [[nodiscard]] backend::run_vector<const Scalar> weights_at(index offset) const {
    return {weights_.data + offset, weights_.run_stride};
  }
  [[nodiscard]] backend::run_vector<Scalar> gradient_at(index offset) const {
    return {gradient_.data + offset, gradient_.run_stride};
  }
  /// Null where there is no bias.
  [[nodiscard]] backend::run_vector<const Scalar> bias_of(const linear_part& part) const {
    return part.bias < 0 ? backend::run_vector<const Scalar>() : weights_at(part.bias);
  }
  [[nodiscard]] input weight(const linear_part& part) const {
    return {weights_.data + part.weight, part.outputs, part.inputs, part.inputs, weights_.run_stride};
  }
  void clear(backend::run_vector<Scalar> begin, index size) { on.fill(begin, size, Scalar(0)); }
  void copy(const matrix& from, const matrix& to) {
    on.copy(backend::run_vector<const Scalar>(from.data, from.run_stride),
            backend::run_vector<Scalar>(to.data, to.run_stride), from.rows * from.stride);
  }

  void normalise(const norm_part& part, const matrix& x, const matrix& y, backend::run_vector<Scalar> moments) {
    on.layer_norm(input(x), weights_at(part.gain), weights_at(part.bias), y, moments);
  }
  void normalise_backward(const norm_part& part, const matrix& x, backend::run_vector<Scalar> moments, const matrix& dy,
                          const matrix& dx, backend::update how) {
    on.layer_norm_backward(input(x), moments, weights_at(part.gain), input(dy), dx, how, gradient_at(part.gain),
                           gradient_at(part.bias));
  }
  void apply(const linear_part& part, const matrix& x, const matrix& y, backend::update how) {
    on.linear(input(x), weight(part), bias_of(part), y, how);
  }
  void apply_backward(const linear_part& part, const matrix& dy, const matrix& x, const matrix& dx,
                      backend::update how) {
    const matrix weights{gradient_.data + part.weight, part.outputs, part.inputs, part.inputs, gradient_.run_stride};
    on.linear_backward_weights(input(dy), input(x), weights,
                               part.bias < 0 ? backend::run_vector<Scalar>() : gradient_at(part.bias));
    on.linear_backward_input(input(dy), weight(part), dx, how);
  }

  // ---- Memory ---------------------------------------------------------------------------------------------------

  /// Takes all matrices from the arena, of as many rows as `extents` says of each layer.
  void lay_out(extent what, layer_extents (placed_plan<Backend>::*extents)(int) const noexcept, index leaves) {
    const index width = shape_.width, hidden = shape_.hidden;
    const bool keep = what == extent::gradient;
    layers_.resize(static_cast<std::size_t>(shape_.layers));
    index most = leaves, most_outputs = 0;
    for (int number = 0; number < shape_.layers; ++number) {
      const layer_extents rows = (rows_.*extents)(number);
      most = std::max({most, rows.inputs, rows.queries, rows.outputs});
      most_outputs = std::max(most_outputs, rows.outputs);
    }
    arena_.rewind();
    for (matrix& stream : stream_) stream = arena_.matrix(most, width);
    const index first = (rows_.*extents)(0).inputs;
    matrix stream = keep ? arena_.matrix(first, width) : stream_[0].first_rows(first);
    const index shared = arena_.mark();
    for (int number = 0; number < shape_.layers; ++number) {
      prenorm_layer<Scalar>& layer = layers_[static_cast<std::size_t>(number)];
      const layer_extents rows = (rows_.*extents)(number);
      if (what == extent::loss) arena_.rewind(shared);
      layer.rows = rows_.rows(number);
      layer.input = stream;
      layer.normalised = arena_.matrix(rows.inputs, width);
      layer.input_moments = arena_.flat(2 * rows.inputs);
      layer.query_input = rows.gathered > 0 ? arena_.matrix(rows.gathered, width) : layer.normalised;
      layer.queries = arena_.matrix(rows.queries, width);
      layer.keys = arena_.matrix(rows.inputs, width);
      layer.values = arena_.matrix(rows.inputs, width);
      layer.patterns = arena_.flat(rows.outputs * shape_.heads * length());
      layer.attended = arena_.matrix(rows.outputs, width);
      layer.middle = keep ? arena_.matrix(rows.outputs, width) : stream_[(number + 1) % 2].first_rows(rows.outputs);
      layer.normalised_middle = arena_.matrix(rows.outputs, width);
      layer.middle_moments = arena_.flat(2 * rows.outputs);
      layer.hidden = arena_.matrix(rows.outputs, hidden);
      layer.derivative = arena_.matrix(rows.outputs, hidden);
      layer.output = keep ? arena_.matrix(rows.outputs, width) : layer.middle;
      stream = layer.output;
    }
    leaf_input_ = arena_.matrix(leaves, width);
    if (rows_.leaf_rows().empty()) leaf_input_ = stream;
    leaf_normalised_ = arena_.matrix(leaves, width);
    leaf_moments_ = arena_.flat(2 * leaves);
    logits_ = arena_.matrix(leaves, shape_.outputs);
    logit_gradient_ = {};
    if (!keep) return;
    logit_gradient_ = arena_.matrix(leaves, shape_.outputs);
    for (matrix& scratch : scratch_) scratch = arena_.matrix(most, width);
    hidden_ = arena_.matrix(most_outputs, hidden);
  }

  [[nodiscard]] index length() const { return plans.front().length(); }

  placed_plan<Backend> rows_;
  std::vector<Scalar> copy_;
  prenorm_shape shape_;
  const prenorm_layout* layout_ = nullptr;
  backend::run_vector<const Scalar> weights_;
  backend::run_vector<Scalar> gradient_;
  typename Backend::template array<backend::answer_score> scores_;
  extent made_ = extent::patterns;
  row_arena<Scalar, typename Backend::template array<Scalar>> arena_, completion_;
  std::vector<prenorm_layer<Scalar>> layers_;
  matrix leaf_input_, leaf_normalised_, logits_, logit_gradient_;
  backend::run_vector<Scalar> leaf_moments_;
  matrix stream_[2], scratch_[5], hidden_;
};

}  // namespace lindyn::model::detail
