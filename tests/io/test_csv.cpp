// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <lindyn/io/csv.hpp>

#include "testing.hpp"

using lindyn::io::csv_writer;
using namespace lindyn::testing;

namespace {

/// The line that a table with one row of these fields has below its header.
template <class... Fields>
std::string line(std::size_t columns, const Fields&... fields) {
  const temporary_folder folder;
  csv_writer table(folder / "t.csv", std::vector<std::string>(columns, "c"));
  table.row(fields...);
  table.commit();
  const auto text = content(folder / "t.csv");
  return text.substr(text.find('\n') + 1);
}

}  // namespace

TEST_CASE("a table has its columns' names first and a line a row") {
  const temporary_folder folder;
  csv_writer table(folder / "t.csv", {"step", "loss", "who"});
  table.row(1, 0.5, "a");
  table.row(2, 0.25, std::string("b"));
  table.commit();
  CHECK(content(folder / "t.csv") == "step,loss,who\n1,0.5,a\n2,0.25,b\n");
}

TEST_CASE("a range is written as fields of its own") {
  const std::vector<double> coordinates{0.5, -2};
  CHECK(line(4, 7, std::span<const double>(coordinates), std::array{std::string("x")}) == "7,0.5,-2,x\n");
}

TEST_CASE("numbers are written with the fewest digits that bring them back") {
  CHECK(line(4, 0.1, 1e300, -0.0, 0.1f) == "0.1,1e+300,-0,0.1\n");
  CHECK(line(3, std::int64_t{-9007199254740993}, std::uint64_t{18446744073709551615u}, true) ==
        "-9007199254740993,18446744073709551615,true\n");
  for (const double value : {1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789})
    CHECK(std::strtod(line(1, value).c_str(), nullptr) == value);
}

TEST_CASE("numbers that are not finite are empty fields") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(line(4, std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 1) == ",,,1\n");
}

TEST_CASE("texts with commas, quotes or line ends are quoted") {
  CHECK(line(5, "plain text", "a,b", "say \"so\"", "two\nlines", "\r") ==
        "plain text,\"a,b\",\"say \"\"so\"\"\",\"two\nlines\",\"\r\"\n");
}

TEST_CASE("a row of the wrong length is refused and not written") {
  const temporary_folder folder;
  csv_writer table(folder / "t.csv", {"a", "b"});
  CHECK_THROWS_AS(table.row(1), lindyn::shape_error);
  CHECK_THROWS_AS(table.row(1, std::vector<int>{2, 3}), lindyn::shape_error);
  table.row(1, 2);
  table.commit();
  CHECK(content(folder / "t.csv") == "a,b\n1,2\n");
}

TEST_CASE("a table without columns, or in a folder that is not there, is refused") {
  const temporary_folder folder;
  CHECK_THROWS_AS(csv_writer(folder / "t.csv", {}), lindyn::argument_error);
  CHECK_THROWS_AS(csv_writer(folder / "absent" / "t.csv", {"a"}), lindyn::file_error);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a table that is not committed leaves no file") {
  const temporary_folder folder;
  csv_writer(folder / "t.csv", {"a"}).row(1);
  CHECK(folder.entries() == 0);
}
