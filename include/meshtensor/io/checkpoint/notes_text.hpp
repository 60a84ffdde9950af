// SPDX-License-Identifier: Apache-2.0
// Writes notes as JSON, and reads them.
#pragma once

#include <charconv>
#include <limits>

#include "meshtensor/io/json.hpp"
#include "meshtensor/io/notes.hpp"

namespace meshtensor::io {

namespace detail {

inline std::string text_of(std::int64_t n) { return std::to_string(n); }
/// The shortest number that reads back as the same value. Infinities and NaN become an object, because JSON lacks them.
inline std::string text_of(double x) {
  if (std::isnan(x)) return "{\"float\": \"nan\"}";
  if (std::isinf(x)) return x > 0 ? "{\"float\": \"inf\"}" : "{\"float\": \"-inf\"}";
  char digits[32];
  std::string text(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  return text.find_first_of(".e") == text.npos ? text + ".0" : text;
}
/// Bytes that are not UTF-8, or that have a zero, are written as hexadecimal digits in an object.
inline std::string text_of(std::string const& bytes) {
  bool readable = is_utf8(bytes);
  for (char const c : bytes) readable = readable && c != '\0';
  if (readable) return json_text(bytes);
  std::string digits;
  for (char const c : bytes)
    for (int const shift : {4, 0}) digits += "0123456789abcdef"[static_cast<unsigned char>(c) >> shift & 15];
  return "{\"bytes\": \"" + digits + "\"}";
}

inline std::string bytes_in(json_reader& r) {
  std::string const digits = r.string();
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    unsigned byte = 0;
    char const* const last = digits.data() + std::min(i + 2, digits.size());
    if (std::from_chars(digits.data() + i, last, byte, 16).ptr != digits.data() + i + 2)
      r.refuse("bytes are an even number of hexadecimal digits");
    bytes += static_cast<char>(byte);
  }
  return bytes;
}
inline double float_in(json_reader& r) {
  std::string const word = r.string();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (word == "inf") return infinity;
  if (word == "-inf") return -infinity;
  if (word != "nan") r.refuse("a float that is no number is nan, inf or -inf");
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace detail

/// Notes as JSON, for example `{"batch": 1200, "mean": 0.5, "state": {"bytes": "00ff"}}`. errors C13 a name is not
/// UTF-8
inline std::string text_of(notes const& all) {
  std::string text = "{";
  for (char const* comma = ""; auto const& [label, note] : all.all()) {
    if (!is_utf8(label) || label.find('\0') != label.npos)
      throw error("C13", "a checkpoint cannot be written: the name of a note is not UTF-8");
    text += comma + json_text(label) + ": " + std::visit([](auto const& n) { return detail::text_of(n); }, note);
    comma = ", ";
  }
  return text + "}";
}

inline notes read_notes(json_reader& r) {
  notes all;
  r.object([&](std::string const& label) {
    char const next = r.peek();
    if (next == '"') return all.set({label, r.string()});
    if (next != '{') return r.is_whole_number() ? all.set({label, r.integer()}) : all.set({label, r.real()});
    int members = 0;
    r.object([&](std::string const& kind) {
      ++members;
      if (kind == "bytes") all.set({label, detail::bytes_in(r)});
      else if (kind == "float") all.set({label, detail::float_in(r)});
      else r.refuse("a note is a number, a text, bytes or a float");
    });
    if (members != 1) r.refuse("a note is one of bytes or float");
  });
  return all;
}

}  // namespace meshtensor::io
