// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Keys, anchors and answers as vectors: what models that are linear in their input are asked.

#include <string>
#include <string_view>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn::task {

/// An ordered pair of anchors; the first one is applied first.
struct anchor_pair {
  index first = 0;   ///< i
  index second = 0;  ///< j
  /// Whether both are the same pair.
  friend constexpr bool operator==(const anchor_pair&, const anchor_pair&) noexcept = default;
};

/// How a loss adds up over pairs of anchors. It averages over keys either way.
enum class pair_reduction {
  mean,  ///< mean over pairs and keys, as printed by Ali, arXiv 2605.04396
  sum,   ///< sum over pairs: everything is |P| times as fast
};

/// The reduction's name.
[[nodiscard]] constexpr std::string_view name(pair_reduction which) noexcept {
  return which == pair_reduction::mean ? "mean" : which == pair_reduction::sum ? "sum" : std::string_view{};
}

/// For each ordered pair (i, j) of anchors and each key k, which vector y_(k,ij) is the answer. All vectors have `width`
/// entries.
///
/// An answer may be separable, y_(k,ij) = s_ij rho_k: then `couplings` holds s_ij and `rule` holds rho_k. It is what a
/// model can learn whose pairs act by one number each.
struct vector_composition {
  index width = 0;                   ///< d, at least 1
  std::vector<double> keys{};        ///< K x d: e_k
  std::vector<double> anchors{};     ///< A x d: u_i
  std::vector<anchor_pair> pairs{};  ///< P, each once
  std::vector<double> answers{};     ///< |P| x d x K: column k of the matrix of (i, j) is y_(k,ij)
  std::vector<double> couplings{};   ///< |P|: s_ij; empty unless the answers are separable
  std::vector<double> rule{};        ///< d x K: column k is rho_k; empty unless the answers are separable

  /// K; 0 while there is no width.
  [[nodiscard]] index key_count() const noexcept { return vectors_in(keys); }
  /// A; 0 while there is no width.
  [[nodiscard]] index anchor_count() const noexcept { return vectors_in(anchors); }
  /// |P|.
  [[nodiscard]] index pair_count() const noexcept { return static_cast<index>(pairs.size()); }
  /// e_k as rows.
  [[nodiscard]] matrix_view<const double> key_vectors() const noexcept { return {keys.data(), key_count(), width}; }
  /// u_i as rows.
  [[nodiscard]] matrix_view<const double> anchor_vectors() const noexcept {
    return {anchors.data(), anchor_count(), width};
  }
  /// Whether the answers are known to be separable.
  [[nodiscard]] bool separable() const noexcept { return !couplings.empty(); }

private:
  [[nodiscard]] index vectors_in(const std::vector<double>& values) const noexcept {
    return width > 0 ? static_cast<index>(values.size()) / width : 0;
  }
};

/// Makes the answers of a composition whose `couplings` and `rule` are given: y_(k,ij) = s_ij rho_k.
/// Throws shape_error for numbers of them that don't fit.
inline void make_separable_answers(vector_composition& what) {
  require(what.width >= 1, "width", what.width, "at least 1");
  require_extent("couplings.size()", what.couplings.size(), what.pairs.size());
  require_extent("rule.size()", what.rule.size(), what.keys.size());
  what.answers.clear();
  for (const double coupling : what.couplings)
    for (const double entry : what.rule) what.answers.push_back(coupling * entry);
}

/// Throws argument_error, naming the member, for sizes that don't fit, anchors that aren't there, a pair that is there
/// twice, answers that aren't what `couplings` and `rule` say; non_finite_error for such numbers.
inline void require_valid(const vector_composition& what) {
  require(what.width >= 1, "width", what.width, "at least 1");
  const auto vectors = [&](std::string_view name, const std::vector<double>& values) {
    require(!values.empty() && static_cast<index>(values.size()) % what.width == 0, name, values.size(),
            "a multiple of the width, and not 0");
    require_finite(name, values);
  };
  vectors("keys", what.keys);
  vectors("anchors", what.anchors);
  require(!what.pairs.empty(), "pairs.size()", what.pairs.size(), "at least 1");
  std::vector<char> seen(static_cast<std::size_t>(what.anchor_count() * what.anchor_count()));
  for (const auto& [first, second] : what.pairs) {
    for (const index anchor : {first, second})
      require(anchor >= 0 && anchor < what.anchor_count(), "pairs", anchor, "numbers of anchors");
    char& here = seen[static_cast<std::size_t>(first * what.anchor_count() + second)];
    require(here == 0, "pairs", std::to_string(first) + ", " + std::to_string(second), "each pair once");
    here = 1;
  }
  require_extent("answers.size()", what.answers.size(), what.pair_count() * static_cast<index>(what.keys.size()));
  require_finite("answers", what.answers);
  if (!what.separable() && what.rule.empty()) return;
  vector_composition separable = what;
  make_separable_answers(separable);
  require(separable.answers == what.answers, "answers", "others", "couplings x rule where these are given");
}

}  // namespace lindyn::task
