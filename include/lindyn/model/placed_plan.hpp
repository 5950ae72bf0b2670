// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The tables of plans in a backend's memory: those of one batch, or of a batch for each run of the backend.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/evaluation_plan.hpp>

namespace lindyn::model {

/// The rows of one layer, see layer_rows, as kernels read them.
struct placed_rows {
  index inputs = 0;               ///< number of input rows
  index outputs = 0;              ///< number of output rows
  backend::row_table source;      ///< the input row at the place of each output row; empty where they are the same rows
  backend::visible_keys visible;  ///< the input rows that each output row sees

  /// Whether the queries are fewer than the input rows, so that those are gathered before their product.
  [[nodiscard]] bool gathers_queries() const noexcept { return !source.empty() && outputs < inputs; }
  /// How many rows the layer's matrices have.
  [[nodiscard]] layer_extents extents() const noexcept {
    const bool gathers = gathers_queries();
    return {
        .inputs = inputs, .queries = gathers ? outputs : inputs, .gathered = gathers ? outputs : 0, .outputs = outputs};
  }
};

/// Where a backend's memory isn't the host's. Tables of all runs are copied there at once. All batches of as many sequences
/// of a set have the same extents, the largest that any of them needs, and the same tables, even where they say that rows
/// stay what they are: so every step does the same kernels on the same memory. Rows that fill up copy row 0, see row 0, and
/// are asked nothing; inverse lists don't have them. So nothing depends on them, and all derivatives by them are zero.
template <class Backend>
class placed_plan {
public:
  /// Places the plans of all runs, which have as many layers and tokens a sequence.
  /// \param on          has as many runs
  /// \param plans       one of each run
  /// \param vocabulary  rows of the network's token embedding
  /// \param context     rows of its place embedding
  /// \param threads     how many threads of the host fill tables
  /// Throws argument_error where a layer has 2^31 visible keys or more.
  void place(Backend& on, std::span<const evaluation_plan> plans, index vocabulary, index context, int threads) {
    lay_out(plans, vocabulary, context);
    const auto runs = static_cast<index>(plans.size());
    numbers_.resize(static_cast<std::size_t>(runs * run_size_));
    parallel_chunks(runs, 1, threads, [&](index run, index, index, int) {
      fill(plans[static_cast<std::size_t>(run)], numbers_.data() + run * run_size_);
    });
    if (numbers_.size() > room_) memory_.resize(room_ = numbers_.size());
    on.from_host(std::span<const int>(numbers_), memory_.data());
  }

  /// The rows of a layer, from 0.
  [[nodiscard]] placed_rows rows(int layer) const noexcept {
    return placed(layer == 0 ? first_ : layer + 1 == layers_ ? last_ : all_);
  }
  /// \{
  /// How many rows a layer's matrices have, in this batch and at most.
  [[nodiscard]] layer_extents extents(int layer) const noexcept { return rows(layer).extents(); }
  [[nodiscard]] layer_extents most_extents(int layer) const noexcept { return extents(layer); }
  /// \}
  /// The rows that the last layer would have without savings::last_place.
  [[nodiscard]] placed_rows all_last_rows() const noexcept { return placed(all_); }
  /// Whether the last layer is known to have them.
  [[nodiscard]] static constexpr bool last_rows_are_all() noexcept { return false; }
  /// They are at most so many in any batch.
  [[nodiscard]] index most_rows() const noexcept { return all_.outputs; }
  /// Of each input row of the first layer: its token.
  [[nodiscard]] backend::row_table tokens() const noexcept { return placed(tokens_); }
  /// Of each input row of the first layer: its place.
  [[nodiscard]] backend::row_table places() const noexcept { return placed(places_); }
  /// \{
  /// Number of leaves, in this batch and at most.
  [[nodiscard]] index leaves() const noexcept { return leaf_rows_.entries; }
  [[nodiscard]] index most_leaves() const noexcept { return leaves(); }
  /// \}
  /// Of each leaf: its output row of the last layer.
  [[nodiscard]] backend::row_table leaf_rows() const noexcept { return placed(leaf_rows_); }
  /// Of each leaf: what is asked.
  [[nodiscard]] backend::index_table answers() const noexcept { return placed(answers_, leaves()); }
  /// Of each leaf: at how many places of the batch.
  [[nodiscard]] backend::index_table counts() const noexcept { return placed(counts_, leaves()); }

private:
  /// Where a table begins in the part of each run: entries, then where each destination's list begins, then the lists.
  struct table {
    index begin = 0, entries = 0, destinations = 0;
    [[nodiscard]] index first() const noexcept { return begin + entries; }
    [[nodiscard]] index order() const noexcept { return first() + destinations + 1; }
  };
  struct layer_tables {
    index inputs = 0, outputs = 0;
    table source = {}, keys = {};
    index counts = 0;
  };

  void lay_out(std::span<const evaluation_plan> plans, index vocabulary, index context) {
    const evaluation_plan& one = plans.front();
    layers_ = one.layers();
    length_ = one.length();
    run_size_ = 0;
    const auto most = [&](auto extent) {
      index result = 0;
      for (const evaluation_plan& plan : plans) result = std::max(result, index{extent(plan)});
      return result;
    };
    const auto most_of = [&](int layer, index layer_extents::*member) {
      return most([&](const evaluation_plan& plan) { return plan.most_extents(layer).*member; });
    };
    const index inputs = most_of(0, &layer_extents::inputs);
    const index rows = most([](const evaluation_plan& plan) { return plan.most_rows(); });
    const index leaves = most([](const evaluation_plan& plan) { return plan.most_leaves(); });
    const index outputs = most_of(layers_ - 1, &layer_extents::outputs);
    tokens_ = take(inputs, vocabulary);
    places_ = take(inputs, context);
    leaf_rows_ = take(leaves, outputs);
    answers_ = take(leaves);
    counts_ = take(leaves);
    const bool single = layers_ == 1;
    first_ = take_layer(inputs, single ? outputs : rows, true);
    all_ = take_layer(single ? inputs : rows, rows, single);
    last_ = single ? first_ : take_layer(rows, outputs, true);
  }
  index take(index size) {
    const index begin = run_size_;
    run_size_ += size;
    return begin;
  }
  table take(index entries, index destinations) {
    return {take(2 * entries + destinations + 1), entries, destinations};
  }
  layer_tables take_layer(index inputs, index outputs, bool with_source) {
    const index seen = outputs * length_;
    if (seen > std::numeric_limits<int>::max())
      require(false, "which.size()", outputs, "smaller: rows x places of a layer are numbered by int");
    layer_tables result{.inputs = inputs, .outputs = outputs};
    if (with_source) result.source = take(outputs, inputs);
    result.keys = take(seen, inputs);
    result.counts = take(outputs);
    return result;
  }

  /// Fills the part of a run.
  void fill(const evaluation_plan& plan, int* to) const {
    std::fill_n(to, run_size_, 0);
    fill(tokens_, plan.tokens(), static_cast<index>(plan.tokens().size()), to);
    fill(places_, plan.places(), static_cast<index>(plan.places().size()), to);
    fill(leaf_rows_, plan.leaf_rows(), plan.leaves(), to);
    std::ranges::copy(plan.answers(), to + answers_);
    std::ranges::copy(plan.counts(), to + counts_);
    fill(first_, plan.rows(0), to);
    fill(all_, plan.all_last_rows(), to);
    if (layers_ > 1) fill(last_, plan.rows(layers_ - 1), to);
  }
  void fill(const layer_tables& where, const layer_rows& rows, int* to) const {
    if (where.source.entries > 0) fill(where.source, rows.source, rows.outputs, to);
    int* const keys = to + where.keys.begin;
    int* const counts = to + where.counts;
    std::fill_n(counts, where.outputs, 1);
    for (const backend::row_segment& segment : rows.visible.segments)
      for (index row = segment.begin; row < segment.end; ++row) {
        counts[row] = segment.visible;
        std::copy_n(rows.visible.keys.data + row * length_, segment.visible, keys + row * length_);
      }
    invert(where.keys, to, [&](auto visit) {
      for (index row = 0; row < rows.outputs; ++row)
        for (index place = 0; place < counts[row]; ++place) visit(row * length_ + place);
    });
  }
  /// The entries are those of `named`, or 0, 1, .. where it is empty.
  void fill(const table& where, std::span<const int> named, index count, int* to) const {
    int* const entries = to + where.begin;
    if (named.empty())
      std::iota(entries, entries + count, 0);
    else
      std::copy_n(named.begin(), count, entries);
    invert(where, to, [&](auto visit) {
      for (index entry = 0; entry < count; ++entry) visit(entry);
    });
  }
  /// Lists the entries that `each` visits, by what they name.
  template <class Each>
  static void invert(const table& where, int* to, Each each) {
    const int* const entries = to + where.begin;
    int *const first = to + where.first(), *const order = to + where.order();
    each([&](index entry) { ++first[entries[entry] + 1]; });
    std::partial_sum(first, first + where.destinations + 1, first);
    each([&](index entry) { order[first[entries[entry]]++] = static_cast<int>(entry); });
    std::copy_backward(first, first + where.destinations, first + where.destinations + 1);
    first[0] = 0;
  }

  [[nodiscard]] backend::index_table placed(index begin, index size) const noexcept {
    return {memory_.data() + begin, size, run_size_};
  }
  [[nodiscard]] backend::row_table placed(const table& of) const noexcept {
    return {placed(of.begin, of.entries), placed(of.first(), of.destinations + 1), placed(of.order(), of.entries)};
  }
  [[nodiscard]] placed_rows placed(const layer_tables& of) const noexcept {
    const backend::row_table keys = placed(of.keys);
    return {.inputs = of.inputs,
            .outputs = of.outputs,
            .source = of.source.entries > 0 ? placed(of.source) : backend::row_table(),
            .visible = {.keys = keys.rows,
                        .context = length_,
                        .segments = {},
                        .counts = placed(of.counts, of.outputs),
                        .first = keys.first,
                        .order = keys.order}};
  }

  int layers_ = 0, length_ = 0;
  index run_size_ = 0;
  table tokens_, places_, leaf_rows_;
  index answers_ = 0, counts_ = 0;
  layer_tables first_, all_, last_;
  std::vector<int> numbers_;
  typename Backend::template array<int> memory_;
  std::size_t room_ = 0;
};

/// On the host: the plan's own tables.
template <class Backend>
requires(Backend::host_memory) class placed_plan<Backend> {
public:
  /// Looks at the plan, which stays where it is.
  void place(Backend&, std::span<const evaluation_plan> plans, index, index, int) { plan_ = &plans.front(); }

  /// \{
  /// As the plan has them.
  [[nodiscard]] placed_rows rows(int layer) const noexcept { return placed(plan_->rows(layer)); }
  [[nodiscard]] layer_extents extents(int layer) const noexcept { return plan_->extents(layer); }
  [[nodiscard]] layer_extents most_extents(int layer) const noexcept { return plan_->most_extents(layer); }
  [[nodiscard]] placed_rows all_last_rows() const noexcept { return placed(plan_->all_last_rows()); }
  [[nodiscard]] bool last_rows_are_all() const noexcept { return plan_->last_rows_are_all(); }
  [[nodiscard]] index most_rows() const noexcept { return plan_->most_rows(); }
  [[nodiscard]] backend::row_table tokens() const noexcept { return plan_->tokens(); }
  [[nodiscard]] backend::row_table places() const noexcept { return plan_->places(); }
  [[nodiscard]] index leaves() const noexcept { return plan_->leaves(); }
  [[nodiscard]] index most_leaves() const noexcept { return plan_->most_leaves(); }
  [[nodiscard]] backend::row_table leaf_rows() const noexcept { return plan_->leaf_rows(); }
  [[nodiscard]] backend::index_table answers() const noexcept { return plan_->answers(); }
  [[nodiscard]] backend::index_table counts() const noexcept { return plan_->counts(); }
  /// \}

private:
  [[nodiscard]] static placed_rows placed(const layer_rows& rows) noexcept {
    return {.inputs = rows.inputs, .outputs = rows.outputs, .source = rows.source, .visible = rows.visible};
  }

  const evaluation_plan* plan_ = nullptr;
};

}  // namespace lindyn::model
