// SPDX-License-Identifier: Apache-2.0
// Messages of protocol buffers: as their description writes them, and what is none.
#include "meshtensor/base/protobuf.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace meshtensor::detail;

namespace {
using field = std::pair<std::uint64_t, std::string>;
std::vector<field> fields_of(std::string_view bytes) {
  std::vector<field> all;
  if (!each_field(bytes, [&](std::uint64_t number, std::string_view part) {
        all.emplace_back(number, part);
        return true;
      }))
    all.emplace_back(0, "no message");
  return all;
}
}  // namespace

TEST_CASE("the examples of the description") {
  CHECK(message().integer(1, 150).bytes() == "\x08\x96\x01");
  CHECK(message().text(2, "testing").bytes() == "\x12\x07testing");
  CHECK(message().inner(3, message().integer(1, 150)).bytes() == "\x1a\x03\x08\x96\x01");
  CHECK(message().integer(1, -2).bytes() == "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  CHECK(message().integer(1, 0).bytes() == "");
  CHECK(message().real(1, 1.0).bytes() == std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
  CHECK(message().real(1, 1.0f).bytes() == std::string("\x0d\0\0\x80\x3f", 5));
  CHECK(message().integer(16, 1).bytes() == "\x80\x01\x01");
}

TEST_CASE("what was written is read") {
  std::string const longer(300, 'x');
  auto const whole = message()
                         .integer(1, 7)
                         .text(2, "a")
                         .real(3, 0.5)
                         .text(4, "")
                         .real(5, 0.5f)
                         .text(1000, longer)
                         .inner(2, message());
  CHECK(fields_of(whole.bytes()) == std::vector<field>{{2, "a"}, {4, ""}, {1000, longer}, {2, ""}});
  CHECK(fields_of("").empty());
  int calls = 0;
  CHECK(!each_field(whole.bytes(), [&](std::uint64_t, std::string_view) { return ++calls < 2; }));
  CHECK(calls == 2);
  std::vector<std::uint64_t> integers;
  auto const any = [](std::uint64_t, std::string_view) { return true; };
  auto const add = [&](std::uint64_t number, std::uint64_t value) {
    integers.insert(integers.end(), {number, value});
    return true;
  };
  CHECK(each_field(message().integer(1, 7).text(2, "a").integer(3, -1).integer(2000, 300).bytes(), any, add));
  CHECK(integers == std::vector<std::uint64_t>{1, 7, 3, ~std::uint64_t{0}, 2000, 300});
  CHECK(!each_field(whole.bytes(), any, [](std::uint64_t, std::uint64_t) { return false; }));
}

TEST_CASE("what is cut off, or of a kind that there is not") {
  std::string const whole = message().integer(1, 300).bytes() + message().text(2, "abc").bytes() +
                            message().real(3, 0.5).bytes() + message().real(4, 0.5f).bytes();
  std::vector<std::size_t> const ends{0, 3, 8, 17, 22};  // of fields
  REQUIRE(whole.size() == ends.back());
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    auto const found = fields_of(std::string_view(whole).substr(0, cut));
    bool const between = std::find(ends.begin(), ends.end(), cut) != ends.end();
    CHECK((found.empty() || found.back().second != "no message") == between);
  }
  for (char const* broken : {"\x0b", "\x0c", "\x0e", "\x0f", "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"})
    CHECK(fields_of(broken) == std::vector<field>{{0, "no message"}});
}
