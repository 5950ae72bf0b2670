// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Parameter groups: which matrices of a network decay, and how much compared with others.

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/enumerators.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/optimizer/decay.hpp>
#include <lindyn/schedule/schedule.hpp>

namespace lindyn::optimizer {

/// Parameters that decay alike.
struct parameter_group {
  std::string name;                        ///< the caller's
  double base_decay = 1;                   ///< the schedule's lambda is multiplied by it, so that 0 stays 0
  std::vector<std::string> matrices = {};  ///< names within the parameter table, vectors too
  std::optional<schedule::schedule> decay_schedule = {};  ///< its own lambda_t, in place of the one of all groups
  /// Whether all members are equal.
  bool operator==(const parameter_group&) const = default;
};

/// Groupings that are usual.
enum class group_preset {
  all_but_embeddings,  ///< everything decays but the embeddings
  matrices_only,  ///< what has two dimensions decays, the embeddings too; biases and the scales of layer norms don't
  everything,     ///< everything decays
};

/// The preset's name.
[[nodiscard]] constexpr std::string_view name(group_preset preset) noexcept {
  switch (preset) {
    case group_preset::all_but_embeddings:
      return "all_but_embeddings";
    case group_preset::matrices_only:
      return "matrices_only";
    case group_preset::everything:
      return "everything";
  }
  return {};
}

/// What the embeddings of our networks are called. Where the head is tied to the first, it is an embedding too.
inline constexpr std::array<std::string_view, 2> embedding_names{"tok_emb", "pos_emb"};

/// The groups of a preset, "decayed" and "undecayed", for any network; a group without parameters is left out.
/// \param table       the network's parameters
/// \param embeddings  names of those parameters that are embeddings, where the table has them
[[nodiscard]] inline std::vector<parameter_group> groups(
    group_preset preset, const parameter_table& table, std::span<const std::string_view> embeddings = embedding_names) {
  require_enumerator("preset", preset);
  std::vector<parameter_group> result{{.name = "decayed", .base_decay = 1}, {.name = "undecayed", .base_decay = 0}};
  for (const parameter& which : table) {
    const bool spared = preset == group_preset::all_but_embeddings
                            ? std::ranges::find(embeddings, which.name) != embeddings.end()
                            : preset == group_preset::matrices_only && which.vector;
    result[spared ? 1 : 0].matrices.push_back(which.name);
  }
  std::erase_if(result, [](const parameter_group& group) { return group.matrices.empty(); });
  return result;
}

/// Decay by groups, as what a step of an optimiser takes:
///
///     optimizer::grouped_decay decay(table, optimizer::groups(preset, table));
///     rule.step(weights, gradient, rate.value(t), decay.at({.rate = lambda.value(t), .mode = mode}, rate.value(t), t));
class grouped_decay {
public:
  /// Entries [begin, end) of the flat buffer, all of one group.
  struct group_range {
    index begin = 0;        ///< the first entry
    index end = 0;          ///< behind the last one
    std::size_t group = 0;  ///< number of the group
  };

  /// \param table   the network's parameters
  /// \param groups  throws argument_error, naming the parameter, if one is in none of them, in two, or unknown; and for
  ///                a negative base_decay
  grouped_decay(const parameter_table& table, std::vector<parameter_group> groups) : groups_(std::move(groups)) {
    std::map<std::string_view, std::size_t> group_of;
    for (std::size_t number = 0; number < groups_.size(); ++number) {
      const parameter_group& group = groups_[number];
      require(group.base_decay >= 0 && group.base_decay <= largest_rate, "base_decay of group '" + group.name + "'",
              group.base_decay, "not negative, and at most 1e6");
      for (const std::string& matrix : group.matrices) {
        (void)table.find(matrix);
        const auto [place, fresh] = group_of.emplace(matrix, number);
        require(fresh, "matrices", matrix,
                "in one group, once; it is in '" + groups_[place->second].name + "' and in '" + group.name + "'");
      }
    }
    for (const parameter& which : table) {
      const auto found = group_of.find(which.name);
      require(found != group_of.end(), "groups", "without '" + which.name + "'", "groups that hold every parameter");
      const index end = which.offset + which.size();
      if (!ranges_.empty() && ranges_.back().group == found->second && ranges_.back().end == which.offset)
        ranges_.back().end = end;
      else
        ranges_.push_back({which.offset, end, found->second});
    }
    factors_.resize(groups_.size());
    decay_.reserve(ranges_.size());
  }

  /// The groups, as they were given.
  [[nodiscard]] const std::vector<parameter_group>& groups() const noexcept { return groups_; }
  /// Which entries belong to which group, in order. Gaps of an aligned table belong to none.
  [[nodiscard]] std::span<const group_range> ranges() const noexcept { return ranges_; }

  /// What decay does to the weights in a step, by ranges: neighbours that decay alike make one, so that the step is the
  /// same whichever groups they are in. Allocates nothing; the result lives until the next call.
  /// \param decay          its mode, and the rate of groups without a schedule of their own; base decays multiply either
  /// \param learning_rate  of the step
  /// \param step           its number, at which groups' own schedules are taken
  /// Throws argument_error as `factors` does, naming the group.
  [[nodiscard]] std::span<const range_decay> at(const weight_decay& decay, double learning_rate, index step) {
    for (std::size_t group = 0; group < groups_.size(); ++group)
      factors_[group] = factors_of(groups_[group], decay, learning_rate, step);
    decay_.clear();
    for (const auto& [begin, end, group] : ranges_)
      if (!decay_.empty() && decay_.back().end == begin && decay_.back().factors == factors_[group])
        decay_.back().end = end;
      else
        decay_.push_back({begin, end, factors_[group]});
    return decay_;
  }

private:
  [[nodiscard]] static decay_factors factors_of(const parameter_group& group, weight_decay decay, double learning_rate,
                                                index step) {
    const double rate = group.decay_schedule ? group.decay_schedule->value(step) : decay.rate;
    decay.rate = rate * group.base_decay;
    try {
      return factors(decay, learning_rate);
    } catch (const argument_error& fault) {
      if (fault.argument() != "decay.rate") throw;
      throw argument_error(
          "decay.rate of group '" + group.name + "'", lindyn::detail::to_text(rate),
          fault.allowed() + ", when base_decay = " + lindyn::detail::to_text(group.base_decay) + " has multiplied it");
    }
  }

  std::vector<parameter_group> groups_;
  std::vector<group_range> ranges_;
  std::vector<decay_factors> factors_;
  std::vector<range_decay> decay_;
};

}  // namespace lindyn::optimizer
