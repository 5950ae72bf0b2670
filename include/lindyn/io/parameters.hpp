// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The weights of a parameter table in a safetensors file: one tensor a matrix or vector, by names that can be stated.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/parameter_table.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/naming.hpp>
#include <lindyn/io/safetensors.hpp>

namespace lindyn::io {

/// What was read of a file of weights.
template <class Scalar>
struct parameter_file {
  std::vector<Scalar> weights;      ///< the flat buffer that the table describes
  std::vector<std::string> unused;  ///< names of the tensors that belong to no matrix of the table
  metadata_map metadata;            ///< texts that the file's writer added
};

namespace detail {

/// The shape that files have of a matrix, or of a vector.
inline std::vector<index> stored_shape(const parameter& which) {
  return which.vector ? std::vector{which.columns} : std::vector{which.rows, which.columns};
}

/// Throws shape_error unless the file's tensor has that shape.
inline void require_shape(const safetensors_file& file, const std::string& tensor, const std::vector<index>& expected) {
  const auto& shape = file.find(tensor).shape;
  if (shape != expected) throw shape_error(file.describe(tensor) + ".shape", json(shape).dump(), json(expected).dump());
}

/// The transpose of a matrix, row-major.
template <class Scalar>
std::vector<Scalar> transpose(const matrix_view<const Scalar>& matrix) {
  std::vector<Scalar> result;
  result.reserve(static_cast<std::size_t>(matrix.size()));
  for (index column = 0; column < matrix.columns; ++column)
    for (index row = 0; row < matrix.rows; ++row) result.push_back(matrix(row, column));
  return result;
}

/// A matrix of the file's, transposed if it is stored so.
template <class Scalar>
std::vector<Scalar> read_matrix(safetensors_file& file, const std::string& tensor, index rows, index columns,
                                bool transposed) {
  if (!transposed) {
    require_shape(file, tensor, {rows, columns});
    return file.read<Scalar>(tensor);
  }
  require_shape(file, tensor, {columns, rows});
  const auto values = file.read<Scalar>(tensor);
  return transpose<Scalar>({values.data(), columns, rows});
}

/// A matrix, or a vector, as the file has it: neither scaled nor by factors.
template <class Scalar>
std::vector<Scalar> read_plain(safetensors_file& file, const stored_matrix& stored, const parameter& which) {
  if (!which.vector) return read_matrix<Scalar>(file, stored.tensor, which.rows, which.columns, stored.transposed);
  require_shape(file, stored.tensor, stored_shape(which));
  return file.read<Scalar>(stored.tensor);
}

/// W_Q' W_K for factors with `rows` and `columns` columns.
inline std::vector<double> read_product(safetensors_file& file, const stored_matrix& stored, index rows,
                                        index columns) {
  const auto& shape = file.find(stored.tensor).shape;
  if (shape.size() != 2)
    throw shape_error(file.describe(stored.tensor) + ".shape", json(shape).dump(), "that of a matrix, a query factor");
  const index entries = shape[stored.transposed ? 1 : 0];
  const auto queries = read_matrix<double>(file, stored.tensor, entries, rows, stored.transposed);
  const auto keys = read_matrix<double>(file, stored.key_factor, entries, columns, stored.transposed);
  std::vector<double> product(static_cast<std::size_t>(rows * columns), 0.0);
  const matrix_view<const double> query{queries.data(), entries, rows}, key{keys.data(), entries, columns};
  const matrix_view<double> result{product.data(), rows, columns};
  for (index entry = 0; entry < entries; ++entry)
    for (index row = 0; row < rows; ++row)
      for (index column = 0; column < columns; ++column) result(row, column) += query(entry, row) * key(entry, column);
  return product;
}

}  // namespace detail

/// Reads the weights of a table from a safetensors file, in which other tensors may stand, of any type. A vector of the
/// table has one dimension in the file and no transpose; what the table leaves open for alignment is zero.
/// \tparam Scalar float or double, whichever of the two the file has
/// \param table  the matrices that are wanted. In those of attention a row belongs to the query, a column to the key
/// \param names  what the file calls them, if not as the table does, and how it stores them
/// \throws file_error if the file isn't a safetensors file, lacks a tensor, or has it in another type than F32 and F64;
///         shape_error if a tensor has another shape than its matrix; non_finite_error for NaN and infinities;
///         argument_error for values beyond the range of Scalar, and as stored_matrices. Each names file and tensor
template <class Scalar = double>
[[nodiscard]] parameter_file<Scalar> read_parameters(const std::filesystem::path& path, const parameter_table& table,
                                                     const naming& names = {}) {
  const auto places = stored_matrices(table, names);
  safetensors_file file(path);
  parameter_file<Scalar> result{{}, {}, file.metadata()};
  result.weights.assign(static_cast<std::size_t>(table.size()), Scalar(0));
  std::set<std::string> used;
  for (index matrix = 0; matrix < table.count(); ++matrix) {
    const parameter& which = table[matrix];
    const stored_matrix& stored = places[static_cast<std::size_t>(matrix)];
    Scalar* const target = result.weights.data() + which.offset;
    used.insert(stored.tensor);
    if (!stored.key_factor.empty()) used.insert(stored.key_factor);
    if (stored.key_factor.empty() && stored.scale == 1) {
      std::ranges::copy(detail::read_plain<Scalar>(file, stored, which), target);
    } else {
      const auto values = stored.key_factor.empty() ? detail::read_plain<double>(file, stored, which)
                                                    : detail::read_product(file, stored, which.rows, which.columns);
      const std::string described = file.describe(stored.tensor) + " (scaled)";
      for (std::size_t place = 0; place < values.size(); ++place)
        target[place] = detail::narrowed<Scalar>(described, place, stored.scale * values[place]);
    }
  }
  for (const auto& entry : file.tensors())
    if (!used.contains(entry.name)) result.unused.push_back(entry.name);
  return result;
}

/// Appends all matrices and vectors of a table, without what it leaves open for alignment, as tensors to be written.
/// \param tensors  to which they are appended
/// \param table    the matrices
/// \param buffer   the flat buffer that the table describes, which outlives the tensors; shape_error for another size
/// \param prefix   stands before every name
template <class Scalar>
void append_tensors(std::vector<tensor_view>& tensors, const parameter_table& table, std::span<Scalar> buffer,
                    const std::string& prefix = "") {
  for (const parameter& which : table) {
    const auto view = table.view(which, buffer);
    tensors.push_back({prefix + which.name, detail::stored_shape(which),
                       std::span<const std::remove_const_t<Scalar>>(view.data, static_cast<std::size_t>(view.size()))});
  }
}

/// Writes the weights of a table into a safetensors file that appears complete or not at all, in their own precision.
/// Vectors get one dimension; what the table leaves open for alignment isn't stored.
/// \param weights   the flat buffer that the table describes, of float or double
/// \param names     what the file is to call the matrices. Those that it stores scaled or by factors can only be read
/// \param metadata  texts to go with them, such as where they come from
/// \throws shape_error if the buffer doesn't fit the table, non_finite_error for NaN and infinities, argument_error for
///         names that can only be read, and as stored_matrices and write_safetensors
template <std::ranges::contiguous_range Weights>
void write_parameters(const std::filesystem::path& path, const parameter_table& table, const Weights& weights,
                      const naming& names = {}, const metadata_map& metadata = {}) {
  using Scalar = std::ranges::range_value_t<Weights>;
  static_assert(std::same_as<Scalar, float> || std::same_as<Scalar, double>,
                "lindyn: weights are written as float or double.");
  const std::span<const Scalar> buffer(weights);
  require_extent("weights.size()", buffer.size(), table.size());
  const auto places = stored_matrices(table, names);
  std::vector<tensor_view> tensors;
  std::vector<std::vector<Scalar>> transposes;
  transposes.reserve(places.size());  // so that views of them stay valid
  for (index matrix = 0; matrix < table.count(); ++matrix) {
    const stored_matrix& stored = places[static_cast<std::size_t>(matrix)];
    require(stored.key_factor.empty() && stored.scale == 1, "naming of " + table[matrix].name, stored.tensor,
            "neither by factors nor scaled, to be written");
    const auto view = table.view(table[matrix], buffer);
    if (stored.transposed && !table[matrix].vector) {
      transposes.push_back(detail::transpose(view));
      tensors.push_back({stored.tensor, {view.columns, view.rows}, std::span<const Scalar>(transposes.back())});
    } else {
      tensors.push_back({stored.tensor, detail::stored_shape(table[matrix]),
                         std::span<const Scalar>(view.data, static_cast<std::size_t>(view.size()))});
    }
  }
  write_safetensors(path, std::move(tensors), metadata);
}

}  // namespace lindyn::io
