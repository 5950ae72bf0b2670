// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Fast and slow: how long the weights take to store an association, and the context to be learned, free or starved.

#include <cmath>
#include <limits>
#include <numbers>

#include <lindyn/circuit/competition/competition_head.hpp>
#include <lindyn/circuit/competition/starvation.hpp>
#include <lindyn/circuit/induction/metric.hpp>
#include <lindyn/core/errors.hpp>

namespace lindyn::circuit {

/// T_IWL(delta), the time of gradient flow from delta = 0 to delta, while the induction head reads out nothing
/// (gamma = 0): of \f$ w_t \delta' = (1 - f_r) (1 - f_v - p_\delta) \f$, in closed form
/// \f[ T = \frac{w_t}{(1 - f_r)(1 - f_v)} \left[ \delta
///     - \frac{1}{f_v} \ln \left( 1 - \frac{f_v (e^\delta - 1)}{(1 - f_v)(V - 1) - f_v} \right) \right] \f]
/// (derived here: in \f$ u = e^\delta \f$ the integrand is \f$ (1/u + 1/(c K - f u)) / c \f$ with c = 1 - f = 1 - f_v and
/// K = V - 1). Up to p_delta = 1/2, that is delta = ln(V - 1), it is of order w_t ln V. At delta* delta relaxes with the
/// rate (1 - f_r) f_v (1 - f_v) / w_t.
///
/// Infinite where delta* isn't above delta, or there are no queries with a partner. Throws as require_valid, and for
/// V < 2, delta < 0 or NaN.
/// \param lengths  w_t = lengths.token
[[nodiscard]] inline double association_time(const query_mixture& queries, int vocabulary, double delta,
                                             const metric& lengths = metric::unit()) {
  require_valid(queries);
  require_valid(lengths);
  require(delta >= 0, "delta", delta, "not negative");
  const double varied = queries.within_class, stored = 1 - varied;
  if (!(delta < equilibrium_association(varied, vocabulary)) || queries.rare == 1)
    return std::numeric_limits<double>::infinity();
  const double rest = std::expm1(delta) / (stored * (vocabulary - 1) - varied);
  const double approach = varied > 0 ? -std::log1p(-varied * rest) / varied : rest;
  return lengths.token / ((1 - queries.rare) * stored) * (delta + approach);
}

/// t_ICL, the first time with B > 1/2, of the idealised head under cross-entropy from alpha = beta = gamma = 0, to
/// leading order for n, m, V -> infinity, while delta is held:
/// \f[ t_{ICL} = \sqrt{\frac{2 w_t}{B_0 - 1/V} \cdot \frac{n m}{b} \sqrt{\frac{\pi w_p w_t}{2}}}
///     \Big/ \sqrt{s_{\alpha\beta} s_\gamma} , \qquad B_0 = \frac{b}{b + m} , \f]
/// with the ratios s of attention_starvation and readout_starvation at delta and B_0, both 1 for delta = 0. As both tend
/// to the starvation factor s, starving by s takes 1 / s times as long.
///
/// Derivation: as long as the answer's probability is small, \f$ w_t \gamma' = s_\gamma (B_0 - 1/V) \f$, so that gamma
/// grows in proportion to time, and alpha and beta climb as at a held readout (see asymptotic_emergence_time), with
/// \f$ s_{\alpha\beta} \int \gamma \, dt \f$ in the place of gamma t, until it reaches
/// \f$ (n m / b) \sqrt{\pi w_p w_t / 2} \f$. The conditions are b << m, sqrt(w_t / w_p) << n, sqrt(w_p / w_t) << n, and
/// gamma B_0 << 1 at the end. It is infinite for V <= (b + m) / b or where a ratio isn't positive: the readout then
/// doesn't grow. Throws as require_valid.
/// \param delta  0: not starved; delta* (equilibrium_association): starved by a stored association; infinity: by a
///               certain one
[[nodiscard]] inline double induction_time(const competition_head_options& options, double delta) {
  require_valid(options);
  const double n = options.head.visible, m = options.head.distractors, b = options.head.burstiness;
  const double attention = b / (b + m), drive = attention - 1.0 / options.vocabulary;
  if (!(drive > 0)) return std::numeric_limits<double>::infinity();
  const double slower_head = attention_starvation(options.queries, options.vocabulary, delta),
               slower_readout = readout_starvation(options.queries, options.vocabulary, delta, attention);
  if (!(slower_head > 0 && slower_readout > 0)) return std::numeric_limits<double>::infinity();
  const metric& lengths = options.head.metric;
  const double climb = n * m / b * std::sqrt(std::numbers::pi / 2) * lengths.geometric_mean();
  return std::sqrt(2 * lengths.token / drive * climb) / std::sqrt(slower_head * slower_readout);
}

/// Rates of the idealised competition, from all coordinates zero: one over the time that each takes, in units of
/// gradient-flow time (steps times learning rate) in the circuit's metric.
///
/// Where association is faster than induction, the association is stored first and the induction head forms at the
/// starved rate; else at its own, and in-weights learning comes late or never, as nothing is left to be learned.
struct competition_rates {
  double association = 0;        ///< fast: 1 / T_IWL until p_delta = 1/2; of order (1 - f_r) (1 - f_v) / (w_t ln V)
  double induction = 0;          ///< slow: 1 / t_ICL if nothing were stored; of order b / N^(3/2) in the unit metric
  double starved_induction = 0;  ///< slower: 1 / t_ICL with delta at delta*; the starvation factor times the above

  /// By association_time and induction_time. A rate is 0 for what never happens: association for f_v >= 1/2, as p_delta
  /// stays below 1/2. Throws as require_valid.
  [[nodiscard]] static competition_rates of(const competition_head_options& options) {
    require_valid(options);
    const double known = std::log(options.vocabulary - 1.0);
    const double rest = equilibrium_association(options.queries.within_class, options.vocabulary);
    return {1 / association_time(options.queries, options.vocabulary, known, options.head.metric),
            1 / induction_time(options, 0), 1 / induction_time(options, rest)};
  }
};

}  // namespace lindyn::circuit
