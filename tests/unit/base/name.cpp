// SPDX-License-Identifier: Apache-2.0
// Names: what they hold, what they compare equal to, and where they end.
// sample
#include "meshtensor/base/name.hpp"

#include <doctest/doctest.h>

#include <string>

namespace mt = meshtensor;

namespace {
template <mt::name Name>
struct tagged {
  static constexpr mt::name value = Name;
};
}  // namespace

TEST_CASE("a name gives back its text") {
  for (std::string const text : {"", "d", "d_model", "exactly8", "nine_char", "exactly_sixteen_",
                                 "exactly_twenty_four_char", "exactly_thirty_two_characters_ab"}) {
    mt::name const n = mt::name::of(text);
    CHECK(n.text() == text);
    CHECK(n.size() == text.size());
    CHECK(n.empty() == text.empty());
  }
}

TEST_CASE("names are equal when their texts are") {
  CHECK(mt::name("heads") == mt::name::of("heads"));
  CHECK(mt::name("heads") != mt::name("head"));
  CHECK(mt::name("eight_ch") != mt::name("eight_ch_and_more"));
  CHECK(mt::name("the_first_words_are_the_same_a") != mt::name("the_first_words_are_the_same_b"));
}

TEST_CASE("run-time text that is too long is cut") {
  std::string const long_text(40, 'x');
  CHECK(mt::name::of(long_text).text() == std::string(32, 'x'));
  CHECK(mt::name::of(long_text) == mt::name::of(long_text.substr(0, 32)));
}

TEST_CASE("characters past the seventh bit survive") {
  std::string const text = "größe";
  CHECK(mt::name::of(text).text() == text);
}

TEST_CASE("a name is a template argument, and equal names give one type") {
  CHECK(std::is_same_v<tagged<"batch">, tagged<mt::name("batch")>>);
  CHECK_FALSE(std::is_same_v<tagged<"batch">, tagged<"batch_">>);
  static_assert(tagged<"batch">::value[0] == 'b' && tagged<"batch">::value.size() == 5);
}
