// SPDX-License-Identifier: Apache-2.0
// The value of a variable before the first step: a constant, or random numbers.
#pragma once

#include "meshtensor/op/random.hpp"

namespace meshtensor {

/// The initial value of a variable: `argument` in every element, normal numbers times it, or uniform numbers from
/// -argument to argument. Random numbers follow from the key and the global index. Therefore the order in which
/// variables are filled, and the rank that fills a part, do not matter.
struct initial_value {
  initializer_kind kind;
  number_value argument;
  random_key key;

  friend constexpr bool operator==(initial_value const&, initial_value const&) = default;
  constexpr bool is_random() const { return kind == initializer_kind::normal || kind == initializer_kind::uniform; }
  /// Whether zeroed memory has this value already.
  constexpr bool is_zero() const { return !is_random() && argument == 0; }
};

/// Fills one rank's part of a variable.
inline void fill(view const& where, initial_value const& first) {
  if (first.is_random())  // computed in floats and rounded once, so that the mean of uniform numbers in bf16 is 0
    return random_rule::fill(where, first.key, 0, [&]<class E>(random_stream const& stream, std::uint64_t index) {
      using A = arithmetic_t<E>;
      A const drawn = first.kind == initializer_kind::normal ? random_normal<A>(stream, index)
                                                             : random_uniform<A>(stream, index) * 2 - 1;
      return static_cast<E>(drawn * static_cast<A>(first.argument.real));
    });
  walk<1> w;
  for (int i = 0; i < where.count; ++i) w.stride[0][i] = where.stride[i], w.extent[w.count++] = where.extent[i];
  if (w.empty()) return;
  with_element(where.type, [&]<class E>() {
    do where.as<E>()[w.offset[0]] = element_of<E>(first.argument);
    while (w.next());
  });
}

/// Calls `f` with parts of a block, which are dense if the block is. Parts that differ only by the indices along the
/// dims in the mask `equal` start with the same numbers, which are those of a tensor without these dims.
template <class F>
void each_equal_start(view const& where, unsigned equal, F const& f, int dim = 0) {
  if (equal >> dim == 0 || dim >= where.count) return f(where);
  bool const starts_equal = (equal >> dim & 1u) != 0;
  view slice = where;
  slice.extent[dim] = 1;
  if (starts_equal) slice.total[dim] = 1, slice.origin[dim] = 0;
  for (std::int64_t i = 0; i < where.extent[dim]; ++i) {
    slice.data = where.as<std::byte>() + i * where.stride[dim] * static_cast<std::int64_t>(bytes_of(where.type));
    if (!starts_equal) slice.origin[dim] = where.origin[dim] + i;
    each_equal_start(slice, equal, f, dim + 1);
  }
}

}  // namespace meshtensor
