// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Where a program's numbers come from: version, commit, compiler and flags, as every summary records them.

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

/// What --version prints.
[[nodiscard]] inline std::string version_text() {
  return "lindyn " LINDYN_VERSION_STRING " (" LINDYN_COMMIT "), " LINDYN_COMPILER ", " LINDYN_FLAGS;
}

}  // namespace examples
