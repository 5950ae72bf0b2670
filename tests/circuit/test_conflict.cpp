// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <lindyn/circuit/competition/conflict.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only.hpp>
#include <lindyn/population/law.hpp>
#include <lindyn/population/sampling.hpp>

#include "refused_argument.hpp"

using namespace lindyn;

namespace {

using recall = task::associative_recall<block<2>, stored_association, rare_tokens>;

const population::recall_law<recall> conflicts{
    {.pairs = 3, .vocabulary = 14, .within_class = 1, .rare = 0, .rare_vocabulary = 6}};
const manifold::basis basis(2, 1, conflicts.structure());

/// The same sequences as a minibatch and as a table.
struct probes {
  population::minibatch drawn;
  population::sequence_table table{conflicts.sizes().length};

  explicit probes(lindyn::index count) {
    population::sampler(conflicts, 1).draw(0, count, drawn);
    for (lindyn::index place = 0; place < count; ++place) table.append(drawn.view()[place]);
  }
};

/// All coordinates 0 but those named.
std::vector<double> with(const std::vector<std::pair<manifold::coordinate, double>>& chosen) {
  std::vector<double> result(static_cast<std::size_t>(basis.dimension()));
  for (const auto& [which, value] : chosen) result[static_cast<std::size_t>(basis.layout().place(which))] = value;
  return result;
}

constexpr int same_common = 0, partner = 1, previous = 4;  // selections Ic, C, Ir, Ip, M

}  // namespace

TEST_CASE("context against weights is the same number for coordinates and for the full network that has them") {
  const probes asked(64);
  circuit::conflict_preference reduced(basis, asked.table);
  const model::attention_only<layers<2>, heads<1>> net(basis.shape());
  counter_generator generator(1);
  std::vector<double> coordinates;
  for (lindyn::index i = 0; i < basis.dimension(); ++i) coordinates.push_back(0.8 * standard_normal(generator));
  const auto weights = basis.embed(coordinates);
  const auto full = circuit::full_conflict_preference(basis, net, weights, asked.drawn);
  CHECK(std::abs(full.mean) > 0.1);
  CHECK(full.mean == doctest::Approx(reduced(coordinates)).epsilon(1e-12));

  // The standard error is that of the differences themselves.
  const auto logits = net.logits(weights, asked.drawn);
  double square = 0;
  for (lindyn::index place = 0; place < 64; ++place) {
    const auto conflict = asked.drawn.view()[place];
    const auto at = [&](int token) { return logits[static_cast<std::size_t>(place * 14 + token)]; };
    square += std::pow(at(conflict.answer) - at(conflict.tokens.back() ^ 1) - full.mean, 2);
  }
  CHECK(full.standard_error == doctest::Approx(std::sqrt(square / 63 / 64)).epsilon(1e-12));
}

TEST_CASE("a stored association alone is preferred by its own strength, an induction head by that of its readout") {
  circuit::conflict_preference preference(basis, population::enumerate_types(conflicts).types);
  const manifold::coordinate stored{.layer = 3, .key_copy = 0, .selection = partner};
  CHECK(preference(with({})) == 0);
  CHECK(preference(with({{stored, 2.5}})) == doctest::Approx(-2.5).epsilon(1e-12));

  const manifold::coordinate attend{.layer = 1, .selection = previous},
      match{.layer = 2, .query_copy = 0, .key_copy = 1, .selection = same_common},
      read{.layer = 3, .key_copy = 2, .selection = same_common};
  const auto head = [&](double readout, double association) {
    return preference(with({{attend, 40}, {match, 40}, {read, readout}, {stored, association}}));
  };
  // The very first item can attend to itself alone, and so is half of what is matched where it is asked for: the mean
  // attention to the label is 2/3 + 1/3 x 1/2.
  CHECK(head(3, 0) == doctest::Approx(3 * 5. / 6).epsilon(1e-6));
  CHECK(head(3, 1) == doctest::Approx(3 * 5. / 6 - 1).epsilon(1e-6));
  CHECK(head(3, 4) == doctest::Approx(3 * 5. / 6 - 4).epsilon(1e-6));
}

TEST_CASE("what is no conflict is refused") {
  population::sequence_table agreeing(3);
  const std::vector<int> tokens{4, 5, 4}, positions{0, 1, 2};
  agreeing.append({tokens, positions, 5, 1.0});
  const auto refused = [](const population::sequence_table& table) {
    return testing::refused_argument([&] { (void)circuit::conflict_preference(basis, table); });
  };
  CHECK(refused(agreeing) == "conflicts' answer");
  // Rare tokens, from 8 on here, have no partners: the answer 13 is no more stored than 11 is.
  const auto asking = [&](int query, int answer, double weight = 1) {
    population::sequence_table result(3);
    const std::vector<int> asked{query, answer, query};
    result.append({asked, positions, answer, weight});
    return result;
  };
  CHECK(refused(asking(4, 2)).empty());
  CHECK(refused(asking(10, 13)) == "conflicts' query");
  CHECK(refused(asking(4, 2, 0.5)) == "sum of the conflicts' weights");

  const model::attention_only<layers<2>, heads<1>> net(basis.shape());
  const std::vector<double> weights(static_cast<std::size_t>(net.parameters().size()));
  const auto refused_in_full = [&](const task::batch_view& batch) {
    return testing::refused_argument([&] { (void)circuit::full_conflict_preference(basis, net, weights, batch); });
  };
  population::sequence_table unequal = asking(4, 2, 0.5);
  unequal.append(asking(4, 2, 0.25)[0]);
  CHECK(refused_in_full(probes(2).drawn).empty());
  CHECK(refused_in_full(probes(1).drawn) == "conflicts.count()");
  CHECK(refused_in_full(unequal) == "conflicts.weights");
  population::sequence_table rare = asking(10, 13);
  rare.append(asking(4, 2)[0]);
  CHECK(refused_in_full(rare) == "conflicts' query");
}
