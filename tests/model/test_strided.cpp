// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <vector>

#include <lindyn/core/random.hpp>
#include <lindyn/model/attention_only/strided.hpp>

using lindyn::model::detail::dense_products;
using lindyn::model::detail::strided;

TEST_CASE("the three products of parts of matrices add what the definition says, and touch nothing beside them") {
  lindyn::counter_generator generator(1);
  constexpr lindyn::index rows = 5, columns = 7, inner = 4, stride = 20;
  std::vector<double> left(stride * 8), right(stride * 8), start(stride * 8);
  for (auto* values : {&left, &right, &start})
    for (double& value : *values) value = lindyn::standard_normal(generator);
  const strided<double> whole_left{left.data(), 8, stride, stride}, whole_right{right.data(), 8, stride, stride};

  for (const int form : {0, 1, 2}) {
    CAPTURE(form);
    std::vector<double> found = start;
    const strided<double> c{found.data() + 2, rows, columns, stride};
    const auto part = [](const strided<double>& whole, lindyn::index height, lindyn::index breadth) {
      auto result = whole.rows_from(1).middle_columns(3, breadth);
      result.rows = height;
      return result;
    };
    const auto a = form == 1 ? part(whole_left, inner, rows) : part(whole_left, rows, inner);
    const auto b = form == 2 ? part(whole_right, columns, inner) : part(whole_right, inner, columns);
    if (form == 0) dense_products<double>::add(c, a, b);
    if (form == 1) dense_products<double>::add_left_transposed(c, a, b);
    if (form == 2) dense_products<double>::add_right_transposed(c, a, b);
    for (lindyn::index i = 0; i < 8; ++i)
      for (lindyn::index j = 0; j < stride; ++j) {
        double expected = start[static_cast<std::size_t>(i * stride + j)];
        if (i < rows && j >= 2 && j < 2 + columns)
          for (lindyn::index k = 0; k < inner; ++k)
            expected += (form == 1 ? a.row(k)[i] : a.row(i)[k]) * (form == 2 ? b.row(j - 2)[k] : b.row(k)[j - 2]);
        CHECK(found[static_cast<std::size_t>(i * stride + j)] == doctest::Approx(expected).epsilon(1e-13).scale(1));
      }
  }
}

TEST_CASE("set_zero clears a part and nothing beside it") {
  std::vector<float> values(12, 1);
  strided<float>{values.data() + 1, 2, 3, 6}.set_zero();
  CHECK(values == std::vector<float>{1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1});
}
