// SPDX-License-Identifier: Apache-2.0
// Writes an array as text: its dtype and dims, and then its elements row by row.
#pragma once

#include <charconv>
#include <string>

#include "meshtensor/array/array.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {
template <class T>
std::string text_of_element(T const& e) {
  if constexpr (std::is_same_v<T, bool>) {
    return e ? "true" : "false";
  } else {
    using shown = std::conditional_t<std::is_same_v<T, bf16_t>, float, std::conditional_t<sizeof(T) == 1, int, T>>;
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof(digits), static_cast<shown>(e)).ptr};
  }
}
template <class T>
void append_rows(std::string& text, any_array<T> const& a, std::size_t depth, std::int64_t offset) {
  auto const dims = a.dims();
  if (depth == dims.size()) {
    text += text_of_element(a.data()[offset]);
    return;
  }
  constexpr std::int64_t most = 8, shown = 3;
  std::int64_t const extent = dims[depth].extent, inner = elements_of(dims.subspan(depth + 1));
  text += "[";
  for (std::int64_t i = 0; i < extent; ++i) {
    if (i != 0) text += depth + 1 == dims.size() ? ", " : ",\n " + std::string(depth, ' ');
    if (extent > most && i == shown) text += "...", i = extent - shown - 1;
    else append_rows(text, a, depth + 1, offset + i * inner);
  }
  text += "]";
}
}  // namespace detail

/// Returns `f32[batch=2, pixels=3]` and the elements, row by row. Of long dims, it shows the first and the last three.
template <class T>
std::string text_of(any_array<T> const& a) {
  std::string text = std::string(text_of(dtype_of<T>)) + detail::text_of(a.dims()) + "\n";
  detail::append_rows(text, a, 0, 0);
  return text;
}
template <class Stream, class T>
requires requires(Stream& s) { s.flush(); }
Stream& operator<<(Stream& s, any_array<T> const& a) {
  s << text_of(a);
  return s;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
