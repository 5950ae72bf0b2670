// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What has to be computed for a batch of sequences, as tables of rows: the exact savings of a transformer's evaluation.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/prenorm/numbering.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::model {

/// Work that an evaluation leaves out. Each of them changes nothing but the order of sums; where one doesn't apply it
/// has no effect.
struct savings {
  bool last_place = true;            ///< only places that answers depend on: in the last layer those where something is
                                     ///< asked, under a causal mask in all layers none behind a sequence's last of them
  bool distinct_first_layer = true;  ///< normalisation, queries, keys and values of the first layer are computed once
                                     ///< for each (token, place)
  bool shared_prefixes = true;       ///< under a causal mask equal beginnings of sequences are computed once; without,
                                     ///< equal sequences

  /// Whether both leave out the same.
  friend constexpr bool operator==(const savings&, const savings&) noexcept = default;
};

/// Nothing is left out.
inline constexpr savings no_savings{.last_place = false, .distinct_first_layer = false, .shared_prefixes = false};

/// The rows of one layer: attention reads input rows, everything behind it happens on output rows.
struct layer_rows {
  index inputs = 0;               ///< number of input rows, the first layer's embeddings or outputs of the layer below
  index outputs = 0;              ///< number of output rows
  std::span<const int> source;    ///< the input row at the place of each output row; empty where they are the same rows
  backend::visible_keys visible;  ///< the input rows that each output row sees, in the order of their places

  /// Whether the queries are fewer than the input rows, so that those are gathered before their product.
  [[nodiscard]] bool gathers_queries() const noexcept { return !source.empty() && outputs < inputs; }
};

/// How many rows the matrices of a layer have.
struct layer_extents {
  index inputs = 0;    ///< normalised rows, keys, values
  index queries = 0;   ///< queries
  index gathered = 0;  ///< normalised rows that are gathered for their queries
  index outputs = 0;   ///< everything behind attention
};

/// The plan of a batch: per layer its rows, and what is asked of the last one's. All rows are ordered by place. Without
/// savings, row place x batch + i of every layer belongs to the i-th sequence of the batch.
/// Building a plan allocates nothing unless its batch has more sequences than all before, or another set.
class evaluation_plan {
public:
  /// \param set     the sequences
  /// \param which   numbers of the batch's sequences, at least one; they may repeat
  /// \param layers  L, at least 1
  /// \param causal  whether places see those up to themselves only
  /// \param use     what to leave out
  /// Throws argument_error for an empty batch, for numbers that are outside the set, and for 2^31 places or more.
  void build(const task::sequence_set& set, std::span<const int> which, int layers, bool causal, const savings& use) {
    require(!which.empty(), "which.size()", which.size(), "at least 1");
    for (const int sequence : which)
      if (sequence < 0 || sequence >= set.count())
        require(false, "which", sequence, "in [0, " + std::to_string(set.count()) + "), the number of a sequence");
    layers_ = layers;
    length_ = set.sizes().length;
    const int most = std::numeric_limits<int>::max() / length_;
    if (which.size() > static_cast<std::size_t>(most))
      require(false, "which.size()", which.size(), "at most " + std::to_string(most) + ": rows are numbered by int");
    batch_ = static_cast<int>(which.size());
    bound_places(set, which, causal && use.last_place);
    bound_rows(set, causal, use);
    number_rows(set, which, causal, use.shared_prefixes);
    list_leaves(set, which);
    number_inputs(set, which, use.distinct_first_layer);

    const std::span<const int> wanted =
        use.last_place && !leaves_are_rows_ ? std::span<const int>(leaf_row_) : std::span<const int>();
    picks_outputs_ = !wanted.empty();
    outputs_are_leaves_ = leaves_are_rows_ || picks_outputs_;
    connect_rows(causal);
    const std::span<const int> inputs = input_of_row_;
    first_ = last_ = all_last_ = every_row;
    if (layers > 1) {
      if (!inputs.empty()) connect(first_ = first_layer, {}, inputs);
      if (!wanted.empty()) connect(last_ = last_layer, wanted, {});
    } else {
      if (!inputs.empty() || !wanted.empty()) connect(first_ = first_layer, wanted, inputs);
      if (!inputs.empty()) connect(all_last_ = last_layer, {}, inputs);
    }
  }

  /// Number of layers.
  [[nodiscard]] int layers() const noexcept { return layers_; }
  /// n, tokens of a sequence.
  [[nodiscard]] int length() const noexcept { return length_; }
  /// Number of sequences of the batch.
  [[nodiscard]] int batch() const noexcept { return batch_; }

  /// The rows of a layer, from 0.
  [[nodiscard]] layer_rows rows(int layer) const noexcept {
    return rows_of(layer, layer == 0 ? first_ : layer == layers_ - 1 ? last_ : every_row);
  }
  /// The rows that the last layer would have without savings::last_place.
  [[nodiscard]] layer_rows all_last_rows() const noexcept { return rows_of(layers_ - 1, all_last_); }
  /// Whether the last layer has them.
  [[nodiscard]] bool last_rows_are_all() const noexcept { return layers_ > 1 ? last_ == all_last_ : !picks_outputs_; }

  /// How many rows a layer's matrices have.
  [[nodiscard]] layer_extents extents(int layer) const noexcept {
    const layer_rows found = rows(layer);
    const bool gathers = found.gathers_queries();
    return {.inputs = found.inputs,
            .queries = gathers ? found.outputs : found.inputs,
            .gathered = gathers ? found.outputs : 0,
            .outputs = found.outputs};
  }
  /// How many they have at most in any batch of as many sequences of the same set.
  [[nodiscard]] layer_extents most_extents(int layer) const noexcept {
    const index inputs = layer == 0 ? most_inputs_ : most_rows_;
    const index outputs = layer == layers_ - 1 ? most_outputs_ : most_rows_;
    return {.inputs = inputs, .queries = std::max(inputs, outputs), .gathered = outputs, .outputs = outputs};
  }
  /// leaves() is at most this in any such batch.
  [[nodiscard]] index most_leaves() const noexcept { return most_leaves_; }
  /// all_last_rows() are at most so many in any such batch.
  [[nodiscard]] index most_rows() const noexcept { return most_rows_; }

  /// Of each input row of the first layer: its token.
  [[nodiscard]] std::span<const int> tokens() const noexcept { return input_token_; }
  /// Of each input row of the first layer: its place.
  [[nodiscard]] std::span<const int> places() const noexcept { return input_place_; }

  /// Number of leaves: rows of logits. Equal answers of one row are one leaf.
  [[nodiscard]] index leaves() const noexcept { return static_cast<index>(answers_.size()); }
  /// Of each leaf: its output row of the last layer; empty where they are the same rows.
  [[nodiscard]] std::span<const int> leaf_rows() const noexcept {
    return outputs_are_leaves_ ? std::span<const int>() : std::span<const int>(leaf_row_);
  }
  /// Of each leaf: what is asked.
  [[nodiscard]] std::span<const int> answers() const noexcept { return answers_; }
  /// Of each leaf: at how many places of the batch.
  [[nodiscard]] std::span<const int> counts() const noexcept { return counts_; }
  /// The leaf of each place of the batch where something is asked: places outside, sequences of the batch inside.
  [[nodiscard]] std::span<const int> leaf_of_asked() const noexcept { return leaf_of_asked_; }

  /// Whether places behind the last one that is asked are left out of some sequence.
  [[nodiscard]] bool leaves_out_places() const noexcept { return leaves_out_places_; }
  /// The row of a place of the batch's i-th sequence, behind the first layer, -1 if it is left out; the last layer's
  /// outputs are these rows only without savings::last_place.
  [[nodiscard]] int row(index i, index place) const noexcept { return row_of_[at(i, place)]; }
  /// Of each of these rows: its place.
  [[nodiscard]] std::span<const int> row_places() const noexcept { return place_of_row_; }
  /// Of each of these rows: how many places of the batch it stands for.
  void count_rows(std::vector<int>& counts) const {
    counts.assign(place_of_row_.size(), 0);
    for (const int row : row_of_)
      if (row != no_row) ++counts[static_cast<std::size_t>(row)];
  }

private:
  struct table {
    std::vector<int> source, keys;
    std::vector<backend::row_segment> segments;
    index outputs = 0;
  };
  enum : std::size_t { every_row, first_layer, last_layer };

  [[nodiscard]] std::size_t at(index i, index place) const noexcept {
    return static_cast<std::size_t>(place * batch_ + i);
  }
  [[nodiscard]] layer_rows rows_of(int layer, std::size_t which) const noexcept {
    const table& found = tables_[which];
    return {.inputs = layer == 0 ? static_cast<index>(input_token_.size()) : row_count(),
            .outputs = found.outputs,
            .source = found.source,
            .visible = {found.keys, length_, found.segments}};
  }
  [[nodiscard]] index row_count() const noexcept { return static_cast<index>(sequence_of_row_.size()); }

  /// How many places of each sequence are computed.
  void bound_places(const task::sequence_set& set, std::span<const int> which, bool asked_only) {
    most_places_ = asked_only ? set.last_asked() + 1 : length_;
    places_.assign(which.size(), length_);
    leaves_out_places_ = false;
    if (!asked_only || set.last_place_only()) return;
    for (std::size_t i = 0; i < which.size(); ++i) {
      while (set.answer(which[i], places_[i] - 1) == task::no_answer) --places_[i];
      leaves_out_places_ |= places_[i] < length_;
    }
  }

  /// The most rows of any batch of as many sequences: batches that are drawn at random differ, and no later one of them
  /// shall need memory that the first one didn't.
  void bound_rows(const task::sequence_set& set, bool causal, const savings& use) {
    const index batch = batch_, all = batch * most_places_;
    most_rows_ = all;
    if (use.shared_prefixes && causal) {
      const std::vector<int>& places = set.prefixes().place;  // they ascend
      most_rows_ = 0;
      for (auto begin = places.begin(); begin != places.end() && *begin < most_places_;) {
        const auto end = std::upper_bound(begin, places.end(), *begin);
        most_rows_ += std::min<index>(batch, end - begin);
        begin = end;
      }
    }
    most_inputs_ = most_rows_;
    if (use.distinct_first_layer)
      most_inputs_ = std::min(most_rows_, std::min<index>(batch, set.sizes().vocabulary) * most_places_);
    most_leaves_ = set.last_place_only() ? batch : all;
    const bool picks = use.last_place && set.last_place_only() && length_ > 1;
    most_outputs_ = picks ? most_leaves_ : use.last_place ? std::max(most_leaves_, most_rows_) : most_rows_;
    const auto reserve = [](index size, auto&... vectors) { (vectors.reserve(static_cast<std::size_t>(size)), ...); };
    reserve(most_rows_, sequence_of_row_, place_of_row_, first_leaf_, input_of_row_);
    reserve(most_inputs_, input_token_, input_place_);
    reserve(most_leaves_, leaf_row_, answers_, counts_, next_leaf_);
    reserve(all, leaf_of_asked_);
    for (table& each : tables_) {
      reserve(most_rows_, each.source);
      reserve(std::max(most_rows_, most_outputs_) * length_, each.keys);
      reserve(length_, each.segments);
    }
    reserve(most_outputs_, tables_[first_layer].source, tables_[last_layer].source);
  }

  /// Rows are places of the batch's sequences; where they are shared, equal prefixes (causal) or equal sequences have
  /// the same rows.
  void number_rows(const task::sequence_set& set, std::span<const int> which, bool causal, bool shared) {
    row_of_.assign(which.size() * static_cast<std::size_t>(length_), no_row);
    sequence_of_row_.clear();
    place_of_row_.clear();
    for (int place = 0; place < most_places_; ++place) {
      if (shared) numbers_.forget(set.prefixes().count());
      const index decisive = causal ? place : length_ - 1;  // the prefix up to there decides what happens at `place`
      for (int i = 0; i < batch_; ++i) {
        if (place >= places_[static_cast<std::size_t>(i)]) continue;
        const auto fresh = static_cast<int>(row_count());
        const index sequence = which[static_cast<std::size_t>(i)];
        const auto prefix = static_cast<std::size_t>(sequence * length_ + decisive);
        const int row = shared ? numbers_(set.prefixes().node[prefix], fresh) : fresh;
        row_of_[at(i, place)] = row;
        if (row != fresh) continue;
        sequence_of_row_.push_back(i);
        place_of_row_.push_back(place);
      }
    }
  }

  /// Rows with several answers have several leaves, chained by next_leaf_.
  void list_leaves(const task::sequence_set& set, std::span<const int> which) {
    first_leaf_.assign(sequence_of_row_.size(), no_leaf);
    for (auto* leaves : {&leaf_row_, &answers_, &counts_, &next_leaf_, &leaf_of_asked_}) leaves->clear();
    for (int place = set.last_place_only() ? length_ - 1 : 0; place <= set.last_asked(); ++place)
      for (int i = 0; i < batch_; ++i) {
        const int answer = set.answer(which[static_cast<std::size_t>(i)], place);
        if (answer == task::no_answer) continue;
        const int row = row_of_[at(i, place)];
        int leaf = first_leaf_[static_cast<std::size_t>(row)];
        while (leaf != no_leaf && answers_[static_cast<std::size_t>(leaf)] != answer)
          leaf = next_leaf_[static_cast<std::size_t>(leaf)];
        if (leaf == no_leaf) {
          leaf = static_cast<int>(answers_.size());
          leaf_row_.push_back(row);
          answers_.push_back(answer);
          counts_.push_back(0);
          next_leaf_.push_back(std::exchange(first_leaf_[static_cast<std::size_t>(row)], leaf));
        }
        ++counts_[static_cast<std::size_t>(leaf)];
        leaf_of_asked_.push_back(leaf);
      }
    leaves_are_rows_ = static_cast<index>(leaf_row_.size()) == row_count();
    for (int row = 0; leaves_are_rows_ && row < row_count(); ++row)
      leaves_are_rows_ = leaf_row_[static_cast<std::size_t>(row)] == row;
  }

  /// The first layer's input rows: one for each (token, place), or for each row. input_of_row_ is empty where it would
  /// be the identity.
  void number_inputs(const task::sequence_set& set, std::span<const int> which, bool distinct) {
    input_token_.clear();
    input_place_.clear();
    input_of_row_.clear();
    int last_place = -1;
    for (index row = 0; row < row_count(); ++row) {
      const int place = place_of_row_[static_cast<std::size_t>(row)];
      const auto i = static_cast<std::size_t>(sequence_of_row_[static_cast<std::size_t>(row)]);
      const int token = set.tokens(which[i])[static_cast<std::size_t>(place)];
      const auto fresh = static_cast<int>(input_token_.size());
      if (distinct) {
        if (place != last_place) numbers_.forget(set.sizes().vocabulary);
        last_place = place;
        input_of_row_.push_back(numbers_(token, fresh));
        if (input_of_row_.back() != fresh) continue;
      }
      input_token_.push_back(token);
      input_place_.push_back(place);
    }
    if (input_token_.size() == sequence_of_row_.size()) input_of_row_.clear();
  }

  /// Inputs and outputs are all rows.
  void connect_rows(bool causal) {
    table& all = tables_[every_row];
    start(all, row_count());
    all.source.clear();
    for (index row = 0; row < row_count(); ++row) {
      const int visible = causal ? place_of_row_[static_cast<std::size_t>(row)] + 1 : length_;
      const int i = sequence_of_row_[static_cast<std::size_t>(row)];
      for (int place = 0; place < visible; ++place)
        all.keys[static_cast<std::size_t>(row * length_ + place)] = row_of_[at(i, place)];
      append(all, row, visible);
    }
  }

  /// Outputs are the rows `wanted`, inputs those that stand in for rows; both are all rows where the span is empty.
  void connect(std::size_t which, std::span<const int> wanted, std::span<const int> input_of_row) {
    const table& all = tables_[every_row];
    table& to = tables_[which];
    start(to, wanted.empty() ? row_count() : static_cast<index>(wanted.size()));
    const auto input = [&](int row) {
      return input_of_row.empty() ? row : input_of_row[static_cast<std::size_t>(row)];
    };
    auto segment = all.segments.begin();
    for (index output = 0; output < to.outputs; ++output) {
      const int row = wanted.empty() ? static_cast<int>(output) : wanted[static_cast<std::size_t>(output)];
      while (segment->end <= row) ++segment;  // rows wanted ascend by place
      to.source[static_cast<std::size_t>(output)] = input(row);
      for (index place = 0; place < segment->visible; ++place)
        to.keys[static_cast<std::size_t>(output * length_ + place)] =
            input(all.keys[static_cast<std::size_t>(row * length_ + place)]);
      append(to, output, segment->visible);
    }
  }

  void start(table& which, index outputs) const {
    which.outputs = outputs;
    which.source.resize(static_cast<std::size_t>(outputs));
    which.keys.resize(static_cast<std::size_t>(outputs * length_));
    which.segments.clear();
  }
  static void append(table& to, index output, int visible) {
    if (to.segments.empty() || to.segments.back().visible != visible)
      to.segments.push_back({.begin = output, .end = output, .visible = visible});
    to.segments.back().end = output + 1;
  }

  static constexpr int no_leaf = -1, no_row = -1;

  int layers_ = 0, length_ = 0, batch_ = 0, most_places_ = 0;
  index most_rows_ = 0, most_inputs_ = 0, most_leaves_ = 0, most_outputs_ = 0;
  std::vector<int> places_;                          // of each sequence of the batch: how many are computed
  std::vector<int> row_of_;                          // places outside, sequences of the batch inside
  std::vector<int> sequence_of_row_, place_of_row_;  // of the first sequence that has the row: its place in the batch
  std::vector<int> first_leaf_, leaf_row_, answers_, counts_, next_leaf_, leaf_of_asked_;
  std::vector<int> input_token_, input_place_, input_of_row_;
  bool leaves_out_places_ = false, leaves_are_rows_ = false, picks_outputs_ = false, outputs_are_leaves_ = false;
  std::size_t first_ = every_row, last_ = every_row, all_last_ = every_row;
  table tables_[3];
  detail::numbering numbers_;
};

}  // namespace lindyn::model
