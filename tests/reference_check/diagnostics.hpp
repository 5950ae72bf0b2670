// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What reference files of several kinds say of attention: its order parameters.

#include <map>
#include <string>
#include <vector>

#include <lindyn/io/json.hpp>
#include <lindyn/observe/network_order.hpp>

#include "reference_check.hpp"

namespace reference_check {

/// Compares the members of `expected` (s_bar, sigma_H_all, ..) with those of attention, one dense (sequence, head, query,
/// key) array a layer. `largest` gets the absolute errors by name, where they are larger than those in it. Throws
/// argument_error for a member that isn't known.
void compare_diagnostics(const lindyn::io::json& expected, const std::vector<std::vector<double>>& attention,
                         const lindyn::observe::attention_layout& layout, std::map<std::string, double>& largest);

}  // namespace reference_check
