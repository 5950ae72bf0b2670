// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What the checks of all kinds of reference files share: the report of a file's errors, and the registry of kinds.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/io/array.hpp>
#include <lindyn/io/json.hpp>

namespace reference_check {

/// Values of ours beside those of a file.
struct compared {
  std::string name;
  std::vector<double> ours, theirs;
};

/// The largest error of every quantity of a file.
class report {
public:
  /// Adds arrays that form a group. The error of each is max|ours - theirs| relative to max|theirs|, or to a millionth
  /// of the group's largest entry where that is more (some arrays vanish but for rounding).
  /// Throws shape_error if an array has another number of entries than ours.
  void add(const std::string& quantity, const std::vector<compared>& group, double tolerance = 1e-9);
  /// Adds an error as it is.
  void add_error(const std::string& quantity, double error, double tolerance);

  /// Whether something was compared, and every error is within its tolerance (NaN isn't).
  [[nodiscard]] bool passes() const;
  /// "loss 2.2e-16, gradients 1.3e-15, ..", in the order in which the quantities were added.
  [[nodiscard]] std::string text() const;

private:
  struct entry {
    std::string quantity, worst;
    double error, tolerance;
    [[nodiscard]] bool passes() const { return error <= tolerance; }
  };
  std::vector<entry> entries_;
};

/// Compares the contents of one file, which may name others that lie in its folder.
using check = std::function<void(const lindyn::io::json& file, const std::filesystem::path& folder, report& errors)>;

/// The checks by the kinds of files they are for.
[[nodiscard]] std::map<std::string, check, std::less<>>& kinds();

/// A further kind is a file with one of these at namespace scope: `const kind registered("my_kind", check_my_kind);`
struct kind {
  kind(std::string name, check how) { kinds().emplace(std::move(name), std::move(how)); }
  /// Of files that stand alone.
  kind(std::string name, void (*how)(const lindyn::io::json& file, report& errors))
      : kind(std::move(name),
             [how](const lindyn::io::json& file, const std::filesystem::path&, report& errors) { how(file, errors); }) {
  }
};

/// An array of the file, whose extents must be these.
[[nodiscard]] std::vector<double> numbers(const lindyn::io::json& object, const std::string& name,
                                          const std::vector<lindyn::index>& shape);
/// The same as integers.
[[nodiscard]] std::vector<int> integers(const lindyn::io::json& object, const std::string& name,
                                        const std::vector<lindyn::index>& shape);

}  // namespace reference_check
