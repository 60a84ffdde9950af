// SPDX-License-Identifier: Apache-2.0
// What a device that runs programs whole checks before a step, of slices, pads and puts at numbers of the step: it
// refuses what plain loops refuse, in loops, too, and nothing else.
// passes: start-up
#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/run/whole_program/places_in_dims.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

inline constexpr struct place : mt::dim<"place", 8> {} place;
inline constexpr struct four : mt::dim<"four", 4> {} four;
inline constexpr struct longer : mt::dim<"longer", 10> {} longer;
inline constexpr struct rounds : mt::dim<"rounds"> {} rounds;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct by_place : mt::layout<mt::shard<place, data>> {};

/// A slice, a pad and a put, each at a number of its own, in a loop.
struct cut {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, place);
    auto const from = s.number("from", 0), by = s.number("by", 1), at = s.number("at", 0), to = s.number("to", 0);
    s.output("y", repeat(s / "round", rounds, x, [&](mt::scope auto, auto y) {
               auto const part = slice(y, place, four, from, by);
               auto const more = pad(part, four, longer, at, 0.5);
               return put(y, sum(more, longer), place, to);
             }));
  }
};

/// Twice its operand, whose own gradient slices at a number; `Differentiated`: that gradient.
template <bool Differentiated>
struct doubled {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, place);
    auto const from = s.number("from", 0);
    auto const y = mt::composite_with_gradient(
        "doubled", [](auto v) { return 2 * v; },
        [&](auto, auto, auto dy) { return dy * sum(slice(dy, place, four, from), four); }, x);
    if constexpr (Differentiated) s.output("y", gradient(sum(y), x));
    else s.output("y", y);
  }
};

/// What plain loops say of a step, and what is said of its numbers before it.
template <class Program>
struct trial {
  mt::job job = mt::job::in_lockstep();
  mt::store values{job};
  mt::executable<Program, mesh, by_place, mt::reference_device> step;
  std::vector<double> x = std::vector<double>(8, 0.5);

  explicit trial(auto const&... sizes) : step(values, sizes...) {}
  template <class... Set>
  std::string loops(Set const&... set) {
    return sentence([&] { step(mt::feed<"x">(x), set...); });
  }
  std::string check(std::map<std::string, mt::number_value, std::less<>> const& named) {
    mt::dynamic_array<mt::number_value> numbers;
    mt::evaluate_numbers(step.graph(), step.planned().numbers, {.named = named}, numbers);
    return sentence([&] { mt::places_in_dims(step.graph(), step.planned().numbers).require(numbers.data()); });
  }
};

}  // namespace

TEST_CASE("in a loop: the sentence of plain loops, or none") {
  int refused = 0, taken = 0;
  for (int parts : {1, 2})
    for (int trips : {1, 3}) {
      trial<cut> t(rounds(trips), data(parts));
      auto const hold = [&](double from, double by, double at, double to) {
        INFO("from " << from << " by " << by << ", at " << at << ", to " << to);
        std::string const said = t.check({{"from", from}, {"by", by}, {"at", at}, {"to", to}});
        CHECK(said == t.loops(mt::set<"from">(from), mt::set<"by">(by), mt::set<"at">(at), mt::set<"to">(to)));
        ++(said.empty() ? taken : refused);
      };
      for (int k = -1; k < 9; ++k) hold(k, 1, 0, 0), hold(k, -2, 0, 0), hold(0, 1, k, 0), hold(0, 1, 0, k);
      hold(0, 0, 0, 0);
    }
  CHECK(refused > 60);
  CHECK(taken > 60);
}

TEST_CASE("a gradient that nobody asks for is not looked at") {
  trial<doubled<false>> t(data(1));
  CHECK(t.loops(mt::set<"from">(5)) == "");
  CHECK(t.check({{"from", 5}}) == "");
  trial<doubled<true>> d(data(1));
  CHECK(d.check({{"from", 5}}) == "meshtensor R10: a slice of 'place' from 5 on, 4 long, reaches beyond its extent, 8");
  CHECK(d.loops(mt::set<"from">(5)) == d.check({{"from", 5}}));
}

TEST_CASE("each node of a program runs: no loop has no iterations") {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  CHECK(sentence([&] {
          mt::executable<cut, mesh, by_place, mt::reference_device> const step(values, rounds(0), data(1));
        }).find("S10: the dim 'rounds' cannot have the extent 0: an extent is at least 1") != std::string::npos);
}
