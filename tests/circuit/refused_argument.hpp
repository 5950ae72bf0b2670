// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Which argument an error names.

#include <string>

#include <lindyn/core/errors.hpp>

namespace lindyn::testing {

/// The argument that `call` is refused for; empty if it isn't refused.
template <class Call>
std::string refused_argument(const Call& call) {
  try {
    call();
  } catch (const argument_error& error) {
    return error.argument();
  }
  return {};
}

}  // namespace lindyn::testing
