// SPDX-License-Identifier: MIT

/// \file
/// Reads the circuit off a network's weights: trains an attention-only network from small random weights, or loads one
/// from a safetensors file, projects it on the invariant manifold, and takes directions out until the loss would exceed
/// a budget. What is left is said in sentences, drawn, and written back as weights.
///
///   detect_circuit                                                   recall, two layers: the induction head
///   detect_circuit --task j_hop --vocab 8 --layers 5 --seeds 5       two hops, five layers, from five random starts
///   detect_circuit --weights model.safetensors --attention-name "blocks.{layer}.heads.{head}.weight"
///   detect_circuit --help

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/lindyn.hpp>
#include <lindyn/storage.hpp>

#include "support/detect_circuit/earlier_run.hpp"
#include "support/detect_circuit/findings.hpp"
#include "support/detect_circuit/training.hpp"
#include "support/graphviz.hpp"
#include "support/law_command_line.hpp"
#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"
#include "support/recall_experiment.hpp"
#include "support/refuse_empty.hpp"

namespace {

using examples::or_null;
using lindyn::index;
namespace circuit = lindyn::circuit;
namespace io = lindyn::io;
namespace manifold = lindyn::manifold;
namespace model = lindyn::model;
namespace parts = examples::detect_circuit;
namespace reduced = lindyn::reduced;
namespace task = lindyn::task;

/// What the file calls the weights, and how it stores them.
struct naming_options {
  std::string attention = "W_KQ.{layer}.{head}";
  std::string key_factor;
  std::string readout = "W_out";
  std::string prefix;
  bool transposed = false;
  double scale = 1;
};

struct options {
  examples::law_options law;
  int layers = 2;
  int heads = 1;
  std::string loss = "ce";
  parts::training_options training;
  std::int64_t seed = 1;
  int seeds = 1;
  std::filesystem::path weights;
  naming_options names;
  double budget = 0.05;
  std::optional<double> core_budget;
  bool rescale = false;
  std::string on = "population";
  index sequences = 1024;
  bool keep_rest = false;
  int threads = 1;
  std::filesystem::path out = "out/detect_circuit";
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

void add_training_options(CLI::App& app, options& o) {
  app.add_option("--optimizer", o.training.optimizer, "gradient descent, with momentum 0.9, or Adam")
      ->check(CLI::IsMember(parts::optimizers))
      ->capture_default_str();
  app.add_option("--steps", o.training.steps, "steps of training")->capture_default_str();
  app.add_option("--lr", o.training.rate, "learning rate")->capture_default_str();
  app.add_option("--batch", o.training.batch, "sequences a step; 0: the exact population gradient, by enumeration")
      ->capture_default_str();
  app.add_option("--scale", o.training.scale, "standard deviation of the weights at the start")->capture_default_str();
  app.add_option("--seed", o.seed, "of the start, the minibatches and the fresh sequences")->capture_default_str();
  app.add_option("--seeds", o.seeds, "networks to train, from this seed on; each has its own folder")
      ->capture_default_str();
}

void add_naming_options(CLI::App& app, options& o) {
  app.add_option("--weights", o.weights, "a safetensors file to load instead of training");
  app.add_option("--attention-name", o.names.attention,
                 "its names of the attention weights, rows for the query; {layer} and {head} count from 0, {layer+1} "
                 "from 1")
      ->capture_default_str();
  app.add_option("--key-factor-name", o.names.key_factor,
                 "where it stores factors: names of the key's, --attention-name being the query's");
  app.add_option("--attention-scale", o.names.scale, "what its attention weights are multiplied by")
      ->capture_default_str();
  app.add_option("--readout-name", o.names.readout, "its name of the readout, a row for each token")
      ->capture_default_str();
  app.add_option("--name-prefix", o.names.prefix, "stands before all names");
  app.add_flag("--transposed", o.names.transposed, "it stores the transpose of every matrix");
}

void add_detection_options(CLI::App& app, options& o) {
  app.add_option("--budget", o.budget, "by how much the circuit's loss may exceed that of all directions")
      ->capture_default_str();
  app.add_option("--core-budget", o.core_budget,
                 "the same of the circuit's core (default: half of what all directions gain over none)");
  app.add_flag("--rescale", o.rescale,
               "the loss is that of the best of a few common factors of all strengths: strength that went with other "
               "directions isn't held against those that are left");
  app.add_option("--on", o.on, "what measures the loss: the exact population, or data")
      ->check(CLI::IsMember({"population", "data"}))
      ->capture_default_str();
  app.add_option("--sequences", o.sequences, "with --on data: how many")->capture_default_str();
  app.add_flag("--keep-rest", o.keep_rest,
               "with --on data: what lies off the manifold stays in place, in pruned.safetensors too");
}

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app("Reads the circuit off the weights of an attention-only network, trained here or loaded from a file.");
  app.set_version_flag("--version", examples::version_text());
  examples::add_law_options(app, o.law);
  app.add_option("--layers", o.layers, "L, layers")->capture_default_str();
  app.add_option("--heads", o.heads, "H, heads of every layer")->capture_default_str();
  app.add_option("--loss", o.loss, "ce (cross-entropy) or mse (squared error)")
      ->check(CLI::IsMember({"ce", "mse"}))
      ->capture_default_str();
  add_training_options(app, o);
  add_naming_options(app, o);
  add_detection_options(app, o);
  app.add_option("--threads", o.threads, "threads; results don't depend on it")->capture_default_str();
  app.add_option("--out", o.out, "folder of the results")->capture_default_str();
  app.add_flag("--force", o.force, "write into the folder even if it isn't empty; earlier results there are removed");
  try {
    app.parse(argc, argv);
    examples::refuse_empty(app);
    examples::refuse_unused_law_options(app, o.law);
    const bool loaded = app.count("--weights") > 0;
    for (const char* option : {"--optimizer", "--steps", "--lr", "--batch", "--scale", "--seeds"})
      examples::refuse_unused(app, option, !loaded, "training, that is without --weights");
    for (const char* option : {"--attention-name", "--key-factor-name", "--attention-scale", "--readout-name",
                               "--name-prefix", "--transposed"})
      examples::refuse_unused(app, option, loaded, "--weights");
    examples::refuse_unused(app, "--sequences", o.on == "data", "--on data");
    examples::refuse_unused(app, "--keep-rest", o.on == "data", "--on data");
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

/// Throws argument_error for values that no later step would refuse before work begins.
void require_valid(const options& o) {
  lindyn::require(o.layers >= 1 && o.layers <= 6, "layers", o.layers, "in [1, 6]");
  lindyn::require(o.heads >= 1 && o.heads <= 8, "heads", o.heads, "in [1, 8]");
  lindyn::require(o.training.steps >= 0 && o.training.steps <= 1'000'000'000, "steps", o.training.steps,
                  "in [0, 1000000000]");
  lindyn::require(o.training.rate > 0 && o.training.rate <= 1e30, "lr", o.training.rate, "positive, and at most 1e30");
  lindyn::require(o.training.batch >= 0 && o.training.batch <= 1'000'000, "batch", o.training.batch,
                  "in [0, 1000000] (0: the whole population)");
  lindyn::require(o.training.scale >= 0 && o.training.scale <= 1e3, "scale", o.training.scale, "in [0, 1000]");
  lindyn::require(o.seed >= 0 && o.seed <= 1'000'000'000'000'000'000, "seed", o.seed, "in [0, 1000000000000000000]");
  lindyn::require(o.seeds >= 1 && o.seeds <= 10'000, "seeds", o.seeds, "in [1, 10000]");
  lindyn::require(o.budget >= 0, "budget", o.budget, "not negative");
  if (o.core_budget)
    lindyn::require(*o.core_budget >= o.budget, "core-budget", *o.core_budget,
                    "at least the budget, " + lindyn::detail::to_text(o.budget));
  lindyn::require(std::isfinite(o.names.scale) && o.names.scale != 0, "attention-scale", o.names.scale,
                  "finite and not 0");
  lindyn::require(o.sequences >= 1 && o.sequences <= 10'000'000, "sequences", o.sequences, "in [1, 10000000]");
  lindyn::require(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "in [1, 256]");
  lindyn::require(!o.out.empty(), "out", "\"\"", "a folder");
  lindyn::require_probability("within-class", o.law.within_class);
}

/// The law. Throws argument_error if it makes the network too large for this program.
examples::chosen_law feasible_law(const options& o) {
  auto law = examples::make_law(o.law);
  const auto sizes = law.sizes();
  const model::attention_shape shape{sizes.vocabulary, sizes.positions, o.layers, o.heads};
  double weights = static_cast<double>(shape.vocabulary) * static_cast<double>(shape.width(shape.layers));
  for (int layer = 0; layer < shape.layers; ++layer)
    weights += shape.heads * std::pow(static_cast<double>(shape.width(layer)), 2);
  lindyn::require(weights <= 5e7, "the network's number of weights", weights,
                  "at most 5e7: choose fewer --layers or --heads, or a smaller --vocab");
  return law;
}

/// What all networks of a run share.
struct subject {
  explicit subject(const options& o)
      : law(feasible_law(o)),
        basis(o.layers, o.heads, law.structure()),
        population(examples::relational_population(law, static_cast<std::uint64_t>(o.seed))) {}

  examples::chosen_law law;
  manifold::basis basis;
  examples::reduced_population population;
};

/// The file's weights.
std::vector<double> load(const subject& of, const options& o) {
  const naming_options& n = o.names;
  const io::naming names{.rules = {{"W_KQ.{layer}.{head}", n.attention, n.transposed, n.key_factor, n.scale},
                                   {"W_out", n.readout, n.transposed}},
                         .prefix = n.prefix};
  auto file = [&] {
    try {
      return io::read_parameters(o.weights, of.basis.parameters(), names);
    } catch (const lindyn::argument_error& fault) {
      const std::map<std::string, std::string> meant{{"naming.rules[0].theirs", "attention-name"},
                                                     {"naming.rules[0].key_factor", "key-factor-name"},
                                                     {"naming.rules[1].theirs", "readout-name"}};
      const auto option = meant.find(fault.argument());
      if (option == meant.end()) throw;
      throw lindyn::argument_error(option->second, fault.value(), fault.allowed());
    }
  }();
  (void)of.basis.project(file.weights);  // refuses weights that are too large before there is a folder
  std::cout << "weights           " << o.weights.string();
  if (!file.unused.empty()) std::cout << ", of which " << file.unused.size() << " tensors are of no use here";
  std::cout << "\n";
  return std::move(file.weights);
}

/// Detection by any loss; with --rescale accuracies are those of the strengths times the factor of the least loss.
template <class Model>
circuit::detection detect_by(const subject& of, const options& o, std::span<const double> weights, const Model& model,
                             circuit::detection_options settings) {
  if (!o.rescale) return circuit::detect(of.basis, weights, model, settings);
  const circuit::rescaled_loss rescaled(model);
  settings.accuracy = [factors = rescaled, plain = settings.accuracy](std::span<const double> coordinates) mutable {
    std::vector<double> scaled(coordinates.begin(), coordinates.end());
    const double factor = factors.scale(coordinates);
    for (double& strength : scaled) strength *= factor;
    return plain(scaled);
  };
  return circuit::detect(of.basis, weights, rescaled, settings);
}

/// Detection by the exact loss of the population or by that of data. Accuracies are the population's either way.
/// \param rest  that stays in place, whatever is taken out
circuit::detection detect(const subject& of, const options& o, std::span<const double> weights,
                          const std::vector<double>& rest, std::uint64_t seed) {
  const parts::network<double> net(of.basis.shape());
  circuit::data_loss exact(of.basis, net, of.population.sequences.view(), o.scored(), rest);
  const circuit::detection_options settings{
      .budget = o.budget,
      .core_budget = o.core_budget,
      .accuracy = [&](std::span<const double> coordinates) { return exact.accuracy(coordinates); },
      .threads = o.threads,
      .tell = examples::progress_line()};
  if (o.on == "population")
    return detect_by(of, o, weights, reduced::relational_model(of.basis, of.population.sequences, o.scored()),
                     settings);
  const auto data = parts::fresh_sequences(of.law, seed, o.sequences);
  return detect_by(of, o, weights, circuit::data_loss(of.basis, net, data.view(), o.scored(), rest), settings);
}

/// Loss and accuracy of weights as they are, on fresh sequences.
circuit::performance measure(const subject& of, const options& o, std::span<const double> weights, std::uint64_t seed) {
  const parts::network<double> net(of.basis.shape());
  const auto data = parts::fresh_sequences(of.law, seed, 4'096);
  return {net.loss(weights, data.view(), o.scored()), circuit::accuracy(net, weights, data.view())};
}

/// What is known of one network, the row of seeds.csv.
struct result {
  std::int64_t seed = 0;
  std::optional<parts::trained> training{};  ///< unless it was loaded
  circuit::performance weights{};            ///< as they are
  circuit::detection found{};
  double detection_seconds = 0;
  bool drawn = true, graph_drawn = true;
};

std::string title_of(const options& o) {
  return o.law.task + ", " + std::to_string(o.law.pairs) + " blocks, " + std::to_string(o.law.vocabulary) +
         " tokens, " + std::to_string(o.layers) + " layers";
}

/// Numbers of a network and its circuit.
io::json summary_of(const result& r) {
  io::json summary;
  const auto perform = [](const circuit::performance& of) {
    return io::json{{"loss", of.loss}, {"accuracy", or_null(of.accuracy)}};
  };
  if (r.training) {
    summary["reached"] = r.training->reached_step.has_value();
    summary["reached_step"] = or_null(r.training->reached_step);
    summary["training_seconds"] = r.training->seconds;
  }
  summary["weights"] = perform(r.weights);
  summary["all"] = perform(r.found.all);
  summary["circuit"] = perform(r.found.circuit);
  summary["core"] = perform(r.found.core);
  summary["none"] = perform(r.found.none);
  summary["directions"] = r.found.coordinates.size();
  summary["survivors"] = r.found.survivors.size();
  summary["survivors_core"] = parts::count(r.found, circuit::role::core);
  summary["survivors_aiding"] = parts::count(r.found, circuit::role::aiding);
  for (const double level : parts::accuracy_levels)
    summary["directions_for_accuracy"][lindyn::detail::to_text(level)] =
        or_null(parts::fewest_with_accuracy(r.found, level));
  summary["core_budget_used"] = r.found.core_budget;
  summary["circuit_factor"] = r.found.scale;
  summary["core_factor"] = r.found.core_scale;
  summary["largest_factor"] = or_null(r.found.largest_scale);
  summary["energy_share"] = r.found.energy_share;
  summary["circuit_share"] = r.found.circuit_share;
  summary["detection_seconds"] = r.detection_seconds;
  return summary;
}

/// summary.json but for what was found: the whole configuration and the provenance.
void append_configuration(io::json& summary, const options& o) {
  examples::append_law(summary, o.law);
  summary["layers"] = o.layers;
  summary["heads"] = o.heads;
  summary["scored"] = o.loss;
  summary["optimizer"] = o.training.optimizer;
  summary["steps"] = o.training.steps;
  summary["lr"] = o.training.rate;
  summary["batch"] = o.training.batch;
  summary["scale"] = o.training.scale;
  summary["seed"] = o.seed;
  summary["seeds"] = o.seeds;
  summary["reached_accuracy"] = parts::reached_accuracy;
  summary["weights_file"] = o.weights.empty() ? io::json() : io::json(o.weights.string());
  summary["attention_name"] = o.names.attention;
  summary["key_factor_name"] = o.names.key_factor;
  summary["attention_scale"] = o.names.scale;
  summary["readout_name"] = o.names.readout;
  summary["name_prefix"] = o.names.prefix;
  summary["transposed"] = o.names.transposed;
  summary["budget"] = o.budget;
  summary["core_budget"] = or_null(o.core_budget);
  summary["rescale"] = o.rescale;
  summary["on"] = o.on;
  summary["sequences"] = o.sequences;
  summary["keep_rest"] = o.keep_rest;
  summary["threads"] = o.threads;
  summary["out"] = o.out.string();
  summary["force"] = o.force;
  examples::append_provenance(summary);
}

/// Trains one network, unless it was loaded, detects its circuit, and writes everything that belongs to it into a folder.
/// \param loaded  the weights, if they aren't to be trained
result study(const subject& of, const options& o, std::int64_t which, const std::filesystem::path& folder,
             const std::vector<double>& loaded) {
  const auto seed = static_cast<std::uint64_t>(which);
  const auto& table = of.basis.parameters();
  const io::metadata_map origin{{"program", "detect_circuit"}, {"task", title_of(o)}, {"seed", std::to_string(which)}};
  result r{.seed = which};
  std::vector<double> weights = loaded;
  if (loaded.empty()) {
    r.training = parts::train(of.law, of.basis.shape(), o.training, o.scored(), o.embedding(), seed, o.threads);
    weights = r.training->weights;
    parts::write_training(folder / "training.csv", *r.training);  // before detection, which may be interrupted
    io::write_parameters(folder / "trained.safetensors", table, std::span<const double>(weights), {}, origin);
  }
  r.weights = measure(of, o, weights, seed);
  if (r.training) {
    std::printf("trained           %lld steps in %.1f s: loss %s, accuracy %.3f on fresh sequences\n",
                static_cast<long long>(o.training.steps), r.training->seconds,
                parts::readable(r.weights.loss, 4).c_str(), *r.weights.accuracy);
    if (r.training->reached_step)
      std::printf("                  accuracy %g was reached at step %lld\n", parts::reached_accuracy,
                  static_cast<long long>(*r.training->reached_step));
    else
      std::printf(
          "                  The task was NOT reached: no moment had an accuracy of %g. Tried: %s, rate %g, "
          "batch %lld, start %g, seed %lld.\n",
          parts::reached_accuracy, o.training.optimizer.c_str(), o.training.rate,
          static_cast<long long>(o.training.batch), o.training.scale, static_cast<long long>(which));
  } else {
    std::printf("as they are       loss %s, accuracy %.3f on fresh sequences\n",
                parts::readable(r.weights.loss, 4).c_str(), *r.weights.accuracy);
  }
  std::cout << std::flush;

  const auto begin = std::chrono::steady_clock::now();
  const auto rest = o.keep_rest ? of.basis.project(weights).off_manifold : std::vector<double>();
  r.found = detect(of, o, weights, rest, seed);
  r.detection_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  parts::print(r.found, o.on == "data");

  const examples::undisturbed writing;
  if (o.seeds == 1) examples::finish_undisturbed();  // else the next network's training may be interrupted
  io::write_json(folder / "detection.json", circuit::to_json(r.found));
  io::write_parameters(folder / "pruned.safetensors", table,
                       std::span<const double>(circuit::pruned_weights(of.basis, r.found, rest)), {}, origin);
  parts::write_elimination(folder / "elimination.csv", of.basis, r.found);
  r.drawn = parts::draw_elimination(folder, r.found, title_of(o));
  r.graph_drawn = examples::draw_graph(folder, "circuit", circuit::to_graphviz(r.found));
  auto summary = summary_of(r);
  append_configuration(summary, o);
  io::write_json(folder / "summary.json", summary);
  return r;
}

/// seeds.csv and summary.json of several networks, and what they say.
void report_seeds(const options& o, const std::vector<result>& results) {
  io::csv_writer csv(o.out / "seeds.csv",
                     {"seed", "reached_step", "training_seconds", "loss", "accuracy", "survivors", "core", "aiding",
                      "accuracy_circuit", "accuracy_core", "energy_share", "detection_seconds"});
  std::printf("\n%6s%10s%10s%10s%8s%8s%18s%15s\n", "seed", "reached", "loss", "accuracy", "core", "aiding",
              "circuit's acc.", "core's acc.");
  index reached = 0;
  for (const result& r : results) {
    const auto step = r.training->reached_step;
    const auto core = parts::count(r.found, circuit::role::core), aiding = parts::count(r.found, circuit::role::aiding);
    if (step) ++reached;
    csv.row(r.seed, step ? std::to_string(*step) : "", r.training->seconds, r.weights.loss, *r.weights.accuracy,
            std::ssize(r.found.survivors), core, aiding, *r.found.circuit.accuracy, *r.found.core.accuracy,
            r.found.energy_share, r.detection_seconds);
    std::printf("%6lld%10s%10s%10.3f%8lld%8lld%18.3f%15.3f\n", static_cast<long long>(r.seed),
                step ? std::to_string(*step).c_str() : "never", parts::readable(r.weights.loss, 4).c_str(),
                *r.weights.accuracy, static_cast<long long>(core), static_cast<long long>(aiding),
                *r.found.circuit.accuracy, *r.found.core.accuracy);
  }
  csv.commit();
  io::json summary{{"reached", reached}, {"networks", io::json::array()}};
  for (const result& r : results) {
    summary["networks"].push_back(summary_of(r));
    summary["networks"].back()["seed"] = r.seed;
  }
  append_configuration(summary, o);
  io::write_json(o.out / "summary.json", summary);
  std::printf("%lld of %zu reached the task.\n", static_cast<long long>(reached), results.size());
}

void run(const options& given) {
  require_valid(given);
  options o = given;
  o.law = examples::completed(o.law);
  const subject of(o);
  const auto loaded = o.weights.empty() ? std::vector<double>() : load(of, o);
  io::prepare_output_folder(o.out, o.force);
  parts::remove_earlier(o.out, o.weights);
  std::cout << "full network      " << of.basis.parameters().size() << " weights\n"
            << "manifold          " << of.basis.dimension() << " directions\n";
  if (of.population.sample)
    std::cout << "population        too many relational types: " << of.population.sample->contexts()
              << " contexts were sampled\n";
  std::cout << std::flush;

  std::vector<result> results;
  for (int k = 0; k < o.seeds; ++k) {
    const auto folder = o.seeds == 1 ? o.out : o.out / ("seed_" + std::to_string(o.seed + k));
    if (o.seeds > 1) {
      io::prepare_output_folder(folder, o.force);
      std::cout << "\nSeed " << o.seed + k << "\n";
    }
    results.push_back(study(of, o, o.seed + k, folder, loaded));
  }
  if (o.seeds > 1) {
    examples::finish_undisturbed();
    report_seeds(o, results);
  }

  const auto all_of = [&](bool result::*drawn) {
    return std::ranges::all_of(results, [&](const result& r) { return r.*drawn; });
  };
  examples::report_written(o.out,
                           "summary.json, detection.json, circuit.dot, elimination.csv, elimination.gnuplot, "
                           "pruned.safetensors" +
                               std::string(o.weights.empty() ? ", trained.safetensors, training.csv" : "") +
                               (o.seeds > 1 ? " in a folder for each seed; summary.json, seeds.csv" : ""),
                           "elimination.png, elimination.svg", all_of(&result::drawn));
  std::cout << (all_of(&result::graph_drawn)
                    ? "The circuit is drawn in circuit.png and circuit.svg.\n"
                    : "The circuit wasn't drawn, as Graphviz is missing or failed (Debian: apt install graphviz).\n");
}

}  // namespace

int main(int argc, char** argv) { return examples::program("detect_circuit", argc, argv, parse, run); }
