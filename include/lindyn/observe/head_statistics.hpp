// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the order parameters need of a layer's attention, added up row by row: its memory depends on the number of heads
/// alone, however large the batch.

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::observe {

/// Extents of dense attention: (sequences, heads, length, length), the last two query and key, zero at invisible keys.
struct attention_layout {
  int heads = 1;       ///< H, at least 1
  int length = 1;      ///< n, at least 1
  bool causal = true;  ///< place i sees the keys 0 .. i; otherwise all
};

/// Sums over the rows of one layer's attention after the softmax, in double. A head's pattern is the vector of its
/// entries at all visible keys of all rows. Only visible keys are read.
///
/// Gram matrices are kept of the deviations from the heads' mean pattern, and of that mean, so that heads which are
/// nearly equal are told apart as well as others: <a_h, a_k> = <d_h, d_k> + <m, d_h> + <m, d_k> + <m, m>.
class head_statistics {
public:
  /// Without rows. Throws argument_error unless there is a head.
  explicit head_statistics(int heads) : heads_(heads) {
    require(heads >= 1, "heads", heads, "at least 1");
    const auto size = static_cast<std::size_t>(heads);
    deviations_.resize(size * size);
    for (auto* sums : {&mean_deviation_, &sums_, &entropies_, &last_entropies_, &deviation_}) sums->resize(size);
  }

  /// Adds a row that stands for `count` equal ones, as where sequences share a prefix.
  /// \param pattern      the row's weights in the first head, at its visible keys
  /// \param head_stride  from a head's weights to the next one's
  /// \param visible      keys that the row sees, at least 1
  /// \param last         whether it is the last row of its sequence
  /// \param count        how many rows it stands for
  template <class T>
  void add_row(const T* pattern, index head_stride, int visible, bool last, double count = 1) {
    const auto heads = static_cast<std::size_t>(heads_);
    for (int key = 0; key < visible; ++key) {
      double mean = 0;
      for (std::size_t head = 0; head < heads; ++head) {
        const auto weight = static_cast<double>(pattern[static_cast<index>(head) * head_stride + key]);
        deviation_[head] = weight;
        mean += weight;
        sums_[head] += count * weight;
        if (weight == 0 || weight == 1) continue;  // 0 log 0 = 0
        const double information = -count * weight * std::log(weight);
        entropies_[head] += information;
        if (last) last_entropies_[head] += information;
      }
      mean /= heads_;
      for (double& deviation : deviation_) deviation -= mean;
      mean_square_ += count * mean * mean;
      for (std::size_t one = 0; one < heads; ++one) {
        const double factor = count * deviation_[one];
        mean_deviation_[one] += factor * mean;
        for (std::size_t other = 0; other < heads; ++other)
          deviations_[one * heads + other] += factor * deviation_[other];
      }
    }
    rows_ += count;
    if (last) last_rows_ += count;
    entries_ += count * visible;
  }

  /// Adds a row as networks tell of it, see model::attention_row.
  template <class Row>
  void add(const Row& row) {
    add_row(row.weights, row.head_stride, row.visible, row.last, row.count);
  }

  /// Adds all rows of some sequences' dense attention. A batch may come in parts.
  /// Throws shape_error unless these are whole sequences of as many heads.
  template <class T>
  void add(std::span<const T> attention, const attention_layout& layout) {
    require_extent("layout.heads", layout.heads, heads_);
    require(layout.length >= 1, "layout.length", layout.length, "at least 1");
    const index length = layout.length, one_head = length * length, one_sequence = heads_ * one_head;
    const index sequences = static_cast<index>(attention.size()) / one_sequence;
    require_extent("attention.size()", attention.size(), sequences * one_sequence);
    for (index sequence = 0; sequence < sequences; ++sequence)
      for (index row = 0; row < length; ++row)
        add_row(attention.data() + sequence * one_sequence + row * length, one_head,
                static_cast<int>(layout.causal ? row + 1 : length), row + 1 == length);
  }

  /// Forgets all rows.
  void clear() { *this = head_statistics(heads_); }

  /// H.
  [[nodiscard]] int heads() const noexcept { return heads_; }
  /// Rows, each as often as it counts.
  [[nodiscard]] double rows() const noexcept { return rows_; }
  /// Those that are the last of their sequence.
  [[nodiscard]] double last_rows() const noexcept { return last_rows_; }
  /// Visible keys of all rows: the entries of a pattern.
  [[nodiscard]] double entries() const noexcept { return entries_; }
  /// <a_h, a_k>.
  [[nodiscard]] double product(int one, int other) const noexcept {
    return product_across_heads(one, other) + mean_deviation_[static_cast<std::size_t>(one)] +
           mean_deviation_[static_cast<std::size_t>(other)] + mean_square_;
  }
  /// <d_h, d_k>: of the patterns less the mean pattern of all heads.
  [[nodiscard]] double product_across_heads(int one, int other) const noexcept {
    return deviations_[static_cast<std::size_t>(one) * static_cast<std::size_t>(heads_) +
                       static_cast<std::size_t>(other)];
  }
  /// Of the patterns, each less the mean of its own entries. That mean is rows / entries, the same for every head.
  [[nodiscard]] double product_own_mean(int one, int other) const noexcept {
    return product(one, other) -
           sums_[static_cast<std::size_t>(one)] * sums_[static_cast<std::size_t>(other)] / entries_;
  }
  /// A head's weights, the sum over all rows: there are as many rows if each is normalised.
  [[nodiscard]] double sum(int head) const noexcept { return sums_[static_cast<std::size_t>(head)]; }
  /// A head's entropy in nats, the sum over all rows.
  [[nodiscard]] double entropy(int head) const noexcept { return entropies_[static_cast<std::size_t>(head)]; }
  /// A head's entropy in nats, the sum over the last rows.
  [[nodiscard]] double last_entropy(int head) const noexcept { return last_entropies_[static_cast<std::size_t>(head)]; }

private:
  int heads_ = 0;
  double rows_ = 0, last_rows_ = 0, entries_ = 0, mean_square_ = 0;
  std::vector<double> deviations_, mean_deviation_, sums_, entropies_, last_entropies_, deviation_;
};

}  // namespace lindyn::observe
