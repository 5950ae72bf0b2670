// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What every summary records: where its numbers come from (version, commit, compiler and flags), and numbers that may
/// be missing.

#include <optional>

#include <lindyn/io/json.hpp>
#include <lindyn/version.hpp>

namespace examples {

/// Appends version, commit, compiler and flags to a summary.
inline void append_provenance(lindyn::io::json& summary) {
  summary["version"] = LINDYN_VERSION_STRING;
  summary["commit"] = LINDYN_COMMIT;
  summary["compiler"] = LINDYN_COMPILER;
  summary["flags"] = LINDYN_FLAGS;
}

/// A value or JSON's null.
template <class T>
[[nodiscard]] lindyn::io::json or_null(const std::optional<T>& value) {
  return value ? lindyn::io::json(*value) : lindyn::io::json();
}

/// What --version prints.
[[nodiscard]] inline std::string version_text() {
  return "lindyn " LINDYN_VERSION_STRING " (" LINDYN_COMMIT "), " LINDYN_COMPILER ", " LINDYN_FLAGS;
}

}  // namespace examples
