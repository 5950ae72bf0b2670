// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The flat parameter table: every model keeps its weights in one buffer, and this table says which matrix lies where.

#include <algorithm>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/vector_width.hpp>
#include <lindyn/core/views.hpp>

namespace lindyn {

/// One matrix of a model: `rows` x `columns`, row-major, beginning `offset` entries into the flat buffer.
struct parameter {
  std::string name;     ///< how the table finds it
  index rows = 0;       ///< at least 1
  index columns = 0;    ///< at least 1
  index offset = 0;     ///< of its first entry within the buffer
  bool vector = false;  ///< one row that files store as a vector, as a bias
  /// Number of entries.
  [[nodiscard]] index size() const noexcept { return rows * columns; }
};

/// The matrices of a model in the order of their offsets.
class parameter_table {
public:
  /// \param alignment  offsets are multiples of it, in [1, 2^16]; entries between matrices belong to nothing and stay zero
  explicit parameter_table(index alignment = 1) : alignment_(alignment) {
    require(alignment >= 1 && alignment <= largest_alignment, "alignment", alignment, "in [1, 2^16]");
  }

  /// Appends a matrix behind the last one.
  /// Throws argument_error for a name that is there already, an empty matrix, and more entries than a buffer can have.
  void append(std::string name, index rows, index columns) {
    require(std::ranges::find(parameters_, name, &parameter::name) == parameters_.end(), "name", name,
            "a name that no other matrix has");
    require(rows >= 1, name + ".rows", rows, "at least 1");
    require(columns >= 1, name + ".columns", columns, "at least 1");
    require(columns <= (largest_size - size()) / rows, name + ".columns", columns,
            "so small that all matrices together have at most 2^48 entries");
    parameters_.push_back({std::move(name), rows, columns, size()});
  }

  /// Appends a vector of `size` entries: a matrix of one row.
  void append_vector(std::string name, index size) {
    append(std::move(name), 1, size);
    parameters_.back().vector = true;
  }

  /// Number of entries of the flat buffer.
  [[nodiscard]] index size() const noexcept {
    if (parameters_.empty()) return 0;
    const index end = parameters_.back().offset + parameters_.back().size();
    return (end + alignment_ - 1) / alignment_ * alignment_;
  }
  /// The first matrix.
  [[nodiscard]] auto begin() const noexcept { return parameters_.begin(); }
  /// Behind the last matrix.
  [[nodiscard]] auto end() const noexcept { return parameters_.end(); }
  /// Number of matrices.
  [[nodiscard]] index count() const noexcept { return static_cast<index>(parameters_.size()); }
  /// The matrix at `place`, which isn't checked.
  [[nodiscard]] const parameter& operator[](index place) const { return parameters_[static_cast<std::size_t>(place)]; }

  /// The matrix of that name. Throws argument_error, listing the names, if there is none.
  [[nodiscard]] const parameter& find(std::string_view name) const {
    const auto found = std::ranges::find(parameters_, name, &parameter::name);
    if (found == parameters_.end()) {
      std::string names = "one of";
      for (const auto& known : parameters_) names += " " + known.name;
      throw argument_error("name", std::string(name), names);
    }
    return *found;
  }

  /// The matrix `which` within a flat buffer laid out by this table. Throws shape_error if the buffer has another size.
  template <class T>
  [[nodiscard]] matrix_view<T> view(const parameter& which, std::span<T> buffer) const {
    require_extent("buffer.size()", buffer.size(), size());
    return {buffer.data() + which.offset, which.rows, which.columns};
  }
  /// The matrix of that name within such a buffer. Throws as find and view do.
  template <class T>
  [[nodiscard]] matrix_view<T> view(std::string_view name, std::span<T> buffer) const {
    return view(find(name), buffer);
  }
  /// \{
  /// The same within any contiguous range that lives on, as a std::vector.
  template <std::ranges::contiguous_range Buffer>
  [[nodiscard]] auto view(const parameter& which, Buffer& buffer) const {
    return view(which, std::span(buffer));
  }
  template <std::ranges::contiguous_range Buffer>
  [[nodiscard]] auto view(std::string_view name, Buffer& buffer) const {
    return view(find(name), std::span(buffer));
  }
  /// \}

private:
  static constexpr index largest_size = index(1) << 48, largest_alignment = index(1) << 16;

  index alignment_ = 1;
  std::vector<parameter> parameters_;
};

}  // namespace lindyn
