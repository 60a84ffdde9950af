// SPDX-License-Identifier: Apache-2.0
// Headers of safetensors files: what is written is read, and nothing else is.
#include "meshtensor/io/safetensors.hpp"

#include <doctest/doctest.h>

#include "meshtensor/io/safetensors_format.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

/// A file with this header and so many bytes behind it.
std::string file_of(std::string const& header, std::size_t data) {
  std::string all;
  for (int i = 0; i < 8; ++i) all += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return all + header + std::string(data, 'x');
}
std::string why(std::string const& bytes) {
  meshtensor_test::own_folder const folder;
  meshtensor_test::set_content(folder / "f", bytes);
  std::string const said = sentence([&] { mt::io::read_safetensors(mt::io::file(folder / "f")); });
  std::string const head = "meshtensor C03: '" + (folder / "f") + "' is not a safetensors file: ";
  return said.starts_with(head) ? said.substr(head.size()) : said.substr(said.find(": '") + 1);
}
std::string tensor(std::string const& shape, std::string const& offsets, std::string const& type = "F32") {
  return "{\"dtype\":\"" + type + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

}  // namespace

TEST_CASE("what is written is read") {
  using mt::io::storage_of;
  std::vector<mt::io::new_tensor> tensors{{"b/flag", storage_of(mt::boolean), {3}},
                                          {"a \"x\"", storage_of(mt::f32), {2, 5}},
                                          {"ä", storage_of(mt::f64), {}},
                                          {"none", storage_of(mt::bf16), {4, 0}},
                                          {"half", storage_of("F16"), {1}}};
  std::map<std::string, std::string> const metadata{{"format", "pt"}, {"empty", ""}};
  std::string const head = mt::io::format_safetensors(tensors, metadata, "f");
  CHECK(head.size() % 8 == 0);
  meshtensor_test::own_folder const folder;
  meshtensor_test::set_content(folder / "f", head + std::string(8 + 40 + 0 + 2 + 3, 'x'));
  auto const h = mt::io::read_safetensors(mt::io::file(folder / "f"));
  CHECK(h.metadata == metadata);
  CHECK(h.bytes == static_cast<std::int64_t>(head.size()));
  REQUIRE(h.tensors.size() == 5);
  for (mt::io::new_tensor const& t : tensors) {
    auto const& found = h.tensors.at(t.label);
    CHECK(found.stored == t.stored);
    CHECK(found.extents == t.extents);
    CHECK(found.end - found.begin == t.bytes());
    CHECK(found.begin % t.stored->bytes == 0);  // elements are aligned
  }
  CHECK(sentence([&] {
          tensors.push_back({"__metadata__", storage_of(mt::f32), {}});
          mt::io::format_safetensors(tensors, {}, "f");
        }).starts_with("meshtensor C13: 'f' cannot be written: a tensor cannot be called"));
  tensors.back().label = "\xff";
  CHECK(sentence([&] { mt::io::format_safetensors(tensors, {}, "f"); }).starts_with("meshtensor C13"));
}

TEST_CASE("what others write") {
  CHECK(why(file_of("{}", 0)) == "");
  CHECK(why(file_of("{\"a\": " + tensor("[1, 2]", "[0, 8]") + " }   \n", 8)) == "");
  CHECK(why(file_of("{\"b\":" + tensor("[1]", "[4,8]") + ",\"a\":" + tensor("[1]", "[0,4]") + "}", 8)) == "");
  CHECK(why(file_of("{\"a\":{\"shape\":[2],\"data_offsets\":[0,2],\"dtype\":\"U8\"},\"__metadata__\":{\"x\":\"y\"}}",
                    2)) == "");
  CHECK(why(file_of("{\"__metadata__\":null,\"a\":" + tensor("[1]", "[0,4]") + "}", 4)) == "");
  CHECK(why(file_of("{\"__metadata__\" : null }", 0)) == "");
}

TEST_CASE("dtypes that are not known are taken, whatever the size of their elements") {
  meshtensor_test::own_folder const folder;
  struct one {
    char const *dtype, *shape;
    int bytes;
  };
  for (auto const& [dtype, shape, bytes] : {one{"F4", "[3,2]", 3},
                                            {"F6_E2M3", "[4]", 3},
                                            {"F6_E3M2", "[8]", 6},
                                            {"F8_E4M3FNUZ", "[5]", 5},
                                            {"F8_E5M2FNUZ", "[]", 1},
                                            {"F99", "[7]", 1000},
                                            {"a \\\"ä\\\"", "[0]", 0}}) {
    CAPTURE(dtype);
    std::string const end = std::to_string(4 + bytes);
    std::string const header = "{\"a\":" + tensor("[1]", "[0,4]") +
                               ",\"z\":" + tensor(shape, "[4," + end + "]", dtype) +
                               ",\"b\":" + tensor("[1]", "[" + end + "," + std::to_string(8 + bytes) + "]") + "}";
    CHECK(why(file_of(header, static_cast<std::size_t>(8 + bytes))) == "");
    CHECK(why(file_of(header, static_cast<std::size_t>(9 + bytes))).starts_with("its tensors leave gaps"));
    meshtensor_test::set_content(folder / "f", file_of(header, static_cast<std::size_t>(8 + bytes)));
    auto const h = mt::io::read_safetensors(mt::io::file(folder / "f"));
    CHECK(h.tensors.at("z").stored == nullptr);
    CHECK(h.tensors.at("a").stored == mt::io::storage_of(mt::f32));
    CHECK(h.tensors.at("b").begin == 4 + bytes);
  }
  CHECK(why(file_of("{\"a\":" + tensor("[2]", "[8,0]", "F4") + "}", 8)).starts_with("byte "));
  CHECK(why(file_of("{\"a\":" + tensor("[9223372036854775807,2]", "[0,8]", "F4") + "}", 8)).starts_with("byte "));
}

TEST_CASE("lengths") {
  CHECK(why("") == "it has 0 bytes");
  CHECK(why("1234567") == "it has 7 bytes");
  CHECK(why(std::string(8, '\0')).starts_with("byte 8: '{' was expected"));
  std::string long_one = file_of("{}", 0);
  for (auto const& [at, value] : {std::pair{0, 3}, {3, 1}, {7, 0x80}, {7, 0xff}}) {
    std::string bytes = long_one;
    bytes[static_cast<std::size_t>(at)] = static_cast<char>(value);
    CHECK(why(bytes).starts_with("its header would have "));
  }
  std::string bytes(8 + 100'000'001, ' ');
  bytes.replace(0, 8, std::string("\x01\xe1\xf5\x05\0\0\0\0", 8));
  CHECK(why(bytes) ==
        "its header would have 100000001 bytes, but the file has 100000009 and a header at most 100 million");
}

TEST_CASE("hostile headers") {
  auto const with_a = [](std::string const& a, std::size_t data) { return why(file_of("{\"a\":" + a + "}", data)); };
  CHECK(with_a(tensor("[2]", "[0,8]"), 8) == "");
  // Shapes and offsets that do not fit each other, or overflow.
  for (auto const& [shape, offsets] : {std::pair{"[3]", "[0,8]"},
                                       {"[2]", "[0,7]"},
                                       {"[2]", "[8,0]"},
                                       {"[4611686018427387904]", "[0,0]"},
                                       {"[2305843009213693952,2]", "[0,0]"},
                                       {"[9223372036854775807,9223372036854775807]", "[0,4]"},
                                       {"[18446744073709551615]", "[0,8]"},
                                       {"[-2]", "[0,8]"},
                                       {"[2.0]", "[0,8]"},
                                       {"[\"2\"]", "[0,8]"},
                                       {"2", "[0,8]"},
                                       {"[2]", "[0]"},
                                       {"[2]", "[0,8,8]"},
                                       {"[2]", "[-8,0]"},
                                       {"[2]", "[0,9223372036854775808]"},
                                       {"[[2]]", "[0,8]"},
                                       {"[2]", "8"},
                                       {"[null]", "[0,8]"}}) {
    INFO(shape << " " << offsets);
    CHECK(with_a(tensor(shape, offsets), 8).starts_with("byte "));
  }
  CHECK(with_a(tensor("[4611686018427387904,0]", "[0,0]"), 0).starts_with("byte "));  // overflows before the zero
  // Gaps, overlaps, ends.
  char const* const lie = "its tensors leave gaps, overlap or do not end with the file";
  CHECK(with_a(tensor("[2]", "[0,8]"), 7).starts_with(lie));
  CHECK(with_a(tensor("[2]", "[0,8]"), 9).starts_with(lie));
  CHECK(with_a(tensor("[2]", "[4,12]"), 12).starts_with(lie));
  for (char const* second : {"[0,4]", "[2,6]", "[8,12]"})
    CHECK(
        why(file_of("{\"a\":" + tensor("[1]", "[0,4]") + ",\"b\":" + tensor("[1]", second) + "}", 8)).starts_with(lie));
  CHECK(why(file_of("{}", 1)).starts_with(lie));
  // Members.
  for (char const* bad : {"{}", "[]", "null", "1", "{\"dtype\":\"F32\",\"shape\":[2]}",
                          "{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}",
                          "{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}",
                          "{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,8]}",
                          "{\"dtype\":null,\"shape\":[2],\"data_offsets\":[0,8]}"}) {
    INFO(bad);
    CHECK(with_a(bad, 8).starts_with("byte "));
  }
  // Names, metadata, what surrounds them.
  CHECK(why(file_of("{\"a\":" + tensor("[1]", "[0,4]") + ",\"a\":" + tensor("[1]", "[4,8]") + "}", 8))
            .ends_with("the name \"a\" stands twice in one object"));
  for (char const* bad :
       {"{\"__metadata__\":{\"a\":1}}", "{\"__metadata__\":{\"a\":null}}", "{\"__metadata__\":nul}",
        "{\"__metadata__\":nulll}", "{\"__metadata__\":null,\"__metadata__\":{}}", "{\"__metadata__\":\"a\"}",
        "{\"__metadata__\":{\"a\":{}}}", "{\"__metadata__\":{},\"__metadata__\":{}}", " {}", "{}x", "{} {}",
        "\xef\xbb\xbf{}", "{\"a\xff\":1}", "[]", "\"\"", "{\"a\":", "{"}) {
    INFO(bad);
    CHECK(why(file_of(bad, 0)).starts_with("byte "));
  }
  CHECK(why(file_of(std::string(1000, '{'), 0)).starts_with("byte "));
  CHECK(why(file_of("{\"a\":" + std::string(100000, '['), 0)).starts_with("byte "));
}

TEST_CASE("what is no file") {
  meshtensor_test::own_folder const folder;
  CHECK(sentence([&] { mt::io::file f(folder / "absent"); }) ==
        "meshtensor C02: '" + (folder / "absent") + "' cannot be read: No such file or directory");
  CHECK(sentence([&] { mt::io::file f(folder.path()); }).ends_with("cannot be read: Is a directory"));
  CHECK(sentence([&] { mt::io::file f("/dev/zero"); }).ends_with("cannot be read: Invalid argument"));
}
