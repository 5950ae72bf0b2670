// SPDX-License-Identifier: MIT
#include <lindyn/model/residual_stream.hpp>

#include <cmath>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>
#include <Eigen/Core>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>

using namespace lindyn::model;

namespace {

constexpr attention_shape shape{.vocabulary = 3, .positions = 4, .layers = 2, .heads = 2};

std::vector<double> normal(lindyn::index size, std::uint64_t seed) {
  lindyn::counter_generator generator(seed);
  std::vector<double> result(static_cast<std::size_t>(size));
  for (double& entry : result) entry = lindyn::standard_normal(generator);
  return result;
}

/// T'T of the reader of a weight.
Eigen::MatrixXd overlap(const residual_stream& stream, lindyn::index which) {
  const auto found = stream.overlap(which);
  const auto width = static_cast<lindyn::index>(std::lround(std::sqrt(static_cast<double>(found.size()))));
  return Eigen::Map<const Eigen::MatrixXd>(found.data(), width, width);
}

double distance_from_identity(const residual_stream& stream, lindyn::index which) {
  const Eigen::MatrixXd found = overlap(stream, which);
  return (found - Eigen::MatrixXd::Identity(found.rows(), found.cols())).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("separating maps keep all copies apart") {
  const residual_stream stream(shape, {.width = shape.width(2), .maps = output_maps::separating});
  for (lindyn::index which = 0; which < stream.parameters().count(); ++which)
    CHECK(distance_from_identity(stream, which) == 0);
  CHECK_THROWS_AS(residual_stream(shape, {.width = 8, .maps = output_maps::separating}), lindyn::argument_error);
}

TEST_CASE("a head writes with one orthogonal map, whatever copy it reads") {
  // (O T)'(O T) = T'T says so on the span of T's columns: the whole stream, if it has 5 entries, as the embedding alone
  // spans them; if it has 16, in layer 2.
  for (const lindyn::index width : {5, 16}) {
    const residual_stream stream(shape, {.width = width});
    for (int layer = 1; layer <= shape.layers; ++layer) {
      const Eigen::MatrixXd before = overlap(stream, (layer - 1) * shape.heads),
                            behind = overlap(stream, layer * shape.heads);
      const lindyn::index read = before.rows();
      for (int head = 1; head <= shape.heads; ++head)
        CHECK((behind.block(head * read, head * read, read, read) - before).cwiseAbs().maxCoeff() < 1e-13);
    }
  }
}

TEST_CASE("the embedding is orthonormal, and copies overlap by about one over the root of the width") {
  const residual_stream narrow(shape, {.width = 16}), wide(shape, {.width = 256});
  CHECK(distance_from_identity(narrow, 0) < 1e-13);  // layer 1 reads the embedding alone
  CHECK(distance_from_identity(wide, 0) < 1e-13);
  const double near = distance_from_identity(narrow, 2), far = distance_from_identity(wide, 2);
  CHECK(near > 0.1);
  CHECK(far < near / 2);
  CHECK(far > near / 8);  // sqrt(256 / 16) = 4
  const residual_stream other(shape, {.width = 16, .seed = 2});
  CHECK(other.overlap(2) != narrow.overlap(2));
  CHECK(residual_stream(shape, {.width = 16}).overlap(2) == narrow.overlap(2));
}

TEST_CASE("the network written down naively has the logits of the concatenated network at the concatenated weights") {
  using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr lindyn::index width = 7;  // less than all copies need: they overlap heavily
  constexpr attention_shape small{.vocabulary = 3, .positions = 4, .layers = 2, .heads = 1};
  const residual_stream stream(small, {.width = width, .seed = 5});
  const auto weights = normal(stream.parameters().size(), 1);
  std::vector<double> concatenated(static_cast<std::size_t>(stream.concatenated_parameters().size()));
  stream.concatenate(weights, concatenated);
  const std::vector<int> tokens{2, 0, 2, 1}, positions{3, 1, 0, 2}, answers{0};
  const attention_only<> net(small);
  const auto expected =
      net.logits(concatenated, {{tokens.data(), 1, 4}, {positions.data(), 1, 4}, std::span<const int>(answers)});

  // T = [E, O_1 E, O_2 E, O_2 O_1 E] is read off the pull-back of unit readouts: row 0 of the readout that reads entry j
  // is T e_j. E is square here, so that O_l = (O_l E) E'.
  const auto& table = stream.concatenated_parameters();
  const lindyn::index copies_width = table.find("W_out").columns, input = small.input_width();
  matrix reader(width, copies_width);
  for (lindyn::index j = 0; j < copies_width; ++j) {
    std::vector<double> unit(static_cast<std::size_t>(table.size())), image(weights.size());
    table.view("W_out", std::span(unit))(0, j) = 1;
    stream.pull_back(unit, image);
    for (lindyn::index i = 0; i < width; ++i) reader(i, j) = stream.parameters().view("W_out", std::span(image))(0, i);
  }
  const auto part = [&](lindyn::index copy) { return reader.middleCols(copy * input, input); };
  const matrix o1 = part(1) * part(0).transpose(), o2 = part(2) * part(0).transpose();
  const auto attend = [&](const matrix& x, const char* name) {
    const auto view = stream.parameters().view(name, std::span<const double>(weights));
    const matrix scores = x.transpose() * Eigen::Map<const matrix>(view.data, width, width) * x;
    matrix pattern = matrix::Zero(4, 4);
    for (lindyn::index i = 0; i < 4; ++i) {
      pattern.row(i).head(i + 1) = scores.row(i).head(i + 1).array().exp();
      pattern.row(i) /= pattern.row(i).sum();
    }
    return pattern;
  };
  matrix s = matrix::Zero(input, 4);  // one-hot
  for (lindyn::index i = 0; i < 4; ++i)
    s(tokens[static_cast<std::size_t>(i)], i) = s(3 + positions[static_cast<std::size_t>(i)], i) = 1;
  const matrix x0 = part(0) * s;
  const matrix x1 = x0 + o1 * (x0 * attend(x0, "W_KQ.0.0").transpose());
  const matrix x2 = x1 + o2 * (x1 * attend(x1, "W_KQ.1.0").transpose());
  const auto readout = stream.parameters().view("W_out", std::span<const double>(weights));
  const Eigen::VectorXd logits = Eigen::Map<const matrix>(readout.data, 3, width) * x2.col(3);
  for (lindyn::index v = 0; v < 3; ++v)
    CHECK(logits(v) == doctest::Approx(expected[static_cast<std::size_t>(v)]).epsilon(1e-12));
}

TEST_CASE("pulling back is the adjoint of concatenating") {
  const residual_stream stream(shape, {.width = 12});
  const auto weights = normal(stream.parameters().size(), 1);
  const auto gradient = normal(stream.concatenated_parameters().size(), 2);
  std::vector<double> concatenated(gradient.size()), back(weights.size());
  stream.concatenate(weights, concatenated);
  stream.pull_back(gradient, back);
  const double here = std::inner_product(weights.begin(), weights.end(), back.begin(), 0.0);
  CHECK(std::inner_product(gradient.begin(), gradient.end(), concatenated.begin(), 0.0) ==
        doctest::Approx(here).epsilon(1e-12));
}

TEST_CASE("bad sizes are named") {
  CHECK_THROWS_AS(residual_stream(shape, {.width = 0}), lindyn::argument_error);
  CHECK_THROWS_AS(residual_stream({.vocabulary = 3, .positions = 4, .layers = 0, .heads = 1}, {}),
                  lindyn::argument_error);
  CHECK_THROWS_AS(residual_stream({.vocabulary = 3, .positions = 4}, {}), lindyn::argument_error);
  const residual_stream stream(shape, {.width = 12});
  std::vector<double> small(3);
  CHECK_THROWS_AS(stream.concatenate(small, small), lindyn::shape_error);
}
