// SPDX-License-Identifier: MIT
#pragma once

/// \file
/// The hierarchy of exceptions: everything that lindyn throws on purpose is a `lindyn::error`.

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace lindyn {

/// Base class of every exception that this library throws on purpose.
class error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

namespace detail {

/// The value as text, the same in every locale; numbers with a fraction have as few digits as bring them back, and an
/// exponent where they are below 1e-4 or reach 1e15.
template <class T>
[[nodiscard]] std::string to_text(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    const T size = std::abs(value);
    const bool fixed = size == 0 || (size >= T(1e-4) && size < T(1e15));
    std::array<char, 64> digits;
    const auto end = fixed
                         ? std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed)
                         : std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), end.ptr};
  } else {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << std::boolalpha << value;
    return text.str();
  }
}

}  // namespace detail

/// An argument has a value that is not allowed. The message names the argument, its value and what is allowed.
class argument_error : public error {
public:
  /// \param argument the argument's name, as the caller wrote it
  /// \param value    the value that was refused, as text
  /// \param allowed  what would have been accepted, completing the sentence "it must be ..."
  argument_error(std::string argument, std::string value, std::string allowed)
      : error(argument + " = " + value + " is not allowed: it must be " + allowed),
        argument_(std::move(argument)),
        value_(std::move(value)),
        allowed_(std::move(allowed)) {}

  /// The argument's name, as the caller wrote it in the options or the signature.
  [[nodiscard]] const std::string& argument() const noexcept { return argument_; }
  /// The value that was refused, as text.
  [[nodiscard]] const std::string& value() const noexcept { return value_; }
  /// What would have been accepted, completing the sentence "it must be ...".
  [[nodiscard]] const std::string& allowed() const noexcept { return allowed_; }

private:
  std::string argument_, value_, allowed_;
};

/// An array has another shape than its use requires.
class shape_error : public argument_error {
public:
  using argument_error::argument_error;
};

/// A number is NaN or infinite where only finite ones make sense.
class non_finite_error : public argument_error {
public:
  using argument_error::argument_error;
};

/// A data law isn't invariant under the symmetry that was claimed for it, so that the manifold isn't invariant either.
class invariance_error : public error {
public:
  using error::error;
};

/// More sequences (or types) than the stated bound would have to be visited one by one.
class too_many_error : public error {
public:
  /// \param what   the things counted, in the plural ("sequences")
  /// \param count  their number (a double, as it may exceed every integer)
  /// \param bound  the largest number that is still visited
  /// \param advice what would be feasible
  too_many_error(const std::string& what, double count, double bound, const std::string& advice)
      : error(detail::to_text(count) + " " + what + " are too many to enumerate (at most " + detail::to_text(bound) +
              "): " + advice),
        count_(count),
        bound_(bound) {}
  /// How many there are.
  [[nodiscard]] double count() const noexcept { return count_; }
  /// How many would have been visited.
  [[nodiscard]] double bound() const noexcept { return bound_; }

private:
  double count_, bound_;
};

/// A file can't be read or written, or exists and was not to be overwritten. The message names its path.
class file_error : public error {
public:
  using error::error;
};

/// An integration stopped before its end: too many steps, a step size below resolution, or a non-finite state.
class solver_error : public error {
public:
  using error::error;
};

/// A device can't do what it was asked: there is none, it has too little memory, or a kernel failed.
class device_error : public error {
public:
  using error::error;
};

/// Throws argument_error unless `holds`.
template <class T>
void require(bool holds, std::string_view argument, const T& value, std::string_view allowed) {
  if (!holds) throw argument_error(std::string(argument), detail::to_text(value), std::string(allowed));
}

/// Throws shape_error unless the two extents agree.
template <class T, class U>
void require_extent(std::string_view argument, const T& value, const U& expected) {
  if (static_cast<std::int64_t>(value) != static_cast<std::int64_t>(expected))
    throw shape_error(std::string(argument), detail::to_text(value), detail::to_text(expected));
}

/// Throws non_finite_error, naming the first offending entry, unless all entries of the range are finite.
template <class Range>
void require_finite(std::string_view argument, const Range& values) {
  std::size_t place = 0;
  for (const auto& value : values) {
    if (!std::isfinite(value))
      throw non_finite_error(std::string(argument) + "[" + std::to_string(place) + "]", detail::to_text(value),
                             "finite");
    ++place;
  }
}

/// Throws argument_error unless `value` is positive and finite.
inline void require_positive(std::string_view argument, double value) {
  require(value > 0 && std::isfinite(value), argument, value, "positive and finite");
}

/// Throws argument_error unless `value` is finite, and not negative.
inline void require_not_negative(std::string_view argument, double value) {
  require(value >= 0 && std::isfinite(value), argument, value, "not negative, and finite");
}

/// Throws argument_error unless `value` lies in [0, 1]; NaN does not.
inline void require_probability(std::string_view argument, double value) {
  require(value >= 0.0 && value <= 1.0, argument, value, "a probability in [0, 1]");
}

}  // namespace lindyn
