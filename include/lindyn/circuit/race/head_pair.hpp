// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Pairs of heads that may form a circuit, and where its coordinates stand on the manifold.

#include <array>
#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/sizes.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/labels.hpp>
#include <lindyn/manifold/layout.hpp>

namespace lindyn::circuit {

/// An attention head.
struct head {
  int layer = 1;   ///< 1 .. L
  int number = 0;  ///< 0 .. H - 1
  /// Whether both are the same head.
  friend constexpr bool operator==(const head&, const head&) noexcept = default;
};

/// What the second head of a pair does with what the first one has brought. The names are those of Elhage et al.,
/// "A mathematical framework for transformer circuits" (2021).
enum class composition {
  key,   ///< its keys hold it: the induction head, which looks for the query among what stood before each place
  query  ///< its query holds it: the pointer, which looks beside the place where the query stood before
};

/// Two heads, the first in an earlier layer, and how the second makes use of the first.
struct head_pair {
  head first;                         ///< brings something to a place
  head second{.layer = 2};            ///< in a later layer; attends by it to the answer
  composition by = composition::key;  ///< how
  /// Whether both are the same heads, used in the same way.
  friend constexpr bool operator==(const head_pair&, const head_pair&) noexcept = default;
};

/// Throws argument_error unless the network has both heads, the first in the earlier layer.
constexpr void require_valid(const manifold::layout& of, const head_pair& pair) {
  const auto refuse = [](const char* argument, int value, int low, int high) {
    if (value < low || value > high)
      require(false, argument, value, "in [" + std::to_string(low) + ", " + std::to_string(high) + "]");
  };
  refuse("first.layer", pair.first.layer, 1, of.layers() - 1);
  refuse("second.layer", pair.second.layer, pair.first.layer + 1, of.layers());
  refuse("first.number", pair.first.number, 0, of.heads() - 1);
  refuse("second.number", pair.second.number, 0, of.heads() - 1);
}

/// All pairs of heads of different layers: first those by key, then those by query, each in the order of the first head
/// and then of the second, heads ordered by layer and number. With three layers of one head: 1-2, 1-3, 2-3 by key, and
/// the same by query.
[[nodiscard]] inline std::vector<head_pair> head_pairs(const manifold::layout& of) {
  std::vector<head_pair> result;
  for (const composition by : {composition::key, composition::query})
    for (int early = 1; early < of.layers(); ++early)
      for (int first = 0; first < of.heads(); ++first)
        for (int late = early + 1; late <= of.layers(); ++late)
          for (int second = 0; second < of.heads(); ++second) result.push_back({{early, first}, {late, second}, by});
  return result;
}

/// The name of a pair: "1-2", with several heads "1a-2b"; by query "1-2 by query".
[[nodiscard]] constexpr manifold::label_text label(const manifold::layout& of, const head_pair& pair) {
  manifold::label_text text;
  manifold::append_head(text, of, pair.first.layer, pair.first.number);
  text += "-";
  manifold::append_head(text, of, pair.second.layer, pair.second.number);
  if (pair.by == composition::query) text += " by query";
  return text;
}

/// Which selections a circuit is made of, among those of tokens and among those of positions.
struct core_selections {
  int token = 0;  ///< the same token: I
  int shift = 1;  ///< one place after: M, which stands behind Ip on slots, and behind M^0 on a ring
};

/// Places of the three coordinates alpha, beta, gamma that make a circuit of a pair, if all others are zero:
///
/// | | by key, the induction head | by query, the pointer |
/// |---|---|---|
/// | alpha | `L_i[x,x]M` the first head attends to the previous place | `L_i[x,x]I` .. to the places of its own token |
/// | beta | `L_j[x,i]I` the second attends where the query's token was brought to | `L_j[i,x]M` .. beside the place whose position was brought to the query |
/// | gamma | `out:j I` what the second head copied is the answer | the same |
///
/// The pointer needs a shift M that leads from an item to its label: that of blocks of two on slots, where M exchanges
/// the two places of a slot. The induction head alone is left with a loss of ln(2) / N, however large its coordinates
/// are: the item in the first place sees itself only, and is found together with its label. Others put that right.
/// Throws argument_error unless require_valid holds, and the selections exist.
[[nodiscard]] constexpr std::array<index, 3> core_places(const manifold::layout& of, const head_pair& pair,
                                                         const core_selections& selections = {}) {
  require_valid(of, pair);
  if (selections.token < 0 || selections.token >= of.token_selections())
    require(false, "selections.token", selections.token, "one of the token selections");
  if (selections.shift < 0 || selections.shift >= of.position_selections())
    require(false, "selections.shift", selections.shift, "one of the position selections");
  const int shift = of.token_selections() + selections.shift;
  const auto copy = [&](const head& by) { return (by.number + 1) * lindyn::copies(by.layer - 1, of.heads()); };
  const bool by_key = pair.by == composition::key;
  const manifold::coordinate alpha{pair.first.layer, pair.first.number, 0, 0, by_key ? shift : selections.token};
  const manifold::coordinate beta{pair.second.layer, pair.second.number, by_key ? 0 : copy(pair.first),
                                  by_key ? copy(pair.first) : 0, by_key ? selections.token : shift};
  const manifold::coordinate gamma{of.layers() + 1, 0, 0, copy(pair.second), selections.token};
  return {of.place(alpha), of.place(beta), of.place(gamma)};
}

/// Whether a copy of the input has passed through a head, among others perhaps.
[[nodiscard]] constexpr bool copied_by(const manifold::layout& of, int copy, const head& by) noexcept {
  return copy / lindyn::copies(by.layer - 1, of.heads()) % (of.heads() + 1) == by.number + 1;
}

/// Places of all coordinates through which the second head makes use of the first: those of its attention weight whose
/// key copy (or query copy, as the pair says) has passed through the first. Copies that have passed through other heads
/// too are among them. Throws as require_valid.
[[nodiscard]] inline std::vector<index> composition_places(const manifold::layout& of, const head_pair& pair) {
  require_valid(of, pair);
  std::vector<index> result;
  const int copies = of.copies(pair.second.layer);
  for (int query = 0; query < copies; ++query)
    for (int key = 0; key < copies; ++key)
      if (copied_by(of, pair.by == composition::key ? key : query, pair.first))
        for (int selection = 0; selection < of.selections(); ++selection)
          result.push_back(of.place({pair.second.layer, pair.second.number, query, key, selection}));
  return result;
}

}  // namespace lindyn::circuit
