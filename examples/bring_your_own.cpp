// SPDX-License-Identifier: MIT

/// \file
/// Two ways to bring a data law of your own: as a process that draws a sequence, and as a list of weighted sequences
/// with the generators of their symmetry. Both get a manifold, a certificate and the reduced dynamics; a law that breaks
/// the symmetry it promises is refused with a sentence that says how.

#include <array>
#include <iostream>
#include <span>
#include <vector>

#include <lindyn/flows.hpp>
#include <lindyn/lindyn.hpp>

namespace population = lindyn::population;
namespace symmetry = lindyn::symmetry;
namespace task = lindyn::task;

namespace {

/// A law as a process: V tokens stand in a circle, two neighbours a, a + 1 or a + 1, a are shown, and the answer goes
/// on in the same direction. Turning the circle changes nothing: the symmetry of the tokens is cyclic.
struct walk_on_a_circle {
  int vocabulary = 7;

  [[nodiscard]] population::process_sizes sizes() const { return {vocabulary, 4, 2}; }
  [[nodiscard]] symmetry::stream_structure structure() const {
    return symmetry::product(symmetry::cyclic(vocabulary), symmetry::slot_phase(2, 2));
  }
  template <class Choices>
  int operator()(Choices& choose, std::span<int> tokens, std::span<int> positions) const {
    const int step = choose.among(2) == 0 ? 1 : vocabulary - 1;
    tokens[0] = choose.token(0, choose.tokens());
    tokens[1] = choose.token(1, (tokens[0] + step) % vocabulary);
    positions[0] = choose.position(0, choose.positions());
    positions[1] = choose.position(1, positions[0] ^ 1);  // the other phase of the same slot
    return (tokens[1] + step) % vocabulary;
  }
};

/// A law as a list: two different tokens of four are shown, the answer is the first. `favourite` weighs token 0.
struct listed {
  std::vector<std::array<int, 2>> tokens;
  std::array<int, 2> positions{0, 1};
  std::vector<task::sequence> sequences;

  explicit listed(double favourite) {
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)
        if (a != b) tokens.push_back({a, b});
    for (const auto& pair : tokens) sequences.push_back({pair, positions, pair[0], pair[0] == 0 ? favourite : 1.0});
  }
};

template <population::data_law Law>
void study(const Law& law) {
  const lindyn::manifold::basis basis(2, 1, law.structure());
  // Embeddings are centred, as the list's positions are never exchanged: each is an orbit of its own.
  const auto certificate = lindyn::compare::confinement(basis, law, {.embedding = lindyn::model::embedding::centred});
  std::cout << "  " << basis.dimension() << " coordinates; " << certificate.statement << "\n";

  population::sequence_table all(law.sizes().length);
  population::enumerate(law, [&](const task::sequence& sequence) { all.append(sequence); });
  lindyn::reduced::relational_model model(basis, all);
  const std::vector<double> start(static_cast<std::size_t>(basis.dimension()), 0.1);
  const auto flow = lindyn::reduced::flow(model, start, {.until = 1e5, .stop_at_loss = model.loss(start) / 2});
  std::cout << "  the loss falls from " << model.loss(start) << " to its half at t = " << flow.t << "\n";
}

}  // namespace

int main() {
  try {
    std::cout << "A process, a walk on a circle of seven tokens:\n";
    study(walk_on_a_circle{});

    const std::vector<symmetry::generator> all_permutations{{{1, 0, 2, 3}, {0, 1}}, {{1, 2, 3, 0}, {0, 1}}};
    std::cout << "A list of twelve sequences:\n";
    study(population::listed_law(listed(1).sequences, 4, 2, all_permutations));

    std::cout << "The same with one token twice as frequent:\n";
    study(population::listed_law(listed(2).sequences, 4, 2, all_permutations));
  } catch (const lindyn::invariance_error& refused) {
    std::cout << "  refused: " << refused.what() << "\n";
    return 0;
  } catch (const std::exception& fault) {
    std::cerr << "bring_your_own: " << fault.what() << "\n";
    return 1;
  }
  std::cerr << "bring_your_own: the last law should have been refused\n";
  return 1;
}
