// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// What a training depends on, as named texts: recorded by checkpoints and compared when they are resumed.

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/io/number.hpp>

namespace lindyn::train {

/// Names and texts, in order. Names are unique.
using settings = std::vector<std::pair<std::string, std::string>>;

namespace detail {

/// Appends a setting; numbers have as many digits as bring them back.
template <class Value>
void append(settings& to, std::string name, const Value& value) {
  if constexpr (std::integral<Value> || std::floating_point<Value>)
    to.emplace_back(std::move(name), io::number_text(value));
  else
    to.emplace_back(std::move(name), std::string(value));
}

}  // namespace detail

}  // namespace lindyn::train
