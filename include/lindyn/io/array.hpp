// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Arrays of numbers in JSON files: {"shape": [rows, columns, ..], "data": [..]} with the data row-major.

#include <string>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/json.hpp>

namespace lindyn::io {

/// A dense array of any rank, row-major.
struct array {
  std::vector<index> shape;  ///< one extent a dimension; empty for a single number
  std::vector<double> data;  ///< as many entries as the product of the extents
};

/// Reads an array; a plain list of numbers counts as one of rank 1.
/// \param name what the array is called in the messages of errors
/// \throws argument_error if the value isn't an array or an entry no number (null is none), shape_error if the number
///         of entries is not the product of the extents
[[nodiscard]] inline array array_from_json(const json& value, const std::string& name) {
  const bool plain = value.is_array();
  require(plain || value.is_object(), name, value.type_name(), "a list of numbers or an object {shape, data}");
  const json& data = plain ? value : member(value, "data");
  require(data.is_array(), name + ".data", data.type_name(), "a list of numbers");

  array result;
  if (plain) {
    result.shape = {static_cast<index>(data.size())};
  } else {
    const json& shape = member(value, "shape");
    require(shape.is_array(), name + ".shape", shape.type_name(), "a list of integers");
    double entries = 1;  // which no list of extents overflows
    for (const json& extent : shape) {
      require(extent.is_number_integer() && extent.get<double>() >= 0, name + ".shape", shape.dump(),
              "a list of integers that are at least 0");
      result.shape.push_back(extent.get<index>());
      entries *= extent.get<double>();
    }
    if (entries != static_cast<double>(data.size()))
      throw shape_error(name + ".shape", shape.dump(), "that of " + std::to_string(data.size()) + " entries");
  }
  result.data.reserve(data.size());
  for (const json& entry : data) {
    if (!entry.is_number())
      throw argument_error(name + ".data[" + std::to_string(result.data.size()) + "]", entry.dump(), "a number");
    result.data.push_back(entry.get<double>());
  }
  return result;
}

}  // namespace lindyn::io
