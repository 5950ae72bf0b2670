// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// Addition, subtraction, multiplication and division modulo p.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <lindyn/core/errors.hpp>
#include <lindyn/population/finite/operation_table.hpp>
#include <lindyn/population/finite/split.hpp>
#include <lindyn/task/sequence_set.hpp>

namespace lindyn::population {

/// Operations modulo p.
enum class modular_operation {
  add,       ///< a + b
  subtract,  ///< a - b
  multiply,  ///< a b
  divide,    ///< a / b, the c with c b = a; not defined for b = 0; p must be prime
};

/// The operation's name.
[[nodiscard]] constexpr std::string_view name(modular_operation operation) noexcept {
  switch (operation) {
    case modular_operation::add:
      return "add";
    case modular_operation::subtract:
      return "subtract";
    case modular_operation::multiply:
      return "multiply";
    case modular_operation::divide:
      return "divide";
  }
  return {};
}

/// Whether a number is prime, by trial division.
[[nodiscard]] constexpr bool is_prime(int number) noexcept {
  if (number < 2) return false;
  for (int divisor = 2; divisor <= number / divisor; ++divisor)
    if (number % divisor == 0) return false;
  return true;
}

/// The p x p table of an operation modulo p; its results are in [0, p).
/// Throws argument_error unless p is in [2, 4096], which makes 2^24 pairs, and for division by numbers modulo a p that isn't prime.
[[nodiscard]] inline operation_table modular_table(modular_operation operation, int modulus) {
  require(modulus >= 2 && modulus <= 4096, "modulus", modulus, "in [2, 4096]");
  require(operation != modular_operation::divide || is_prime(modulus), "modulus", modulus, "prime, for division");
  std::vector<int> results(static_cast<std::size_t>(modulus) * static_cast<std::size_t>(modulus), task::no_answer);
  const auto result = [&](int a, int b) -> int& {
    return results[static_cast<std::size_t>(a) * static_cast<std::size_t>(modulus) + static_cast<std::size_t>(b)];
  };
  for (int a = 0; a < modulus; ++a)
    for (int b = 0; b < modulus; ++b) switch (operation) {
        case modular_operation::add:
          result(a, b) = (a + b) % modulus;
          break;
        case modular_operation::subtract:
          result(a, b) = (a - b + modulus) % modulus;
          break;
        case modular_operation::multiply:
          result(a, b) = a * b % modulus;
          break;
        case modular_operation::divide:
          if (b != 0) result(a * b % modulus, b) = a;  // a is the quotient here
          break;
      }
  return {modulus, modulus, modulus, std::move(results)};
}

/// Options of modular_arithmetic.
struct modular_options {
  modular_operation operation = modular_operation::add;  ///< what is asked
  int modulus = 97;                                      ///< p
  double share = 0.5;                                    ///< of the pairs, those in training; see training_count
  pair_split split = pair_split::plain;                  ///< what stays together
  bool equals_sign = true;                               ///< whether the sequences are (a, b, =) or (a, b)
  std::uint64_t split_seed = 1;                          ///< of the split
};

/// Modular arithmetic as sequences (a, b, =), whose answers are outputs 0 .. p-1: by default a + b modulo 97 with 98
/// tokens and 97 outputs, 4704 pairs in training and 4705 in test. Division leaves (a, 0) out: 9312 pairs of p = 97.
/// Source of the task and its sizes: Verma, arXiv 2605.20441.
/// Throws as modular_table and operation_data do.
[[nodiscard]] inline split_set modular_arithmetic(const modular_options& options = {}) {
  return operation_data(modular_table(options.operation, options.modulus),
                        {options.share, options.split, options.equals_sign, options.split_seed});
}

}  // namespace lindyn::population
