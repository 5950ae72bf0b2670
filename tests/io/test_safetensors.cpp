// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/io/safetensors.hpp>

#include "testing.hpp"

using lindyn::argument_error;
using lindyn::file_error;
using lindyn::non_finite_error;
using lindyn::shape_error;
using lindyn::io::metadata_map;
using lindyn::io::safetensors_file;
using lindyn::io::tensor_view;
using lindyn::io::write_safetensors;
using namespace lindyn::testing;

namespace {

/// Files that the Python package safetensors 0.8 has written, with NumPy 2.4 and ml_dtypes:
///
/// import ml_dtypes, numpy as np
/// from safetensors.numpy import save_file
///
/// def ramp(kind, *shape):
///     return (np.arange(np.prod(shape)) / 8 - 1).astype(kind).reshape(shape)
///
/// save_file({'W_out': 1 / (1 + np.arange(6.0)).reshape(3, 2), 'W_KQ.1.0': ramp('float32', 2, 2),
///            'W_KQ.0.0': ramp('float64', 2, 2)}, 'table_names.safetensors', {'written by': 'NumPy, "é"'})
/// save_file({'blocks.1.attention': ramp('float32', 2, 2).T.copy(), 'blocks.2.attention': ramp('float32', 2, 2).T.copy(),
///            'unembedding': ramp('float32', 3, 2).T.copy(), 'steps': np.array(7), 'mask': np.array([True, False, True]),
///            'half': ramp('float16', 3), 'cache': ramp(ml_dtypes.bfloat16, 3), 'nothing': ramp('float32', 0, 4),
///            'temperature': np.array(0.5, 'float32')}, 'other_names.safetensors')
/// query, key = 1 / (1 + np.arange(8.0)).reshape(4, 2), ramp('float32', 4, 3)
/// save_file({'query': query, 'key': key, 'scores': query.T @ key / 2, 'query.T': query.T.copy(), 'key.T': key.T.copy()},
///           'factors.safetensors')
const std::filesystem::path data = std::filesystem::path(LINDYN_TEST_DATA) / "safetensors";

/// A file of that header and data; `length` is what it claims the header's length to be.
std::string file_of(std::string_view header, std::string_view values, std::uint64_t length) {
  std::string text;
  for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(length >> (8 * byte) & 0xff);
  return text.append(header).append(values);
}
std::string file_of(std::string_view header, std::string_view values) { return file_of(header, values, header.size()); }

/// A header with one tensor "a", whose entry that is.
std::string header_of(const std::string& entry) { return R"({"a": {)" + entry + "}}"; }

const std::string four_bytes(4, '\0');
const std::string one_number = R"("dtype": "F32", "shape": [1], "data_offsets": [0, 4])";

template <class Action>
std::string refusal(const Action& action) {
  return message_of<lindyn::error>(action);
}

/// Why the file is refused when it is opened; empty if it isn't.
std::string refusal_of(const std::filesystem::path& path, const std::string& text) {
  put(path, text);
  return message_of<file_error>([&] { (void)safetensors_file(path); });
}

}  // namespace

TEST_CASE("files of another program are read in either precision, whatever else is in them") {
  safetensors_file file(data / "other_names.safetensors");
  CHECK(file.tensors().size() == 9);
  CHECK(file.metadata().empty());
  CHECK(file.find("unembedding").type == "F32");
  CHECK(file.find("unembedding").shape == std::vector<lindyn::index>{2, 3});
  CHECK(file.read<double>("unembedding") == std::vector<double>{-1, -0.75, -0.5, -0.875, -0.625, -0.375});
  CHECK(file.read<float>("unembedding") == std::vector<float>{-1, -0.75, -0.5, -0.875, -0.625, -0.375});
  CHECK(file.read<double>("temperature") == std::vector<double>{0.5});
  CHECK(file.find("temperature").shape.empty());
  CHECK(file.read<float>("nothing").empty());
  CHECK(file.find("nothing").shape == std::vector<lindyn::index>{0, 4});

  safetensors_file mixed(data / "table_names.safetensors");
  CHECK(mixed.metadata() == metadata_map{{"written by", "NumPy, \"é\""}});
  CHECK(mixed.read<double>("W_out") == std::vector<double>{1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6});
  CHECK(mixed.read<float>("W_out")[2] == static_cast<float>(1.0 / 3));
  CHECK(mixed.read<double>("W_KQ.1.0") == std::vector<double>{-1, -0.875, -0.75, -0.625});
}

TEST_CASE("tensors of other types are refused when they are asked for, by type") {
  const auto path = data / "other_names.safetensors";
  safetensors_file file(path);
  for (const auto& [name, type] : {std::pair{"cache", "BF16"}, {"half", "F16"}, {"steps", "I64"}, {"mask", "BOOL"}}) {
    const auto message = message_of<file_error>([&, tensor = name] { (void)file.read<double>(tensor); });
    CHECK(message == "cannot read " + path.string() + ": tensor \"" + name + "\" is of type \"" + type +
                         "\"; it must be F32 or F64");
  }
  CHECK(file.read<float>("temperature") == std::vector<float>{0.5});  // a refusal is no obstacle to the next
}

TEST_CASE("types of less than a byte, and such as are yet to come, are no obstacle") {
  const temporary_folder folder;
  CHECK(refusal_of(folder / "a",
                   file_of(R"({"a": {"dtype": "F4", "shape": [2, 4], "data_offsets": [0, 4]}})", four_bytes))
            .empty());
  CHECK(refusal_of(folder / "b", file_of(R"({"a": {"dtype": "F2", "shape": [3], "data_offsets": [0, 4]}})", four_bytes))
            .empty());
}

TEST_CASE("a tensor that is missing is named, with those that are there") {
  safetensors_file file(data / "table_names.safetensors");
  CHECK(!file.contains("W_in"));
  CHECK(file.contains("W_out"));
  const auto message = message_of<file_error>([&] { (void)file.read<float>("W_in"); });
  CHECK(
      contains(message, R"(table_names.safetensors: it has no tensor "W_in"; it has "W_KQ.0.0", "W_out", "W_KQ.1.0")"));
}

TEST_CASE("the bytes that are written are those of the reference implementation") {
  const temporary_folder folder;
  const std::vector<double> out{1, 1.0 / 2, 1.0 / 3, 1.0 / 4, 1.0 / 5, 1.0 / 6}, first{-1, -0.875, -0.75, -0.625};
  const std::vector<float> second{-1, -0.875, -0.75, -0.625};
  const tensor_view a{"W_out", {3, 2}, std::span(out)}, b{"W_KQ.1.0", {2, 2}, std::span(second)},
      c{"W_KQ.0.0", {2, 2}, std::span(first)};
  const metadata_map metadata{{"written by", "NumPy, \"é\""}};
  write_safetensors(folder / "a", {a, b, c}, metadata);
  write_safetensors(folder / "b", {c, b, a}, metadata);
  CHECK(content(folder / "a") == content(data / "table_names.safetensors"));
  CHECK(content(folder / "b") == content(folder / "a"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("what is written is read back bit for bit, with numbers, empty tensors and texts") {
  const temporary_folder folder;
  const std::vector<double> numbers{5e-324, -0.0, 1.7976931348623157e308};
  const std::vector<float> single{3.4028235e38f};
  const metadata_map metadata{{"", "empty name"}, {"b", ""}, {"a", "\x01\t\"\\/ü"}};
  write_safetensors(folder / "a",
                    {{"numbers", {3}, std::span(numbers)},
                     {"", {}, std::span(single)},
                     {"none", {2, 0}, std::span<const double>()},
                     {"x\n\"\\é", {1, 1, 1}, std::span(single)}},
                    metadata);
  safetensors_file file(folder / "a");
  CHECK(file.metadata() == metadata);
  CHECK(file.tensors().size() == 4);
  const auto back = file.read<double>("numbers");
  CHECK(back == numbers);
  CHECK(std::signbit(back[1]));
  CHECK(file.read<float>("") == single);
  CHECK(file.find("").shape.empty());
  CHECK(file.read<float>("x\n\"\\é") == single);
  CHECK(file.read<double>("none").empty());
  CHECK(file.find("none").shape == std::vector<lindyn::index>{2, 0});

  write_safetensors(folder / "empty", {});
  CHECK(content(folder / "empty") == file_of("{}      ", ""));
  CHECK(safetensors_file(folder / "empty").tensors().empty());
}

TEST_CASE("all tensors of a file are read at once, unless one is of another type") {
  const auto all = lindyn::io::read_safetensors(data / "table_names.safetensors");
  REQUIRE(all.size() == 3);
  CHECK(all[0].name == "W_KQ.0.0");  // doubles first
  CHECK(all[1].name == "W_out");
  CHECK(all[1].shape == std::vector<lindyn::index>{3, 2});
  CHECK(all[1].values[2] == 1.0 / 3);
  CHECK(lindyn::io::read_safetensors<float>(data / "table_names.safetensors")[2].values ==
        std::vector<float>{-1, -0.875, -0.75, -0.625});
  CHECK(contains(message_of<file_error>([] { (void)lindyn::io::read_safetensors(data / "other_names.safetensors"); }),
                 "is of type"));
}

TEST_CASE("headers may list tensors in any order, repeat no byte, be padded, and hold members of their own") {
  const temporary_folder folder;
  const std::string header = R"( {"b": {"data_offsets": [4, 5], "shape": [1], "dtype": "U8"},
    "a": {"dtype": "F32", "more": [{"x": null}], "shape": [1], "data_offsets": [5, 9]},
    "c": {"dtype": "F32", "shape": [0], "data_offsets": [4, 4]}, "__metadata__": {},
    "d": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4]}}  )";
  put(folder / "a", file_of(header, std::string("\0\0\x80\x3f\x07\0\0\0\xc0", 9)));
  safetensors_file file(folder / "a");
  CHECK(file.tensors().front().name == "d");
  CHECK(file.tensors().back().name == "a");
  CHECK(file.read<double>("a") == std::vector<double>{-2});  // from an odd byte on
  CHECK(file.read<double>("d") == std::vector<double>{1});
}

TEST_CASE("values that are no finite numbers of the wanted type are refused by place") {
  const temporary_folder folder;
  const auto path = folder / "a";
  constexpr double infinity = std::numeric_limits<double>::infinity();
  put(path,
      file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", std::string("\0\0\x80\x3f\0\0\xc0\x7f", 8)));
  CHECK(message_of<non_finite_error>([&] { (void)safetensors_file(path).read<double>("a"); }) ==
        path.string() + ": tensor \"a\"[1] = nan is not allowed: it must be finite");
  put(path,
      file_of(R"({"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", std::string("\0\0\0\0\0\0\xf0\xff", 8)));
  CHECK(contains(message_of<non_finite_error>([&] { (void)safetensors_file(path).read<float>("a"); }),
                 "\"a\"[0] = -inf"));

  const std::vector<double> large{1, -1e39};
  write_safetensors(path, {{"a", {2}, std::span(large)}});
  CHECK(safetensors_file(path).read<double>("a") == large);
  CHECK(contains(message_of<argument_error>([&] { (void)safetensors_file(path).read<float>("a"); }),
                 "\"a\"[1] = -1e+39 is not allowed: it must be at most 3.4028234663852886e+38 in size"));

  const std::vector<double> wrong{1, infinity};
  CHECK(message_of<non_finite_error>([&] {
          write_safetensors(path, {{"a", {2}, std::span(wrong)}});
        }) == "tensor \"a\"[1] = inf is not allowed: it must be finite");
  CHECK(safetensors_file(path).read<double>("a") == large);  // and the old file is kept
}

TEST_CASE("what can't be written is refused by name, and no file appears") {
  const temporary_folder folder;
  const std::vector<float> values{1, 2};
  const std::span<const float> two(values);
  const auto refused = [&](std::vector<tensor_view> tensors, const metadata_map& metadata = {}) {
    return message_of<argument_error>([&] { write_safetensors(folder / "a", std::move(tensors), metadata); });
  };
  CHECK(contains(refused({{"a", {2}, two}, {"b", {2}, two}, {"a", {1, 2}, two}}),
                 "tensor's name = \"a\" is not allowed: it must be unique"));
  const std::vector<double> doubles(2);
  CHECK(contains(refused({{"a", {2}, two}, {"a", {2}, std::span(doubles)}}), "unique"));
  CHECK(contains(refused({{"__metadata__", {2}, two}}), "__metadata__"));
  CHECK(contains(refused({{"a\xff", {2}, two}}), "tensor's name = \"a\xEF\xBF\xBD\" is not allowed: it must be UTF-8"));
  CHECK(contains(refused({}, {{"\xff", "x"}}), "UTF-8"));
  CHECK(contains(refused({}, {{"x", "\xff"}}), "metadata \"x\""));
  CHECK(contains(refused({{"a", {-2, -1}, two}}), "tensor \"a\".shape = -2 is not allowed: it must be at least 0"));
  CHECK_THROWS_AS(write_safetensors(folder / "a", {{"a", {3}, two}}), shape_error);
  CHECK_THROWS_AS(write_safetensors(folder / "a", {{"a", {}, two}}), shape_error);
  // 2^64 + 2 entries are not 2, though an integer product of the extents would wrap to it.
  CHECK_THROWS_AS(write_safetensors(folder / "a", {{"a", {2, 9223372036854775807, 2, 2}, two}}), shape_error);
  CHECK(folder.entries() == 0);
  CHECK(!message_of<file_error>([&] { write_safetensors(folder / "absent" / "a", {}); }).empty());
}

TEST_CASE("files that are absent, folders or too short are refused by path") {
  const temporary_folder folder;
  const auto refused = [&](const std::filesystem::path& path) {
    const auto message = message_of<file_error>([&] { (void)safetensors_file(path); });
    CHECK(contains(message, "cannot read " + path.string()));
    return message;
  };
  CHECK(contains(refused(folder / "absent"), "No such file"));
  CHECK(contains(refused(folder.path()), "directory"));
  CHECK(contains(refused("/dev/zero"), "upported"));
  const auto path = folder / "a";
  CHECK(contains(refusal_of(path, ""), "it is truncated: it has 0 bytes"));
  CHECK(contains(refusal_of(path, "1234567"), "it is truncated: it has 7 bytes"));
  CHECK(contains(refusal_of(path, file_of("{}", "", 3)), "header would have 3 bytes, but only 2 follow"));
  CHECK(contains(refusal_of(path, file_of("{}", "", 100'000'000)), "but only 2 follow"));
  CHECK(contains(refusal_of(path, file_of("{}", "", 100'000'001)), "at most 100000000 are allowed"));
  CHECK(contains(refusal_of(path, file_of("{}", "", ~std::uint64_t{0})), "would have 18446744073709551615 bytes"));
}

TEST_CASE("a file that is cut while it is open is refused, not read beyond its end") {
  const temporary_folder folder;
  std::filesystem::copy_file(data / "table_names.safetensors", folder / "a");
  safetensors_file file(folder / "a");
  std::filesystem::resize_file(folder / "a", 300);
  CHECK(contains(message_of<file_error>([&] { (void)file.read<double>("W_out"); }), "became shorter"));
  CHECK(file.read<double>("W_KQ.0.0").size() == 4);
}

TEST_CASE("headers that are no JSON objects of tensors are refused, with the reason") {
  const temporary_folder folder;
  const auto check = [&](const std::string& header, const char* reason) {
    CAPTURE(header);
    const auto message = refusal_of(folder / "a", file_of(header, four_bytes));
    CHECK(contains(message, "cannot read " + (folder / "a").string() + ": "));
    CHECK(contains(message, reason));
  };
  CHECK(refusal_of(folder / "a", file_of(header_of(one_number), four_bytes)).empty());
  check("", "no JSON");
  check("{", "no JSON");
  check(header_of(one_number) + "x", "no JSON");
  check(header_of(one_number) + '\0', "zero bytes");
  check("\xef\xbb\xbf" + header_of(one_number), "byte order mark");
  check("{\"\xe9\": {" + one_number + "}}", "ill-formed UTF-8");
  check(R"({"\ud800": {)" + one_number + "}}", "surrogate");
  check("[]", "JSON array, no object");
  check("7", "JSON number, no object");
  check(std::string(100'000, '['), "128 levels");
  check(R"({"a": {)" + one_number + R"(}, "a": {)" + one_number + "}}", R"(several members "a")");
  check(header_of(one_number + R"(, "dtype": "F32")"), R"(several members "dtype")");
  check(R"({"__metadata__": {"x": "1", "x": "2"}})", R"(several members "x")");
  check(R"({"__metadata__": {}, "__metadata__": {}})", R"(several members "__metadata__")");
  check(R"({"__metadata__": {"x": 1}})", R"(__metadata__ "x" is a JSON number; it must be a text)");
  check(R"({"__metadata__": null})", "__metadata__ is a JSON null, no object");
}

TEST_CASE("entries that don't describe a tensor within the file are refused, by tensor") {
  const temporary_folder folder;
  const auto check = [&](const std::string& entry, const std::string& reason) {
    CAPTURE(entry);
    CHECK(
        contains(refusal_of(folder / "a", file_of(R"({"a": )" + entry + "}", four_bytes)), "tensor \"a\": " + reason));
  };
  const auto check_shape = [&](const std::string& shape, const std::string& reason) {
    check(R"({"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": [0, 4]})", reason);
  };
  const auto check_offsets = [&](const std::string& offsets, const std::string& reason) {
    check(R"({"dtype": "F32", "shape": [1], "data_offsets": )" + offsets + "}", reason);
  };
  check("null", "its entry has no dtype");
  check("[]", "its entry has no dtype");
  check(R"({"dtype": 32, "shape": [1], "data_offsets": [0, 4]})", "dtype = 32 is not allowed: it must be a text");
  check(R"({"dtype": "F32", "data_offsets": [0, 4]})", "its entry has no shape");
  check(R"({"dtype": "F32", "shape": [1]})", "its entry has no data_offsets");

  const std::string integers = " is not allowed: it must be a list of integers from 0 to 2^63 - 1";
  check_shape("1", "shape = 1" + integers);
  check_shape("[-1]", "shape = [-1]" + integers);
  check_shape("[1.0]", "shape = [1.0]" + integers);
  check_shape("[0.5, 2]", "shape = [0.5,2]" + integers);
  check_shape("[\"1\"]", "shape = [\"1\"]" + integers);
  check_shape("[9223372036854775808]", "shape = [9223372036854775808]" + integers);
  check_shape("[99999999999999999999]", "shape = [1e+20]" + integers);
  const std::string misfit = " of type F32 doesn't fit the 4 bytes of its data_offsets";
  check_shape("[2]", "its shape [2]" + misfit);
  check_shape("[0]", "its shape [0]" + misfit);
  // 2^64 + 1 and 2^66 numbers, which integer products would take for 1 and 0.
  check_shape("[274177, 67280421310721]", "its shape [274177,67280421310721]" + misfit);
  check_shape("[4611686018427387904, 16]", "its shape [4611686018427387904,16]" + misfit);
  check(R"({"dtype": "F32", "shape": [4611686018427387904, 16], "data_offsets": [0, 0]})", "its shape");
  check(R"({"dtype": "F64", "shape": [1], "data_offsets": [0, 4]})",
        "its shape [1] of type F64 doesn't fit the 4 bytes");

  check(R"({"dtype": "BF16", "shape": [1], "data_offsets": [0, 4]})",
        "its shape [1] of type BF16 doesn't fit the 4 bytes");
  check(R"({"dtype": "F6_E2M3", "shape": [5], "data_offsets": [0, 4]})", "its shape [5] of type F6_E2M3 doesn't fit");
  check_offsets("[0]", "data_offsets = [0] is not allowed: it must be [begin, end]");
  check_offsets("[0, 4, 4]", "data_offsets = [0,4,4] is not allowed");
  check_offsets("[4, 0]", "data_offsets = [4,0] is not allowed");
  check_offsets("[-4, 0]", "data_offsets = [-4,0]" + integers);
  check_offsets("[0, 4.0]", "data_offsets = [0,4.0]" + integers);
  check_offsets("[-0, 4]", "data_offsets = [0,4]" + integers);
  check_offsets("[0, 18446744073709551616]", "data_offsets = [0,1.8446744073709552e+19]" + integers);
  check_offsets("[0, 5]", "its data end at byte 5 of the data, but the file has only 4 (is it truncated?)");
  check_offsets("[9223372036854775803, 9223372036854775807]", "its data end at byte 9223372036854775807");
}

TEST_CASE("data that overlap, leave gaps or go on behind the last tensor are refused") {
  const temporary_folder folder;
  const auto check = [&](const std::string& header, const std::string& reason) {
    CAPTURE(header);
    CHECK(contains(refusal_of(folder / "a", file_of(header, four_bytes + four_bytes)), reason));
  };
  const auto entry = [](const char* name, const char* offsets) {
    return std::string("\"") + name + R"(": {"dtype": "F32", "shape": [1], "data_offsets": )" + offsets + "}";
  };
  check("{" + entry("a", "[0, 4]") + "," + entry("b", "[0, 4]") + "}",
        "tensor \"b\": its data, from byte 0, overlap another tensor's, which end at byte 4");
  check("{" + entry("b", "[0, 4]") + "," + entry("a", "[2, 6]") + "}", "tensor \"a\": its data, from byte 2, overlap");
  check("{" + entry("a", "[0, 4]") + R"(, "empty": {"dtype": "F32", "shape": [0], "data_offsets": [2, 2]}})",
        "tensor \"empty\": its data, from byte 2, overlap");
  check("{" + entry("a", "[4, 8]") + "}", "tensor \"a\": bytes 0 to 4 of the data belong to no tensor");
  check("{" + entry("a", "[0, 4]") + "}", ": bytes 4 to 8 of the data belong to no tensor");
  check("{}", ": bytes 0 to 8 of the data belong to no tensor");
}

// safetensors_package.sh runs it, where it can compare the copy with the original by the Python package.
TEST_CASE("the file that the environment names is copied" * doctest::skip()) {
  const char *const original = std::getenv("LINDYN_ORIGINAL"), *const copy = std::getenv("LINDYN_COPY");
  REQUIRE(original != nullptr);
  REQUIRE(copy != nullptr);
  safetensors_file file(original);
  std::deque<std::vector<float>> floats;
  std::deque<std::vector<double>> doubles;
  std::vector<tensor_view> tensors;
  for (const auto& [name, type, shape, begin, end] : file.tensors()) {
    if (type == "F32")
      tensors.push_back({name, shape, std::span(floats.emplace_back(file.read<float>(name)))});
    else
      tensors.push_back({name, shape, std::span(doubles.emplace_back(file.read<double>(name)))});
  }
  write_safetensors(copy, tensors, file.metadata());
}

TEST_CASE("no damage to a file does more than make it refused") {
  const temporary_folder folder;
  const std::string whole = content(data / "table_names.safetensors");
  lindyn::counter_generator generator(20260101, 0);
  const auto below = [&](std::size_t count) {
    return static_cast<std::size_t>(lindyn::uniform_index(generator, static_cast<std::int64_t>(count)));
  };
  const std::vector<std::string> pieces{"{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "\"",
                                        "-",
                                        "9",
                                        "1e99",
                                        "null",
                                        "[[[[",
                                        "{\"a\":",
                                        "\"F64\"",
                                        "\"BF16\"",
                                        "9223372036854775807",
                                        "18446744073709551616",
                                        "\\u0000",
                                        "\xff",
                                        std::string(1, '\0')};
  int refused = 0, read = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = whole;
    for (std::size_t damages = 1 + below(2); damages > 0; --damages) {
      const std::size_t place = below(text.size() + 1), kind = below(8), choice = below(100);
      if (kind == 0) {
        text.resize(place);
      } else if (kind == 1) {
        text.insert(place, pieces[choice % pieces.size()]);
      } else if (kind == 2) {
        text.insert(place, whole.substr(choice, 40));
      } else if (kind == 3) {
        text.erase(place, 1 + choice % 8);
      } else if (place < text.size()) {
        text[place] = static_cast<char>(text[place] ^ (1 << choice % 8));
      }
    }
    const auto path = folder / std::to_string(trial);  // overwriting one waits for the disk
    put(path, text);
    try {
      safetensors_file file(path);
      for (const auto& entry : file.tensors()) {
        (void)file.read<double>(entry.name);
        (void)file.read<float>(entry.name);
      }
      ++read;
    } catch (const lindyn::error& problem) {
      CHECK(contains(problem.what(), path.string()));
      ++refused;
    }
  }
  CHECK(refused > 1000);
  CHECK(read > 300);  // flipped bits of values make other values
}
