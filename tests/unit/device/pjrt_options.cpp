// SPDX-License-Identifier: Apache-2.0
// Options of a plugin's client, and of a compilation, as the plugin reads them.
#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/loaded_program.hpp"
#include "support/folder.hpp"

namespace pjrt = meshtensor::pjrt;
using meshtensor_test::sentence;

TEST_CASE("each value has the kind that its text says") {
  using pjrt::named_value;
  pjrt::create_options const given(
      " preallocate=false  memory_fraction=0.5 node_id=-3 visible_devices=[0,12] a=b=c e= l=[]");
  REQUIRE(given.size() == 7);
  named_value const* const v = given.data();
  auto const name = [&](int i) { return std::string(v[i].name, v[i].name_length); };
  CHECK(name(0) == "preallocate");
  CHECK((v[0].kind == named_value::boolean && !v[0].content.boolean && v[0].length == 1));
  CHECK((v[1].kind == named_value::real && v[1].content.real == 0.5f));
  CHECK((v[2].kind == named_value::integer && v[2].content.integer == -3));
  CHECK(name(3) == "visible_devices");
  REQUIRE((v[3].kind == named_value::integers && v[3].length == 2));
  CHECK((v[3].content.integers[0] == 0 && v[3].content.integers[1] == 12));
  CHECK((v[4].kind == named_value::text && std::string(v[4].content.text, v[4].length) == "b=c"));
  CHECK((v[5].kind == named_value::text && v[5].length == 0));
  CHECK((v[6].kind == named_value::integers && v[6].length == 0));
  for (int i = 0; i < 7; ++i) CHECK(v[i].head.size == sizeof(named_value));
  CHECK(pjrt::create_options("").size() == 0);
}

TEST_CASE("what is no option is refused") {
  CHECK(sentence([] { pjrt::create_options("preallocate"); }) ==
        "meshtensor R75: 'preallocate' is no option of a PJRT plugin: write NAME=VALUE, such as preallocate=false");
  CHECK(sentence([] { pjrt::create_options("=1"); }).starts_with("meshtensor R75: '=1' is no option"));
  CHECK(sentence([] { pjrt::create_options("v=[0,x]"); }) ==
        "meshtensor R75: 'x' is no integer of the list in 'v=[0,x]'");
}

TEST_CASE("options of a compilation are XLA's message") {
  auto const bytes = [](std::string_view text) { return std::string(text); };
  CHECK(pjrt::compile_options({0, 1, 2, 3}) ==
        bytes({"\x1a\x12\x20\x04\x28\x01\x4a\x0c\x08\x04\x10\x01\x1a\x06\x0a\x04\x00\x01\x02\x03", 20}));
  CHECK(pjrt::compile_options({200}) ==
        bytes({"\x1a\x10\x20\x01\x28\x01\x4a\x0a\x08\x01\x10\x01\x1a\x04\x0a\x02\xc8\x01", 18}));
  CHECK(pjrt::compile_options({0}, {{"ab", "no"}}) ==
        bytes({"\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a\x01\x00\x3a\x0a\x0a\x02"
               "ab\x12\x04\x0a\x02no",
               29}));
}
