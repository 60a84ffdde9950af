// SPDX-License-Identifier: Apache-2.0
// JSON is read as RFC 8259 has it, and stricter: no name twice, no number that does not fit, nothing deeper than asked.
#include "meshtensor/io/json.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

#include "meshtensor/io/checkpoint/notes_text.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

template <class Read>
std::string why(std::string const& text, Read read) {
  std::string const what = "it";
  return sentence([&] {
    mt::io::json_reader r(text, "C03", what);
    read(r);
    r.end();
  });
}
std::string text_in(std::string const& json) {
  std::string const what = "it";
  mt::io::json_reader r(json, "C03", what);
  std::string const text = r.string();
  r.end();
  return text;
}
std::string refused_text(std::string const& json) {
  return why(json, [](auto& r) { r.string(); });
}

}  // namespace

TEST_CASE("texts") {
  CHECK(text_in(R"("")") == "");
  CHECK(text_in(" \"a b\"\n") == "a b");
  CHECK(text_in(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(text_in(R"("\u0041\u00e4\u20ac\ud83d\ude00")") == "Aä€😀");
  CHECK(text_in("\"ä€😀\"") == "ä€😀");
  for (std::string const bad :
       {R"(")", R"("a)", R"("\)", R"("\u)", R"("\u12)", R"("\u12g4")", R"("\x41")", R"("\ud83d")", R"("\ude00")",
        R"("\ud83d\u0041")", R"("\ud83dA")", R"("\u0000")", R"('a')", R"(a)", R"()", R"("a" b)"}) {
    INFO(bad);
    CHECK(refused_text(bad).starts_with("meshtensor C03: it: byte "));
  }
  for (std::string const bytes : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xc3", "\xe0\x80\xaf", "\xe2\x82", "\xed\xa0\x80",
                                  "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\x1f", "\n"})
    CHECK(refused_text("\"" + bytes + "\"") != "");
  CHECK(refused_text(std::string("\"a\0b\"", 5)) == "meshtensor C03: it: byte 2: a text has a control character");
}

TEST_CASE("a text is quoted so that it is read as it was") {
  for (std::string const text : {"", "plain", "a\"b\\c/d", "ä€😀", "\n\t\x01\x1f\x7f"})
    CHECK(text_in(mt::json_text(text)) == text);
}

TEST_CASE("numbers") {
  auto const count = [](std::string const& text) {
    std::uint64_t n = 0;
    std::string const problem = why(text, [&](auto& r) { n = r.count(); });
    return problem.empty() ? std::to_string(n) : problem;
  };
  CHECK(count("0") == "0");
  CHECK(count(" 18446744073709551615 ") == "18446744073709551615");
  for (char const* bad : {"18446744073709551616", "-1", "-0", "01", "00", "1.0", "1e3", "+1", "0x1", "", "1a", "1 2",
                          "99999999999999999999999999999999", "--1", "1.", ".5", "\"1\"", "null", "true"}) {
    INFO(bad);
    CHECK(count(bad).starts_with("meshtensor C03: it: byte "));
  }
  CHECK(why("9223372036854775807", [](auto& r) { CHECK(r.extent() == std::numeric_limits<std::int64_t>::max()); }) ==
        "");
  CHECK(why("9223372036854775808", [](auto& r) { r.extent(); }) != "");
  CHECK(why("-9223372036854775808", [](auto& r) { CHECK(r.integer() == std::numeric_limits<std::int64_t>::min()); }) ==
        "");
  CHECK(why("-9223372036854775809", [](auto& r) { r.integer(); }) != "");
  CHECK(why("-1.5e-3", [](auto& r) { CHECK(r.real() == -1.5e-3); }) == "");
  for (char const* bad : {"1e999", "1.e3", "1e", "1e+", "-", "01.5", "nan", "Infinity"})
    CHECK(why(bad, [](auto& r) { r.real(); }) != "");
}

TEST_CASE("objects and arrays are what the caller asks for, each name once") {
  auto const read = [](std::string const& text) {
    std::map<std::string, std::vector<std::uint64_t>> all;
    std::string const problem = why(text, [&](auto& r) {
      r.object([&](std::string const& name) { r.array([&] { all[name].push_back(r.count()); }); });
    });
    return problem.empty() ? std::to_string(all.size()) : problem;
  };
  CHECK(read("{}") == "0");
  CHECK(read(R"( { "a" : [ 1 , 2 ] , "b":[],"":[3] } )") == "2");
  CHECK(read(R"({"a":[1],"a":[2]})") == "meshtensor C03: it: byte 9: the name \"a\" stands twice in one object");
  CHECK(read(R"({"a":[1],"\u0061":[2]})") != "2");
  for (char const* bad : {"{", "}", "{]", "{\"a\"}", "{\"a\":}", "{\"a\":[}", "{\"a\":[1,]}", "{\"a\":[1],}", "{,}",
                          "{\"a\":[1]\"b\":[2]}", "{\"a\":[[1]]}", "{\"a\":{}}", "{a:[1]}", "{\"a\":[1]}}", "[]",
                          "{\"a\":[1 2]}", "{\"a\":[,1]}"}) {
    INFO(bad);
    CHECK(read(bad).starts_with("meshtensor C03: it: byte "));
  }
  CHECK(read("{\"a\":" + std::string(1000000, '[')).starts_with("meshtensor C03"));
}

TEST_CASE("members in their order") {
  auto const read = [](std::string const& text) {
    return why(text, [&](auto& r) { r.members({{"a", [&] { r.count(); }}, {"b", [&] { r.string(); }}}); });
  };
  CHECK(read(R"({"a": 1, "b": "x"})") == "");
  CHECK(read(R"({"b": "x", "a": 1})") == "meshtensor C03: it: byte 4: \"b\" stands before a");
  CHECK(read(R"({"a": 1})") == "meshtensor C03: it: byte 7: there is no b");
  CHECK(read(R"({"a": 1, "b": "x", "c": 2})").ends_with("\"c\" was not expected"));
}

TEST_CASE("notes are read as they were written") {
  double const infinity = std::numeric_limits<double>::infinity();
  mt::notes const all{{"whole", -5},
                      {"least", std::numeric_limits<std::int64_t>::min()},
                      {"tenth", 0.1},
                      {"two", 2.0},
                      {"zero", -0.0},
                      {"tiny", 5e-324},
                      {"huge", 1.7976931348623157e308},
                      {"up", infinity},
                      {"down", -infinity},
                      {"text", "line\n\"ä\""},
                      {"empty", ""},
                      {"bytes", std::string("\0\xff\x80", 3)}};
  std::string const text = mt::io::text_of(all), what = "it";
  mt::io::json_reader r(text, "C04", what);
  mt::notes const same = mt::io::read_notes(r);
  CHECK(same == all);
  CHECK(std::signbit(same.get<double>("zero")));
  CHECK(same.get<int>("whole") == -5);
  CHECK(same.get<float>("two") == 2);
  CHECK(same.get<std::string>("bytes").size() == 3);
  mt::io::json_reader nan(R"({"x": {"float": "nan"}})", "C04", what);
  CHECK(std::isnan(mt::io::read_notes(nan).get<double>("x")));
  CHECK(mt::io::text_of({{"x", std::numeric_limits<double>::quiet_NaN()}}) == R"({"x": {"float": "nan"}})");

  for (char const* bad : {R"({"x": null})", R"({"x": {"bytes": "0"}})", R"({"x": {"bytes": "0g"}})", R"({"x": {}})",
                          R"({"x": {"bytes": "00", "float": "inf"}})", R"({"x": {"float": "1"}})", R"({"x": [1]})",
                          R"({"x": 9223372036854775808})", R"({"x": 1, "x": 2})", R"({"x": {"other": "00"}})"})
    CHECK(why(bad, [](auto& reader) { mt::io::read_notes(reader); }) != "");
  CHECK(sentence([&] { all.get<int>("hole"); }) == "meshtensor C11: there is no note 'hole'; did you mean 'whole'?");
  CHECK(sentence([&] { all.get<int>("text"); }) == "meshtensor C11: the note 'text' is a text, not a whole number");
  mt::notes const large{{"count", std::int64_t{5'000'000'000}}, {"seed", ~std::uint64_t{0}}, {"less", -1}};
  CHECK(large.get<std::int64_t>("count") == 5'000'000'000);
  CHECK(large.get<std::uint64_t>("seed") == ~std::uint64_t{0});
  CHECK(sentence([&] { large.get<int>("count"); }) ==
        "meshtensor C11: the note 'count' is 5000000000, which does not fit in 32 bits");
  CHECK(sentence([&] { large.get<std::uint32_t>("less"); }).starts_with("meshtensor C11: the note 'less' is -1"));
  CHECK(sentence([&] { all.get<double>("whole"); }) ==
        "meshtensor C11: the note 'whole' is a whole number, not a float");
  CHECK(sentence([] { mt::io::text_of({{"\xff", 1}}); }).starts_with("meshtensor C13"));
}
