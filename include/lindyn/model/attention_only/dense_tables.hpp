// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a dense evaluation of the attention-only network reads by numbers of rows: tokens, positions, answers and
/// visible keys, in a backend's memory.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <lindyn/backend/backend.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_shape.hpp>
#include <lindyn/task/batch.hpp>

namespace lindyn::model::detail {

/// Tables of blocks of `count` sequences of `length` places. Rows go place by place: row place x count + b is that place
/// of sequence b, and sees rows b, count + b, .. up to itself. So the last places are the last rows. Where a backend's
/// memory isn't the host's, lists of the entries that name a row come with the tables.
template <class Backend>
class dense_tables {
public:
  /// Makes and places what depends on the sizes alone; nothing if they are those of before.
  /// \param all_queries  whether the first layer computes all rows, or the last places alone
  void fit(Backend& on, const attention_shape& shape, index count, index length, bool all_queries) {
    if (shape == shape_ && count == count_ && length == length_ && all_queries == all_queries_) return;
    shape_ = shape, count_ = count, length_ = length, all_queries_ = all_queries;
    numbers_.clear();
    const index rows = this->rows();
    std::vector<int> keys(static_cast<std::size_t>(rows * length)), visible, same;
    for (index row = 0; row < rows; ++row)
      for (index place = 0; place <= row / count; ++place)
        keys[static_cast<std::size_t>(row * length + place)] = static_cast<int>(place * count + row % count);
    for (index row = 0; row < rows; ++row) visible.push_back(static_cast<int>(row / count) + 1);
    for (index row = 0; row < std::max(rows, shape.width(shape.layers - 1)); ++row)
      same.push_back(static_cast<int>(row));
    keys_ = append(keys), visible_ = append(visible), same_ = append(same);
    if constexpr (!Backend::host_memory)
      for (const index first_query : {index{0}, rows - count}) {
        std::vector<int>& begins = scratch_;
        begins.assign(1, 0);
        std::vector<int> entries;
        for (index row = 0; row < rows; ++row) {
          for (index query = std::max(row, first_query + row % count); query < rows; query += count)
            entries.push_back(static_cast<int>((query - first_query) * length + row / count));
          begins.push_back(static_cast<int>(entries.size()));
        }
        inverse_keys& of = first_query == 0 ? all_ : last_;
        of.first = append(begins), of.order = append(entries);
      }
    segments_.clear();
    for (index place = 0; place < length; ++place)
      segments_.push_back({place * count, (place + 1) * count, static_cast<int>(place) + 1});
    last_segment_ = {0, count, static_cast<int>(length)};
    upload(on, fixed_, fixed_size_);
    weights_size_ = grow(weights_, weights_size_, on.runs() * count);
  }

  /// Places the sequences [begin, begin + count) of every run's batch; those behind a batch's end are its first ones, of
  /// weight 0.
  void place(Backend& on, std::span<const task::batch_view> batches, index begin) {
    numbers_.clear();
    weight_numbers_.clear();
    for (const task::batch_view& batch : batches) {
      const auto sequence = [&](index b) { return begin + b < batch.count() ? begin + b : b % batch.count(); };
      std::vector<int>&run_tokens = columns_[0], &run_positions = columns_[1], &answers = columns_[2];
      for (auto& column : columns_) column.clear();
      for (index place = 0; place < length_; ++place)
        for (index b = 0; b < count_; ++b) {
          run_tokens.push_back(batch.tokens(sequence(b), place));
          run_positions.push_back(batch.positions(sequence(b), place));
        }
      for (index b = 0; b < count_; ++b) {
        answers.push_back(batch.answers[static_cast<std::size_t>(sequence(b))]);
        weight_numbers_.push_back(begin + b < batch.count() ? batch.weight(begin + b) : 0.0);
      }
      const auto run_begin = static_cast<index>(numbers_.size());
      tokens_ = place_rows(run_tokens, shape_.vocabulary, run_begin);
      positions_ = place_rows(run_positions, shape_.positions, run_begin);
      answers_ = append(answers) - run_begin;
      run_stride_ = static_cast<index>(numbers_.size()) - run_begin;
    }
    upload(on, drawn_, drawn_size_);
    on.from_host(std::span<const double>(weight_numbers_), weights_.data());
  }

  /// Rows of a run: places of a block.
  [[nodiscard]] index rows() const noexcept { return count_ * length_; }
  /// Sequences of a block.
  [[nodiscard]] index count() const noexcept { return count_; }
  /// Places of a sequence.
  [[nodiscard]] index length() const noexcept { return length_; }

  /// \{
  /// The token and the position of every row.
  [[nodiscard]] backend::index_table tokens() const { return drawn(tokens_.rows, rows()); }
  [[nodiscard]] backend::index_table positions() const { return drawn(positions_.rows, rows()); }
  /// \}
  /// \{
  /// Of every row that the first layer computes, with the list of rows that each token, or position, has.
  [[nodiscard]] backend::row_table query_tokens() const { return queries(tokens_, shape_.vocabulary); }
  [[nodiscard]] backend::row_table query_positions() const { return queries(positions_, shape_.positions); }
  /// \}
  /// The numbers 0, 1, .. of so many rows.
  [[nodiscard]] backend::index_table same(index size) const { return fixed(same_, size); }
  /// The answer of every sequence.
  [[nodiscard]] backend::index_table answers() const { return drawn(answers_, count_); }
  /// The weight of every sequence.
  [[nodiscard]] backend::run_vector<const double> weights() const { return {weights_.data(), count_}; }
  /// The rows that each row sees.
  [[nodiscard]] backend::visible_keys all_visible() const { return visible(all_, 0, rows(), segments_); }
  /// The rows that the last place of each sequence sees.
  [[nodiscard]] backend::visible_keys last_visible() const {
    return visible(last_, rows() - count_, count_, {&last_segment_, 1});
  }

private:
  struct inverse_keys {
    index first = 0, order = 0;
  };
  struct row_places {
    index rows = 0, first = 0, order = 0;
  };

  /// Appends a table to those that are uploaded together, and says where it begins.
  index append(const std::vector<int>& table) {
    const auto begin = static_cast<index>(numbers_.size());
    numbers_.insert(numbers_.end(), table.begin(), table.end());
    return begin;
  }
  row_places place_rows(const std::vector<int>& rows, int destinations, index run_begin) {
    row_places result;
    result.rows = append(rows) - run_begin;
    if constexpr (!Backend::host_memory) {
      const auto computed = std::span(rows).subspan(static_cast<std::size_t>(first_query()));
      std::vector<int>& next = scratch_;  // first free entry of each destination's list
      next.assign(static_cast<std::size_t>(destinations) + 1, 0);
      for (const int row : computed) ++next[static_cast<std::size_t>(row) + 1];
      for (std::size_t to = 1; to < next.size(); ++to) next[to] += next[to - 1];
      result.first = append(next) - run_begin;
      const std::size_t order = numbers_.size();
      result.order = static_cast<index>(order) - run_begin;
      numbers_.resize(order + computed.size());
      for (std::size_t i = 0; i < computed.size(); ++i)
        numbers_[order + static_cast<std::size_t>(next[static_cast<std::size_t>(computed[i])]++)] = static_cast<int>(i);
    }
    return result;
  }
  template <class Array>
  static index grow(Array& array, index size, index wanted) {
    if (wanted <= size) return size;
    array.resize(static_cast<std::size_t>(wanted));
    return wanted;
  }
  void upload(Backend& on, typename Backend::template array<int>& to, index& size) {
    size = grow(to, size, static_cast<index>(numbers_.size()));
    on.from_host(std::span<const int>(numbers_), to.data());
  }

  [[nodiscard]] index first_query() const noexcept { return all_queries_ ? 0 : rows() - count_; }
  [[nodiscard]] backend::index_table fixed(index begin, index size) const { return {fixed_.data() + begin, size, 0}; }
  [[nodiscard]] backend::index_table drawn(index begin, index size) const {
    return {drawn_.data() + begin, size, run_stride_};
  }
  [[nodiscard]] backend::row_table queries(const row_places& of, int destinations) const {
    const index size = rows() - first_query();
    const backend::index_table numbers = drawn(of.rows + first_query(), size);
    if constexpr (Backend::host_memory)
      return numbers;
    else
      return {numbers, drawn(of.first, destinations + 1), drawn(of.order, size)};
  }
  [[nodiscard]] backend::visible_keys visible(const inverse_keys& of, index first, index size,
                                              std::span<const backend::row_segment> segments) const {
    backend::visible_keys result;
    result.keys = fixed(keys_ + first * length_, size * length_);
    result.context = static_cast<int>(length_);
    result.segments = segments;
    if constexpr (!Backend::host_memory) {
      result.counts = fixed(visible_ + first, size);
      result.first = fixed(of.first, rows() + 1);
      result.order = fixed(of.order, first == 0 ? rows() * (length_ + 1) / 2 : rows());
    }
    return result;
  }

  attention_shape shape_;
  index count_ = 0, length_ = 0;
  bool all_queries_ = false;
  index keys_ = 0, visible_ = 0, same_ = 0;  // where tables begin that depend on sizes alone
  inverse_keys all_, last_;
  row_places tokens_, positions_;  // where those of the first run's sequences begin
  index answers_ = 0, run_stride_ = 0;
  std::vector<backend::row_segment> segments_;
  backend::row_segment last_segment_;
  typename Backend::template array<int> fixed_, drawn_;
  typename Backend::template array<double> weights_;
  index fixed_size_ = 0, drawn_size_ = 0, weights_size_ = 0;
  std::vector<int> numbers_, scratch_, columns_[3];
  std::vector<double> weight_numbers_;
};

}  // namespace lindyn::model::detail
