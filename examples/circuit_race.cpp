// SPDX-License-Identifier: MIT
//
// Which pair of heads forms the circuit? A map of the winner over two initial coordinates, how sharp its boundary is, who
// wins from random starts, what makes each circuit grow, and whether full networks in training do the same.
//
//   circuit_race --help

#include <chrono>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <lindyn/core/errors.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/sweep/journal.hpp>

#include "support/circuit_race/confirmation.hpp"
#include "support/circuit_race/demonstrations.hpp"
#include "support/circuit_race/growth.hpp"
#include "support/circuit_race/random_starts.hpp"
#include "support/circuit_race/setting.hpp"
#include "support/circuit_race/winners.hpp"
#include "support/law_command_line.hpp"
#include "support/program.hpp"
#include "support/progress_line.hpp"
#include "support/provenance.hpp"
#include "support/resumable_folder.hpp"

namespace {

namespace parts = examples::circuit_race;
using parts::options;

/// Reads the command line; returns an exit code if the program is done with that.
std::optional<int> parse(int argc, char** argv, options& o) {
  CLI::App app("The race of circuits: which pair of heads learns associative recall, from which start.");
  app.set_version_flag("--version", examples::version_text());
  app.add_option("--pairs", o.law.pairs, "N, pairs before the query")->capture_default_str();
  app.add_option("--vocab", o.law.vocabulary, "V, tokens")->capture_default_str();
  app.add_option("--positions", o.law.positions, "how positions are drawn: slots or ring")
      ->check(CLI::IsMember({"slots", "ring"}))
      ->capture_default_str();
  app.add_option("--slots", o.law.slots, "slots of positions (0: pairs + 2)")->capture_default_str();
  app.add_option("--ring", o.law.ring, "with --positions ring: positions on it (0: 2 x slots)")->capture_default_str();
  app.add_option("--layers", o.layers, "L, layers")->capture_default_str();
  app.add_option("--heads", o.heads, "H, heads of every layer")->capture_default_str();
  app.add_option("--x", o.x, "coordinate that the map varies to the right, by its label")->capture_default_str();
  app.add_option("--y", o.y, "coordinate that the map varies upwards")->capture_default_str();
  app.add_option("--low", o.low, "least value of both at the start")->capture_default_str();
  app.add_option("--high", o.high, "largest value of both")->capture_default_str();
  app.add_option("--resolution", o.resolution, "values of each: the map has its square of cells")
      ->capture_default_str();
  app.add_option("--scale", o.scale, "standard deviation of the coordinates at random starts")->capture_default_str();
  app.add_option("--seed", o.seed, "number of the random start whose other coordinates the map has")
      ->capture_default_str();
  app.add_option("--set", o.set, "LABEL=VALUE: another value of one of these; may be given several times");
  app.add_option("--starts", o.starts, "random starts that are raced")->capture_default_str();
  app.add_option("--loss", o.loss, "loss at which a race ends")->capture_default_str();
  app.add_option("--measure", o.measure, "by what a pair wins, see lindyn/circuit/race/standings.hpp")
      ->check(CLI::IsMember(parts::measures))
      ->capture_default_str();
  app.add_option("--confirm", o.confirm,
                 "random starts, and cells of the map, from which full networks are trained (0: none)")
      ->capture_default_str();
  app.add_option("--lr", o.rate, "learning rate of full networks")->capture_default_str();
  app.add_option("--batch", o.batch, "sequences a step of full networks")->capture_default_str();
  app.add_option("--threads", o.threads, "races at a time; results don't depend on it")->capture_default_str();
  examples::add_resumable_folder(app, o.out, o.force, o.resume);
  try {
    app.parse(argc, argv);
    examples::refuse_unused(app, "--ring", o.law.positions == "ring", "--positions ring");
    examples::refuse_unused(app, "--lr", o.confirm > 0, "--confirm");
    examples::refuse_unused(app, "--batch", o.confirm > 0, "--confirm");
  } catch (const CLI::ParseError& end) {
    return app.exit(end);
  }
  return {};
}

void require_valid(const options& o) {
  lindyn::require(o.layers >= 2 && o.layers <= 6, "layers", o.layers, "in [2, 6]");
  lindyn::require(o.heads >= 1 && o.heads <= 8, "heads", o.heads, "in [1, 8]");
  lindyn::require(o.x != o.y, "y", o.y, "another coordinate than x");
  lindyn::require(o.high <= 100, "high", o.high, "at most 100");
  lindyn::require(o.low >= -100 && o.low < o.high, "low", o.low, "in [-100, high)");
  lindyn::require(o.resolution >= 2 && o.resolution <= 4096, "resolution", o.resolution, "in [2, 4096]");
  lindyn::require(o.scale > 0 && o.scale <= 100, "scale", o.scale, "positive, and at most 100");
  lindyn::require(o.seed >= 1 && o.seed <= 1'000'000'000, "seed", o.seed, "in [1, 1000000000]");
  lindyn::require(o.starts >= 1 && o.starts <= 1'000'000, "starts", o.starts, "in [1, 1000000]");
  lindyn::require(o.loss > 0, "loss", o.loss, "positive");
  lindyn::require(o.confirm >= 0 && o.confirm <= 1'000'000, "confirm", o.confirm, "in [0, 1000000]");
  lindyn::require(o.rate > 0 && o.rate <= 1e6, "lr", o.rate, "positive, and at most 1e6");
  lindyn::require(o.batch >= 1 && o.batch <= 1'000'000, "batch", o.batch, "in [1, 1000000]");
  lindyn::require(o.threads >= 1 && o.threads <= 256, "threads", o.threads, "in [1, 256]");
  lindyn::require(!o.out.empty(), "out", "\"\"", "a folder");
}

lindyn::io::json configuration_of(const options& o) {
  const examples::law_options law = examples::completed(o.law);
  return {{"pairs", law.pairs},
          {"vocab", law.vocabulary},
          {"positions", law.positions},
          {"slots", law.slots},
          {"ring", law.ring},
          {"layers", o.layers},
          {"heads", o.heads},
          {"x", o.x},
          {"y", o.y},
          {"low", o.low},
          {"high", o.high},
          {"resolution", o.resolution},
          {"scale", o.scale},
          {"seed", o.seed},
          {"set", o.set},
          {"starts", o.starts},
          {"loss", o.loss},
          {"measure", o.measure},
          {"confirm", o.confirm},
          {"lr", o.rate},
          {"batch", o.batch},
          {"threads", o.threads},
          {"out", o.out.string()},
          {"force", o.force},
          {"resume", o.resume}};
}

void run(const options& o) {
  require_valid(o);
  parts::setting s{.o = o, .tell = examples::progress_line()};
  const double loss_of_nothing = s.model.loss(std::vector<double>(s.start.size()));
  lindyn::require(o.loss < loss_of_nothing, "loss", o.loss,
                  "less than " + lindyn::io::number_text(loss_of_nothing) + ", that of a network without weights");
  examples::prepare_resumable_folder(o.out, o.force, o.resume);
  if (o.force)  // what is done last first: if another program is at it, nothing is lost
    for (const char* part : {"confirmation_map", "confirmation_starts", "random_starts", "boundary", "winner_map"})
      lindyn::sweep::remove_journal(o.out / (part + std::string(".journal")));

  lindyn::io::json summary;
  const auto timed = [&](const char* part, auto&& work) {
    const auto begin = std::chrono::steady_clock::now();
    const std::clock_t before = std::clock();
    auto result = work();
    summary["cpu_seconds"][part] = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;  // of all threads
    summary["seconds"][part] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  };
  const parts::winners winners = timed("winner_map", [&] { return parts::map_of_winners(s); });
  summary["winner_map"] = parts::tell_winners(s, winners);
  const auto starts = timed("random_starts", [&] { return parts::race_from_random_starts(s); });
  summary["random_starts"] = parts::tell_random_starts(s, starts);
  const auto growth = timed("growth_rates", [&] { return parts::growth_of(s); });
  summary["growth_rates"] = parts::summary_of_growth(s, growth);
  summary["largest_start_loses"] = parts::tell_largest_start(s, starts);
  const auto outside = timed("outside_weight", [&] { return parts::find_outside_weight(s); });
  summary["outside_weight"] = parts::tell_outside_weight(s, outside);
  std::optional<lindyn::sweep::table> from_starts, from_map;
  if (o.confirm > 0) {
    from_starts = timed("confirmation_starts", [&] { return parts::confirm_random_starts(s); });
    from_map = timed("confirmation_map", [&] { return parts::confirm_map(s, winners.map.cells()); });
  }

  examples::finish_undisturbed();
  lindyn::sweep::write_csv(o.out / "winner_map.csv", winners.map);
  parts::write_boundary(s, winners);
  lindyn::sweep::write_csv(o.out / "random_starts.csv", starts);
  parts::write_growth(s, growth);
  if (from_starts) {
    summary["confirmation"]["random_starts"] = parts::write_confirmed_starts(s, *from_starts);
    summary["confirmation"]["map"] = parts::write_confirmed_map(s, winners, *from_map);
  }
  bool drawn = parts::draw_winners(s, winners);
  drawn = parts::draw_growth(s, growth) && drawn;
  if (outside) drawn = parts::draw_outside_weight(s, *outside) && drawn;
  summary["configuration"] = configuration_of(o);
  examples::append_provenance(summary);
  lindyn::io::write_json(o.out / "summary.json", summary);
  examples::report_written(o.out, "summary.json, winner_map.csv, boundary.csv, random_starts.csv, growth_rates.csv, ..",
                           "winner_map, growth_rates and outside_weight as PNG and SVG", drawn);
}

}  // namespace

int main(int argc, char** argv) { return examples::program("circuit_race", argc, argv, parse, run); }
