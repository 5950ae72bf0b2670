// SPDX-License-Identifier: MIT

/// \file
/// The main job: derive the invariant manifold of a block-list task, certify that the gradient stays on it, integrate
/// the reduced dynamics, train the full attention-only network from the same start, and show both side by side.
///
///   reduced_vs_full --help

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/flows.hpp>
#include <lindyn/lindyn.hpp>
#include <lindyn/storage.hpp>

#include "support/gnuplot.hpp"
#include "support/law_command_line.hpp"
#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"
#include "support/recall_experiment.hpp"

namespace {

using examples::or_null;
namespace compare = lindyn::compare;
namespace manifold = lindyn::manifold;
namespace model = lindyn::model;
namespace population = lindyn::population;
namespace reduced = lindyn::reduced;
namespace task = lindyn::task;

struct options {
  examples::law_options law;
  int layers = 2;
  int heads = 1;
  std::optional<lindyn::index> steps;
  std::optional<double> rate;
  lindyn::index batch = 512;
  std::string loss = "ce";
  std::int64_t seed = 1;
  std::optional<double> emergence_loss;
  std::string start = "manifold";
  int threads = 1;
  std::filesystem::path out = "out/reduced_vs_full";
  bool force = false;

  [[nodiscard]] task::loss scored() const {
    return loss == "mse" ? task::loss::squared_error : task::loss::cross_entropy;
  }
  /// Squared error and several classes of tokens need centred embeddings, see lindyn/model/embedding.hpp.
  [[nodiscard]] model::embedding embedding() const {
    return loss == "mse" || law.directed || law.rare_vocabulary > 0 ? model::embedding::centred
                                                                    : model::embedding::one_hot;
  }
};

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app("Reduced against full training dynamics of an attention-only network on a block-list task.");
  app.set_version_flag("--version", examples::version_text());
  examples::add_law_options(app, o.law);
  app.add_option("--layers", o.layers, "L, layers")->capture_default_str();
  app.add_option("--heads", o.heads, "H, heads of every layer")->capture_default_str();
  app.add_option("--steps", o.steps,
                 "steps of the full network (default: 20000, or 1000 with --batch 0; with --lr: until "
                 "twice the predicted time of emergence)");
  app.add_option("--lr", o.rate, "learning rate (default: such that the circuit is predicted to emerge half-way)");
  app.add_option("--batch", o.batch, "sequences a step; 0: the exact population gradient, by enumeration")
      ->capture_default_str();
  app.add_option("--loss", o.loss, "ce (cross-entropy) or mse (squared error)")
      ->check(CLI::IsMember({"ce", "mse"}))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of the start and of the minibatches")->capture_default_str();
  app.add_option("--emergence-loss", o.emergence_loss,
                 "loss at which the circuit counts as emerged (default: half of the "
                 "loss at the start)");
  app.add_option("--start", o.start, "manifold: random coordinates; random: random full weights")
      ->check(CLI::IsMember({"manifold", "random"}))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "threads of the full network; results don't depend on it")
      ->capture_default_str();
  app.add_option("--out", o.out, "folder of the results")->capture_default_str();
  app.add_flag("--force", o.force, "write into the folder even if it isn't empty");
  try {
    app.parse(argc, argv);
    examples::refuse_unused_law_options(app, o.law);
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

/// The largest curvature of the loss along the flow's direction of steepest change: |J v| after a few power iterations,
/// with J the derivative of the velocity, by differences.
double curvature(reduced::relational_model& reduced_model, const std::vector<double>& at) {
  constexpr double difference = 1e-5;
  std::vector<double> v(at.size()), above(at.size()), below(at.size()), moved = at;
  reduced_model.velocity(at, v);
  double size = 0;
  for (int iteration = 0; iteration < 12; ++iteration) {
    double norm = 0;
    for (const double entry : v) norm += entry * entry;
    if (norm == 0) return 0;
    for (double& entry : v) entry /= std::sqrt(norm);
    for (std::size_t i = 0; i < v.size(); ++i) moved[i] = at[i] + difference * v[i];
    reduced_model.velocity(moved, above);
    for (std::size_t i = 0; i < v.size(); ++i) moved[i] = at[i] - difference * v[i];
    reduced_model.velocity(moved, below);
    size = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      v[i] = (above[i] - below[i]) / (2 * difference);
      size += v[i] * v[i];
    }
  }
  return std::sqrt(size);
}

/// Steps and learning rate: given, or such that the reduced model predicts emergence half-way, and steps small enough
/// for the flow to follow: learning rate x curvature at most 1/4, at the start, at emergence and behind it.
std::pair<lindyn::index, double> choose_steps(reduced::relational_model& reduced_model,
                                              const std::vector<double>& start, const options& o) {
  const lindyn::index usual = o.batch == 0 ? 1'000 : 20'000;
  if (o.steps && o.rate) return {*o.steps, *o.rate};
  const auto begin = std::chrono::steady_clock::now();
  const double level = o.emergence_loss.value_or(reduced_model.loss(start) / 2);
  double largest = curvature(reduced_model, start);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Some 25 evaluations took that long; a prediction may take 10 s.
  const auto affordable = static_cast<std::int64_t>(10 / std::max(seconds * 7 / 25, 1e-7));
  std::optional<double> emergence;
  try {
    const auto flow = reduced::flow(reduced_model, start,
                                    {.until = 1e7,
                                     .stop_at_loss = level,
                                     .max_steps = std::clamp<std::int64_t>(affordable, 20, 20'000),
                                     .tell = examples::progress_line()});
    if (flow.status == lindyn::integrate::flow_status::event && flow.t > 0) {
      emergence = flow.t;
      largest = std::max(largest, curvature(reduced_model, flow.state));
      const auto behind = reduced::flow(reduced_model, flow.state, {.until = flow.t / 4, .max_steps = 20'000});
      largest = std::max(largest, curvature(reduced_model, behind.state));
    }
  } catch (const lindyn::solver_error&) {  // nothing emerges within the flow's steps: no prediction
  }
  if (o.rate && !emergence) return {usual, *o.rate};
  if (o.rate) return {std::llround(std::clamp(2 * *emergence / *o.rate, 1.0, 1e6)), *o.rate};
  const lindyn::index steps = o.steps.value_or(usual);
  const double wanted = emergence ? 2 * *emergence / static_cast<double>(steps) : 0.1;
  return {steps, largest > 0 ? std::min(wanted, 0.25 / largest) : wanted};
}

/// Full weights at the start.
std::vector<double> start_weights(const manifold::basis& basis, const options& o) {
  lindyn::counter_generator generator(static_cast<std::uint64_t>(o.seed), ~std::uint64_t{1});
  if (o.start == "random") {
    std::vector<double> weights(static_cast<std::size_t>(basis.parameters().size()));
    for (double& weight : weights) weight = 0.1 * lindyn::standard_normal(generator);
    return weights;
  }
  std::vector<double> coordinates(static_cast<std::size_t>(basis.dimension()));
  for (double& coordinate : coordinates) coordinate = 0.3 * lindyn::standard_normal(generator);
  return basis.embed(coordinates);
}

/// Trains a network of this precision and compares.
template <class Scalar>
compare::comparison train_and_compare(reduced::relational_model& reduced_model, const examples::chosen_law& law,
                                      const std::vector<double>& start, const compare::along_options& along) {
  const model::attention_only<lindyn::layers<lindyn::dynamic>, lindyn::heads<lindyn::dynamic>, Scalar> net(
      reduced_model.basis().shape());
  std::vector<Scalar> weights(start.begin(), start.end());
  auto result = compare::along(reduced_model, net, law, std::span<Scalar>(weights), along);
  if (along.training.threads > 1) {  // seconds_full is that of one thread: time some steps alone
    auto single = along.training;
    single.threads = 1;
    single.tell = {};
    single.steps = std::min<lindyn::index>(single.steps, 100);
    weights.assign(start.begin(), start.end());
    const double seconds = lindyn::train::descend(net, law, std::span<Scalar>(weights), single, [](const auto&) {});
    result.seconds_full = seconds * static_cast<double>(along.training.steps) / static_cast<double>(single.steps);
  }
  return result;
}

/// trajectory.csv: one line a record; coordinates as full / reduced (the flow) / map (the discrete map).
void write_trajectory(const std::filesystem::path& path, const manifold::basis& basis, const compare::comparison& c) {
  std::vector<std::string> columns{"step", "t", "loss_full", "loss_reduced", "off_manifold"};
  for (const std::string kind : {"full ", "reduced ", "map "})
    for (lindyn::index i = 0; i < basis.dimension(); ++i) columns.push_back(kind + basis.label(i));
  lindyn::io::csv_writer csv(path, columns);
  for (const compare::along_record& point : c.records)
    csv.row(point.step, point.t, point.loss_full, point.loss_reduced, point.off_manifold, point.full, point.flow,
            point.descent);
  csv.commit();
}

/// The coordinates that move most along the flow, at most `count`.
std::vector<std::size_t> most_moved(const compare::comparison& c, std::size_t count) {
  std::vector<double> moved(c.records.front().flow.size());
  for (const compare::along_record& point : c.records)
    for (std::size_t i = 0; i < moved.size(); ++i)
      moved[i] = std::max(moved[i], std::abs(point.flow[i] - c.records.front().flow[i]));
  std::vector<std::size_t> places(moved.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, std::greater{}, [&](std::size_t i) { return moved[i]; });
  places.resize(std::min(places.size(), count));
  return places;
}

/// trajectory.png and .svg: loss above, the coordinates that move most below; full as points over reduced as lines.
bool draw_trajectory(const std::filesystem::path& folder, const manifold::basis& basis, const compare::comparison& c,
                     const std::string& title) {
  const auto dimension = static_cast<std::size_t>(basis.dimension());
  const std::vector<std::size_t> shown = most_moved(c, 7);
  const std::vector<std::string> colours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555"};
  const std::string every = std::to_string(std::max<std::size_t>(1, c.records.size() / 50));
  const std::string data = "'trajectory.csv'";
  const auto column = [](std::size_t number) { return std::to_string(number); };
  const auto number = [](double value) { return lindyn::detail::to_text(value); };

  std::string body = "set datafile separator ','\nset key noenhanced\n";
  body += "set multiplot layout 2,1 title \"" + title + "\" noenhanced\n";
  body += "set lmargin 10\nset rmargin 26\nset tics nomirror\nset border 3\nset key outside right top Left reverse\n";
  body +=
      "set format x '%.0f'\nset xlabel 'training step'\nset xrange [0:" + std::to_string(c.records.back().step) + "]\n";
  body += "set ylabel 'loss'\nset yrange [0:*]\n";
  body += "set arrow 1 from graph 0, first " + number(c.emergence_loss) + " to graph 1, first " +
          number(c.emergence_loss) + " nohead dashtype 2 linecolor rgb '#999999'\n";
  if (c.emergence_step_reduced)
    body += "set arrow 2 from " + number(*c.emergence_step_reduced) + ", graph 0 to " +
            number(*c.emergence_step_reduced) + ", graph 1 nohead dashtype 2 linecolor rgb '#999999'\nset label 1 " +
            "'emergence' at " + number(*c.emergence_step_reduced) +
            ", graph 0.95 offset 0.7,0 textcolor rgb '#777777'\n";
  body += "plot " + data +
          " skip 1 using 1:4 with lines linewidth 2 linecolor rgb '#000000' title 'reduced', '' skip 1 every " + every +
          " using 1:3 with points pointtype 6 pointsize 1.2 linewidth 1.5 linecolor rgb '#D55E00' title 'full', NaN "
          "with lines "
          "dashtype 2 linecolor rgb '#999999' title 'emergence loss'\n";
  body += "unset arrow 1\nunset label 1\nset yrange [*:*]\nset ylabel 'coordinate on the manifold'\nplot ";
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::size_t i = shown[k];
    const std::string colour = " linecolor rgb '" + colours[k] + "'";
    body += (k > 0 ? ", " : "") + data + " skip 1 using 1:" + column(6 + dimension + i) + " with lines linewidth 2" +
            colour + " title " + examples::quoted(basis.label(static_cast<lindyn::index>(i))) + ", '' skip 1 every " +
            every + " using 1:" + column(6 + i) + " with points pointtype 6 pointsize 1.2 linewidth 1.5" + colour +
            " notitle";
  }
  body += "\nunset multiplot\n";
  return examples::draw(folder, "trajectory", body, 900, 700);
}

/// The short table, and what the coordinates that moved most stand for.
void print(const manifold::basis& basis, const compare::comparison& c, lindyn::index steps, double rate) {
  const auto step_text = [](const std::optional<double>& step) {
    return step ? std::to_string(std::llround(*step)) : std::string("-");
  };
  const compare::along_record &first = c.records.front(), &last = c.records.back();
  std::printf("\n%-22s%14s%14s\n", "", "full", "reduced");
  std::printf("%-22s%14.4f%14.4f\n", "loss at the start", first.loss_full, first.loss_reduced);
  std::printf("%-22s%14.4f%14.4f\n", "loss at the end", last.loss_full, last.loss_reduced);
  std::printf("%-22s%14s%14s\n", "emergence, step", step_text(c.emergence_step_full).c_str(),
              step_text(c.emergence_step_reduced).c_str());
  std::printf("%-22s%14.3g%14.3g\n", "seconds", c.seconds_full, c.seconds_reduced);
  for (const std::size_t i : most_moved(c, 5)) {
    const auto place = static_cast<lindyn::index>(i);
    std::printf("%-22s%14.3f%14.3f  %s\n", basis.label(place).c_str(), last.full[i], last.flow[i],
                basis.describe(place).c_str());
  }
  const double ratio = c.seconds_full / c.seconds_reduced;
  std::printf("\n%lld steps at learning rate %.4g; the reduced flow is %.*f times %s.\n", static_cast<long long>(steps),
              rate, std::max(ratio, 1 / ratio) < 10 ? 1 : 0, std::max(ratio, 1 / ratio),
              ratio >= 1 ? "faster" : "slower");
  std::printf(
      "Largest difference of a coordinate: %.2g to the discrete map, %.2g to the flow; off the manifold: %.2g.\n",
      c.coordinate_error_map_max, c.coordinate_error_flow_max, c.off_manifold_max);
  if (last.loss_full > 1.1 * first.loss_full)
    std::printf("The full network's loss has risen: the learning rate is too large.\n");
  else if (c.coordinate_error_flow_max > 0.5)
    std::printf(
        "Full network and flow differ much: a smaller learning rate (or a larger batch) brings them together.\n");
}

/// What the picture's title says of the task and the network; a line break within.
std::string title_of(const options& o, const manifold::basis& basis) {
  const auto number = [](auto value) { return std::to_string(value); };
  std::string title = o.law.task == "recall" ? "associative recall" : o.law.task;
  std::ranges::replace(title, '_', ' ');
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  if (o.law.association) title += " with stored associations";
  if (o.law.directed) title += " with directed associations";
  if (o.law.rare_vocabulary > 0) title += ", rare tokens";
  return title + ", " + number(o.law.pairs + o.law.distractors) + " blocks of " + number(o.law.block) + ", " +
         number(o.law.vocabulary) + " tokens: " + number(o.layers) + (o.layers == 1 ? " layer, " : " layers, ") +
         number(o.heads) + (o.heads == 1 ? " head" : " heads") + "\\n" + number(basis.parameters().size()) +
         " weights (points, full network), " + number(basis.dimension()) + " coordinates (lines, reduced dynamics)";
}

/// summary.json but for the provenance: what was found, then the whole configuration.
lindyn::io::json summary_of(const options& o, const reduced::relational_model& reduced_model,
                            const compare::confinement_certificate& certificate, const compare::comparison& c) {
  lindyn::io::json summary;
  summary["dim_full"] = reduced_model.basis().parameters().size();
  summary["dim_manifold"] = reduced_model.dimension();
  summary["confinement_method"] = compare::name(certificate.method);
  summary["confinement_residual_max"] = or_null(certificate.residual_max);
  summary["confinement_residual_allowed"] = certificate.tolerance;
  summary["confinement_statement"] = certificate.statement;
  summary["coordinate_error_map_max"] = c.coordinate_error_map_max;
  summary["coordinate_error_flow_max"] = c.coordinate_error_flow_max;
  summary["off_manifold_max"] = c.off_manifold_max;
  summary["emergence_step_full"] = or_null(c.emergence_step_full);
  summary["emergence_step_reduced"] = or_null(c.emergence_step_reduced);
  summary["seconds_full"] = c.seconds_full;
  summary["seconds_reduced"] = c.seconds_reduced;
  summary["speedup"] = c.seconds_full / c.seconds_reduced;
  summary["loss_start"] = c.loss_start;
  summary["loss_end"] = c.loss_end;
  summary["relational_types"] = reduced_model.plan().types();
  summary["t_end"] = c.records.back().t;
  summary["precision"] = o.batch == 0 ? "double" : "float";
  examples::append_law(summary, o.law);
  summary["layers"] = o.layers;
  summary["heads"] = o.heads;
  summary["steps"] = *o.steps;
  summary["lr"] = *o.rate;
  summary["batch"] = o.batch;
  summary["loss"] = o.loss;
  summary["seed"] = o.seed;
  summary["emergence_loss"] = c.emergence_loss;
  summary["start"] = o.start;
  summary["threads"] = o.threads;
  summary["out"] = o.out.string();
  summary["force"] = o.force;
  return summary;
}

/// Throws argument_error for values that no later step would refuse before work begins.
void require_valid(const options& o) {
  const auto positive = [](std::string_view name, std::optional<double> value, double most) {
    if (value) lindyn::require(*value > 0 && *value <= most, name, *value, "positive, and at most 1e30");
  };
  if (o.steps) lindyn::require(*o.steps >= 1 && *o.steps <= 1'000'000'000, "steps", *o.steps, "in [1, 1000000000]");
  positive("lr", o.rate, 1e30);
  positive("emergence-loss", o.emergence_loss, 1e30);
  lindyn::require(o.batch >= 0 && o.batch <= 1'000'000, "batch", o.batch, "in [0, 1000000] (0: the whole population)");
  lindyn::require(o.seed >= 0, "seed", o.seed, "not negative");
  lindyn::require(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "in [1, 256]");
  lindyn::require(!o.out.empty(), "out", "\"\"", "a folder");
  lindyn::require_probability("within-class", o.law.within_class);
  lindyn::require(o.layers >= 1 && o.layers <= 6, "layers", o.layers, "in [1, 6]");
  lindyn::require(o.heads >= 1 && o.heads <= 8, "heads", o.heads, "in [1, 8]");
}

void run(const options& given) {
  require_valid(given);
  options o = given;
  o.law = examples::completed(o.law);
  const auto law = examples::make_law(o.law);
  const manifold::basis basis(o.layers, o.heads, law.structure());
  if (o.batch == 0) (void)population::whole_population(law);  // too many sequences are refused before anything else
  lindyn::io::prepare_output_folder(o.out, o.force);
  std::cout << "full network      " << basis.parameters().size() << " weights\n"
            << "manifold          " << basis.dimension() << " coordinates\n";

  const auto certificate = compare::confinement(basis, law,
                                                {.loss = o.scored(),
                                                 .embedding = o.embedding(),
                                                 .seed = static_cast<std::uint64_t>(o.seed),
                                                 .batch = 4096,
                                                 .threads = o.threads,
                                                 .tell = examples::progress_line()});
  std::cout << "gradient          " << certificate.statement << std::endl;

  const auto seen = examples::relational_population(law, static_cast<std::uint64_t>(o.seed));
  reduced::relational_model reduced_model(basis, seen.sequences, o.scored());
  const std::vector<double> start = start_weights(basis, o);
  const std::vector<double> coordinates = basis.project(start).coordinates;
  std::tie(o.steps, o.rate) = choose_steps(reduced_model, coordinates, o);

  const compare::along_options along{.training = {.steps = *o.steps,
                                                  .learning_rate = *o.rate,
                                                  .batch = o.batch,
                                                  .seed = static_cast<std::uint64_t>(o.seed),
                                                  .loss = o.scored(),
                                                  .embedding = o.embedding(),
                                                  .threads = o.threads,
                                                  .tell = examples::progress_line()},
                                     .emergence_loss = o.emergence_loss};
  const auto c = o.batch == 0 ? train_and_compare<double>(reduced_model, law, start, along)
                              : train_and_compare<float>(reduced_model, law, start, along);
  print(basis, c, *o.steps, *o.rate);

  examples::finish_undisturbed();
  write_trajectory(o.out / "trajectory.csv", basis, c);
  const bool drawn = draw_trajectory(o.out, basis, c, title_of(o, basis));
  lindyn::io::json summary = summary_of(o, reduced_model, certificate, c);
  summary["relational_types_exact"] = !seen.sample.has_value();
  summary["loss_start_standard_error"] = nullptr;
  if (seen.sample) {
    const auto estimate = reduced::sampled_loss(basis, *seen.sample, o.scored())(coordinates);
    summary["loss_start_standard_error"] = estimate.standard_error;
    std::printf("The law has too many relational types: %lld contexts were sampled (loss at the start %.4f +- %.4f).\n",
                static_cast<long long>(seen.sample->contexts()), estimate.mean, estimate.standard_error);
  }
  examples::append_provenance(summary);
  lindyn::io::write_json(o.out / "summary.json", summary);

  examples::report_written(o.out, "summary.json, trajectory.csv, trajectory.gnuplot", "trajectory.png, trajectory.svg",
                           drawn);
}

}  // namespace

int main(int argc, char** argv) { return examples::program("reduced_vs_full", argc, argv, parse, run); }
