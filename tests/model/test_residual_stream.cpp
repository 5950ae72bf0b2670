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

double distance_from_identity(const residual_stream& stream, lindyn::index which) {
  const auto overlap = stream.overlap(which);
  const auto width = static_cast<lindyn::index>(std::lround(std::sqrt(static_cast<double>(overlap.size()))));
  const Eigen::Map<const Eigen::MatrixXd> matrix(overlap.data(), width, width);
  return (matrix - Eigen::MatrixXd::Identity(width, width)).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("separating maps keep all copies apart") {
  const residual_stream stream(shape, {.width = shape.width(2), .maps = output_maps::separating});
  for (lindyn::index which = 0; which < stream.parameters().count(); ++which)
    CHECK(distance_from_identity(stream, which) == 0);
  CHECK_THROWS_AS(residual_stream(shape, {.width = 8, .maps = output_maps::separating}), lindyn::argument_error);
}

TEST_CASE("random maps are orthogonal, and copies overlap by about one over the root of the width") {
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
  constexpr lindyn::index width = 10;  // less than all copies need: they overlap heavily
  constexpr attention_shape small{.vocabulary = 3, .positions = 4, .layers = 2, .heads = 1};
  const residual_stream stream(small, {.width = width, .seed = 5});
  const auto weights = normal(stream.parameters().size(), 1);
  std::vector<double> concatenated(static_cast<std::size_t>(stream.concatenated_parameters().size()));
  stream.concatenate(weights, concatenated);
  const std::vector<int> tokens{2, 0, 2, 1}, positions{3, 1, 0, 2}, answers{0};
  const attention_only<> net(small);
  const auto expected =
      net.logits(concatenated, {{tokens.data(), 1, 4}, {positions.data(), 1, 4}, std::span<const int>(answers)});

  // E and O_l E, O_2 O_1 E are read off the pull-back of unit readouts: row 0 of the readout that reads entry j is T e_j.
  const auto& table = stream.concatenated_parameters();
  const lindyn::index copies_width = table.find("W_out").columns, input = small.input_width();
  matrix reader(width, copies_width);
  for (lindyn::index j = 0; j < copies_width; ++j) {
    std::vector<double> unit(static_cast<std::size_t>(table.size())), image(weights.size());
    table.view("W_out", std::span(unit))(0, j) = 1;
    stream.pull_back(unit, image);
    for (lindyn::index i = 0; i < width; ++i) reader(i, j) = stream.parameters().view("W_out", std::span(image))(0, i);
  }
  matrix x0(width, 4), x1(width, 4);
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
  // x_0 = E s with the one-hot stream s, and behind the layers x = T X: the maps act on what is read alike.
  matrix s = matrix::Zero(input, 4);
  for (lindyn::index i = 0; i < 4; ++i)
    s(tokens[static_cast<std::size_t>(i)], i) = s(3 + positions[static_cast<std::size_t>(i)], i) = 1;
  const auto part = [&](lindyn::index copy) { return reader.middleCols(copy * input, input); };
  x0 = part(0) * s;
  const matrix a1 = attend(x0, "W_KQ.0.0");
  x1 = x0 + part(1) * (s * a1.transpose());
  const matrix a2 = attend(x1, "W_KQ.1.0");
  const matrix x2 = x1 + part(2) * (s * a2.transpose()) + part(3) * (s * a1.transpose() * a2.transpose());
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
