// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Sizes as types: they name the template arguments of tasks and networks, as in `attention_only<layers<2>, heads<1>>`.

namespace lindyn {

/// Stands for a size that is known only at run time (as Eigen::Dynamic does).
inline constexpr int dynamic = -1;

/// Number of attention layers L.
template <int L>
struct layers {
  static_assert(L >= 1 || L == dynamic, "lindyn: a network needs at least one layer; write layers<1> or more.");
  static constexpr int value = L;  ///< L
};

/// Number of heads H in every layer.
template <int H>
struct heads {
  static_assert(H >= 1 || H == dynamic, "lindyn: a layer needs at least one head; write heads<1> or more.");
  static constexpr int value = H;  ///< H
};

/// Tokens k of a block: k - 1 keys and the token that follows them.
template <int K>
struct block {
  static_assert(K >= 2, "lindyn: a block needs at least two tokens, a key and the token that follows it.");
  static constexpr int value = K;  ///< k
};

/// \{
/// Whether a type is `layers<L>`, or `heads<H>`.
template <class T>
inline constexpr bool is_layers = false;
template <int L>
inline constexpr bool is_layers<layers<L>> = true;
template <class T>
inline constexpr bool is_heads = false;
template <int H>
inline constexpr bool is_heads<heads<H>> = true;
/// \}

/// (heads + 1)^layers, the number of copies of its input that the stream holds behind so many layers.
[[nodiscard]] constexpr int copies(int layers, int heads) noexcept {
  int result = 1;
  for (int layer = 0; layer < layers; ++layer) result *= heads + 1;
  return result;
}

}  // namespace lindyn
