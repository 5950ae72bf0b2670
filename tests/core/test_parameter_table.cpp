// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <lindyn/core/parameter_table.hpp>

using lindyn::argument_error;
using lindyn::parameter_table;
using lindyn::shape_error;

namespace {

parameter_table two_matrices() {
  parameter_table table;
  table.append("W1", 2, 3);
  table.append("W2", 4, 1);
  return table;
}

}  // namespace

TEST_CASE("matrices lie behind each other in the order of their appending") {
  const auto table = two_matrices();
  CHECK(table.count() == 2);
  CHECK(table.size() == 10);
  CHECK(table[0].name == "W1");
  CHECK(table[0].offset == 0);
  CHECK(table[1].offset == 6);
  CHECK(table[1].size() == 4);
  std::string names;
  for (const auto& parameter : table) names += parameter.name;
  CHECK(names == "W1W2");
}

TEST_CASE("an empty table has size 0") {
  CHECK(parameter_table().size() == 0);
  CHECK(parameter_table().count() == 0);
}

TEST_CASE("a matrix is found by name, and a wrong name is refused with the right ones") {
  const auto table = two_matrices();
  CHECK(table.find("W2").rows == 4);
  CHECK_THROWS_WITH_AS((void)table.find("W3"), "name = W3 is not allowed: it must be one of W1 W2", argument_error);
}

TEST_CASE("a view shows the entries of its matrix, and writes to them") {
  const auto table = two_matrices();
  std::vector<double> buffer(10);
  std::iota(buffer.begin(), buffer.end(), 0.0);
  const auto first = table.view("W1", std::span(buffer));
  CHECK(first.rows == 2);
  CHECK(first.columns == 3);
  CHECK(first(1, 2) == 5);
  table.view(table[1], buffer)(3, 0) = -1;
  CHECK(buffer[9] == -1);
  CHECK(table.view("W2", std::span<const double>(buffer))(0, 0) == 6);
  CHECK(table.view("W2", std::as_const(buffer))(0, 0) == 6);
}

TEST_CASE("a buffer of another size than the table's is refused") {
  const auto table = two_matrices();
  std::vector<float> buffer(11);
  CHECK_THROWS_WITH_AS((void)table.view("W1", std::span(buffer)), "buffer.size() = 11 is not allowed: it must be 10",
                       shape_error);
}

TEST_CASE("matrices without rows or columns are refused by name") {
  parameter_table table;
  CHECK_THROWS_WITH_AS(table.append("W", 0, 3), "W.rows = 0 is not allowed: it must be at least 1", argument_error);
  CHECK_THROWS_WITH_AS(table.append("W", 3, -1), "W.columns = -1 is not allowed: it must be at least 1",
                       argument_error);
  CHECK(table.count() == 0);
}

TEST_CASE("a name that is there already, and sizes that overflow, are refused by name") {
  parameter_table table(16);
  table.append("W", 2, 3);
  CHECK_THROWS_WITH_AS(table.append_vector("W", 4),
                       "name = W is not allowed: it must be a name that no other matrix has", argument_error);
  constexpr lindyn::index large = lindyn::index(1) << 32;
  CHECK_THROWS_AS(table.append("V", large, large), argument_error);
  CHECK_THROWS_AS(table.append("V", lindyn::index(1) << 60, 1), argument_error);
  CHECK(table.count() == 1);
  table.append("V", large, (large >> 16) - 1);
  CHECK_THROWS_AS(table.append("U", large, 2), argument_error);
  CHECK(table.count() == 2);
  CHECK_THROWS_AS(parameter_table(lindyn::index(1) << 40), argument_error);
}

TEST_CASE("a vector is a matrix of one row that knows what it is") {
  parameter_table table;
  table.append("weight", 2, 3);
  table.append_vector("bias", 2);
  CHECK_FALSE(table[0].vector);
  CHECK(table[1].vector);
  CHECK(table[1].rows == 1);
  CHECK(table[1].columns == 2);
  CHECK(table[1].offset == 6);
}

TEST_CASE("with an alignment every matrix begins at a multiple of it, and the buffer ends at one") {
  parameter_table table(4);
  CHECK(table.size() == 0);
  table.append("W1", 2, 3);
  table.append_vector("b1", 1);
  table.append("W2", 2, 2);
  CHECK(table[1].offset == 8);
  CHECK(table[2].offset == 12);
  CHECK(table.size() == 16);
  CHECK_THROWS_AS(parameter_table(0), argument_error);
}
