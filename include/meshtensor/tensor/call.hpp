// SPDX-License-Identifier: Apache-2.0
// Parameters that take the line of the user's call: `line`, `at` and `named`. If the types of the arguments are enough
// to find an error, the type of such a parameter has this error as its `Reason`. The compiler then refuses to make the
// parameter, so it names the user's line and prints the type with the error sentence in it. The call itself goes on, so
// that no other error follows.
#pragma once

#include <cstdint>
#include <source_location>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/name.hpp"
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/tensor/literal.hpp"

namespace meshtensor {

namespace detail {
/// The condition that a function marked with MESHTENSOR_REFUSES asserts. In clang, the assertion fails and prints the
/// reason. In g++, the mark alone prints the reason, so the assertion must not add a second error.
template <class Reason>
#if defined(__clang__)
inline constexpr bool is_said = Reason::absent;
#else
inline constexpr bool is_said = true;
#endif
}  // namespace detail

/// A line of the user's program.
struct line {
  char const* file;
  std::uint32_t number;
  constexpr line(std::source_location const& l = std::source_location::current())  // NOLINT: a conversion
      : file(l.file_name()), number(l.line()) {}
  static constexpr line unknown() {
    line l{std::source_location()};
    l.number = 0;
    return l;
  }
};

/// The line of a call as the last parameter of a function. Its default argument is `{}`.
template <class Reason>
struct checked_line : line {
  constexpr checked_line(std::source_location const& l = std::source_location::current()) : line(l) {}  // NOLINT
  constexpr checked_line(line const& l) : line(l) {}                                                    // NOLINT
};
template <class Reason>
requires(!nothing_found<Reason>)
struct checked_line<Reason> : line {
  MESHTENSOR_REFUSES
  constexpr checked_line(std::source_location const& l = std::source_location::current()) : line(l) {  // NOLINT
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
  }
  MESHTENSOR_REFUSES constexpr checked_line(line const& l) : line(l) {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
  }  // NOLINT
};

namespace detail {
/// Whether a parameter of this type refuses its call.
template <class>
inline constexpr bool is_refused = false;
template <class Reason>
inline constexpr bool is_refused<checked_line<Reason>> = !nothing_found<Reason>;
}  // namespace detail

/// An operand and the line of its use. Operators take this type, so that every node knows its line.
template <class T, class Reason = no_error>
struct at {
  T operand;
  line where;
  constexpr at(T const& t, std::source_location const& l = std::source_location::current())  // NOLINT: a conversion
      : operand(t), where(l) {}
};
template <class T, class Reason>
requires(!nothing_found<Reason>)
struct at<T, Reason> {
  T operand;
  line where;
  MESHTENSOR_REFUSES
  constexpr at(T const& t, std::source_location const& l = std::source_location::current())  // NOLINT: a conversion
      : operand(t), where(l) {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
  }
};

/// A literal name together with the line on which it was written.
template <class Reason>
struct named {
  name label;
  line where;
  template <std::size_t N>
  // NOLINTNEXTLINE: a literal is a name
  consteval named(char const (&literal)[N], std::source_location const& l = std::source_location::current())
      : label(literal), where(l) {}
};
template <class Reason>
requires(!nothing_found<Reason>)
struct named<Reason> {
  name label;
  line where;
  template <std::size_t N>
  MESHTENSOR_REFUSES
      // NOLINTNEXTLINE: a literal is a name
      consteval named(char const (&literal)[N], std::source_location const& l = std::source_location::current())
      : label(literal), where(l) {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
  }
};
using named_here = named<no_error>;

}  // namespace meshtensor
