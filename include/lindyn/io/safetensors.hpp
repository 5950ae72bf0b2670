// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Named tensors in safetensors files, which NumPy, PyTorch, JAX and others read and write; see safetensors_header.hpp
/// for the format.

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/atomic_file.hpp>
#include <lindyn/io/json.hpp>
#include <lindyn/io/safetensors_header.hpp>

namespace lindyn::io {

namespace detail {

static_assert(std::endian::native == std::endian::little,
              "lindyn: numbers in safetensors files are little-endian, and are read and written as they are.");

/// The value as a Scalar. Throws argument_error, with that name and place, if it is beyond the type's range, or NaN.
template <std::floating_point Scalar>
Scalar narrowed(const std::string& name, std::size_t place, double value) {
  constexpr double largest = std::numeric_limits<Scalar>::max();
  if (!(std::abs(value) <= largest))
    throw argument_error(name + "[" + std::to_string(place) + "]", lindyn::detail::to_text(value),
                         "at most " + lindyn::detail::to_text(largest) + " in size");
  return static_cast<Scalar>(value);
}

}  // namespace detail

/// A safetensors file that is open for reading. The header is read and checked at once, values when they are asked for:
/// tensors of types that this library doesn't read are no obstacle to reading the others.
class safetensors_file {
public:
  /// Opens the file and reads its header.
  /// \throws file_error, naming path, tensor and what is allowed, if it can't be read or isn't as the format says
  explicit safetensors_file(std::filesystem::path path) : path_(std::move(path)) {
    const auto fail = [&](const std::string& reason) {
      throw file_error("cannot read " + path_.string() + ": " + reason);
    };
    std::error_code reason;
    const std::uint64_t size = std::filesystem::file_size(path_, reason);
    if (reason) fail(reason.message());
    errno = 0;
    stream_.open(path_, std::ios::binary);
    if (!stream_) fail(last_system_error().message());

    std::uint64_t length = 0;
    if (size < sizeof length)
      fail("it is truncated: it has " + std::to_string(size) + " bytes, and at least 8 are needed");
    read_bytes(&length, sizeof length);
    if (length > largest_safetensors_header)
      fail("its header would have " + std::to_string(length) + " bytes; at most " +
           std::to_string(largest_safetensors_header) + " are allowed (is it a safetensors file?)");
    if (length > size - sizeof length)
      fail("its header would have " + std::to_string(length) + " bytes, but only " +
           std::to_string(size - sizeof length) + " follow (is it truncated?)");
    std::string text(length, '\0');
    read_bytes(text.data(), length);
    data_begin_ = sizeof length + length;
    header_ = parse_safetensors_header(text, size - data_begin_, path_.string());
  }

  /// Where the file is.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// What is in it, in the order of the data.
  [[nodiscard]] const std::vector<tensor_entry>& tensors() const noexcept { return header_.tensors; }
  /// Texts that its writer added.
  [[nodiscard]] const metadata_map& metadata() const noexcept { return header_.metadata; }

  /// Whether it has a tensor of that name.
  [[nodiscard]] bool contains(std::string_view name) const {
    return std::ranges::find(tensors(), name, &tensor_entry::name) != tensors().end();
  }

  /// The entry of that name. Throws file_error, listing the names that there are (the first 20), if there is none.
  [[nodiscard]] const tensor_entry& find(std::string_view name) const {
    const auto found = std::ranges::find(tensors(), name, &tensor_entry::name);
    if (found != tensors().end()) return *found;
    std::string names;
    for (std::size_t place = 0; place < std::min<std::size_t>(tensors().size(), 20); ++place)
      names += (place == 0 ? "" : ", ") + detail::quoted(tensors()[place].name);
    if (tensors().size() > 20) names += " and " + std::to_string(tensors().size() - 20) + " more";
    throw file_error("cannot read " + path_.string() + ": it has no tensor " + detail::quoted(std::string(name)) +
                     "; it has " + (names.empty() ? "none" : names));
  }

  /// What errors call a tensor of this file.
  [[nodiscard]] std::string describe(std::string_view name) const {
    return path_.string() + ": tensor " + detail::quoted(std::string(name));
  }

  /// The values of a tensor, row-major, in the precision that is asked for, whichever the file has.
  /// \tparam Scalar float or double
  /// \throws file_error as find does, if its type is neither F32 nor F64, or if the file was changed meanwhile;
  ///         non_finite_error for NaN and infinities, argument_error for values beyond the range of Scalar; each names
  ///         file and tensor
  template <class Scalar>
  [[nodiscard]] std::vector<Scalar> read(std::string_view name) {
    static_assert(std::same_as<Scalar, float> || std::same_as<Scalar, double>,
                  "lindyn: tensors are read as float or double.");
    const tensor_entry& which = find(name);
    if (which.type == "F32") return read_as<float, Scalar>(which);
    if (which.type == "F64") return read_as<double, Scalar>(which);
    throw file_error("cannot read " + describe(name) + " is of type " + detail::quoted(which.type) +
                     "; it must be F32 or F64");
  }

private:
  void read_bytes(void* target, std::uint64_t count) {
    if (!stream_.read(static_cast<char*>(target), static_cast<std::streamsize>(count)))
      throw file_error("cannot read " + path_.string() + ": it became shorter while it was read");
  }

  template <class Stored, class Scalar>
  std::vector<Scalar> read_as(const tensor_entry& which) {
    std::vector<Stored> stored((which.end - which.begin) / sizeof(Stored));
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(data_begin_ + which.begin));
    read_bytes(stored.data(), which.end - which.begin);
    const std::string name = describe(which.name);
    require_finite(name, stored);
    if constexpr (std::same_as<Stored, Scalar>) {
      return stored;
    } else {
      std::vector<Scalar> result(stored.size());
      for (std::size_t place = 0; place < stored.size(); ++place)
        result[place] = detail::narrowed<Scalar>(name, place, stored[place]);
      return result;
    }
  }

  std::filesystem::path path_;
  std::ifstream stream_;
  std::uint64_t data_begin_ = 0;
  safetensors_header header_;
};

/// A tensor that was read.
/// \tparam Scalar float or double
template <class Scalar>
struct tensor {
  std::string name;            ///< unique within the file
  std::vector<index> shape;    ///< one extent a dimension; empty for a single number
  std::vector<Scalar> values;  ///< row-major
};

/// All tensors of a safetensors file in one precision, in the order of the data.
/// \throws what safetensors_file throws: of a file that has tensors of other types too, those that are wanted are to be
///         read one by one
template <class Scalar = double>
[[nodiscard]] std::vector<tensor<Scalar>> read_safetensors(const std::filesystem::path& path) {
  safetensors_file file(path);
  std::vector<tensor<Scalar>> result;
  for (const tensor_entry& each : file.tensors())
    result.push_back({each.name, each.shape, file.read<Scalar>(each.name)});
  return result;
}

/// A tensor to be written; its values live elsewhere.
struct tensor_view {
  std::string name;          ///< UTF-8, unique within the file, not "__metadata__"
  std::vector<index> shape;  ///< one extent a dimension, each at least 0; empty for a single number
  std::variant<std::span<const float>, std::span<const double>> values;  ///< row-major; written as F32 or F64
};

namespace detail {

/// Throws argument_error unless the text is UTF-8, which all of JSON is.
inline void require_utf8(const std::string& what, const std::string& text) {
  try {
    (void)json(text).dump();
  } catch (const json::exception&) {
    throw argument_error(what, quoted(text), "UTF-8");
  }
}

/// Throws unless the tensor can be written and read back.
inline void require_writable(const tensor_view& which) {
  require_utf8("tensor's name", which.name);
  const std::string name = "tensor " + quoted(which.name);
  if (which.name == "__metadata__")
    throw argument_error("tensor's name", which.name, "another; the format reserves it");
  double entries = 1;  // which no list of extents overflows
  for (const index extent : which.shape) {
    require(extent >= 0, name + ".shape", extent, "at least 0 in each dimension");
    entries *= static_cast<double>(extent);
  }
  std::visit(
      [&](auto values) {
        if (entries != static_cast<double>(values.size()))
          throw shape_error(name + ".values.size()", std::to_string(values.size()),
                            "the product of its extents, " + lindyn::detail::to_text(entries));
        require_finite(name, values);
      },
      which.values);
}

}  // namespace detail

/// Writes a safetensors file that appears complete or not at all. Its bytes depend on the arguments alone, not on the
/// order of the tensors: they are those of the reference implementation, doubles first, then by name, with the header
/// padded by spaces so that the data begin at a multiple of 8 bytes (and metadata in the order of their names).
/// \throws argument_error if a name or text isn't UTF-8, or a name is used twice or reserved; shape_error if a shape
///         doesn't fit its values; non_finite_error for NaN and infinities; file_error as atomic_file, or if names and
///         texts are too long for a header
inline void write_safetensors(const std::filesystem::path& path, std::vector<tensor_view> tensors,
                              const metadata_map& metadata = {}) {
  // Doubles before floats, so that all of them are aligned.
  std::ranges::sort(tensors, {}, [](const tensor_view& which) {
    return std::pair<bool, std::string_view>(std::holds_alternative<std::span<const float>>(which.values), which.name);
  });
  const auto bytes_of = [](const tensor_view& which) {
    return std::visit([](auto values) { return std::as_bytes(values); }, which.values);
  };

  json header = json::object();
  for (const auto& [name, text] : metadata) {
    detail::require_utf8("metadata's name", name);
    detail::require_utf8("metadata " + detail::quoted(name), text);
    header["__metadata__"][name] = text;
  }
  std::size_t begin = 0;
  for (const tensor_view& which : tensors) {
    detail::require_writable(which);
    require(!header.contains(which.name), "tensor's name", detail::quoted(which.name), "unique");
    const std::size_t end = begin + bytes_of(which).size();
    const bool is_double = std::holds_alternative<std::span<const double>>(which.values);
    header[which.name] = {{"dtype", is_double ? "F64" : "F32"}, {"shape", which.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  if (length > largest_safetensors_header)
    throw file_error("cannot write " + path.string() + ": its header would have " + std::to_string(length) +
                     " bytes; at most " + std::to_string(largest_safetensors_header) + " are allowed");

  atomic_file file(path);
  const auto write = [&](std::span<const std::byte> bytes) {
    file.stream().write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  };
  write(std::as_bytes(std::span(&length, 1)));
  write(std::as_bytes(std::span(text)));
  for (const tensor_view& which : tensors) write(bytes_of(which));
  file.commit();
}

}  // namespace lindyn::io
