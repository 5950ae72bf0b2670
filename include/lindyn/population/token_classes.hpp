// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Common and rare tokens, and how the tokens of pairs are drawn from them: `distinct_pairs` and `matched_pairs`.

#include <algorithm>
#include <string>
#include <utility>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/block_list.hpp>
#include <lindyn/population/pool.hpp>
#include <lindyn/symmetry/structure.hpp>

namespace lindyn::population {

/// A second class of tokens: the last rare_vocabulary of the vocabulary, which have no partners. The others are common.
struct rare_class {
  double rare = 0;          ///< f_r, probability that all tokens of a pair are rare, for each pair independently
  int rare_vocabulary = 0;  ///< V_r, rare tokens; 0: there is no such class
};

namespace detail {

/// The tokens of a block list, class by class.
class token_classes {
public:
  /// \param matched  whether common tokens come in couples
  /// \param least    the number of common tokens that is needed if any are drawn
  /// \param why      what they are needed for
  /// Throws argument_error, naming what isn't allowed, if there are too few tokens of a class.
  token_classes(const block_list& list, const rare_class& rare, bool matched, int least, const std::string& why)
      : rare_(rare), vocabulary_(list.vocabulary) {
    require_probability("rare", rare.rare);
    const int drawn = rare.rare > 0 ? list.different_pairs() * list.block : 0;
    const int least_rare = rare.rare > 0 || rare.rare_vocabulary != 0 ? std::max(3, drawn) : 0;
    require(rare.rare_vocabulary >= least_rare && rare.rare_vocabulary <= 1'000'000, "rare_vocabulary",
            rare.rare_vocabulary,
            "at least " + std::to_string(least_rare) + " (and at most 1000000), for " + std::to_string(drawn) +
                " distinct rare tokens");
    const std::string beside =
        rare.rare_vocabulary > 0 ? " beside rare_vocabulary = " + std::to_string(rare.rare_vocabulary) : "";
    require(!matched || common() % 2 == 0, "vocabulary", list.vocabulary,
            "even" + beside + ", as tokens are matched in couples");
    const int group = matched ? 4 : 3, all = std::max(group, rare.rare < 1 ? least : 0);
    require(common() >= all, "vocabulary", list.vocabulary,
            "at least " + std::to_string(all) + beside + ", for " + why);
  }

  /// V_c = V - V_r, common tokens: 0 .. V_c - 1.
  [[nodiscard]] int common() const noexcept { return vocabulary_ - rare_.rare_vocabulary; }
  /// Whether a token is a rare one.
  [[nodiscard]] bool is_rare(int token) const noexcept { return token >= common(); }
  /// The symmetry of all tokens, from that of the common ones: rare tokens are permuted independently.
  [[nodiscard]] symmetry::structure structure(symmetry::structure of_common) const {
    if (rare_.rare_vocabulary == 0) return of_common;
    return symmetry::direct_sum({{std::move(of_common), "c"}, {symmetry::full_symmetric(rare_.rare_vocabulary), "r"}});
  }

  /// The pools of both classes while a sequence is drawn.
  struct pools {
    pool& common;
    pool* rare;  ///< none without a rare class
  };
  /// Full pools; `of_common` are those of the common tokens that may be drawn.
  template <class Choices>
  [[nodiscard]] pools full(Choices& choose, const integer_class& of_common) const {
    if (rare_.rare_vocabulary == 0) return {choose.tokens(of_common), nullptr};
    return {choose.tokens(of_common), &choose.tokens({common(), vocabulary_})};
  }
  /// The pool of the next pair.
  template <class Choices>
  [[nodiscard]] pool& of_next_pair(Choices& choose, const pools& from) const {
    return from.rare != nullptr && choose.chance(rare_.rare) ? *from.rare : from.common;
  }

private:
  rare_class rare_;
  int vocabulary_;
};

/// All tokens of all pairs are distinct and uniform over their class, drawn pair by pair.
class distinct_pairs {
public:
  explicit distinct_pairs(const token_classes& classes) : classes_(classes) {}

  template <class Choices>
  void operator()(pair_writer<Choices>& write) const {
    const auto unused = classes_.full(write.choose(), {0, classes_.common()});
    for (int pair = 0; pair < write.pairs(); ++pair) {
      pool& from = classes_.of_next_pair(write.choose(), unused);
      for (int r = 0; r < write.block(); ++r) write.draw(pair, r, from);
    }
  }

private:
  token_classes classes_;
};

/// Common tokens are matched in couples (2i, 2i + 1), C(v) being the partner of v. First the keys of all pairs: common
/// ones of distinct couples, uniform over a class of keys. Then the labels of all pairs in order: that of a common item
/// is C(item) with probability 1 - within_class, else uniform over the class of labels but for keys, earlier labels and
/// C(item); it may be the partner of another item, and so be repeated by a later stored label. A distractor's label is
/// never C(item). All tokens of a rare pair are distinct and uniform over the rare ones.
class matched_pairs {
public:
  /// \param keys,labels    the classes of common tokens that keys and labels are drawn from
  /// \param within_class   probability that a label isn't the item's partner
  matched_pairs(const token_classes& classes, const integer_class& keys, const integer_class& labels,
                double within_class)
      : classes_(classes), keys_(keys), labels_(labels), within_class_(within_class) {}

  /// f_v.
  [[nodiscard]] double within_class() const noexcept { return within_class_; }

  template <class Choices>
  void operator()(pair_writer<Choices>& write) const {
    const int label = write.block() - 1;
    const auto keys = classes_.full(write.choose(), keys_);
    for (int pair = 0; pair < write.pairs(); ++pair) {
      pool& from = classes_.of_next_pair(write.choose(), keys);
      for (int r = 0; r < label; ++r) {
        const int key = write.draw(pair, r, from);
        if (!classes_.is_rare(key)) from.remove(partner(key));
      }
    }
    const auto unused = classes_.full(write.choose(), labels_);
    const auto of = [&](int token) -> pool& { return classes_.is_rare(token) ? *unused.rare : unused.common; };
    for (int pair = 0; pair < write.pairs(); ++pair)
      for (int r = 0; r < label; ++r) of(write.token(pair, r)).remove(write.token(pair, r));
    for (int pair = 0; pair < write.pairs(); ++pair) {
      const int item = write.token(pair, label - 1);
      if (classes_.is_rare(item))
        write.draw(pair, label, *unused.rare);
      else
        draw_label(write, pair, partner(item), unused.common);
    }
  }

private:
  [[nodiscard]] static constexpr int partner(int token) noexcept { return symmetry::matching::partner(token); }

  template <class Choices>
  void draw_label(pair_writer<Choices>& write, int pair, int stored, pool& unused) const {
    const int label = write.block() - 1;
    if (!write.is_distractor(pair) && write.choose().chance(1 - within_class_)) {
      unused.remove(write.set(pair, label, stored));
      return;
    }
    const auto removals = unused.removals();
    unused.remove(stored);
    const int varied = write.draw(pair, label, unused);
    unused.restore(removals);
    unused.remove(varied);
  }

  token_classes classes_;
  integer_class keys_, labels_;
  double within_class_;
};

}  // namespace detail
}  // namespace lindyn::population
