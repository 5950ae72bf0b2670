// SPDX-License-Identifier: MIT

/// \file
/// Trains a pre-norm transformer on anchor composition, modular arithmetic, anchor shift or SCAN: shape, start, optimiser,
/// schedules of learning rate and weight decay, batches, and what is observed meanwhile are settings, of the command line
/// or of a JSON file. Ctrl-C writes a checkpoint, --resume goes on from it, to the same bits.
///
///   train_transformer                                                      decay in a window, as in arXiv 2605.04396
///   train_transformer --decay "window(400, 5400, 0.004)" --steps 7500 --observe order
///   train_transformer --preset regimes --stop --observe order              grokking, as in arXiv 2605.20441
///   train_transformer --preset scan                                        commands in words; outputs are decoded greedily
///   train_transformer --config configuration.json                          what an earlier run did
///   train_transformer --help

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/file_lock.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/output_folder.hpp>
#include <lindyn/io/parameters.hpp>

#include "support/program.hpp"
#include "support/provenance.hpp"
#include "support/resources.hpp"
#include "support/train_transformer/command_line.hpp"
#include "support/train_transformer/pictures.hpp"
#include "support/train_transformer/training.hpp"

namespace {

using examples::or_null;
using lindyn::index;
namespace fs = std::filesystem;
namespace io = lindyn::io;
namespace parts = examples::train_transformer;
namespace train = lindyn::train;

/// All that is written into the folder, but for the tensors of checkpoints.
constexpr std::array result_files{
    parts::configuration_file, "metrics.csv", "observations.csv", "training.csv", "test.csv", "checkpoint.json"};
/// Those among them that are made at the end.
constexpr std::array final_files{"summary.json",     "weights.safetensors", "decoded.csv",
                                 "training.gnuplot", "training.png",        "training.svg"};

/// The first row of metrics with what was to be reached, or null.
const std::vector<double>* find_reached(const parts::settings& of, const parts::history& metrics) {
  const auto found = std::ranges::find_if(metrics.rows(), [&, column = metrics.column(parts::decisive_column(of))](
                                                              const auto& row) { return row[column] >= of.reached; });
  return found == metrics.rows().end() ? nullptr : &*found;
}

/// Keeps others out of the folder, which exists, for as long as the result lives.
io::file_lock lock(const fs::path& folder) {
  try {
    return io::file_lock(folder / "lock");
  } catch (const io::file_in_use_error&) {
    throw io::file_in_use_error(folder.string() + " is in use by another process");
  }
}

/// Writes sequences, a row each: their tokens, and the answer at the last place; or the answers at all places, -1 where
/// nothing is asked.
void write_data(const fs::path& path, const lindyn::task::sequence_set& of) {
  std::vector<std::string> columns;
  const auto name_places = [&](const std::string& what) {
    for (int place = 0; place < of.sizes().length; ++place) columns.push_back(what + std::to_string(place));
  };
  name_places("token_");
  if (of.last_place_only())
    columns.push_back("answer");
  else
    name_places("answer_");
  io::csv_writer csv(path, columns);
  for (index sequence = 0; sequence < of.count(); ++sequence)
    csv.row(of.tokens(sequence), of.last_place_only() ? of.answers(sequence).last(1) : of.answers(sequence));
  csv.commit();
}

/// What is trained, and what the schedules add up to.
void introduce(const parts::settings& of, const parts::experiment& what) {
  std::cout << "data              " << what.data.training.count() << " sequences in training, "
            << what.data.test.count() << " in test\n"
            << "network           " << lindyn::model::parameter_count(what.shape) << " parameters, "
            << parts::mebibytes(what.bytes) << " with gradient and optimiser\n"
            << "training          " << what.steps << " steps, " << what.steps_per_epoch << " an epoch\n";
  const auto budget = what.budget(what.steps);
  std::printf("decay             %s, %s, of %s: sum of lambda %.6g, of lr lambda %.6g, log-shrink %s\n",
              of.decay.c_str(), of.decay_mode.c_str(), of.groups.c_str(), budget.rates, budget.scaled_rates,
              budget.log_shrink ? lindyn::detail::to_text(*budget.log_shrink).c_str() : "up to the optimiser");
  for (const std::string& warning : what.warnings()) std::cout << "WARNING           " << warning << "\n";
  if (of.heads == 1 && !of.observe.empty())
    std::cout << "s_bar             " << lindyn::observe::undefined_for_one_head << "\n";
  std::cout << std::flush;
}

/// Removes files, if they are there.
void remove_files(const fs::path& folder, std::span<const char* const> names) {
  std::error_code fault;
  for (const char* name : names)
    if (fs::is_regular_file(folder / name, fault)) fs::remove(folder / name);
}

/// Removes what an earlier run has left. Other files stay.
void remove_earlier(const fs::path& folder) {
  remove_files(folder, result_files);
  remove_files(folder, final_files);
  std::vector<fs::path> tensors;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("checkpoint.") && entry.path().extension() == ".safetensors")
      tensors.push_back(entry.path());
  for (const auto& file : tensors) fs::remove(file);
}

io::json number_or_null(double value) { return std::isnan(value) ? io::json() : io::json(value); }

/// What was reached, the last evaluation and the last observation.
void append_results(io::json& summary, const parts::settings& of, const parts::experiment& what,
                    const parts::history& metrics, const parts::history& observations) {
  const auto* reached = find_reached(of, metrics);
  const auto at = [&](const char* name) { return reached ? io::json((*reached)[parts::metric(name)]) : io::json(); };
  summary["reached"] = reached != nullptr;
  summary["reached_step"] = at("step");
  summary["reached_epoch"] = at("epoch");
  summary["reached_accuracy"] = of.reached;
  summary["horizon_steps"] = what.steps;
  summary["horizon_epochs"] = static_cast<double>(what.steps) / static_cast<double>(what.steps_per_epoch);
  const auto& last = metrics.rows().back();
  for (std::size_t column = 0; column < last.size(); ++column)
    summary[metrics.columns()[column]] = number_or_null(last[column]);
  for (const char* count : {"reached_step", "step", "training_correct", "training_total", "test_correct", "test_total"})
    if (!summary[count].is_null()) summary[count] = std::llround(summary[count].get<double>());
  if (observations.rows().empty()) return;
  const auto& observed = observations.rows().back();
  for (std::size_t column = 2; column < observed.size(); ++column)
    summary["observed"][observations.columns()[column]] = number_or_null(observed[column]);
}

/// The rest of summary.json: sizes, seeds, budgets of the steps made, the whole configuration, provenance.
void append_configuration(io::json& summary, const parts::settings& of, const parts::experiment& what, index steps) {
  summary["training_sequences"] = what.data.training.count();
  summary["test_sequences"] = what.data.test.count();
  summary["steps_per_epoch"] = what.steps_per_epoch;
  summary["parameters"] = lindyn::model::parameter_count(what.shape);
  summary["split_seed"] = of.split_seed;
  summary["init_seed"] = of.seed;
  summary["batch_seed"] = of.batch_seed;
  const auto budget = what.budget(steps);
  summary["budget_decay"] = budget.rates;
  summary["budget_lr_decay"] = budget.scaled_rates;
  summary["budget_log_shrink"] = or_null(budget.log_shrink);
  summary["warnings"] = what.warnings();
  summary["configuration"] = parts::to_json(of);
  examples::append_provenance(summary);
}

std::string title_of(const parts::settings& of, const parts::experiment& what) {
  const auto count = [](int number, const std::string& noun) {
    return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
  };
  const std::string task =
      of.task == "anchor_composition"
          ? "Anchor composition, " + std::to_string(of.keys) + " keys, " + std::to_string(of.anchors) + " anchors"
      : of.task == "anchor_shift" ? "Anchor shift, tested with the unseen pair"
      : of.task == "scan"
          ? "SCAN, add jump"
          : of.operation + " modulo " + std::to_string(of.modulus) + (of.swap_safe ? ", swap-safe split" : "");
  return task + ": " + count(of.layers, "layer") + ", " + count(of.heads, "head") + ", " +
         std::to_string(lindyn::model::parameter_count(what.shape)) + " parameters\ndecay " + of.decay + ", " +
         of.decay_mode;
}

/// Trains, and writes what there is to be written. Returns the program's exit code.
template <class Scalar>
int train_and_write(const parts::settings& of, bool resume) {
  const auto start = std::chrono::steady_clock::now();
  const fs::path folder = of.out;
  std::optional<io::file_lock> alone;
  if (resume) alone = lock(folder);
  const parts::experiment what(of);
  introduce(of, what);
  parts::subject<Scalar> seen(of, what);
  const parts::files files{.begin =
                               [&] {
                                 if (resume) {
                                   remove_files(folder, final_files);  // they aren't those of the run's new end
                                 } else {
                                   io::prepare_output_folder(folder, of.force,
                                                             fs::exists(folder / "checkpoint.json")
                                                                 ? "--force overwrites it, --resume goes on with it"
                                                                 : "--force overwrites it");
                                   alone = lock(folder);
                                   remove_earlier(folder);
                                   write_data(folder / "training.csv", what.data.training);
                                   write_data(folder / "test.csv", what.data.test);
                                 }
                                 io::write_json(folder / parts::configuration_file, parts::to_json(of));
                               },
                           .save =
                               [&] {
                                 seen.metrics.write(folder / "metrics.csv");
                                 if (seen.observes()) seen.observations.write(folder / "observations.csv");
                               },
                           .checkpoint = folder / "checkpoint.json",
                           .resume = resume,
                           .resumed =
                               [&](index end) {
                                 seen.metrics.read(folder / "metrics.csv", end);
                                 if (seen.observes()) seen.observations.read(folder / "observations.csv", end);
                               }};
  const parts::ending end = std::visit(
      [&](const auto& rule) { return parts::run_training(of, what, rule, seen, files); }, parts::make_rule(of));
  if (end.why == train::run_end::stopped) {
    std::cout << "Interrupted behind step " << end.steps << ". To go on: --resume --out " << folder.string() << "\n";
    return 128 + end.signal;
  }

  examples::finish_undisturbed();
  io::write_parameters(folder / "weights.safetensors", seen.net.parameters(), std::span<const Scalar>(seen.weights), {},
                       {{"program", "train_transformer"}, {"step", std::to_string(end.steps)}});
  const bool drawn =
      parts::draw_training(folder, seen.metrics, seen.observations,
                           {title_of(of, what), parts::windows_of(what.lambda, static_cast<double>(end.steps)),
                            of.reached, parts::task_columns(of)});
  io::json summary;
  append_results(summary, of, what, seen.metrics, seen.observations);
  if (of.task == "scan")
    summary["test_decoded_exact_match"] = parts::write_decoded<parts::model::prenorm_transformer<Scalar>>(
        folder / "decoded.csv", of, what.data.test, seen.net, seen.weights, seen.memory);
  const auto used = examples::resources_used();
  summary["seconds_training"] = end.seconds;
  summary["seconds_observing"] = end.observer_seconds;
  summary["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  summary["cpu_seconds"] = used.cpu_seconds;
  summary["largest_resident_mib"] = used.largest_resident_bytes / (1 << 20);
  append_configuration(summary, of, what, end.steps);
  io::write_json(folder / "summary.json", summary);

  const std::string decisive = of.task == "scan" ? "Exact match of test outputs" : "Test accuracy";
  if (const auto* reached = find_reached(of, seen.metrics))
    std::printf("%s %g was reached at step %.0f, epoch %g.\n", decisive.c_str(), of.reached,
                (*reached)[parts::metric("step")], (*reached)[parts::metric("epoch")]);
  else
    std::printf("%s %g was NOT reached within %lld steps.\n", decisive.c_str(), of.reached,
                static_cast<long long>(end.steps));
  std::printf("%.1f s of training, %.1f s of evaluation and observation; at most %.0f MiB of memory.\n", end.seconds,
              end.observer_seconds, used.largest_resident_bytes / (1 << 20));
  examples::report_written(folder,
                           "summary.json, configuration.json, metrics.csv, weights.safetensors, training.csv, "
                           "test.csv, training.gnuplot" +
                               std::string(of.task == "scan" ? ", decoded.csv" : "") +
                               std::string(seen.observes() ? ", observations.csv" : ""),
                           "training.png, training.svg", drawn);
  return 0;
}

int run(const parts::command_line& line) {
  const parts::settings of = parts::resolve(line);
  return of.precision == "double" ? train_and_write<double>(of, line.resume) : train_and_write<float>(of, line.resume);
}

}  // namespace

int main(int argc, char** argv) {
  parts::command_line line;
  if (const auto code = parts::parse(argc, argv, line)) return *code;
  const auto fail = [](const std::exception& fault, int code) {
    std::cout.flush();
    std::cerr << "train_transformer: " << fault.what() << "\n";
    return code;
  };
  try {
    return run(line);
  } catch (const lindyn::non_finite_error& fault) {  // the training has diverged
    return fail(fault, 1);
  } catch (const lindyn::error& fault) {  // bad input
    return fail(fault, 2);
  } catch (const std::bad_alloc&) {
    return fail(lindyn::error("there isn't enough memory for such data or such a network"), 1);
  } catch (const std::exception& fault) {
    return fail(fault, 1);
  }
}
