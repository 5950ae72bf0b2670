// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Products with the patterns P_c of all paths c through the attention layers, without forming any P_c.
///
/// Behind l layers the stream holds (H+1)^l copies P_c X_0 of its input, where P_c is a product of attention patterns
/// and c = sum_m h_m (H+1)^(m-1) says which head of layer m it runs through (0: none). As P_{c + h (H+1)^(m-1)} =
/// P_c A_mh for every multiple c of (H+1)^m, sums over all paths need one product for each path and nothing else:
///
///     rows       fold u_d += A_mh u_{d + ..}            leaves sum_d P_d u_d in u_0
///                push p_{c + ..} = p_c A_mh             leaves p_0 P_c in p_c: each the other's adjoint
///     relations  query side  F_c += A_mh F_{c + ..}     leaves sum_c P_c F_cd in F_0d
///                key side    F_0d += F_0{d + ..} A_mh'  leaves sum_cd P_c F_cd P_d' in F_00
///
/// Backward passes run the same steps in reverse order: dF_{c + ..} = A_mh' dF_c, dA_mh += dF_c F_{c + ..}'.

#include <algorithm>

#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/model/attention_only/group_state.hpp>
#include <lindyn/model/attention_only/lanes.hpp>

namespace lindyn::model::detail::inline LINDYN_VECTORS {

/// Where a path starts: at a row p_0 of weights, or at the last place alone, whose unit vector isn't stored.
enum class path_start { row, last_place };

/// From p_0 all p_c = p_0 P_c.
template <class Scalar>
void push_rows(const group_state<Scalar>& state, lane_entry<Scalar>* p, path_start start) {
  const index n = state.length, copies = state.copies();
  for (int level = state.layers; level-- > 0;)
    for (index from = 0; from < copies; from += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head) {
        const auto* const a = state.pattern(level, head);
        auto* const to = p + (from + (head + 1) * state.reach(level)) * n;
        if (start == path_start::last_place && from == 0)
          std::copy_n(a + (n - 1) * n, n, to);
        else
          lane_product<false>(1, n, n, to, n, {p + from * n, 0, 1}, {a, 1, n}, {.from_column = true});
      }
}

/// Turns the derivatives by all p_c into that by p_0 (if it is a row), and adds those by the patterns.
template <class Scalar>
void push_rows_backward(const group_state<Scalar>& state, const lane_entry<Scalar>* p, lane_entry<Scalar>* d,
                        path_start start) {
  const index n = state.length, copies = state.copies();
  for (int level = 0; level < state.layers; ++level)
    for (index from = 0; from < copies; from += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head) {
        const auto* const d_to = d + (from + (head + 1) * state.reach(level)) * n;
        auto* const d_a = state.d_pattern(level, head);
        if (start == path_start::last_place && from == 0) {
          for (index k = 0; k < n; ++k) d_a[(n - 1) * n + k] += d_to[k];
          continue;
        }
        lane_product<true>(1, n, n, d + from * n, n, {d_to, 0, 1}, {state.pattern(level, head), n, 1},
                           {.to_column = true});
        lane_product<true>(n, n, 1, d_a, n, {p + from * n, 1, 0}, {d_to, 1, 0}, {.lower = true});
      }
}

/// From all u_d their sum_d P_d u_d, in u_0.
template <class Scalar>
void fold_rows(const group_state<Scalar>& state, lane_entry<Scalar>* u) {
  const index n = state.length, copies = state.copies();
  for (int level = 0; level < state.layers; ++level)
    for (index to = 0; to < copies; to += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head)
        lane_product<true>(1, n, n, u + to * n, n, {u + (to + (head + 1) * state.reach(level)) * n, 0, 1},
                           {state.pattern(level, head), n, 1}, {.to_column = true});
}

/// From the derivative by the sum (in d_0) those by all u_d, and adds those by the patterns; u is as fold_rows left it.
template <class Scalar>
void fold_rows_backward(const group_state<Scalar>& state, const lane_entry<Scalar>* u, lane_entry<Scalar>* d) {
  const index n = state.length, copies = state.copies();
  for (int level = state.layers; level-- > 0;)
    for (index to = 0; to < copies; to += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head) {
        const index from = to + (head + 1) * state.reach(level);
        lane_product<false>(1, n, n, d + from * n, n, {d + to * n, 0, 1}, {state.pattern(level, head), 1, n},
                            {.from_column = true});
        lane_product<true>(n, n, 1, state.d_pattern(level, head), n, {d + to * n, 1, 0}, {u + from * n, 1, 0},
                           {.lower = true});
      }
}

/// From all relations F_cd of a layer's head its scores sum_cd P_c F_cd P_d', the lower triangle, in F_00.
template <class Scalar>
void fold_relations(const group_state<Scalar>& state, int layer, const relation_grid<Scalar>& f) {
  const index n = state.length;
  for (int level = 0; level < layer; ++level)
    for (index to = 0; to < f.count; to += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head)
        for (index d = 0; d < f.count; ++d)
          lane_product<true>(n, n, n, f(to, d), n, {state.pattern(level, head), n, 1},
                             {f(to + (head + 1) * state.reach(level), d), 1, n}, {.lower = to == 0, .to_row = true});
  for (int level = 0; level < layer; ++level)
    for (index to = 0; to < f.count; to += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head)
        lane_product<true>(n, n, n, f(0, to), n, {f(0, to + (head + 1) * state.reach(level)), n, 1},
                           {state.pattern(level, head), n, 1}, {.lower = true, .to_column = true});
}

/// From the derivative by the scores, in d_f(0, 0), those by all F_cd, and adds those by the patterns of the layers
/// below; f is as fold_relations left it. Of the derivatives by the F_0d the lower triangle alone is meant.
/// \param d_f d_f(c, d) is where the n x n derivative by F_cd lies
template <class Scalar, class Derivatives>
void fold_relations_backward(const group_state<Scalar>& state, int layer, const relation_grid<Scalar>& f,
                             const Derivatives& d_f) {
  const index n = state.length;
  for (int level = layer; level-- > 0;)
    for (index to = 0; to < f.count; to += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head) {
        const index from = to + (head + 1) * state.reach(level);
        lane_product<false>(n, n, n, d_f(0, from), n, {d_f(0, to), n, 1}, {state.pattern(level, head), 1, n},
                            {.lower = true, .from_column = true, .to_row = true});
        lane_product<true>(n, n, n, state.d_pattern(level, head), n, {d_f(0, to), 1, n}, {f(0, from), 1, n},
                           {.lower = true, .from_row = true});
      }
  for (int level = layer; level-- > 0;)
    for (index to = 0; to < f.count; to += state.reach(level + 1))
      for (int head = 0; head < state.heads; ++head)
        for (index d = 0; d < f.count; ++d) {
          const index from = to + (head + 1) * state.reach(level);
          const bool causal = to == 0;  // the derivatives by F_0d vanish above the diagonal
          lane_product<false>(n, n, n, d_f(from, d), n, {state.pattern(level, head), 1, n}, {d_f(to, d), 1, n},
                              {.from_row = true, .from_column = causal});
          lane_product<true>(n, n, n, state.d_pattern(level, head), n, {d_f(to, d), n, 1}, {f(from, d), n, 1},
                             {.lower = true, .to_row = causal});
        }
}

}  // namespace lindyn::model::detail::inline LINDYN_VECTORS
