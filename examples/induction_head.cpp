// SPDX-License-Identifier: MIT

/// \file
/// How long does an induction head take to form? Emergence times over the number of pairs N, of the idealised head of
/// three weights and of the exact causal one, in the unit metric and in the Gram metric of the full weights: beside the
/// asymptotic laws, with local exponents d ln t / d ln N.
///
///   induction_head --help

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/circuit/induction/exact_induction_head.hpp>
#include <lindyn/circuit/induction/induction_flow.hpp>
#include <lindyn/circuit/induction/induction_head.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/output_folder.hpp>

#include "support/gnuplot.hpp"
#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"

namespace {

namespace circuit = lindyn::circuit;
namespace task = lindyn::task;

struct options {
  int most_pairs = 16384;
  int most_pairs_exact = 256;
  int tokens_per_pair = 4;
  int burstiness = 1;
  double tolerance = 1e-8;
  std::filesystem::path out = "out/induction_head";
  bool force = false;
};

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app("Emergence times of an induction head over the number of pairs, idealised and exact.");
  app.set_version_flag("--version", examples::version_text());
  app.add_option("--most-pairs", o.most_pairs, "largest N of the idealised head; sizes are 4, 8, 16, ..")
      ->capture_default_str();
  app.add_option("--most-pairs-exact", o.most_pairs_exact, "largest N of the exact head (0: leave it out)")
      ->capture_default_str();
  app.add_option("--tokens-per-pair", o.tokens_per_pair, "V / N, of the Gram metric and of the exact head")
      ->capture_default_str();
  app.add_option("--burstiness", o.burstiness, "b, times that the queried pair is shown (idealised head)")
      ->capture_default_str();
  app.add_option("--tolerance", o.tolerance, "error of an integration step")->capture_default_str();
  app.add_option("--out", o.out, "folder of the results")->capture_default_str();
  app.add_flag("--force", o.force, "write into the folder even if it isn't empty");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

/// One size of one head.
struct record {
  int pairs = 0;
  double icl_time = 0;                                          ///< t_ICL
  double match_time = 0;                                        ///< T_beta
  double expected = 0;                                          ///< the asymptotic law for t_ICL
  double exponent = std::numeric_limits<double>::quiet_NaN();   ///< d ln t_ICL / d ln N from the size before
  double logarithm = std::numeric_limits<double>::quiet_NaN();  ///< what in place of ln N makes the law exact
  std::int64_t evaluations = 0;
  double seconds = 0;
};

/// One head in one metric, over the sizes.
struct curve {
  std::string name;
  double power = 0;  ///< of N in the asymptotic law, but for logarithms
  std::vector<record> records;
};

/// Adds a size to the curve. \param logarithm_power  the power of 1 / ln N in the law `expected`, 0 if it has none
template <class Head>
void measure(curve& to, int pairs, Head&& head, double expected, double logarithm_power, const options& o) {
  const auto begin = std::chrono::steady_clock::now();
  const auto when = circuit::emergence_time(head, {.tolerance = o.tolerance});
  record result{.pairs = pairs,
                .icl_time = *when.icl_time,
                .match_time = *when.match_time,
                .expected = expected,
                .evaluations = when.evaluations,
                .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
  if (logarithm_power > 0)
    result.logarithm = std::log(pairs) * std::pow(expected / result.icl_time, 1 / logarithm_power);
  if (!to.records.empty()) {
    const record& before = to.records.back();
    result.exponent = std::log(result.icl_time / before.icl_time) / std::log(1.0 * pairs / before.pairs);
  }
  to.records.push_back(result);
}

/// All curves. The exact head's sizes cost N^2 an evaluation.
std::vector<curve> measure_all(const options& o) {
  std::vector<curve> curves;
  lindyn::progress tell(examples::progress_line());
  for (const bool gram : {false, true}) {
    const std::string suffix = gram ? " in the Gram metric" : " in the unit metric";
    const auto lengths = [&](int pairs) {
      return gram ? circuit::metric::gram(o.tokens_per_pair * pairs, 2 * pairs + 4) : circuit::metric::unit();
    };
    const double more = gram ? 1 : 0;
    curves.push_back({"idealised" + suffix, 2 + more, {}});
    for (int pairs = 4; pairs <= o.most_pairs; pairs *= 2) {
      auto head = circuit::induction_head_options::of_pairs(pairs);
      head.burstiness = o.burstiness;
      head.metric = lengths(pairs);
      measure(curves.back(), pairs, circuit::induction_head(head), asymptotic_emergence_time(head), 0, o);
    }
    if (o.most_pairs_exact == 0) continue;
    for (const auto loss : {task::loss::squared_error, task::loss::cross_entropy}) {
      const bool squared = loss == task::loss::squared_error;
      const std::string name = std::string(squared ? "exact with squared error" : "exact with cross-entropy") + suffix;
      curves.push_back({name, (squared ? 2 : 1.5) + more, {}});
      for (int pairs = 4; pairs <= o.most_pairs_exact; pairs *= 2) {
        tell(name, std::log2(pairs), std::log2(2 * o.most_pairs_exact));
        const circuit::exact_induction_head_options head{
            .pairs = pairs, .vocabulary = o.tokens_per_pair * pairs, .loss = loss, .metric = lengths(pairs)};
        measure(curves.back(), pairs, circuit::exact_induction_head(head), asymptotic_emergence_time(head),
                squared ? 1 : 0.5, o);
      }
      tell(name, 1, 1);
    }
  }
  return curves;
}

void print(const options& o, const std::vector<curve>& curves) {
  for (const curve& each : curves) {
    std::printf("\n%s\n%8s%14s%14s%16s%10s%8s%14s%8s%10s\n", each.name.c_str(), "N", "t_ICL", "T_beta", "t_ICL / law",
                "exponent", "ln N", "fits as ln N", "calls", "ms");
    for (const record& at : each.records) {
      std::printf("%8d%14.5g%14.5g%16.4f", at.pairs, at.icl_time, at.match_time, at.icl_time / at.expected);
      std::isnan(at.exponent) ? std::printf("%10s", "-") : std::printf("%10.3f", at.exponent);
      std::printf("%8.3f", std::log(at.pairs));
      std::isnan(at.logarithm) ? std::printf("%14s", "-") : std::printf("%14.3f", at.logarithm);
      std::printf("%8lld%10.2f\n", static_cast<long long>(at.evaluations), 1e3 * at.seconds);
    }
  }
  // Where neither b^2 / m nor b^2 sqrt(w_t / w_p) / n exceeds 1/128, the idealised law is good to 5 %.
  const double holds_from = 64.0 * o.burstiness * o.burstiness;
  std::printf(
      "\nLaws: the idealised head's is sqrt(8 pi) N^2 / b^2 in the unit metric, times sqrt((V - 1)(P - 1)) in the\n"
      "Gram metric; the exact head's is that (b = 1) over ln N with squared error, and the root of\n"
      "4 N / (1 - 2N / V) times that with cross-entropy (in the Gram metric 4 N (V - 1) / ..). 'fits as ln N': what\n"
      "in its place makes the law exact. The idealised law asks for b^2 << 2N, in the Gram metric also for\n"
      "b^2 sqrt((V - 1) / (P - 1)) << 2N. With b = %d it is good to 5 %% from N = %.0f on, in the Gram metric from\n"
      "N = %.0f on; heads of fewer pairs may take much longer.\n",
      o.burstiness, holds_from, std::ceil(holds_from * std::sqrt(o.tokens_per_pair / 2.0)));
}

/// emergence.csv: one line a head and size.
void write(const std::filesystem::path& path, const std::vector<curve>& curves) {
  lindyn::io::csv_writer csv(path, {"head", "pairs", "t_icl", "t_beta", "law", "t_icl_over_law", "local_exponent",
                                    "ln_pairs", "fits_as_ln_pairs", "evaluations"});
  for (const curve& each : curves)
    for (const record& at : each.records)
      csv.row(each.name, at.pairs, at.icl_time, at.match_time, at.expected, at.icl_time / at.expected, at.exponent,
              std::log(at.pairs), at.logarithm, at.evaluations);
  csv.commit();
}

/// emergence.png and .svg: times over their laws above, local exponents below.
bool draw(const std::filesystem::path& folder, const std::vector<curve>& curves) {
  const std::vector<std::string> colours{"#0072B2", "#D55E00", "#009E73", "#56B4E9", "#E69F00", "#CC79A7"};
  const auto lines = [&](int column) {
    std::string result;
    for (std::size_t i = 0; i < curves.size(); ++i)
      result += std::string(i > 0 ? ", " : "") + "'emergence.csv' skip 1 using (strcol(1) eq " +
                examples::quoted(curves[i].name) + " ? $2 : NaN):" + std::to_string(column) +
                " with linespoints pointtype 7 pointsize 0.5 linewidth 2 linecolor rgb '" +
                colours[i % colours.size()] + "' title " + examples::quoted(curves[i].name);
    return result;
  };
  std::string body = "set datafile separator ','\nset multiplot layout 2,1\n";
  body += "set lmargin 10\nset rmargin 46\nset tics nomirror\nset border 3\nset key outside right top Left reverse\n";
  int largest = 4;
  for (const curve& each : curves) largest = std::max(largest, each.records.back().pairs);
  body += "set logscale x 2\nset xrange [4:" + std::to_string(2 * largest) +
          "]\nset format x '%.0f'\nset xlabel 'N, pairs'\nset ylabel 't_{ICL} / asymptotic law'\n";
  body += "set yrange [0:*]\nplot 1 with lines dashtype 2 linecolor rgb '#999999' notitle, " + lines(6) + "\n";
  body += "set yrange [*:*]\nset ylabel 'd ln t_{ICL} / d ln N'\nunset key\nplot ";
  for (const char* const power : {"1.5", "2", "2.5", "3"})
    body += std::string(power) + " with lines dashtype 2 linecolor rgb '#999999' notitle, ";
  body += lines(7) + "\nunset multiplot\n";
  return examples::draw(folder, "emergence", body, 1000, 700);
}

lindyn::io::json summary_of(const options& o, const std::vector<curve>& curves) {
  lindyn::io::json summary;
  summary["sqrt_8_pi"] = std::sqrt(8 * std::numbers::pi);
  summary["t_beta_constant"] = asymptotic_match_time(circuit::induction_head_options::of_pairs(1));
  for (const curve& each : curves) {
    const record& last = each.records.back();
    double seconds = 0;
    for (const record& at : each.records) seconds += at.seconds;
    summary["heads"].push_back({{"head", each.name},
                                {"power", each.power},
                                {"pairs", last.pairs},
                                {"t_icl", last.icl_time},
                                {"t_beta", last.match_time},
                                {"t_icl_over_law", last.icl_time / last.expected},
                                {"local_exponent", last.exponent},
                                {"ln_pairs", std::log(last.pairs)},
                                {"fits_as_ln_pairs", last.logarithm},
                                {"seconds", seconds}});
  }
  summary["most_pairs"] = o.most_pairs;
  summary["most_pairs_exact"] = o.most_pairs_exact;
  summary["tokens_per_pair"] = o.tokens_per_pair;
  summary["burstiness"] = o.burstiness;
  summary["tolerance"] = o.tolerance;
  summary["out"] = o.out.string();
  summary["force"] = o.force;
  return summary;
}

void run(const options& o) {
  lindyn::require(o.most_pairs >= 4 && o.most_pairs <= 1 << 20, "most-pairs", o.most_pairs, "in [4, 1048576]");
  lindyn::require(o.most_pairs_exact == 0 || (o.most_pairs_exact >= 4 && o.most_pairs_exact <= 4096),
                  "most-pairs-exact", o.most_pairs_exact, "in [4, 4096], or 0 to leave it out");
  lindyn::require(o.tokens_per_pair >= 3 && o.tokens_per_pair <= 100, "tokens-per-pair", o.tokens_per_pair,
                  "in [3, 100]: with 2 the exact head doesn't emerge from zero");
  lindyn::require(o.burstiness >= 1 && o.burstiness <= 7, "burstiness", o.burstiness,
                  "in [1, 7], less than the 8 distractors of the smallest size");
  lindyn::require(o.tolerance >= 1e-13 && o.tolerance <= 0.01, "tolerance", o.tolerance, "in [1e-13, 0.01]");
  lindyn::io::prepare_output_folder(o.out, o.force);
  const std::vector<curve> curves = measure_all(o);
  print(o, curves);

  examples::finish_undisturbed();
  write(o.out / "emergence.csv", curves);
  const bool drawn = draw(o.out, curves);
  lindyn::io::json summary = summary_of(o, curves);
  examples::append_provenance(summary);
  lindyn::io::write_json(o.out / "summary.json", summary);
  examples::report_written(o.out, "summary.json, emergence.csv, emergence.gnuplot", "emergence.png, emergence.svg",
                           drawn);
}

}  // namespace

int main(int argc, char** argv) { return examples::program("induction_head", argc, argv, parse, run); }
