// SPDX-License-Identifier: Apache-2.0
// Errors as values: a code and one sentence with the facts and the fix. They are thrown, at compile time or at run
// time. docs/errors.md has a section for each code.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// A part of a sentence: a text, a name or an integer.
class phrase {
 public:
  phrase(std::string_view text) : text_(text) {}    // NOLINT: text is a phrase
  phrase(std::string const& text) : text_(text) {}  // NOLINT
  phrase(char const* text) : text_(text) {}         // NOLINT
  phrase(name const& n) : name_(&n) {}              // NOLINT
  phrase(std::integral auto number) : number_(static_cast<std::int64_t>(number)), is_number_(true) {}  // NOLINT
  std::string text() const;

 private:
  std::string_view text_;
  name const* name_ = nullptr;
  std::int64_t number_ = 0;
  bool is_number_ = false;
};

/// The one exception that the library throws. `code` is a section of docs/errors.md: T types, G trace, S layout,
/// M memory, R run time. `what()` is the whole sentence.
class error : public std::runtime_error {
 public:
  [[gnu::cold]] error(std::string_view code, std::string const& sentence, int rank = -1);
  /// `throw error("R05", {"the mesh has ", size, " ranks"});`
  [[gnu::cold]] error(std::string_view code, std::initializer_list<phrase> sentence);
  std::string const& code() const { return code_; }
  /// The text of `what()` after the code.
  std::string sentence() const;
  /// The rank that failed, if it is another process, or -1 for this one.
  int rank() const { return rank_; }

 private:
  static std::string joined(std::initializer_list<phrase> sentence);

  std::string code_;
  int rank_ = -1;
};

/// The text for an exception that is not a std::exception.
inline constexpr char const* unknown_exception = "an exception of unknown type";

/// The error that a pass found, such as `S02 dim 'batch' …`. Its text has a fixed size, so that it can be a
/// compile-time constant. The result of the pass stores it. Empty means no error.
struct diagnostic {
  static constexpr int capacity = 448;
  char text[capacity];
  int size;
  bool is_said = false;  // by the compiler, at the fault, so it must not be said again

  constexpr bool empty() const { return size == 0; }
  constexpr std::string_view view() const { return {text, static_cast<std::size_t>(size)}; }
  /// The first three characters: the code.
  constexpr std::string_view code() const { return view().substr(0, 3); }

  [[gnu::cold, gnu::noinline]] constexpr diagnostic& operator<<(std::string_view s) {
    for (char c : s)
      if (size < capacity - 1) text[size++] = c;
    return *this;
  }
  template <std::same_as<name> N>
  [[gnu::cold, gnu::noinline]] constexpr diagnostic& operator<<(N const& n) {
    for (std::size_t i = 0; i < name::capacity && n[i] != '\0' && size < capacity - 1; ++i) text[size++] = n[i];
    return *this;
  }
  [[gnu::cold, gnu::noinline]] constexpr diagnostic& operator<<(long long number) {
    if (number < 0) return *this << "-" << -number;
    char digits[20] = {};
    int n = 0;
    do digits[n++] = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    while (n != 0 && size < capacity - 1) text[size++] = digits[--n];
    return *this;
  }
};

namespace detail {
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_sentence(char const* sentence) {
  throw error(std::string_view(sentence, 3), std::string(sentence).substr(5));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_report(diagnostic const& report) {
  throw error(report.code(), std::string(report.view().substr(4)));
}
}  // namespace detail

/// Throws a sentence unless a condition holds: `require(ok, "T07: …")`. It is for run time and for internal errors,
/// because in constant evaluation compilers show the throw and hide the sentence. Therefore the trace reports its
/// errors by `builder::note` instead.
constexpr void require(bool condition, char const* sentence) {
  if (!condition) detail::throw_sentence(sentence);
}

/// Throws an error unless it is empty.
constexpr void raise(diagnostic const& report) {
  if (!report.empty()) detail::throw_report(report);
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The sentence with its code, or nothing if there is no error.
inline std::string text_of(diagnostic const& report) { return std::string(report.view()); }

inline std::string phrase::text() const {
  if (is_number_) return std::to_string(number_);
  return name_ == nullptr ? std::string(text_) : name_->text();
}

inline error::error(std::string_view code, std::string const& sentence, int rank)
    : std::runtime_error("meshtensor " + std::string(code) + ": " + sentence), code_(code), rank_(rank) {}
inline error::error(std::string_view code, std::initializer_list<phrase> sentence) : error(code, joined(sentence)) {}
inline std::string error::sentence() const { return std::string(what()).substr(13 + code_.size()); }
inline std::string error::joined(std::initializer_list<phrase> sentence) {
  std::string all;
  for (phrase const& p : sentence) all += p.text();
  return all;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
