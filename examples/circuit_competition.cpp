// SPDX-License-Identifier: MIT

/// \file
/// In-context against in-weights learning: phase diagrams of who answers, the context or the weights, over how often
/// the context alone has the answer (f_r, f_v) and how often it is shown (b), by the reduced dynamics and by training
/// full networks from the same start. Each diagram writes its CSV file and its picture, and joins summary.json, as soon
/// as it is done.
///
/// Who has won is asked at a horizon, t = steps x learning rate, and where both disagree: in sequences of common tokens
/// whose labels are never the stored ones, with b as in training. The context wins where the logit of the label that it
/// shows exceeds that of the query's partner in the mean, D > 0 (lindyn/circuit/competition/conflict.hpp); for a full network on
/// sequences drawn for that, without any projection.
///
/// The horizon decides. Weights are fast: they store what is common at once, and take from the induction head the
/// gradient of all queries that they can answer. The head comes later, but it comes, and then the context wins. The
/// boundary is thus a line of equal time of emergence, and recedes as t grows: pictures show it at t / 2, t and 2 t.
///
///   circuit_competition --help

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/csv.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/journal.hpp>

#include "support/circuit_competition/agreement.hpp"
#include "support/circuit_competition/maps.hpp"
#include "support/circuit_competition/pictures.hpp"
#include "support/circuit_competition/setting.hpp"
#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"
#include "support/refuse_unused.hpp"
#include "support/resumable_folder.hpp"

namespace {

namespace competition = examples::circuit_competition;
namespace io = lindyn::io;
namespace sweep = lindyn::sweep;

struct options {
  competition::setting setting;
  std::vector<std::string> only;
  lindyn::index cells = 12;
  int burstiness = 1;
  double within_class = 0.1;
  std::int64_t seed = 1;
  bool untrained = false;
  int threads = 2;
  std::filesystem::path out = "out/circuit_competition";
  bool force = false;
  bool resume = false;

  [[nodiscard]] bool wants(const std::string& name) const {
    return only.empty() || std::ranges::find(only, name) != only.end();
  }
};

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app(
      "Phase diagrams of in-context against in-weights learning, reduced and full; all of it takes three minutes on two "
      "idle cores, half of that --untrained.");
  app.set_version_flag("--version", examples::version_text());
  auto& s = o.setting;
  app.add_option("--only", o.only,
                 "diagrams to draw, separated by commas (default: all):\nf_v: f_r x f_v, shares of rare pairs and of "
                 "labels that aren't stored\nb: f_r x b, blocks that hold the queried pair")
      ->delimiter(',')
      ->check(CLI::IsMember({"f_v", "b"}));
  app.add_option("--cells", o.cells, "cells along f_r and f_v, in [3, 256]")->capture_default_str();
  app.add_option("--pairs", s.pairs, "N, blocks before the query, and cells along b")->capture_default_str();
  app.add_option("--vocab", s.common, "tokens with partners")->capture_default_str();
  app.add_option("--rare-vocab", s.rare, "tokens without, beside those")->capture_default_str();
  app.add_option("--burstiness", o.burstiness, "b of diagram f_v")->capture_default_str();
  app.add_option("--within-class", o.within_class, "f_v of diagram b")->capture_default_str();
  app.add_option("--start", s.start,
                 "equal: all coordinates are --scale; coordinates: normal ones; weights: normal full weights")
      ->check(CLI::IsMember(competition::starts))
      ->capture_default_str();
  app.add_option("--scale", s.scale, "of the start")->capture_default_str();
  app.add_option("--steps", s.steps, "steps of the full network; who has won is asked behind them")
      ->capture_default_str();
  app.add_option("--lr", s.learning_rate, "learning rate; the horizon is steps x lr")->capture_default_str();
  app.add_option("--batch", s.batch, "sequences a step")->capture_default_str();
  app.add_option("--seed", o.seed, "of the start, the minibatches and the probes")->capture_default_str();
  app.add_flag("--untrained", o.untrained, "the reduced dynamics alone");
  app.add_option("--threads", o.threads, "cells at a time; results don't depend on it")->capture_default_str();
  app.add_option("--out", o.out, "folder of the results")->capture_default_str();
  auto* force = app.add_flag("--force", o.force,
                             "write into the folder even if it isn't empty; diagrams that aren't drawn are kept");
  app.add_flag("--resume", o.resume, "go on where an interrupted run with the same options has left off")
      ->excludes(force);
  try {
    app.parse(argc, argv);
    examples::refuse_unused(app, "--burstiness", o.wants("f_v"), "diagram f_v");
    examples::refuse_unused(app, "--within-class", o.wants("b"), "diagram b");
    examples::refuse_unused(app, "--batch", !o.untrained, "training");
    examples::refuse_unused(app, "--seed", !o.untrained || s.start != "equal", "training or a random --start");
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

/// Throws argument_error for a law that leaves nothing to draw, in the words of the command line, where --vocab counts
/// the common tokens alone.
void require_law(const competition::setting& s, const competition::point& at) {
  try {
    (void)lindyn::population::enumerate_types(s.law(at));
  } catch (const lindyn::argument_error& fault) {
    const auto renamed = [&](const std::string& option, const std::string& value) {
      throw lindyn::argument_error(option, value, fault.allowed());
    };
    if (fault.argument() == "vocabulary") renamed("vocab", std::to_string(s.common));
    if (fault.argument() == "rare_vocabulary") renamed("rare-vocab", fault.value());
    if (fault.argument() == "within_class") renamed("within-class", fault.value());
    throw;
  }
}

/// Throws argument_error for values that no later step would refuse before work begins.
void require_valid(const options& o) {
  const auto& s = o.setting;
  const auto positive = [](std::string_view name, double value) {
    lindyn::require(value > 0 && value <= 1e6, name, value, "positive, and at most 1e6");
  };
  lindyn::require(o.cells >= 3 && o.cells <= 256, "cells", o.cells, "in [3, 256]");
  lindyn::require(s.common >= 2 && s.common <= 500'000, "vocab", s.common, "in [2, 500000]");
  lindyn::require(s.rare >= 3 && s.rare <= 500'000, "rare-vocab", s.rare, "in [3, 500000]");
  lindyn::require(s.steps >= 1 && s.steps <= 1'000'000'000, "steps", s.steps, "in [1, 1000000000]");
  positive("lr", s.learning_rate);
  positive("scale", s.scale);
  lindyn::require(s.batch >= 1 && s.batch <= 1'000'000, "batch", s.batch, "in [1, 1000000]");
  lindyn::require(o.seed >= 0 && o.seed <= 1'000'000'000, "seed", o.seed, "in [0, 1000000000]");
  lindyn::require(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "in [1, 256]");
  lindyn::require(!o.out.empty(), "out", "\"\"", "a folder");
  lindyn::require(!o.wants("b") || s.pairs >= 2, "pairs", s.pairs, "at least 2 for diagram b");
  // Vocabularies, pairs, burstiness and shares are the law's. Few repetitions need most tokens, and have most types.
  if (o.wants("f_v")) require_law(s, {0.5, 0.5, o.burstiness});
  if (o.wants("b")) require_law(s, {0.5, o.within_class, 1});
}

/// `count` cells that share [0, 1], by their middles.
sweep::axis share(const std::string& name, lindyn::index count) {
  const double half = 0.5 / static_cast<double>(count);
  return sweep::axis::linear(name, half, 1 - half, count);
}

std::vector<competition::diagram> diagrams(const options& o) {
  std::vector<double> bursts;
  for (int b = 1; b <= o.setting.pairs; ++b) bursts.push_back(b);
  std::vector<competition::diagram> result;
  if (o.wants("f_v"))
    result.push_back({"f_v", "f_r x f_v at b = " + std::to_string(o.burstiness),
                      sweep::grid({share("f_v", o.cells), share("f_r", o.cells)}),
                      [b = o.burstiness](std::span<const double> values) -> competition::point {
                        return {.rare = values[1], .within_class = values[0], .burstiness = b};
                      }});
  if (o.wants("b"))
    result.push_back({"b", "f_r x b at f_v = " + lindyn::detail::to_text(o.within_class),
                      sweep::grid({sweep::axis::listed("b", bursts), share("f_r", o.cells)}),
                      [f_v = o.within_class](std::span<const double> values) -> competition::point {
                        return {.rare = values[1], .within_class = f_v, .burstiness = static_cast<int>(values[0])};
                      }});
  return result;
}

/// Where a map of a diagram is kept.
std::filesystem::path journal_of(const options& o, const competition::diagram& d, const std::string& kind) {
  return o.out / (d.name + "_" + kind + ".journal");
}

struct timed_table {
  sweep::table table;
  double seconds = 0;
};

/// A map that is kept in a journal, and how long it took this time.
template <class Map>
timed_table timed(const Map& map, const options& o, const competition::diagram& d, const std::string& kind) {
  const auto begin = std::chrono::steady_clock::now();
  sweep::table found = map(o.setting, d,
                           {.threads = o.threads,
                            .journal = journal_of(o, d, kind),
                            .configuration = d.about + "\n" + competition::configuration(o.setting).dump() + "\n",
                            .task = d.about + ", " + kind,
                            .tell = examples::progress_line()});
  return {std::move(found), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

/// NAME.csv and NAME_boundary.csv. Without training, what belongs to it is left out.
void write(const std::filesystem::path& folder, const competition::diagram& d, double horizon,
           const sweep::table& reduced, const std::optional<timed_table>& full, const competition::comparison& a) {
  std::vector<std::string> columns{d.grid.axes()[0].name(),    d.grid.axes()[1].name(), "loss_reduced",
                                   "preference_reduced_early", "preference_reduced",    "preference_reduced_late",
                                   "cells_from_boundary"};
  if (full)
    columns.insert(columns.end(),
                   {"loss_full", "preference_full", "preference_full_standard_error", "off_manifold", "same_winner"});
  const bool bounded = std::ranges::find(a.distance, 1) != a.distance.end();
  io::csv_writer csv(folder / (d.name + ".csv"), columns);
  for (lindyn::index cell = 0; cell < d.grid.size(); ++cell) {
    const auto place = static_cast<std::size_t>(cell);
    const auto values = d.grid.at(cell).values;
    const auto row = reduced.values().row(cell);
    const double distance = bounded ? static_cast<double>(a.distance[place]) : std::numeric_limits<double>::infinity();
    if (full)
      csv.row(values, row, distance, full->table.values().row(cell), a.same[place] ? 1 : 0);
    else
      csv.row(values, row, distance);
  }
  csv.commit();
  io::csv_writer boundary(folder / (d.name + "_boundary.csv"), {"t", "x", "y", "dx", "dy"});
  competition::append_boundary(boundary, d.grid, horizon / 2, reduced.column("preference_early"));
  competition::append_boundary(boundary, d.grid, horizon, reduced.column("preference"));
  competition::append_boundary(boundary, d.grid, 2 * horizon, reduced.column("preference_late"));
  boundary.commit();
}

/// Draws one diagram, and returns what is to be said of it.
io::json work(const options& o, const competition::diagram& d, bool& drawn) {
  const auto& s = o.setting;
  io::json entry{{"about", d.about}, {"cells", d.grid.size()}};
  if (!o.resume)  // what is done last first: if another program is at it, nothing is lost
    for (const char* kind : {"full", "reduced"}) sweep::remove_journal(journal_of(o, d, kind));
  const auto reduced = timed(competition::reduced_map, o, d, "reduced");
  const auto preferences = reduced.table.column("preference");
  const auto count = [](const std::vector<double>& values) {
    return std::ranges::count_if(values, [](double value) { return value > 0; });
  };
  entry["context_wins"] = count(preferences);
  entry["context_wins_early"] = count(reduced.table.column("preference_early"));
  entry["context_wins_late"] = count(reduced.table.column("preference_late"));
  entry["seconds_reduced"] = reduced.seconds;
  std::printf("  reduced: the context wins in %lld of %lld cells at t = %g (%lld at t / 2, %lld at 2 t); %.0f s\n",
              static_cast<long long>(count(preferences)), static_cast<long long>(d.grid.size()), s.horizon(),
              static_cast<long long>(entry["context_wins_early"].get<lindyn::index>()),
              static_cast<long long>(entry["context_wins_late"].get<lindyn::index>()), reduced.seconds);
  std::fflush(stdout);

  std::optional<timed_table> full;
  if (!o.untrained) full = timed(competition::full_map, o, d, "full");
  const auto a = full ? competition::compare(d.grid, preferences, full->table.column("preference"),
                                             full->table.column("preference_error"))
                      : competition::compare(d.grid, preferences, preferences, std::vector(preferences.size(), 0.0));
  if (full) {
    entry["seconds_full"] = full->seconds;
    entry["compared"] = a.compared;
    entry["agreed"] = a.agreed;
    entry["near_boundary"] = a.near;
    entry["near_boundary_agreed"] = a.near_agreed;
    entry["agreement"] = a.compared > 0 ? io::json(a.share()) : io::json();
    entry["undecided"] = a.undecided;
    entry["largest_difference"] = a.largest_difference;
    const auto off = full->table.column("off_manifold");
    entry["off_manifold_max"] = std::ranges::max(off);
    std::printf(
        "  full: the same winner in %lld of %lld cells further than one cell from the boundary, where preferences "
        "differ by up to %.2g nats, and in %lld of the %lld others; %lld of all are within 2 standard errors of no "
        "preference; %.0f s\n",
        static_cast<long long>(a.agreed), static_cast<long long>(a.compared), a.largest_difference,
        static_cast<long long>(a.near_agreed), static_cast<long long>(a.near), static_cast<long long>(a.undecided),
        full->seconds);
  }
  write(o.out, d, s.horizon(), reduced.table, full, a);
  const auto both_win = [&](const char* column) {
    const auto wins = count(reduced.table.column(column));
    return wins > 0 && wins < d.grid.size();
  };
  const bool bursts = d.name == "b";
  const std::string title = std::to_string(s.pairs) + " pairs, " + std::to_string(s.common) +
                            " tokens with partners, " + std::to_string(s.rare) + " rare ones; " + d.about +
                            ", t = " + lindyn::detail::to_text(s.horizon());
  drawn = competition::draw_diagrams(
              o.out, d.name, title, bursts ? "b, blocks that hold the queried pair" : "f_v, share of labels not stored",
              bursts ? "[0.5:" + lindyn::detail::to_text(s.pairs + 0.5) + "]\nset ytics 1" : "[0:1]", s.horizon(),
              {.early = both_win("preference_early"),
               .now = both_win("preference"),
               .late = both_win("preference_late"),
               .trained = full.has_value(),
               .disagreement = std::ranges::find(a.same, false) != a.same.end()}) &&
          drawn;
  return entry;
}

/// What earlier runs have left in summary.json, to which diagrams are added. Throws file_error, naming the file, if it
/// isn't of this program.
io::json summary_so_far(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return io::json::object();
  auto summary = io::read_json(path);
  if (!summary.is_object() || !std::ranges::all_of(summary, [](const auto& entry) { return entry.is_object(); }))
    throw lindyn::file_error(path.string() +
                             " is no summary of phase diagrams: remove it, or write into another --out");
  return summary;
}

void run(const options& given) {
  options o = given;
  require_valid(o);
  o.setting.seed = static_cast<std::uint64_t>(o.seed);
  examples::prepare_resumable_folder(o.out, o.force, o.resume);
  const auto path = o.out / "summary.json";
  auto summary = summary_so_far(path);
  bool drawn = true;
  for (const auto& each : diagrams(o)) {
    std::cout << each.name << ": " << each.about << std::endl;
    auto& entry = summary[each.name] = work(o, each, drawn);
    entry["configuration"] = competition::configuration(o.setting);
    entry["cells_along"] = o.cells;
    entry["trained"] = !o.untrained;
    entry["resumed"] = o.resume;  // then seconds are those of the last run alone
    entry["threads"] = o.threads;
    examples::append_provenance(entry);
    io::write_json(path, summary);
  }
  examples::report_written(o.out, "summary.json, and for each diagram NAME.csv, NAME_boundary.csv, NAME.gnuplot",
                           "NAME.png, NAME.svg", drawn);
}

}  // namespace

int main(int argc, char** argv) { return examples::program("circuit_competition", argc, argv, parse, run); }
