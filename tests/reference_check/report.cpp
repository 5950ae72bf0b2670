// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <sstream>
#include <utility>

#include "reference_check.hpp"

namespace reference_check {

namespace {

/// The largest absolute value; NaN if there is one.
double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values)
    if (!(std::abs(value) <= result)) result = std::abs(value);
  return result;
}

}  // namespace

void report::add(const std::string& quantity, const std::vector<compared>& group, double tolerance) {
  double largest_of_group = 0;
  for (const auto& array : group) largest_of_group = std::max(largest_of_group, largest(array.theirs));
  entry worst{quantity, "", -1, tolerance};
  for (const auto& [name, ours, theirs] : group) {
    lindyn::require_extent(name + ".size()", theirs.size(), ours.size());
    std::vector<double> difference(ours.size());
    std::ranges::transform(ours, theirs, difference.begin(), std::minus{});
    const double scale = std::max(largest(theirs), 1e-6 * largest_of_group);
    const double error = largest(difference) / (scale > 0 ? scale : 1.0);
    if (worst.error < 0 || !(error <= worst.error)) {
      worst.error = error;
      worst.worst = group.size() > 1 ? name : "";
    }
  }
  if (worst.error >= 0 || std::isnan(worst.error)) entries_.push_back(worst);
}

void report::add_error(const std::string& quantity, double error, double tolerance) {
  entries_.push_back({quantity, "", error, tolerance});
}

bool report::passes() const { return !entries_.empty() && std::ranges::all_of(entries_, &entry::passes); }

std::string report::text() const {
  if (entries_.empty()) return "nothing to compare";
  std::ostringstream line;
  line.precision(2);
  for (const auto& one : entries_) {
    line << (&one == entries_.data() ? "" : ", ") << one.quantity << " " << one.error;
    if (!one.passes()) line << " (above " << one.tolerance << (one.worst.empty() ? ")" : ", " + one.worst + ")");
  }
  return line.str();
}

std::map<std::string, check, std::less<>>& kinds() {
  static std::map<std::string, check, std::less<>> all;
  return all;
}

std::vector<double> numbers(const lindyn::io::json& object, const std::string& name,
                            const std::vector<lindyn::index>& shape) {
  auto [extents, data] = lindyn::io::array_from_json(lindyn::io::member(object, name), name);
  const auto text = [](const std::vector<lindyn::index>& of) { return lindyn::io::json(of).dump(); };
  if (extents != shape) throw lindyn::shape_error(name + ".shape", text(extents), text(shape));
  return std::move(data);
}

std::vector<int> integers(const lindyn::io::json& object, const std::string& name,
                          const std::vector<lindyn::index>& shape) {
  std::vector<int> result;
  for (const double number : numbers(object, name, shape)) {
    lindyn::require(number == std::floor(number) && std::abs(number) <= std::numeric_limits<int>::max(), name, number,
                    "an integer");
    result.push_back(static_cast<int>(number));
  }
  return result;
}

}  // namespace reference_check
