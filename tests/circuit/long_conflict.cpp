// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/circuit/competition/conflict.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>
#include <lindyn/reduced/flow.hpp>
#include <lindyn/train/descent.hpp>

using namespace lindyn;

TEST_CASE("trained on minibatches, full networks believe whom the reduced dynamics say they will") {
  using recall = task::associative_recall<block<2>, stored_association, rare_tokens>;
  using network = model::attention_only<layers<2>, heads<1>, float>;
  struct cell {
    double rare, within_class;
    int burstiness;
    lindyn::index steps;
    int winner;  // 1: the context, -1: the weights
  };
  // Far from the boundary: many labels aren't stored; hardly any; nearly all pairs are rare; the pair is shown often.
  for (const cell& at : {cell{0.1, 0.8, 1, 1000, 1}, cell{0.1, 0.15, 1, 800, -1}, cell{0.8, 0.3, 1, 800, -1},
                         cell{0.1, 0.25, 3, 600, 1}}) {
    CAPTURE(at.rare);
    CAPTURE(at.within_class);
    const auto law = [&](double rare, double within_class) {
      return population::recall_law<recall>{{.pairs = 4,
                                             .vocabulary = 24,
                                             .within_class = within_class,
                                             .rare = rare,
                                             .rare_vocabulary = 8,
                                             .burstiness = at.burstiness}};
    };
    const auto trained_on = law(at.rare, at.within_class), conflicts = law(0, 1);
    const manifold::basis basis(2, 1, conflicts.structure());
    const std::vector<double> start(static_cast<std::size_t>(basis.dimension()), 0.1);

    reduced::relational_model model(basis, population::enumerate_types(trained_on).types);
    const auto flow = reduced::flow(model, start, {.until = static_cast<double>(at.steps), .tolerance = 1e-4});
    const double predicted =
        circuit::conflict_preference(basis, population::enumerate_types(conflicts).types)(flow.state);

    const auto begin = basis.embed(start);
    std::vector<float> weights(begin.begin(), begin.end());
    const network net(basis.shape());
    train::descend(net, trained_on, std::span(weights),
                   {.steps = at.steps, .learning_rate = 1, .batch = 256, .embedding = model::embedding::centred},
                   [](const auto&) {});
    population::minibatch probes;
    population::sampler(conflicts, 2).draw(0, 2048, probes);
    const auto found = circuit::full_conflict_preference(basis, net, weights, probes);

    CHECK(predicted * at.winner > 1);
    CHECK(found.mean * at.winner > 1);
    // Batches of 256 scatter the time of emergence by some steps; D changes by up to 0.02 a step.
    CHECK(found.mean == doctest::Approx(predicted).epsilon(0.03));
  }
}
