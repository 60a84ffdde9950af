// SPDX-License-Identifier: Apache-2.0
// Refuses numbers that cannot be elements of a tensor of integers, at the line where they are written.
#pragma once

#include "meshtensor/graph/builder.hpp"

namespace meshtensor::detail {

/// Adds ` stands beside a tensor of u8, whose elements are from 0 to 255: …`, and the way to fix it.
constexpr diagnostic& add_range(diagnostic& d, number_value const& n, char const* place, dtype type) {
  d << " " << place << " a tensor of " << text_of(type) << ", whose elements are ";
  with_element(type, [&]<class E>() {
    if constexpr (std::is_integral_v<E>)
      add_exact(add_exact(d << "from ", std::numeric_limits<E>::lowest()) << " to ", std::numeric_limits<E>::max());
  });
  if (type != dtype::i64) return d << ": cast the tensor to i64, or give a number within";
  if (!n.is_integer() || n.real < 0) return d << ": cast the tensor to a float, or give a number within";
  return add_exact(d << ": std::int64_t(", n) << "u) has the same 64 bits";
}

/// Adds the fault of an output of numbers, which is f64, for an integer that f64 cannot represent.
constexpr diagnostic& add_inexact_output(diagnostic& d) {
  return d << " an output in f64, which does not hold this integer: output full(s, number, mt::i64)";
}

/// A number whose value is known when a program is traced, or null if it is not known.
constexpr number_value const* known_value(builder const& b, number const& n) {
  if (n.count != 1) return nullptr;
  number::item const& only = n.items[0];
  if (only.kind == number::item::literal) return &only.value;
  if (only.kind != number::item::row) return nullptr;
  number_row const& row = b.m.numbers[only.id];
  return row.kind == number_row::literal || row.kind == number_row::named ? &row.value : nullptr;
}

/// Reports T02 if a number whose value is known is an output, but f64 cannot represent it.
constexpr void require_output(builder& b, number const& n) {
  number_value const* const value = known_value(b, n);
  if (value == nullptr || value->rest == 0) return;
  diagnostic d{};
  b.note(add_inexact_output(add_exact(d << "T02 ", *value) << " is"));
}

/// Reports T02 if a number whose value is known becomes an element of a tensor of integers, but is a fraction or does
/// not fit.
constexpr void require_element(builder& b, number const& n, dtype type, char const* place = "stands beside",
                               char const* fix = "cast the tensor to a float") {
  number_value const* const known = known_value(b, n);
  if (is_float(type) || known == nullptr) return;
  number_value const value = *known;
  constexpr double greatest = std::numeric_limits<double>::max();
  bool const is_huge =
      (value.real >= 0x1p64 && value.real <= greatest) || (value.real <= -0x1p64 && value.real >= -greatest);
  bool const is_whole = value.is_integer() || is_huge;
  if (is_whole && fits(value, type)) return;
  diagnostic d{};
  add_exact(d << "T02 ", value);
  if (is_whole) b.note(add_range(d, value, place, type));
  else b.note(d << " is not an integer, but " << place << " a tensor of " << text_of(type) << ": " << fix);
}

}  // namespace meshtensor::detail
