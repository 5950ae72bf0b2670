// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include <lindyn/model/prenorm_initialisation.hpp>
#include <lindyn/model/prenorm_shape.hpp>

using lindyn::argument_error;
using lindyn::model::initial_weights;
using lindyn::model::initialisation;
using lindyn::model::initialisation_rule;
using lindyn::model::parameter_count;
using lindyn::model::prenorm_parameters;
using lindyn::model::prenorm_shape;

namespace {

constexpr prenorm_shape regimes{
    .vocabulary = 98, .outputs = 97, .context = 3, .width = 128, .heads = 8, .layers = 4, .hidden = 512};
static_assert(parameter_count(regimes) == 818'785);  // Verma, arXiv 2605.20441

constexpr prenorm_shape small{
    .vocabulary = 7, .outputs = 7, .context = 4, .width = 12, .heads = 3, .layers = 2, .hidden = 10};

prenorm_shape with(auto change) {
  prenorm_shape shape = small;
  change(shape);
  return shape;
}

std::string refused(auto&& call) {
  try {
    call();
  } catch (const argument_error& error) {
    return error.argument();
  }
  return "nothing";
}

}  // namespace

TEST_CASE(
    "the parameters of a pre-norm transformer have the names, extents and alignment of its table, and their number is "
    "known") {
  for (const prenorm_shape& shape :
       {small, regimes, with([](auto& s) { s.biases = false; }), with([](auto& s) { s.key_bias = false; }),
        with([](auto& s) { s.tied_head = true; }), with([](auto& s) { s.biases = false, s.tied_head = true; })}) {
    lindyn::index entries = 0, end = 0;
    for (const auto& which : prenorm_parameters(shape)) {
      CHECK(which.offset % 16 == 0);
      CHECK(which.offset >= end);
      end = which.offset + which.size();
      entries += which.size();
    }
    CHECK(entries == parameter_count(shape));
  }
  std::string names;
  for (const auto& which : prenorm_parameters(with([](auto& s) { s.layers = 1; })))
    names += which.name +
             (which.vector ? " " : "(" + std::to_string(which.rows) + "x" + std::to_string(which.columns) + ") ");
  CHECK(names ==
        "tok_emb(7x12) pos_emb(4x12) blocks.0.ln1.weight blocks.0.ln1.bias blocks.0.attn.q.weight(12x12) "
        "blocks.0.attn.q.bias blocks.0.attn.k.weight(12x12) blocks.0.attn.k.bias blocks.0.attn.v.weight(12x12) "
        "blocks.0.attn.v.bias blocks.0.attn.o.weight(12x12) blocks.0.attn.o.bias blocks.0.ln2.weight blocks.0.ln2.bias "
        "blocks.0.mlp.fc1.weight(10x12) blocks.0.mlp.fc1.bias blocks.0.mlp.fc2.weight(12x10) blocks.0.mlp.fc2.bias "
        "ln_f.weight ln_f.bias head.weight(7x12) head.bias ");
}

TEST_CASE("shapes and starts that make no sense are refused by the name of what is wrong") {
  const auto shape_refused = [](auto change) { return refused([&] { (void)prenorm_parameters(with(change)); }); };
  CHECK(shape_refused([](auto& s) { s.heads = 5; }) == "shape.width");
  CHECK(shape_refused([](auto& s) { s.vocabulary = 0; }) == "shape.vocabulary");
  CHECK(shape_refused([](auto& s) { s.outputs = -1; }) == "shape.outputs");
  CHECK(shape_refused([](auto& s) { s.context = 0; }) == "shape.context");
  CHECK(shape_refused([](auto& s) { s.width = 0; }) == "shape.width");
  CHECK(shape_refused([](auto& s) { s.heads = 0; }) == "shape.heads");
  CHECK(shape_refused([](auto& s) { s.layers = 0; }) == "shape.layers");
  CHECK(shape_refused([](auto& s) { s.layers = 4097; }) == "shape.layers");
  CHECK(shape_refused([](auto& s) { s.hidden = 1 << 25; }) == "shape.hidden");
  CHECK(shape_refused([](auto& s) { s.activation = static_cast<lindyn::backend::activation>(7); }) ==
        "shape.activation");
  CHECK(shape_refused([](auto& s) { s.tied_head = true, s.outputs = 6; }) == "shape.outputs");
  CHECK(shape_refused([](auto& s) { s.width = s.hidden = 1 << 24, s.layers = 4096, s.heads = 1; }) == "shape");
  CHECK(shape_refused([](auto&) {}) == "nothing");

  const auto start_refused = [](const initialisation& options) {
    return refused([&] { (void)initial_weights<float>(small, options); });
  };
  CHECK(start_refused({.gamma = -1}) == "initialisation.gamma");
  CHECK(start_refused({.gamma = NAN}) == "initialisation.gamma");
  CHECK(start_refused({.embedding_scale = -1}) == "initialisation.embedding_scale");
  CHECK(start_refused({.rule = static_cast<initialisation_rule>(9)}) == "initialisation.rule");
  CHECK(refused([] { (void)lindyn::parse<initialisation_rule>("xavier", "rule"); }) == "rule");
}

TEST_CASE("initial weights have the deviations of their rule, zero biases and unit gains") {
  constexpr prenorm_shape wide{
      .vocabulary = 200, .outputs = 90, .context = 40, .width = 64, .heads = 2, .layers = 2, .hidden = 100};
  const auto table = prenorm_parameters(wide);
  const auto compare = [&](const initialisation& options, auto&& expected) {
    const auto weights = initial_weights<double>(wide, options);
    for (const auto& which : table) {
      CAPTURE(which.name);
      const auto values = table.view(which, std::span<const double>(weights));
      double sum = 0, squares = 0;
      for (const double value : values) sum += value, squares += value * value;
      const auto count = static_cast<double>(which.size());
      if (which.vector) {
        const double constant = which.name.ends_with("weight") ? 1 : 0;
        CHECK(sum == constant * count);
        CHECK(squares == constant * count);
      } else {  // standard errors: of the mean scale / sqrt(count), of the deviation scale / sqrt(2 count); five of them
        const double scale = expected(which);
        CHECK(std::abs(sum / count) < 5 * scale / std::sqrt(count));
        CHECK(std::sqrt(squares / count) == doctest::Approx(scale).epsilon(5 / std::sqrt(2 * count)));
      }
    }
  };
  const auto embedding = [](const auto& which) { return which.name.ends_with("_emb"); };
  const auto inputs = [](const auto& which) { return static_cast<double>(which.columns); };
  compare({.rule = initialisation_rule::scaled, .gamma = 0.7, .embedding_scale = 0.1},
          [&](const auto& which) { return embedding(which) ? 0.1 : 0.7 / std::sqrt(inputs(which)); });
  compare({.rule = initialisation_rule::exponent, .gamma = 0.8, .embedding_scale = 0.3},
          [&](const auto& which) { return embedding(which) ? 0.3 : std::pow(inputs(which), -0.8); });
  compare({.rule = initialisation_rule::gpt2, .seed = 3}, [&](const auto& which) {
    const bool adds = which.name.ends_with("attn.o.weight") || which.name.ends_with("fc2.weight");
    return adds ? 0.01 : 0.02;
  });
}

TEST_CASE(
    "initial weights are a function of seed, tensor and place alone: float is rounded double, biases change nothing") {
  const auto exact = initial_weights<double>(small, {.seed = 5});
  const auto rounded = initial_weights<float>(small, {.seed = 5});
  REQUIRE(exact.size() == rounded.size());
  for (std::size_t place = 0; place < exact.size(); ++place)
    REQUIRE(rounded[place] == static_cast<float>(exact[place]));
  CHECK(exact != initial_weights<double>(small, {.seed = 6}));
  const prenorm_shape bare = with([](auto& s) { s.biases = false; });
  const auto without = initial_weights<double>(bare, {.seed = 5});
  const auto table = prenorm_parameters(small), bare_table = prenorm_parameters(bare);
  for (const auto& which : bare_table) {
    const auto ours = bare_table.view(which, std::span<const double>(without));
    const auto theirs = table.view(which.name, std::span<const double>(exact));
    CHECK(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end()));
  }
  for (const auto rule : {initialisation_rule::scaled, initialisation_rule::exponent, initialisation_rule::gpt2})
    CHECK(lindyn::parse<initialisation_rule>(name(rule), "rule") == rule);
}

TEST_CASE("initial weights share no random bits with the batches of an equal seed") {
  const auto weights = initial_weights<double>(small, {.embedding_scale = 0.5, .seed = 5});
  const auto table = prenorm_parameters(small);
  std::uint64_t matrices = 0;
  for (const auto& which : table) {
    if (which.vector) continue;
    CAPTURE(which.name);
    const double scale = which.name.ends_with("_emb") ? 0.5 : 1 / std::sqrt(static_cast<double>(which.columns));
    const auto first = [&](std::uint64_t stream) {
      lindyn::counter_generator generator(5, stream);
      return scale * lindyn::standard_normal(generator);
    };
    const double weight = weights[static_cast<std::size_t>(which.offset)];
    CHECK(weight == doctest::Approx(first(lindyn::model::weight_stream + matrices++)));
    for (std::uint64_t stream = 0; stream < 20; ++stream)  // of steps and epochs
      CHECK(weight != doctest::Approx(first(stream)));
  }
}
