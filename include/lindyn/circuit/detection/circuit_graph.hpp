// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The picture of a circuit: a graph in Graphviz' language, layers as columns, heads as nodes, directions as edges.

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <locale>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/circuit/detection/detection.hpp>
#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/manifold/layout.hpp>

namespace lindyn::circuit {

/// Options of `to_graphviz`.
struct graph_options {
  std::string title = {};      ///< above the picture; empty: budget, losses and shares
  int digits = 2;              ///< significant digits of strengths and losses
  index most_directions = 16;  ///< that are drawn, the most missed first
};

namespace detail {

/// A number with so many significant digits.
[[nodiscard]] inline std::string brief(double value, int digits) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::setprecision(digits) << value;
  return text.str();
}

/// Writes the graph of one detection.
class graph_writer {
public:
  graph_writer(const detection& found, const graph_options& options)
      : found_(found),
        options_(options),
        drawn_(std::span(found.survivors)
                   .first(static_cast<std::size_t>(std::min(options.most_directions, std::ssize(found.survivors))))) {
    for (const auto& unit : drawn_) largest_ = std::max(largest_, unit.norm);
  }

  [[nodiscard]] std::string text() {
    out_ << "digraph circuit {\n"
            "  rankdir=LR; nodesep=0.5; ranksep=1.6; splines=true; labelloc=t; fontsize=15; pad=0.3;\n"
            "  fontname=\"Helvetica\"; node [fontname=\"Helvetica\", fontsize=13]; edge [fontname=\"Helvetica\", "
            "fontsize=11];\n"
            "  label=\""
         << (options_.title.empty() ? title() : escaped(options_.title)) << "\";\n";
    nodes();
    for (const auto& unit : drawn_) edge(unit);
    passages();
    out_ << "}\n";
    return out_.str();
  }

private:
  [[nodiscard]] static std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text)
      if (letter == '\n')
        result += "\\n";
      else
        result += (letter == '"' || letter == '\\') ? std::string{'\\', letter} : std::string{letter};
    return result;
  }

  [[nodiscard]] std::string title() const {
    const auto number = [&](double value) { return brief(value, options_.digits + 1); };
    const auto with = [&](const char* name, const performance& of) {
      return std::string(name) + " " + number(of.loss) +
             (of.accuracy ? " (" + brief(100 * *of.accuracy, options_.digits + 1) + " % right)" : "");
    };
    return "loss with " + with("all directions", found_.all) + ", " + with("the circuit", found_.circuit) + ", " +
           with("its core", found_.core) + ", " + with("none", found_.none) + "\\nbudget " + number(found_.budget) +
           "; " + brief(100 * found_.energy_share, options_.digits + 1) +
           " % of the weights' squared norm is on the manifold, " +
           brief(100 * found_.circuit_share, options_.digits + 1) + " % in the circuit" + left_out() + "\\n" +
           legend() + "\\n ";
  }

  [[nodiscard]] static std::string legend() {
    return "blue: core, orange: aiding; the wider the larger; a bar for an arrowhead: negative; dashed: the query's "
           "side; dotted: copies passed on";
  }

  [[nodiscard]] std::string left_out() const {
    const std::size_t all = found_.survivors.size();
    return drawn_.size() == all ? ""
                                : "\\ndrawn: " + std::to_string(drawn_.size()) + " of " + std::to_string(all) +
                                      " directions, the most missed first";
  }

  [[nodiscard]] std::string head_name(int layer, int head) const {
    manifold::label_text text;
    manifold::append_head(text, found_.layout, layer, head);
    return std::string(text.view());
  }
  [[nodiscard]] static std::string node(int layer, int head) {
    return "head_" + std::to_string(layer) + "_" + std::to_string(head);
  }
  /// The (layer, head) pairs that brought a copy, the first first.
  [[nodiscard]] std::vector<std::pair<int, int>> bringers(int copy) const {
    std::vector<std::pair<int, int>> result;
    const int base = found_.layout.heads() + 1;
    for (int layer = 1; copy > 0; ++layer, copy /= base)
      if (copy % base > 0) result.emplace_back(layer, copy % base - 1);
    return result;
  }
  /// Where a copy comes from: the last head that brought it, or the input.
  [[nodiscard]] std::string source(int copy) const {
    const auto heads = bringers(copy);
    return heads.empty() ? "input" : node(heads.back().first, heads.back().second);
  }
  [[nodiscard]] std::string target(const direction& unit) const {
    return unit.which.layer > found_.layout.layers() ? "output" : node(unit.which.layer, unit.which.head);
  }

  void nodes() {
    std::set<std::string> used{"input", "output"};
    for (const auto& unit : drawn_) {
      used.insert(target(unit));
      for (const int copy : {unit.which.query_copy, unit.which.key_copy})
        for (const auto& [layer, head] : bringers(copy)) used.insert(node(layer, head));
    }
    const char* end = "shape=box, style=\"filled,rounded\", fillcolor=\"#eeeeee\", color=\"#555555\"";
    out_ << "  input [label=\"tokens and\\npositions\", " << end << "];\n"
         << "  output [label=\"answer\", " << end << "];\n";
    std::string before = "input";
    for (int layer = 1; layer <= found_.layout.layers(); ++layer) {
      out_ << "  { rank=same;";
      for (int head = 0; head < found_.layout.heads(); ++head) {
        const bool is_used = used.contains(node(layer, head));
        out_ << " " << node(layer, head) << " [label=\"layer " << head_name(layer, head)
             << "\", shape=ellipse, style=filled, "
             << (is_used ? "fillcolor=\"#dbe9f6\", color=\"#2a5d8f\""
                         : "fillcolor=\"#fafafa\", color=\"#cccccc\", fontcolor=\"#bbbbbb\"")
             << "];";
      }
      out_ << " }\n  " << before << " -> " << node(layer, 0) << " [style=invis, weight=10];\n";
      before = node(layer, 0);
    }
    out_ << "  " << before << " -> output [style=invis, weight=10];\n";
  }

  [[nodiscard]] static std::string colour(const surviving_direction& unit) {
    return unit.role == role::core ? "#1b5e9b" : "#d9822b";
  }
  [[nodiscard]] std::string width(const direction& unit) const {
    return brief(1 + 4 * (largest_ > 0 ? unit.norm / largest_ : 0), 3);
  }

  /// The key side's edge has the label; the query side's, if it isn't the input, is dashed and bare.
  void edge(const surviving_direction& unit) {
    const std::string style =
        "color=\"" + colour(unit) + "\", fontcolor=\"" + colour(unit) + "\", penwidth=" + width(unit);
    out_ << "  " << source(unit.which.key_copy) << " -> " << target(unit) << " [" << style
         << (unit.strength < 0 ? ", arrowhead=tee" : "") << ", label=\"" << escaped(folded(unit.sentence)) << "\\n"
         << unit.label << " = " << brief(unit.strength, options_.digits) << "; without it loss "
         << brief(unit.loss_without, options_.digits) << "\"];\n";
    if (unit.which.query_copy > 0)
      out_ << "  " << source(unit.which.query_copy) << " -> " << target(unit) << " [" << style
           << ", style=dashed, label=\"query of " << unit.label << "\"];\n";
  }

  /// What heads pass on to later heads on the way of a copy: thin and grey.
  void passages() {
    std::set<std::pair<std::string, std::string>> drawn;
    for (const auto& unit : drawn_)
      for (const int copy : {unit.which.query_copy, unit.which.key_copy}) {
        const auto heads = bringers(copy);
        for (std::size_t k = 1; k < heads.size(); ++k)
          drawn.emplace(node(heads[k - 1].first, heads[k - 1].second), node(heads[k].first, heads[k].second));
      }
    for (const auto& [from, to] : drawn)
      out_ << "  " << from << " -> " << to
           << " [color=\"#999999\", style=dotted, fontcolor=\"#777777\", label=\"passes on\"];\n";
  }

  /// The sentence in lines of about thirty letters.
  [[nodiscard]] static std::string folded(const std::string& sentence) {
    std::string result;
    std::istringstream words(sentence);
    std::size_t line = 0;
    for (std::string word; words >> word;) {
      if (line > 0 && line + word.size() > 30) {
        result += '\n';
        line = 0;
      } else if (line > 0) {
        result += ' ';
        ++line;
      }
      result += word;
      line += word.size();
    }
    return result;
  }

  const detection& found_;
  const graph_options& options_;
  std::span<const surviving_direction> drawn_;
  double largest_ = 0;
  std::ostringstream out_;
};

}  // namespace detail

/// The circuit as a graph in Graphviz' DOT language, to be drawn by `dot -Tsvg`.
///
/// From left to right: the tokens and positions, the heads of each layer, the answer; heads without part in the circuit
/// are pale. Every surviving direction is an edge into the head (or the answer) whose weight it belongs to, from where
/// the key's side comes from, the last head that copied it; a dashed edge comes from the query's side where a head
/// brought that too. Labels say what the direction does, its strength, and the loss without it. Edges are the wider the
/// larger the direction's norm; blue ones are core, orange ones aiding; a bar in place of the arrowhead means a negative
/// strength. Dotted grey edges pass copies on from head to head. The title, unless one is given, ends with this legend.
/// Throws argument_error unless there is at least one digit, and `most_directions` isn't negative.
[[nodiscard]] inline std::string to_graphviz(const detection& found, const graph_options& options = {}) {
  require(options.digits >= 1, "digits", options.digits, "at least 1");
  require(options.most_directions >= 0, "most_directions", options.most_directions, "not negative");
  return detail::graph_writer(found, options).text();
}

}  // namespace lindyn::circuit
