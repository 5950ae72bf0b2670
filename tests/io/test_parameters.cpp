// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <lindyn/io/parameters.hpp>

#include "testing.hpp"

using lindyn::argument_error;
using lindyn::file_error;
using lindyn::non_finite_error;
using lindyn::parameter_table;
using lindyn::shape_error;
using lindyn::io::metadata_map;
using lindyn::io::naming;
using lindyn::io::read_parameters;
using lindyn::io::safetensors_file;
using lindyn::io::stored_matrices;
using lindyn::io::tensor_view;
using lindyn::io::write_parameters;
using lindyn::io::write_safetensors;
using namespace lindyn::testing;

namespace {

/// Files that NumPy has written; test_safetensors.cpp says how.
const std::filesystem::path data = std::filesystem::path(LINDYN_TEST_DATA) / "safetensors";

/// Two attention weights of 2 x 2, and a readout of 3 x 2.
parameter_table small_table() {
  parameter_table table;
  table.append("W_KQ.0.0", 2, 2);
  table.append("W_KQ.1.0", 2, 2);
  table.append("W_out", 3, 2);
  return table;
}

/// The weights of that table in table_names.safetensors, and in other_names.safetensors.
const std::vector<double> table_weights{-1,     -0.875,  -0.75,   -0.625,  -1,      -0.875,  -0.75,
                                        -0.625, 1.0 / 1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6};
const std::vector<double> other_weights{-1,     -0.875, -0.75,  -0.625, -1,     -0.875, -0.75,
                                        -0.625, -1,     -0.875, -0.75,  -0.625, -0.5,   -0.375};

/// What other_names.safetensors calls that table's weights: layers from 1, all transposed.
naming other_names() {
  return {.rules = {{.ours = "W_KQ.{layer}.0", .theirs = "blocks.{layer+1}.attention", .transposed = true},
                    {.ours = "W_out", .theirs = "unembedding", .transposed = true}}};
}

/// Why a naming is refused for that table; empty if it isn't.
std::string refusal_of(const naming& names) {
  return message_of<argument_error>([&] { (void)stored_matrices(small_table(), names); });
}

}  // namespace

TEST_CASE("weights are read by the table's names, of either precision in either precision") {
  const auto file = read_parameters(data / "table_names.safetensors", small_table());
  CHECK(file.weights == table_weights);
  CHECK(file.unused.empty());
  CHECK(file.metadata.at("written by") == "NumPy, \"é\"");
  const auto single = read_parameters<float>(data / "table_names.safetensors", small_table());
  CHECK(single.weights == std::vector<float>(table_weights.begin(), table_weights.end()));
}

TEST_CASE("weights are read by another program's names, counted from 1 and transposed; others are listed") {
  const auto file = read_parameters(data / "other_names.safetensors", small_table(), other_names());
  CHECK(file.weights == other_weights);
  CHECK(file.unused == std::vector<std::string>{"steps", "nothing", "temperature", "cache", "half", "mask"});
}

TEST_CASE("vectors have one dimension in files, and gaps between aligned matrices aren't stored") {
  parameter_table table(4);
  table.append("weight", 2, 3);
  table.append_vector("bias", 2);
  const std::vector<float> weights{1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0};
  const temporary_folder folder;
  write_parameters(folder.path() / "weights", table, weights,
                   {.rules = {{.ours = "bias", .theirs = "b", .transposed = true}}});
  const safetensors_file file(folder.path() / "weights");
  CHECK(file.find("weight").shape == std::vector<lindyn::index>{2, 3});
  CHECK(file.find("b").shape == std::vector<lindyn::index>{2});
  CHECK(file.find("weight").end == 8 * sizeof(float));
  const auto read =
      read_parameters<float>(folder.path() / "weights", table, {.rules = {{.ours = "bias", .theirs = "b"}}});
  CHECK(read.weights == weights);

  parameter_table matrices;
  matrices.append("b", 1, 2);
  const std::string refusal =
      message_of<shape_error>([&] { (void)read_parameters(folder.path() / "weights", matrices); });
  CHECK(refusal.find("\"b\".shape = [2]") != std::string::npos);
}

TEST_CASE("weights are read as products of a query and a key factor, scaled") {
  parameter_table table;
  table.append("W", 2, 3);
  const auto path = data / "factors.safetensors";
  const auto product = read_parameters(path, table, {.rules = {{.ours = "W", .theirs = "scores"}}}).weights;
  const auto check = [&](const naming& names) {
    const auto file = read_parameters(path, table, names);
    REQUIRE(file.weights.size() == product.size());
    for (std::size_t place = 0; place < product.size(); ++place)  // NumPy may add the four terms in another order
      CHECK(file.weights[place] == doctest::Approx(product[place]).epsilon(1e-15));
    CHECK(file.unused.size() == 3);
  };
  check({.rules = {{.ours = "W", .theirs = "query", .key_factor = "key", .scale = 0.5}}});
  check({.rules = {{.ours = "W", .theirs = "query.T", .transposed = true, .key_factor = "key.T", .scale = 0.5}}});

  const auto doubled = read_parameters<float>(path, table, {.rules = {{.ours = "W", .theirs = "scores", .scale = 2}}});
  for (std::size_t place = 0; place < product.size(); ++place)
    CHECK(doubled.weights[place] == static_cast<float>(2 * product[place]));
}

TEST_CASE("in attention weights a row belongs to the query and a column to the key") {
  // One query entry looks at feature 0, and the key entry at feature 1: only W[0, 1] is not 0.
  const temporary_folder folder;
  const std::vector<double> query{3, 0}, key{0, 5};
  write_safetensors(folder / "a",
                    {{"q", {1, 2}, std::span(query)}, {"k", {1, 2}, std::span(key)}, {"", {2}, std::span(key)}});
  parameter_table table;
  table.append("W_KQ.0.0", 2, 2);
  const naming names{.rules = {{.ours = "W_KQ.{layer}.{head}", .theirs = "q", .key_factor = "k"}}};
  const auto file = read_parameters(folder / "a", table, names);
  CHECK(file.weights == std::vector<double>{0, 15, 0, 0});
  CHECK(file.unused == std::vector<std::string>{""});
}

TEST_CASE("weights come back from a file as they were written, under any naming") {
  const temporary_folder folder;
  const std::vector<double> weights = table_weights;
  const std::vector<float> single(table_weights.begin(), table_weights.end());
  const metadata_map metadata{{"steps", "1000"}, {"law", "recall"}};
  naming prefixed = other_names();
  prefixed.prefix = "model.";
  for (const naming& names : {naming{}, other_names(), prefixed}) {
    write_parameters(folder / "double", small_table(), weights, names, metadata);
    const auto file = read_parameters(folder / "double", small_table(), names);
    CHECK(file.weights == weights);
    CHECK(file.metadata == metadata);
    CHECK(file.unused.empty());
    write_parameters(folder / "float", small_table(), single, names);
    CHECK(read_parameters<float>(folder / "float", small_table(), names).weights == single);
  }
  const safetensors_file file(folder / "float");
  CHECK(file.find("model.unembedding").type == "F32");
  CHECK(file.find("model.unembedding").shape == std::vector<lindyn::index>{2, 3});
}

TEST_CASE("tensors that are missing, misshapen, of another type or not finite are refused by file and name") {
  const temporary_folder folder;
  const auto path = folder / "a";
  parameter_table table;
  table.append("W", 2, 3);
  const auto read = [&](const naming& names = {}) { (void)read_parameters<float>(path, table, names); };
  const naming transposed{.rules = {{.ours = "W", .theirs = "W", .transposed = true}}};
  const naming factors{.rules = {{.ours = "W", .theirs = "Q", .key_factor = "K"}}};

  std::vector<double> six(6);
  write_safetensors(path, {{"W", {3, 2}, std::span(six)}, {"Q", {6}, std::span(six)}, {"K", {2, 3}, std::span(six)}});
  const std::string tensor = path.string() + ": tensor ";
  CHECK(message_of<shape_error>([&] { read(); }) == tensor + "\"W\".shape = [3,2] is not allowed: it must be [2,3]");
  CHECK(message_of<shape_error>([&] { read(transposed); }).empty());
  CHECK(contains(message_of<shape_error>([&] { read(factors); }),
                 tensor + "\"Q\".shape = [6] is not allowed: it must be that of a matrix"));

  write_safetensors(path, {{"Q", {3, 2}, std::span(six)}, {"K", {2, 3}, std::span(six)}});
  CHECK(contains(message_of<file_error>([&] { read(); }),
                 path.string() + ": it has no tensor \"W\"; it has \"K\", \"Q\""));
  CHECK(message_of<shape_error>([&] { read(factors); }) ==
        tensor + "\"K\".shape = [2,3] is not allowed: it must be [3,3]");

  six[5] = 1e39;
  write_safetensors(path, {{"W", {2, 3}, std::span(six)}});
  CHECK(contains(message_of<argument_error>([&] { read(); }), tensor + "\"W\"[5] = 1e+39"));
  six[5] = 1e30;
  write_safetensors(path, {{"W", {2, 3}, std::span(six)}});
  CHECK(contains(message_of<argument_error>([&] { read({.rules = {{.ours = "W", .theirs = "W", .scale = -1e10}}}); }),
                 tensor + "\"W\" (scaled)[5] = -1e+40"));

  const auto other = data / "other_names.safetensors";
  parameter_table three;
  three.append("cache", 1, 3);
  CHECK(contains(message_of<argument_error>([&] { (void)read_parameters(other, three); }), "it must be [1,3]"));
  std::string text = content(data / "table_names.safetensors");
  text.replace(text.size() - 4, 4, "\x7f\x7f\x80\x7f");
  put(path, text);
  CHECK(contains(message_of<non_finite_error>([&] { (void)read_parameters(path, small_table()); }),
                 tensor + "\"W_KQ.1.0\"[3] = nan"));
}

TEST_CASE("weights that don't fit the table, or can't be stored so, aren't written") {
  const temporary_folder folder;
  std::vector<double> weights(14);
  const auto write = [&](std::size_t count, const naming& names = {}) {
    write_parameters(folder / "a", small_table(), std::span<const double>(weights).first(count), names);
  };
  CHECK(message_of<shape_error>([&] { write(13); }) == "weights.size() = 13 is not allowed: it must be 14");
  CHECK(contains(
      message_of<argument_error>([&] { write(14, {.rules = {{.ours = "W_out", .theirs = "Q", .key_factor = "K"}}}); }),
      "naming of W_out = Q is not allowed: it must be neither by factors nor scaled"));
  CHECK_THROWS_AS(write(14, {.rules = {{.ours = "W_out", .theirs = "U", .scale = 2}}}), argument_error);
  weights[9] = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(message_of<non_finite_error>([&] { write(14); }), "tensor \"W_out\"[1] = nan"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("the first rule that fits a name applies, and names that none fits stay as they are") {
  parameter_table table;
  for (const char* name : {"W_KQ.0.0", "W_KQ.0.12", "W_KQ.7.3", "W_KQ.x.0", "W_KQ.0.0.b", "W_out"})
    table.append(name, 1, 1);
  const auto stored = stored_matrices(table, {.rules = {{.ours = "W_KQ.{layer}.3", .theirs = "special.{layer}"},
                                                        {.ours = "W_KQ.{l}.{h}", .theirs = "h{h+100}/l{l}/h{h}"}},
                                              .prefix = "m/"});
  std::vector<std::string> names;
  for (const auto& matrix : stored) names.push_back(matrix.tensor);
  CHECK(names == std::vector<std::string>{"m/h100/l0/h0", "m/h112/l0/h12", "m/special.7", "m/W_KQ.x.0", "m/W_KQ.0.0.b",
                                          "m/W_out"});

  parameter_table square;  // a word that stands twice is one number
  for (const char* name : {"W.1.2", "W.2.2"}) square.append(name, 1, 1);
  const auto diagonal =
      stored_matrices(square, {.rules = {{.ours = "W.{i}.{i}", .theirs = "D{i}", .key_factor = "K"}}, .prefix = "m/"});
  CHECK(diagonal[0].tensor == "m/W.1.2");
  CHECK(diagonal[0].key_factor.empty());
  CHECK(diagonal[1].tensor == "m/D2");
  CHECK(diagonal[1].key_factor == "m/K");
}

TEST_CASE("namings that can't be meant are refused, by rule") {
  const auto rule = [](const char* ours, const char* theirs) {
    return naming{.rules = {{.ours = ours, .theirs = theirs}}};
  };
  CHECK(refusal_of(rule("W_out", "x")).empty());
  const std::string words =
      " is not allowed: it must be a name in which braces enclose words, such as {layer} or {layer+1}";
  for (const char* pattern :
       {"W_{", "W_}", "W_{}", "{+1}", "{a{b}", "{a+}", "{a+x}", "{a+-1}", "{a+1x}", "{a+99999999999}"}) {
    CHECK(refusal_of(rule("W_out", pattern)) == std::string("naming.rules[0].theirs = ") + pattern + words);
  }
  CHECK(refusal_of(rule("W_KQ.{layer", "x")) == "naming.rules[0].ours = W_KQ.{layer" + words);
  CHECK(contains(refusal_of(rule("W_KQ.{layer+1}.0", "x")), "a pattern that adds nothing"));
  CHECK(contains(refusal_of(rule("W_KQ.{layer}.0", "{head}")),
                 "naming.rules[0].theirs = {head} is not allowed: it must be a pattern with no other words in braces "
                 "than W_KQ.{layer}.0 has"));
  CHECK(contains(refusal_of({.rules = {{.ours = "W_out", .theirs = "x", .key_factor = "{head}"}}}),
                 "rules[0].key_factor = {head}"));
  CHECK(contains(refusal_of(rule("W_out", "")), "a pattern that isn't empty"));
  CHECK(
      contains(refusal_of(rule("W_QK.{layer}.0", "{layer}")),
               "naming.rules[0].ours = W_QK.{layer}.0 is not allowed: it must be a pattern of a name of the table's"));
  CHECK(contains(refusal_of({.rules = {{.ours = "W_out", .theirs = "x"}, {.ours = "W_out", .theirs = "y"}}}),
                 "naming.rules[1].ours = W_out"));
  CHECK(refusal_of(rule("W_KQ.{layer}.0", "W")) ==
        "naming of W_KQ.1.0 = W is not allowed: it must be another than that of W_KQ.0.0");
  CHECK(contains(refusal_of(rule("W_KQ.0.0", "W_out")), "naming of W_out"));
  const auto factors = [](const char* theirs, const char* key_factor) {
    return naming{.rules = {{.ours = "W_KQ.{layer}.0", .theirs = theirs, .key_factor = key_factor}}};
  };
  CHECK(refusal_of(factors("Q{layer}", "K{layer}")).empty());
  CHECK(refusal_of(factors("Q{layer}", "K")).empty());  // all heads may share one key
  const std::string taken = " is not allowed: it must be another tensor than the matrix or query factor of ";
  CHECK(refusal_of(factors("Q{layer}", "Q{layer}")) == "key factor of W_KQ.0.0 = Q0" + taken + "W_KQ.0.0");
  CHECK(refusal_of(factors("Q{layer+1}", "Q{layer}")) == "key factor of W_KQ.1.0 = Q1" + taken + "W_KQ.0.0");
  CHECK(refusal_of(factors("Q{layer}", "W_out")) == "key factor of W_KQ.0.0 = W_out" + taken + "W_out");
  for (const double scale : {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    CHECK(contains(refusal_of({.rules = {{.ours = "W_out", .theirs = "x", .scale = scale}}}), "naming.rules[0].scale"));
}
