// SPDX-License-Identifier: Apache-2.0
// Every program of the catalogue in an each: for one index after the other, and under many layouts.
// timeout: 300
#include "property/in_each.hpp"
#include "property/program.hpp"

using namespace property;

namespace {

/// Programs that an each refuses, with the code of the sentence.
char const* refused_with(std::string const& label) {
  if (label == "grouped") return "G46";  // rows go to other ranks
  return nullptr;
}
bool is_in_f64(listed const& p) { return std::string(p.label).find("f32") == std::string::npos; }

}  // namespace

TEST_CASE("a program in an each gives for every index what it gives alone") {
  long tried = 0;
  std::uint64_t number = 0;
  for (listed const& p : catalogue())
    for (std::int64_t const extent : {3, 1, 5, 2}) {
      if (!is_in_even_sample(number++)) continue;
      INFO(std::string(p.label) << ", " << extent << " indices");
      ++tried;
      auto const traced = p.trace();
      char const* code = refused_with(p.label);
      std::string found;
      try {
        found = difference_in_each(*traced, p.entry, {.extent = extent, .tolerance = is_in_f64(p) ? 1e-9 : 1e-3});
      } catch (mt::error const& e) {
        found = code != nullptr && e.code() == code ? "" : e.what();
        code = nullptr;
      }
      CHECK(found == "");
      CHECK(code == nullptr);
    }
  at_least(4, tried);
}

TEST_CASE("a program in an each gives the same under every layout") {
  tally all;
  for (listed const& p : catalogue()) {
    if (refused_with(p.label) != nullptr || !is_in_f64(p)) continue;
    auto const traced = p.trace();
    for (std::int64_t const extent : {2, 3}) {
      in_each const each(*unwatched(*traced), extent);
      hold_under_every_layout(p.label, *each.graph, p.entry, {.assignments = 3, .drawn = 2, .steps = 1}, all);
    }
  }
}
