// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Continuations that a network writes itself, token by token.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::model {

/// Options of decode_greedily.
struct decoding_options {
  int end = task::no_answer;  ///< the token behind which nothing is written; no_answer: there is none
  int most = 50;              ///< tokens that are written at most, the end among them
  index block = 256;          ///< sequences that are evaluated at once
};

/// What a causal network writes behind its prompts: each time the token with the largest logit (the first of equals), which
/// it then reads, up to the end, to `most` tokens, or to the last place of its context, whichever comes first. Outputs are
/// read as tokens of the same number.
///
/// Prompts are evaluated together, whatever their lengths, equal beginnings once, and those that have ended no more; but each
/// token takes an evaluation of all that is before it. To count exact matches, `evaluate_sequences` is faster.
///
///     const auto written = model::decode_greedily(net, weights, prompts, {.end = population::scan_token::end}, memory);
///
/// \param net      as prenorm_transformer
/// \param weights  its weights
/// \param prompts  tokens of each, at least one and at most the context
/// \param options  see decoding_options
/// \param memory   that evaluations reuse
/// \return of each prompt the tokens that follow, with the end where it was reached
/// Throws argument_error for a network that isn't causal, or whose outputs aren't all tokens, for prompts that are empty or
/// longer than the context, for fewer than one token to be written or an end that is none; otherwise as the network does.
template <class Net>
[[nodiscard]] std::vector<std::vector<int>> decode_greedily(const Net& net,
                                                            std::span<const typename Net::scalar> weights,
                                                            std::span<const std::vector<int>> prompts,
                                                            const decoding_options& options,
                                                            typename Net::workspace& memory) {
  const auto& shape = net.shape();
  require(shape.causal, "net", "not causal", "one whose places see nothing behind them");
  require(shape.outputs <= shape.vocabulary, "net.shape().outputs", shape.outputs,
          "at most vocabulary = " + std::to_string(shape.vocabulary) + ", as the network reads what it writes");
  require(options.most >= 1, "most", options.most, "at least 1");
  require(options.block >= 1, "block", options.block, "at least 1");
  require(options.end == task::no_answer || (options.end >= 0 && options.end < shape.outputs), "end", options.end,
          "an output, below " + std::to_string(shape.outputs) + ", or no_answer (-1)");
  for (const auto& prompt : prompts)
    require(!prompt.empty() && static_cast<index>(prompt.size()) <= shape.context, "prompts", prompt.size(),
            "tokens, at least 1 and at most context = " + std::to_string(shape.context));

  std::vector<std::vector<int>> written(prompts.size());
  std::vector<std::size_t> open(prompts.size());  // those that go on
  std::iota(open.begin(), open.end(), std::size_t{0});
  std::vector<int> answers;
  while (!open.empty()) {
    const auto length_of = [&](std::size_t i) { return prompts[i].size() + written[i].size(); };
    std::size_t longest = 0;
    for (const std::size_t i : open) longest = std::max(longest, length_of(i));
    std::vector<int> tokens, asked;
    for (const std::size_t i : open) {
      const std::size_t begin = tokens.size();
      tokens.insert(tokens.end(), prompts[i].begin(), prompts[i].end());
      tokens.insert(tokens.end(), written[i].begin(), written[i].end());
      tokens.resize(begin + longest, 0);  // nobody sees what is behind
      asked.resize(begin + longest, task::no_answer);
      asked[begin + length_of(i) - 1] = 0;  // whatever: it is the logits that count
    }
    const task::sequence_set set({shape.vocabulary, shape.outputs, static_cast<int>(longest)}, std::move(tokens),
                                 std::move(asked));
    net.answer(weights, set, answers, memory, options.block);
    for (std::size_t i = 0; i < open.size(); ++i) written[open[i]].push_back(answers[i]);
    std::erase_if(open, [&](std::size_t i) {
      return written[i].back() == options.end || static_cast<int>(written[i].size()) == options.most ||
             static_cast<index>(length_of(i)) > shape.context;
    });
  }
  return written;
}

}  // namespace lindyn::model
