// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The header of a safetensors file, which says what each tensor is called, its type and shape, and where it lies.
///
/// The format (https://huggingface.co/docs/safetensors): the header's length as 8 bytes, little-endian; the header, a
/// JSON object {name: {"dtype": type, "shape": [extents], "data_offsets": [begin, end]}, ..} in which the name
/// "__metadata__" is reserved for an object of texts; the data, row-major, little-endian, which the offsets count from.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/core/views.hpp>
#include <lindyn/io/json.hpp>

namespace lindyn::io {

/// Texts by name, such as where a file's tensors come from.
using metadata_map = std::map<std::string, std::string>;

/// What the header says of one tensor.
struct tensor_entry {
  std::string name;          ///< unique within the file
  std::string type;          ///< "F32" or "F64" (IEEE 754), or another, whose values this library doesn't read
  std::vector<index> shape;  ///< one extent a dimension, each at least 0; empty for a single number
  std::uint64_t begin = 0;   ///< its first byte within the data
  std::uint64_t end = 0;     ///< behind its last byte
};

/// What the header says of the whole file.
struct safetensors_header {
  std::vector<tensor_entry> tensors;  ///< in the order of their data
  metadata_map metadata;              ///< empty if the file has none
};

/// The longest header that is read or written, in bytes: that of the reference implementation.
inline constexpr std::uint64_t largest_safetensors_header = 100'000'000;

namespace detail {

/// The text in quotation marks, as JSON writes it; bytes that aren't UTF-8 are replaced.
inline std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Bits of one value of that type, for the types that the reference implementation knows; 0 for others.
inline int bits_per_value(std::string_view type) {
  using known = std::pair<std::string_view, int>;
  constexpr known all[]{{"F32", 32},    {"F64", 64},    {"BF16", 16},       {"F16", 16},        {"BOOL", 8},
                        {"U8", 8},      {"U16", 16},    {"U32", 32},        {"U64", 64},        {"I8", 8},
                        {"I16", 16},    {"I32", 32},    {"I64", 64},        {"C64", 64},        {"F8_E5M2", 8},
                        {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6},
                        {"F6_E3M2", 6}, {"F4", 4}};
  const auto* const found = std::ranges::find(all, type, &known::first);
  return found == std::end(all) ? 0 : found->second;
}

/// The file that a header belongs to: what its errors name, and how much data it has.
struct header_source {
  std::string file;
  std::uint64_t data_bytes;

  [[noreturn]] void fail(const std::string& reason) const { throw file_error("cannot read " + file + ": " + reason); }
  [[noreturn]] void fail(const std::string& tensor, const std::string& reason) const {
    fail("tensor " + quoted(tensor) + ": " + reason);
  }
};

/// The header as JSON with sorted members; the JSON library itself would take the last of members that are called alike.
inline nlohmann::json parse_members_once(const header_source& source, std::string_view text) {
  using value = nlohmann::json;
  // The JSON library takes a mark of UTF-8 before the text and a zero byte for its end.
  if (text.starts_with('\xef') || text.find('\0') != std::string_view::npos)
    source.fail("its header is no JSON: it begins with a byte order mark, or has zero bytes");
  constexpr std::size_t deepest = 128;  // as in the reference implementation
  std::vector<std::set<std::string>> names;
  try {
    return value::parse(text, [&](int, value::parse_event_t event, value& parsed) {
      if (event == value::parse_event_t::object_start || event == value::parse_event_t::array_start) {
        if (names.size() == deepest) source.fail("its header is nested more deeply than 128 levels");
        names.emplace_back();
      } else if (event == value::parse_event_t::object_end || event == value::parse_event_t::array_end) {
        names.pop_back();
      } else if (event == value::parse_event_t::key) {
        const auto& name = parsed.get_ref<const std::string&>();
        if (!names.back().insert(name).second)
          source.fail("its header has several members " + quoted(name) + "; names must be unique");
      }
      return true;
    });
  } catch (const value::exception& problem) {
    source.fail("its header is no JSON: " + std::string(problem.what()));
  }
}

/// The metadata: an object of texts.
inline metadata_map parse_metadata(const header_source& source, const nlohmann::json& value) {
  if (!value.is_object()) source.fail("its __metadata__ is a JSON " + std::string(value.type_name()) + ", no object");
  metadata_map result;
  for (const auto& [name, text] : value.items()) {
    if (!text.is_string())
      source.fail("its __metadata__ " + quoted(name) + " is a JSON " + text.type_name() + "; it must be a text");
    result[name] = text.get<std::string>();
  }
  return result;
}

/// One tensor's entry, as far as it can be checked without the others.
inline tensor_entry parse_entry(const header_source& source, const std::string& name, const nlohmann::json& value) {
  const auto member = [&](const char* which) -> const nlohmann::json& {
    const auto found = value.find(which);  // the end in values that aren't objects
    if (found == value.end()) source.fail(name, std::string("its entry has no ") + which);
    return *found;
  };
  const auto integers = [&](const char* which) {
    const auto& list = member(which);
    const auto refuse = [&] {
      source.fail(name, std::string(which) + " = " + list.dump() +
                            " is not allowed: it must be a list of integers from 0 to 2^63 - 1");
    };
    if (!list.is_array()) refuse();
    std::vector<index> result;
    for (const auto& entry : list) {
      if (!entry.is_number_unsigned() || !std::in_range<index>(entry.get<std::uint64_t>())) refuse();
      result.push_back(entry.get<index>());
    }
    return result;
  };

  tensor_entry result;
  result.name = name;
  if (!member("dtype").is_string())
    source.fail(name, "dtype = " + member("dtype").dump() + " is not allowed: it must be a text, such as \"F32\"");
  result.type = member("dtype").get<std::string>();
  result.shape = integers("shape");
  const auto offsets = integers("data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    source.fail(name, "data_offsets = " + member("data_offsets").dump() +
                          " is not allowed: it must be [begin, end], begin at most end");
  result.begin = static_cast<std::uint64_t>(offsets[0]);
  result.end = static_cast<std::uint64_t>(offsets[1]);
  if (result.end > source.data_bytes)
    source.fail(name, "its data end at byte " + std::to_string(result.end) + " of the data, but the file has only " +
                          std::to_string(source.data_bytes) + " (is it truncated?)");

  const int bits = bits_per_value(result.type);
  double bytes = bits / 8.0;  // which no list of extents overflows
  for (const index extent : result.shape) bytes *= static_cast<double>(extent);
  if (bits != 0 && bytes != static_cast<double>(result.end - result.begin))
    source.fail(name, "its shape " + member("shape").dump() + " of type " + result.type + " doesn't fit the " +
                          std::to_string(result.end - result.begin) + " bytes of its data_offsets");
  return result;
}

/// Sorts the tensors by their data, and checks that each byte of the data belongs to exactly one of them.
inline void require_covering(const header_source& source, std::vector<tensor_entry>& tensors) {
  std::ranges::sort(tensors, {}, [](const tensor_entry& which) { return std::tie(which.begin, which.end); });
  std::uint64_t covered = 0;
  const auto gap = [&](std::uint64_t end) {
    return "bytes " + std::to_string(covered) + " to " + std::to_string(end) + " of the data belong to no tensor";
  };
  for (const tensor_entry& which : tensors) {
    if (which.begin < covered)
      source.fail(which.name, "its data, from byte " + std::to_string(which.begin) +
                                  ", overlap another tensor's, which end at byte " + std::to_string(covered));
    if (which.begin > covered) source.fail(which.name, gap(which.begin));
    covered = which.end;
  }
  if (covered != source.data_bytes) source.fail(gap(source.data_bytes));
}

}  // namespace detail

/// Reads a header and checks it against the size of the data. What the reference implementation (Python package
/// safetensors 0.8) refuses is refused, data that overlap or leave gaps too, with one exception: types that it doesn't
/// know are taken, as no other tensor depends on them. Beyond it, members that are called alike are refused, as the
/// format demands, and metadata that are null. Members of an entry beyond the three are ignored, as there.
/// \param text        the header, which may be followed by white space
/// \param data_bytes  bytes of the file behind the header
/// \param file        what errors call the file
/// \throws file_error, naming the file, the tensor and what is allowed, if anything is wrong
[[nodiscard]] inline safetensors_header parse_safetensors_header(std::string_view text, std::uint64_t data_bytes,
                                                                 const std::string& file) {
  const detail::header_source source{file, data_bytes};
  const auto object = detail::parse_members_once(source, text);
  if (!object.is_object()) source.fail("its header is a JSON " + std::string(object.type_name()) + ", no object");
  safetensors_header result;
  for (const auto& [name, value] : object.items()) {
    if (name == "__metadata__")
      result.metadata = detail::parse_metadata(source, value);
    else
      result.tensors.push_back(detail::parse_entry(source, name, value));
  }
  detail::require_covering(source, result.tensors);
  return result;
}

}  // namespace lindyn::io
