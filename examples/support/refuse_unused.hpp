// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Options on the command line that would have no effect.

#include <string>

#include <CLI/CLI.hpp>

namespace examples {

/// Throws a parse error if the option was given but isn't used: one that has no effect is a mistake.
inline void refuse_unused(const CLI::App& app, const std::string& option, bool used, const std::string& to) {
  if (app.count(option) > 0 && !used) throw CLI::ValidationError(option, "has no effect but with " + to);
}

}  // namespace examples
