// SPDX-License-Identifier: Apache-2.0
// A JSON parser driven by the caller, which asks for the element that must come next.
//
// Libraries accept texts that must be refused here, such as duplicate names and numbers beyond 64 bits. They also build
// a document of any size from a hostile file. Here the caller's requests bound depth and memory.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/base/json_text.hpp"
#include "meshtensor/base/utf8.hpp"

namespace meshtensor::io {

/// Reads a text from front to back. It refuses text that is not JSON, elements that the caller did not ask for, and
/// duplicate names. The sentence names the position: `<code>: <what>: byte 17: …`.
class json_reader {
 public:
  /// `code` and `what` must outlive it. `what` begins the sentence, for example with 'a.json' is not an index. The text
  /// begins at byte `offset` of the file.
  json_reader(std::string_view text, char const* code, std::string const& what, std::size_t offset = 0)
      : text_(text), code_(code), what_(what), offset_(offset) {}

  [[noreturn]] void refuse(std::string_view why) const {
    throw error(code_, {what_, ": byte ", offset_ + begin_, ": ", why});
  }

  /// Calls `member(name)` for each member. This function must read the value.
  void object(function_ref<void(std::string const&)> member) {
    std::set<std::string> seen;
    sequence('{', '}', [&] {
      auto const [name, is_new] = seen.insert(string());
      if (!is_new) refuse("the name " + json_text(*name) + " stands twice in one object");
      expect(':');
      member(*name);
    });
  }
  /// A member of an object whose members are known. All of them must be there, in this order, except those with
  /// `may_lack`.
  struct named_member {
    char const* name;
    function_ref<void()> read;
    bool const* may_lack = nullptr;  // read when the member is due
  };
  void members(std::initializer_list<named_member> all) {
    auto next = all.begin();
    object([&](std::string const& name) {
      while (next != all.end() && name != next->name && next->may_lack != nullptr && *next->may_lack) ++next;
      if (next == all.end() || name != next->name)
        refuse(json_text(name) +
               (next == all.end() ? " was not expected" : std::string(" stands before ") + next->name));
      next++->read();
    });
    while (next != all.end() && next->may_lack != nullptr && *next->may_lack) ++next;
    if (next != all.end()) refuse(std::string("there is no ") + next->name);
  }
  /// Calls `element()` for each element. This function must read the element.
  void array(function_ref<void()> element) { sequence('[', ']', element); }

  std::string string() {
    expect('"');
    std::size_t const first = at_ - 1;
    std::string all;
    for (;;) {
      begin_ = at_;
      if (at_ == text_.size()) refuse("a text has no end");
      char const c = text_[at_];
      if (c == '"') break;
      if (c == '\\') {
        escape(all);
        continue;
      }
      std::size_t const length = utf8_length(text_, at_);
      if (length == 0) refuse("this is not UTF-8");
      if (static_cast<unsigned char>(c) < 0x20) refuse("a text has a control character");
      all.append(text_, at_, length);
      at_ += length;
    }
    ++at_, begin_ = first;
    return all;
  }
  /// Consumes `null` and returns true if it comes next.
  bool null() {
    if (peek() != 'n' || text_.substr(at_, 4) != "null") return false;
    at_ += 4;
    return true;
  }
  /// Reads a whole number that is not negative.
  std::uint64_t count() { return number<std::uint64_t>("a whole number from 0 to 2^64-1 was expected"); }
  /// Reads a whole number from 0 to 2^63-1.
  std::int64_t extent() {
    std::uint64_t const n = count();
    if (n >> 63 != 0) refuse("a whole number from 0 to 2^63-1 was expected");
    return static_cast<std::int64_t>(n);
  }
  std::int64_t integer() { return number<std::int64_t>("a whole number of 64 bits was expected"); }
  /// Reads a number that may have a decimal point or an exponent.
  double real() {
    auto const digits = number_text();
    double n = 0;
    auto const [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (problem != std::errc{} || end != digits.data() + digits.size()) refuse("this number does not fit into an f64");
    return n;
  }

  /// The next character that is not a space, or 0 at the end. The character is not consumed.
  char peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    begin_ = at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  /// Whether the next number is a whole number.
  bool is_whole_number() {
    std::size_t const before = at_;
    bool const whole = number_text().find_first_of(".eE") == std::string_view::npos;
    at_ = before;
    return whole;
  }
  void end() {
    if (peek() != '\0' || at_ < text_.size()) refuse("something follows the end");
  }

 private:
  void expect(char c) {
    if (peek() != c || at_ == text_.size()) refuse(std::string("'") + c + "' was expected");
    ++at_;
  }
  void sequence(char open, char close, function_ref<void()> item) {
    expect(open);
    if (peek() != close)
      for (item(); peek() == ','; item()) ++at_;
    expect(close);
  }
  void escape(std::string& all) {
    begin_ = at_;
    char const c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    at_ += 2;
    constexpr std::string_view names = "\"\\/bfnrt", characters = "\"\\/\b\f\n\r\t";
    if (auto const k = names.find(c); k != names.npos) all += characters[k];
    else if (c == 'u') append(all, code_point());
    else refuse("there is no such escape");
  }
  unsigned four_digits() {
    unsigned n = 0;
    char const* const first = text_.data() + std::min(at_, text_.size());
    char const* const last = text_.data() + std::min(at_ + 4, text_.size());
    auto const [end, problem] = std::from_chars(first, last, n, 16);
    if (problem != std::errc{} || end != first + 4) refuse("\\u has four hexadecimal digits");
    at_ += 4;
    return n;
  }
  unsigned code_point() {
    unsigned const n = four_digits();
    if (n == 0) refuse("a text has a zero");
    if (n < 0xd800 || n > 0xdfff) return n;
    bool const pair = n < 0xdc00 && text_.substr(std::min(at_, text_.size()), 2) == "\\u";
    at_ += pair ? 2 : 0;
    unsigned const low = pair ? four_digits() : 0;
    if (low < 0xdc00 || low > 0xdfff) refuse("half of a surrogate pair");
    return 0x10000 + ((n - 0xd800) << 10) + (low - 0xdc00);
  }
  static void append(std::string& all, unsigned c) {
    auto const add = [&](unsigned byte) { all += static_cast<char>(byte); };
    auto const rest = [&](unsigned shift) { add(0x80 | (c >> shift & 0x3f)); };
    if (c < 0x80) return add(c);
    if (c < 0x800) return add(0xc0 | c >> 6), rest(0);
    if (c < 0x10000) return add(0xe0 | c >> 12), rest(6), rest(0);
    add(0xf0 | c >> 18), rest(12), rest(6), rest(0);
  }

  /// The text of the next number, checked against JSON's syntax.
  std::string_view number_text() {
    peek();
    std::size_t i = at_;
    auto const digit = [&] { return i < text_.size() && text_[i] >= '0' && text_[i] <= '9'; };
    auto const is = [&](std::string_view any) { return i < text_.size() && any.find(text_[i]) != any.npos; };
    auto const digits = [&] {
      if (!digit()) refuse("a number was expected");
      while (digit()) ++i;
    };
    if (is("-")) ++i;
    bool const leads = is("0");
    digits();
    if (leads && i > at_ + (text_[at_] == '-') + 1) refuse("a number begins with 0");
    if (is(".")) ++i, digits();
    if (is("eE")) {
      ++i;
      if (is("+-")) ++i;
      digits();
    }
    std::string_view const all = text_.substr(at_, i - at_);
    at_ = i;
    return all;
  }
  template <class T>
  T number(char const* expected) {
    if (peek() != '-' && (peek() < '0' || peek() > '9')) refuse(expected);
    auto const digits = number_text();
    T n = 0;
    auto const [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
    if (problem != std::errc{} || end != digits.data() + digits.size()) refuse(expected);
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0;  // begin_: of the token being read
  char const* code_;
  std::string const& what_;
  std::size_t offset_;
};

}  // namespace meshtensor::io
