// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Softmax, cross-entropy and its derivative on the host. Exponentials have the scalar's precision, sums and what is
/// made of them that of double: losses of 1e-9 keep their digits.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include <lindyn/backend/backend.hpp>
#include <lindyn/backend/host_exponential.hpp>
#include <lindyn/backend/host_vector.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/core/worker_pool.hpp>

namespace lindyn::backend::detail::inline LINDYN_VECTORS {

/// Calls use(c, count, done) for the registers that make up `columns` numbers: the `count` from c on, of which the first
/// `done` were in the register before. Only a register of fewer numbers than it has lanes isn't full.
template <class S, class Use>
[[gnu::always_inline]] inline void overlapping_registers(index columns, Use&& use) {
  constexpr index lanes = vectors<S>::lanes;
  index c = 0;
  for (; c + lanes <= columns; c += lanes) use(c, lanes, index(0));
  if (c == columns) return;
  if (columns < lanes)
    use(index(0), columns, index(0));
  else
    use(columns - lanes, lanes, c - (columns - lanes));
}

/// The numbers 0, 1, .. in the lanes of a register.
template <class S>
struct lane_numbers {
  S number[vectors<S>::lanes];
  constexpr lane_numbers() : number() {
    for (int lane = 0; lane < vectors<S>::lanes; ++lane) number[lane] = static_cast<S>(lane);
  }
};

/// The largest number; NaN if the first one is. Others that are NaN are passed over, and show in the sum of exponentials.
template <class S>
S largest_of(const S* numbers, index count) {
  using v = vectors<S>;
  typename v::value largest = v::all(numbers[0]);
  overlapping_registers<S>(count, [&](index c, index wanted, index) {
    if (wanted < v::lanes) {
      for (index i = 0; i < count; ++i) largest[0] = numbers[i] > largest[0] ? numbers[i] : largest[0];
    } else {
      const typename v::value next = v::load(numbers + c);
      largest = next > largest ? next : largest;
    }
  });
  return largest_lane<v::lanes>(largest);
}

/// Puts the share exp(z - top) of every logit z into `shares` if that isn't null, and returns their sum; NaN if there is
/// a logit that isn't finite.
template <class S>
double exponentials(const S* logits, index columns, S top, S* shares) {
  using v = vectors<S>;
  using value = typename v::value;
  using wide = vectors<double>;
  using part = vectors<S, wide::lanes* static_cast<int>(sizeof(S))>;
  static constexpr lane_numbers<S> lane;
  typename wide::value sums = {};
  value nothing = {};  // zero unless a logit is infinite: the share of -infinity wouldn't show
  overlapping_registers<S>(columns, [&](index c, index count, index done) {
    const value z = v::load_some(logits + c, count);
    nothing += z * S(0);
    value share = exponential<S>(z - top);
    if (shares) v::store_some(shares + c, share, count);
    if (done > 0 || count < v::lanes) {
      const value number = v::load(lane.number);
      share = number < static_cast<S>(done) ? value{} : number < static_cast<S>(count) ? share : value{};
    }
    S block[v::lanes];
    v::store(block, share);
    for (int first = 0; first < v::lanes; first += wide::lanes)
      sums += __builtin_convertvector(part::load(block + first), typename wide::value);
  });
  return sum<wide::lanes>(sums) + static_cast<double>(sum<v::lanes>(nothing));
}

/// What a row contributes to answer_score.
struct row_score {
  double loss;
  int correct;
};

/// One row; `weight` is what the derivative is multiplied by, and `derivative` may be null.
template <class S>
row_score cross_entropy_row(const S* logits, index columns, index answer, int count, double weight, S* derivative) {
  const S top = largest_of(logits, columns);
  const double total = exponentials(logits, columns, top, derivative);
  const double loss = std::log(total) + (static_cast<double>(top) - static_cast<double>(logits[answer]));
  int earlier = 0;  // logits as large that stand before the answer's
  for (index c = 0; c < answer; ++c) earlier += logits[c] == top;
  if (derivative) {
    const double rest =
        static_cast<double>(derivative[answer]) - total;  // without it, what is left of 1 - softmax is rounding
    const S factor = static_cast<S>(weight / total);
    for (index c = 0; c < columns; ++c) derivative[c] *= factor;
    derivative[answer] = static_cast<S>(weight * rest / total);
  }
  return {count * loss, std::isfinite(loss) && logits[answer] == top && earlier == 0 ? count : 0};
}

/// Loss, right answers, and their derivative. Chunks have sums of their own, which are added in their order: there are
/// never more than `most` of them.
template <class S>
answer_score cross_entropy(worker_pool& pool, strided_matrix<const S> logits, const index_table& answers,
                           const index_table& counts, double scale, strided_matrix<S> dlogits) {
  constexpr index most = 64;
  const index chunk_rows = std::max<index>(64, (logits.rows + most - 1) / most);
  std::array<answer_score, most> sums{};
  answer_score result;
  for (index r = 0; r < logits.rows; ++r) result.total += counts[r];
  const double share = scale / static_cast<double>(std::max<std::int64_t>(result.total, 1));
  pool.chunks(logits.rows, chunk_rows, [&](index chunk, index begin, index end, int) {
    answer_score& sum = sums[static_cast<std::size_t>(chunk)];
    for (index r = begin; r < end; ++r) {
      const row_score score = cross_entropy_row(logits.row(r), logits.columns, answers[r], counts[r], share * counts[r],
                                                dlogits.data ? dlogits.row(r) : nullptr);
      sum.loss += score.loss;
      sum.correct += static_cast<std::int64_t>(score.correct);
    }
  });
  for (const answer_score& sum : sums) {
    result.loss += sum.loss;
    result.correct += sum.correct;
  }
  return result;
}

}  // namespace lindyn::backend::detail::inline LINDYN_VECTORS
