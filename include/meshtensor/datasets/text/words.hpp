// SPDX-License-Identifier: Apache-2.0
// Splits text into words in the way in which scores of translations count them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/base/utf8.hpp"

namespace meshtensor::datasets {

namespace detail {

/// Separators of words: Unicode's white space and the four separators of ASCII.
constexpr bool is_blank(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

/// Splits a text at blanks.
inline std::vector<std::string> parts_between_blanks(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const length = utf8_length(text, at);
    if (length != 0 && is_blank(utf8_point(text, at, length))) {
      inside = false, at += length;
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    words.back() += text[at++];  // continuation bytes of a character are not blanks
    for (std::size_t k = 1; k < length; ++k) words.back() += text[at++];
  }
  return words;
}

inline void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size()) text.replace(at, what.size(), by);
}

/// Inserts a blank between two neighbours that match the rule. It also inserts `before` ahead of both and `behind`
/// after them.
template <class First, class Second>
std::string parted(std::string_view text, First first, Second second, std::string_view before,
                   std::string_view behind) {
  std::string r;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && first(text[i]) && second(text[i + 1])) {
      r += before, r += text[i], r += ' ', r += text[++i], r += behind;
    } else {
      r += text[i];
    }
  }
  return r;
}

}  // namespace detail

/// The words of a sentence as NIST's mteval-v13a counts them. Signs are words of their own, except apostrophes. Full
/// stops and commas are words unless they stand between digits, and hyphens are words after a digit.
inline std::vector<std::string> words_13a(std::string_view sentence) {
  while (!sentence.empty()) {  // without the line's end
    std::size_t at = sentence.size() - 1;
    while (at > 0 && (sentence[at] & 0xc0) == 0x80) --at;
    std::size_t const length = utf8_length(sentence, at);
    if (length == 0 || at + length != sentence.size() || !detail::is_blank(utf8_point(sentence, at, length))) break;
    sentence.remove_suffix(length);
  }
  std::string text(sentence);
  for (auto const& [what, by] : {std::pair("<skipped>", ""),
                                 {"-\n", ""},
                                 {"\n", " "},
                                 {"&quot;", "\""},
                                 {"&amp;", "&"},
                                 {"&lt;", "<"},
                                 {"&gt;", ">"}})
    detail::replace_all(text, what, by);

  std::string apart = " ";
  for (char c : text) {
    bool const sign = c > ' ' && c <= '~' && std::string_view("',-.").find(c) == std::string_view::npos &&
                      !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z');
    if (sign) apart += ' ';
    apart += c;
    if (sign) apart += ' ';
  }
  apart += ' ';
  auto const point = [](char c) { return c == '.' || c == ','; };
  auto const digit = [](char c) { return c >= '0' && c <= '9'; };
  auto const no_digit = [](char c) { return c < '0' || c > '9'; };
  apart = detail::parted(apart, no_digit, point, "", " ");
  apart = detail::parted(apart, point, no_digit, " ", "");
  apart = detail::parted(apart, digit, [](char c) { return c == '-'; }, "", " ");
  return detail::parts_between_blanks(apart);
}

}  // namespace meshtensor::datasets
