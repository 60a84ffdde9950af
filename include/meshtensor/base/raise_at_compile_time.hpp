// SPDX-License-Identifier: Apache-2.0
// Reports an error while a program is compiled: its sentence is a part of a type's name, which the compiler prints in
// the line that says `error:`.
//
//     error: 'constexpr void meshtensor::refuse(Reason) [with Reason = program_error<text<112>{"T05 the dim 'batch' has
//     two extents … (first.cpp:19)"}>]' is unavailable: meshtensor refuses it, for this Reason
//
// If the types of the arguments determine the error, a parameter of the function has such a type. Then the compiler
// names the line of the call (tensor/call.hpp). At run time the same error is thrown.
#pragma once

#include <cstddef>
#include <utility>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// A sentence, or a part of one, as a template argument, including its closing zero.
template <std::size_t Size>
struct text {
  char at[Size];
  constexpr explicit text(diagnostic const& report, int first = 0) : at{} {
    for (std::size_t i = 0; i + 1 < Size; ++i) at[i] = report.text[static_cast<std::size_t>(first) + i];
    at[Size - 1] = '\0';  // clang prints numbers unless the zero was written
  }
};

template <text... Sentence>
struct program_error {
  static constexpr bool absent = false;
};
template <text... Sentence>
struct layout_error {
  static constexpr bool absent = false;
};
template <text... Sentence>
struct memory_error {
  static constexpr bool absent = false;
};
struct no_error {
  static constexpr bool absent = true;
};

/// Whether there is no finding. Its name reads as English in an error.
template <class Finding>
concept nothing_found = Finding::absent;

namespace detail {

/// clang cuts a text of more than 36 characters in the name of a type. Therefore a sentence is several texts there.
#if defined(__clang__)
inline constexpr int longest_text = 36;
#else
inline constexpr int longest_text = diagnostic::capacity;
#endif

/// The end of the text that begins at `first`: behind the last blank that fits, if there is one.
constexpr int end_of_text(diagnostic const& report, int first) {
  int const most = first + longest_text;
  if (most >= report.size) return report.size;
  for (int end = most; end > first; --end)
    if (report.text[end - 1] == ' ') return end;
  return most;
}
constexpr int begin_of_text(diagnostic const& report, int index) {
  int first = 0;
  for (; index > 0; --index) first = end_of_text(report, first);
  return first;
}
constexpr int count_of_texts(diagnostic const& report) {
  int count = 0;
  for (int first = 0; first < report.size; first = end_of_text(report, first)) ++count;
  return count;
}

/// The error that a pass has stored in its result, or that a check has returned.
template <class Result>
constexpr diagnostic const& report_of(Result const& result) {
  if constexpr (requires { result.report; }) return result.report;
  else return result;
}

template <template <text...> class Error, auto const& Result, int... I>
constexpr auto error_in_texts(std::integer_sequence<int, I...>) {
  constexpr auto size = [](int i) {
    return static_cast<std::size_t>(begin_of_text(report_of(Result), i + 1) - begin_of_text(report_of(Result), i)) + 1;
  };
  return Error<text<size(I)>(report_of(Result), begin_of_text(report_of(Result), I))...>{};
}

/// The error of a finding, as a value of its type. It is `no_error` if there is none, or if the compiler has already
/// said it.
template <auto const& Result>
constexpr auto error_of() {
  if constexpr (report_of(Result).empty() || report_of(Result).is_said) {
    return no_error{};
  } else {
    constexpr std::make_integer_sequence<int, count_of_texts(report_of(Result))> texts{};
    constexpr char letter = report_of(Result).text[0];
    constexpr bool of_dims_alone = std::string_view(report_of(Result).text, 3) == "S03";
    if constexpr (letter == 'S' && !of_dims_alone) return error_in_texts<layout_error, Result>(texts);
    else if constexpr (letter == 'M') return error_in_texts<memory_error, Result>(texts);
    else return error_in_texts<program_error, Result>(texts);
  }
}

}  // namespace detail

/// A call of this function is an error of the compiler, with the sentence in it.
template <class Reason>
__attribute__((unavailable("meshtensor refuses it, for this Reason"))) consteval void refuse(Reason) {}

/// Fails to compile if a pass stored an error in `Result.report`: `static_assert(is_valid<lowered<…>::partitioned>);`
template <auto const& Result>
constexpr bool raise_at_compile_time() {
  constexpr auto found = detail::error_of<Result>();
  if constexpr (!nothing_found<decltype(found)>) refuse(found);
  return true;
}
/// True, or else an error of the compiler with the sentence that a pass stored in `Result`, or with the sentence that
/// `Result` is: see `raise_at_compile_time`.
template <auto const& Result>
inline constexpr bool is_valid = raise_at_compile_time<Result>();

}  // namespace meshtensor
