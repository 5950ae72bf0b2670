// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Options that are given without a value.

#include <string>

#include <CLI/CLI.hpp>

namespace examples {

/// Throws a parse error if an option was given as '', which CLI11 takes for 0, or for nothing.
inline void refuse_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty()) throw CLI::ValidationError(option->get_name(), "'' is no value");
}

}  // namespace examples
