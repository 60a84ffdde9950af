// SPDX-License-Identifier: Apache-2.0
// Reports the error of a pass while the program is compiled: the sentence is a template argument of a failed assertion,
// so that both compilers print it.
//
//     error: static assertion failed: meshtensor: the layout does not fit this program, for the reason below
//     note: because 'layout_error<text<96>{"S02 dim 'batch' (31) is sharded over mesh axis …"}>::absent' evaluated to
//     false
//
// Except in that last note, about a failed concept, clang cuts such a text after 36 characters. At run time the same
// error is thrown.
#pragma once

#include <cstddef>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// A sentence as a template argument, including its closing zero.
template <std::size_t Size>
struct text {
  char at[Size];
  constexpr explicit text(diagnostic const& report) : at{} {
    for (std::size_t i = 0; i + 1 < Size; ++i) at[i] = report.text[i];
    at[Size - 1] = '\0';  // clang prints numbers unless the zero was written
  }
};

template <text Reason>
struct program_error {
  static constexpr bool absent = false;
};
template <text Reason>
struct layout_error {
  static constexpr bool absent = false;
};
template <text Reason>
struct memory_error {
  static constexpr bool absent = false;
};

/// Named to read as English in an error: there is no finding.
template <class Finding>
concept nothing_found = Finding::absent;

/// Fails to compile if a pass stored an error in `Result.report`: `static_assert(is_valid<lowered<…>::partitioned>);`
template <auto const& Result>
constexpr bool raise_at_compile_time() {
  if constexpr (!Result.report.empty()) {
    constexpr text<static_cast<std::size_t>(Result.report.size) + 1> reason(Result.report);
    constexpr char letter = Result.report.text[0];
    constexpr bool of_dims_alone = std::string_view(Result.report.text, 3) == "S03";
    if constexpr (letter == 'S' && !of_dims_alone) {
      using found = layout_error<reason>;
      static_assert(nothing_found<found>, "meshtensor: the layout does not fit this program, for the reason below");
    } else if constexpr (letter == 'M') {
      using found = memory_error<reason>;
      static_assert(nothing_found<found>, "meshtensor: the program does not fit into memory, for the reason below");
    } else {
      using found = program_error<reason>;
      static_assert(nothing_found<found>, "meshtensor: the program is refused, for the reason below");
    }
  }
  return true;
}
template <auto const& Result>
inline constexpr bool is_valid = raise_at_compile_time<Result>();

}  // namespace meshtensor
