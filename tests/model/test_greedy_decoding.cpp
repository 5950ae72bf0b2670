// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>
#include <vector>

#include <lindyn/backend/host.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/exact_match.hpp>
#include <lindyn/model/greedy_decoding.hpp>
#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_transformer.hpp>

#include "../complaint.hpp"

using lindyn::model::decode_greedily;
using lindyn::model::evaluate_sequences;
using lindyn::model::prenorm_shape;
using lindyn::task::no_answer;
using lindyn::task::sequence_set;
using lindyn::testing::complaint;

namespace {

using network = lindyn::model::prenorm_transformer<double>;
using texts = std::vector<std::vector<int>>;

constexpr prenorm_shape shape{
    .vocabulary = 7, .outputs = 5, .context = 12, .width = 8, .heads = 2, .layers = 2, .hidden = 8};
constexpr int end = 4;

std::vector<double> random_weights() {
  return lindyn::model::initial_weights<double>(shape, {.gamma = 1.5, .embedding_scale = 1, .seed = 5});
}

/// Prompts of 1 to 6 tokens, some of them the same.
texts random_prompts(int count) {
  lindyn::counter_generator generator(3);
  const auto draw = [&](int size) { return static_cast<int>(lindyn::uniform_index(generator, size)); };
  texts result(static_cast<std::size_t>(count));
  for (auto& prompt : result)
    for (int length = 1 + draw(6); length > 0; --length) prompt.push_back(draw(shape.vocabulary));
  return result;
}

TEST_CASE("a network goes on as its largest logits say, one prompt and one token at a time") {
  const network net(shape);
  const auto weights = random_weights();
  network::workspace memory, plain_memory(lindyn::backend::host(), lindyn::model::no_savings);
  const texts prompts = random_prompts(40);
  const texts written = decode_greedily(net, weights, prompts, {.end = end, .most = 8, .block = 16}, memory);
  REQUIRE(written.size() == prompts.size());
  std::size_t ended = 0, most = 0, full = 0, others = 0;
  std::set<int> tokens;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    std::vector<int> seen = prompts[i];
    for (const int token : written[i]) {
      std::vector<int> asked(seen.size(), no_answer);
      asked.back() = 0;
      const sequence_set one({shape.vocabulary, shape.outputs, static_cast<int>(seen.size())}, seen, asked);
      const auto logits = net.logits(weights, one, std::vector<int>{0}, plain_memory);
      CHECK(token == std::ranges::max_element(logits) - logits.begin());
      seen.push_back(token);
    }
    tokens.insert(written[i].begin(), written[i].end());
    CHECK(std::ranges::count(written[i], end) == (written[i].back() == end ? 1 : 0));  // nothing behind an end
    if (written[i].back() == end)
      ++ended;
    else if (written[i].size() == 8)
      ++most;
    else if (seen.size() == 13)
      ++full;  // the last token of which can't be read any more
    else
      ++others;
  }
  CHECK(others == 0);
  CHECK(std::min({ended, most, full}) > 0);  // each way to stop occurs
  CHECK(tokens.size() == 5);
}

TEST_CASE("the sequences matched when they are read are those that the network writes itself") {
  const network net(shape);
  const auto weights = random_weights();
  network::workspace memory;
  const texts prompts = random_prompts(40);
  const texts written = decode_greedily(net, weights, prompts, {.end = end, .most = 6}, memory);
  // What is expected is what is written, but for every third: one of its tokens is another one there.
  texts expected = written;
  for (std::size_t i = 0; i < expected.size(); i += 3) {
    int& token = expected[i][i % expected[i].size()];
    token = (token + 1) % shape.outputs;
  }
  std::vector<int> tokens, answers;
  lindyn::index asked = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto size = tokens.size(), length = static_cast<std::size_t>(shape.context);
    tokens.insert(tokens.end(), prompts[i].begin(), prompts[i].end());
    tokens.insert(tokens.end(), expected[i].begin(), expected[i].end() - 1);
    tokens.resize(size + length, 0);
    answers.resize(size + prompts[i].size() - 1, no_answer);
    answers.insert(answers.end(), expected[i].begin(), expected[i].end());
    answers.resize(size + length, no_answer);
    asked += static_cast<lindyn::index>(expected[i].size());
  }
  const sequence_set set({shape.vocabulary, shape.outputs, shape.context}, tokens, answers);
  const auto found = evaluate_sequences(net, weights, set, memory, 16);
  CHECK(found.sequences == 40);
  CHECK(found.matched == 26);  // of 40, numbers 0, 3, .., 39 aren't what is written
  CHECK(found.exact_match() == 26 / 40.0);
  CHECK(found.places.total == asked);
  CHECK(found.places == net.loss(weights, set, memory, 16));
  CHECK(found.places.correct < asked);
}

TEST_CASE("networks that can't read what they write, and prompts that don't fit, are refused by name") {
  const auto refused = [](auto change, const texts& prompts, const lindyn::model::decoding_options& options) {
    prenorm_shape other = shape;
    change(other);
    const network net(other);
    const auto weights = lindyn::model::initial_weights<double>(other, {});
    network::workspace memory;
    return complaint([&] { (void)decode_greedily(net, weights, prompts, options, memory); });
  };
  const auto same = [](prenorm_shape&) {};
  const auto names = [](const std::string& text, const char* name) { return text.find(name) != std::string::npos; };
  CHECK(names(refused([](prenorm_shape& s) { s.causal = false; }, {{1}}, {}), "not causal"));
  CHECK(names(refused([](prenorm_shape& s) { s.outputs = 8; }, {{1}}, {}), "outputs = 8"));
  CHECK(names(refused(same, {{1}, {}}, {}), "prompts = 0"));
  CHECK(names(refused(same, {std::vector<int>(13, 1)}, {}), "prompts = 13"));
  CHECK(names(refused(same, {{9}}, {}), "tokens = 9"));
  CHECK(names(refused(same, {{1}}, {.end = 5}), "end = 5"));
  CHECK(names(refused(same, {{1}}, {.most = 0}), "most = 0"));
}

}  // namespace
