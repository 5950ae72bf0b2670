// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <lindyn/core/errors.hpp>

namespace lindyn::testing {

/// The message of the argument_error that `work` throws; empty if it throws none.
template <class Work>
std::string complaint(Work work) {
  try {
    (void)work();
  } catch (const argument_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace lindyn::testing
