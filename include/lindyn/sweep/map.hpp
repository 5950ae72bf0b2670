// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// A function over all cells of a grid, on several threads, that can be interrupted and resumed.

#include <algorithm>
#include <concepts>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parallel.hpp>
#include <lindyn/core/progress.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/number.hpp>
#include <lindyn/sweep/grid.hpp>
#include <lindyn/sweep/journal.hpp>
#include <lindyn/sweep/table.hpp>

namespace lindyn::sweep {

/// A cell's computation has thrown. What it threw is nested in this (std::rethrow_if_nested); its words are repeated.
class cell_error : public error {
public:
  /// \param which   the cell
  /// \param of      the grid it is of
  /// \param reason  what went wrong
  cell_error(const cell& which, const grid& of, const std::string& reason)
      : error(sentence(which, of, reason)), number_(which.number) {}
  /// The number of the cell.
  [[nodiscard]] index number() const noexcept { return number_; }

private:
  static std::string sentence(const cell& which, const grid& of, const std::string& reason) {
    std::string text = "cell " + std::to_string(which.number) + " (";
    for (std::size_t i = 0; i < which.values.size(); ++i)
      text += (i > 0 ? ", " : "") + of.axes()[i].name() + " = " + io::number_text(which.values[i]);
    return text + "): " + reason;
  }

  index number_;
};

/// The numbers that a worker returns for a cell.
template <class Worker>
using cell_row = std::invoke_result_t<Worker&, const cell&>;

/// What computes cells: called with one it returns a range of numbers, one for each column. The result may depend on
/// the cell alone, not on those that the same worker was called with before.
template <class Worker>
concept cell_worker = std::move_constructible<Worker> && std::invocable<Worker&, const cell&> &&
    std::ranges::contiguous_range<cell_row<Worker>> &&
    std::same_as<double, std::ranges::range_value_t<cell_row<Worker>>>;

/// Options of `map`.
struct map_options {
  int threads = 1;                     ///< one unless more are asked for; results don't depend on it
  std::filesystem::path journal = {};  ///< where finished cells are kept, to be resumed from; empty: nowhere
  std::string configuration = "";      ///< all that decides the results but the grid and the columns, for the journal
  std::string task = "sweep";          ///< what progress is called
  progress::callback tell = {};        ///< hears of the cells done; is called by one thread at a time
};

/// The axes, name and values, a line each: what `map` puts before the configuration in a journal. The last quotation
/// mark of a line ends the name, whatever that holds.
[[nodiscard]] inline std::string describe(const grid& over) {
  std::string text;
  for (const axis& each : over.axes()) {
    text += "axis \"" + each.name() + '"';
    for (const double value : each.values()) text += ' ' + io::number_text(value);
    text += '\n';
  }
  return text;
}

/// Computes a row for each cell of the grid.
///
/// `make_worker()` is called once for each thread, by the caller's; each thread calls its own worker only, which may
/// own what threads can't share (a relational_model, say). Cells are handed out one by one, in their order, so that
/// they may take unequal times. With a journal a second call with the same grid, columns and configuration computes
/// only what the first has not finished, to the same bits as if it had never been interrupted.
///
///     const auto found = sweep::map(grid({axis::linear("x", 0, 1, 64), axis::linear("y", 0, 1, 64)}), {"sum"}, [] {
///       return [](const cell& at) { return std::array{at.values[0] + at.values[1]}; };
///     }, {.threads = 2, .journal = "sum.journal"});
///
/// \throws cell_error, naming the cell, when a worker throws or returns another number of values than there are
///         columns. The cells finished until then are in the journal.
/// \throws argument_error for bad arguments; what make_worker and the journal throw
template <class MakeWorker>
requires cell_worker<std::invoke_result_t<MakeWorker&>>
[[nodiscard]] table map(const grid& over, const std::vector<std::string>& columns, MakeWorker&& make_worker,
                        const map_options& options = {}) {
  require(options.threads >= 1, "threads", options.threads, "at least 1");
  table result(over, columns);
  std::vector<bool> done(static_cast<std::size_t>(over.size()));
  std::optional<journal> kept;
  if (!options.journal.empty()) {
    kept.emplace(options.journal, describe(over) + options.configuration, columns, over.size());
    for (const auto& record : kept->finished()) {
      std::ranges::copy(record.values, result.values().row(record.cell).begin());
      done[static_cast<std::size_t>(record.cell)] = true;
    }
  }
  std::vector<index> open;
  for (index number = 0; number < over.size(); ++number)
    if (!done[static_cast<std::size_t>(number)]) open.push_back(number);

  std::vector<std::invoke_result_t<MakeWorker&>> workers;
  for (index worker = 0; worker < std::min<index>(options.threads, std::ssize(open)); ++worker)
    workers.push_back(make_worker());

  progress tell(options.tell);
  auto finished = over.size() - std::ssize(open);
  tell(options.task, static_cast<double>(finished), static_cast<double>(over.size()));
  std::mutex guard;
  parallel_chunks(std::ssize(open), 1, options.threads, [&](index place, index, index, int worker) {
    const cell which = over.at(open[static_cast<std::size_t>(place)]);
    const auto row = result.values().row(which.number);
    try {
      const auto& values = workers[static_cast<std::size_t>(worker)](which);
      require_extent("number of values", std::ranges::size(values), columns.size());
      std::ranges::copy(values, row.begin());
    } catch (const std::exception& fault) {
      std::throw_with_nested(cell_error(which, over, fault.what()));
    }
    const std::scoped_lock lock(guard);
    if (kept) kept->append(which.number, row);
    tell(options.task, static_cast<double>(++finished), static_cast<double>(over.size()));
  });
  return result;
}

}  // namespace lindyn::sweep
