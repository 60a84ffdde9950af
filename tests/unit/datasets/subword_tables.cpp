// SPDX-License-Identifier: Apache-2.0
// Which tables of a model may be trusted: tries made by hand, whole and damaged.
#include "meshtensor/datasets/text/subword_tables.hpp"

#include <doctest/doctest.h>

#include <string>

namespace mt = meshtensor;

namespace {

/// A trie as units: what is not linked has a label that no walk asks for.
struct units {
  std::vector<std::uint32_t> all;
  explicit units(std::uint32_t blocks) : all(blocks * 256) {
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = (i ^ 1) & 0xff;
  }
  /// Where the block begins whose places are the next of unit i.
  void lead(std::uint32_t i, std::uint32_t block) { all[i] |= ((i & ~0xffu) ^ block) << 10 | (i & 0xffu) << 10; }
  void link(std::uint32_t block, std::uint8_t byte) { all[block + byte] = byte; }
  void value(std::uint32_t i, std::uint32_t block, std::uint32_t number) {
    all[i] |= 0x100, all[block] = 0x80000000u | number;
  }
  std::string bytes() const {
    std::string r;
    for (std::uint32_t u : all)
      for (int k = 0; k < 4; ++k) r += static_cast<char>(u >> 8 * k);
    return r;
  }
};
std::string table(units const& trie, std::string const& texts) {
  std::string const tree = trie.bytes();
  std::string r;
  for (int k = 0; k < 4; ++k) r += static_cast<char>(tree.size() >> 8 * k);
  return r + tree + texts;
}
std::string const texts("x\0yz\0", 5);

/// `a` becomes the text at 0, `ab` that at `second`.
units two(std::uint32_t second = 2) {
  units t(3);
  t.lead(0, 0), t.link(0, 'a');
  t.lead('a', 256), t.value('a', 256, 0), t.link(256, 'b');
  t.lead(256 + 'b', 512), t.value(256 + 'b', 512, second);
  return t;
}
bool sound(units const& t) { return mt::datasets::detail::sound_table(table(t, texts)); }

}  // namespace

TEST_CASE("tries") {
  CHECK(mt::datasets::detail::sound_table(""));
  CHECK(sound(units(1)));
  CHECK(sound(two()));
  CHECK(sound(two(4)));
  CHECK(!sound(two(5)));  // beyond the texts
  CHECK(!sound(two(0x7fffffffu)));
  units far = two();
  far.lead('a', 768);  // beyond the trie
  CHECK(!sound(far));
  units round = two();
  round.link(512, 'c');
  round.lead(512 + 'c', 0);  // back to the beginning
  CHECK(!sound(round));
  units none(1);
  none.all.assign(256, 0);  // from the first unit to itself by a zero byte
  CHECK(!sound(none));
  units cut = two();
  cut.all.resize(700);
  CHECK(!sound(cut));
}

TEST_CASE("no more values on one walk than sentencepiece has room for") {
  for (std::uint32_t const most : {31u, 32u, 33u}) {
    units t(most + 1);
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < most; ++i) {
      t.lead(at, i * 256), t.link(i * 256, 'a');
      at = i * 256 + 'a';
      t.all[at] |= 0x100;
      if (i > 0) t.all[i * 256] = 0x80000000u;
    }
    t.lead(at, most * 256), t.all[most * 256] = 0x80000000u;
    CHECK(sound(t) == (most <= 32));
  }
}

TEST_CASE("tables that are cut off") {
  std::string const whole = table(two(), texts);
  REQUIRE(mt::datasets::detail::sound_table(whole));
  CHECK(!mt::datasets::detail::sound_table(whole.substr(0, whole.size() - 1)));  // the last text has no end
  CHECK(!mt::datasets::detail::sound_table(whole.substr(0, 4)));
  CHECK(!mt::datasets::detail::sound_table(std::string(5, '\0')));  // no unit
  CHECK(!mt::datasets::detail::sound_table(whole.substr(0, whole.size() - texts.size())));
  CHECK(!mt::datasets::detail::sound_table("\xff\xff\xff\xff" + whole.substr(4)));
}

TEST_CASE("the tables of a model") {
  auto const field = [](int number, std::string const& bytes) {
    std::string r{static_cast<char>(number << 3 | 2)};
    std::size_t n = bytes.size();
    for (; n > 127; n >>= 7) r += static_cast<char>(n | 0x80);
    return r + static_cast<char>(n) + bytes;
  };
  std::string const good = table(two(), texts), bad = table(two(5), texts);
  std::string const number("\x08\x96\x01", 3), floats(
                                                   "\x15"
                                                   "abcd\x19"
                                                   "abcdefgh");
  CHECK(mt::datasets::detail::sound_model(""));
  CHECK(mt::datasets::detail::sound_model(number + floats + field(1, "abc") +
                                          field(3, field(1, "name") + field(2, good))));
  CHECK(!mt::datasets::detail::sound_model(field(3, field(2, bad))));
  CHECK(!mt::datasets::detail::sound_model(field(3, field(2, good)) + field(5, field(2, bad))));
  CHECK(mt::datasets::detail::sound_model(field(4, field(2, bad))));
  for (char const* broken : {"\x08", "\x08\xff",
                             "\x15"
                             "abc",
                             "\x0a\x05"
                             "abcd",
                             "\x0b", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"})
    CHECK(!mt::datasets::detail::sound_model(broken));
}
