// SPDX-License-Identifier: Apache-2.0
// Integers beyond 2^53 are exact where a user reads them: outputs, watched tensors and `check`. Where f64 is asked for
// and does not hold a value, the value is refused with its digits.
// passes: start-up
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "meshtensor/inspect/checker.hpp"
#include "meshtensor/inspect/watched.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/run/compiled_step.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct row_dim : mt::dim<"row", 6> {} row;
inline constexpr struct part_axis : mt::axis<"part"> {} part;
struct mesh : mt::mesh<part> {};
struct by_row : mt::layout<mt::shard<row, part>> {};
struct of_one : mt::mesh<> {};

constexpr std::int64_t odd = 9007199254740993, most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();
using integers = std::vector<std::int64_t>;
integers const given{odd, -odd - 2, most, least, 7, odd + 2};

template <class T>
std::vector<T> elements(mt::any_array<T> const& a) {
  return {a.begin(), a.end()};
}
template <class F>
std::string sentence(F const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}
bool has(std::string const& all, std::string const& some) { return all.find(some) != std::string::npos; }

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const i = s.input("i", mt::i64, row);
    s.watch("before", i - 1);
    s.watch("small", i % 1000);
    s.watch("positive", i > 0);
    s.watch("narrow", mt::cast<mt::i32>(i));
    s.output("sum", sum(i));
    s.output("squares", sum(i * i));
    s.output("narrow_squares", sum(mt::cast<mt::i32>(i * 65537)));
    s.output("greatest", max(i));
    s.output("number", full(s, s.number("key", 3), mt::i64));
    s.output("all", i + s.number("key", 3));
  }
};

struct gives_number {
  constexpr void operator()(mt::scope auto s) const {
    auto const k = s.number("key", 3);
    s.output("same", k);
    s.output("twice", k * 2 + 1);
    s.output("rate", k * 0.5);
  }
};
template <auto N>
struct gives {
  constexpr void operator()(mt::scope auto s) const { s.output("y", mt::number(N)); }
};
template <auto N>
struct begins_with {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.number("key", N)); }
};

void off_by_one(mt::evaluation const& e) {
  mt::evaluate<>(e);
  if (e.n.kind != mt::primitive::elementwise || e.n.function != static_cast<std::uint8_t>(mt::function::add)) return;
  if (e.results[0].type == mt::dtype::i64) --e.results[0].as<std::int64_t>()[0];
}

}  // namespace

TEST_CASE("an output without dims is the integer itself") {
  mt::job const job = mt::job::in_lockstep();
  for (int const parts : {1, 2, 3}) {
    mt::store weights(job);
    mt::executable<program, mesh, by_row> step(weights, part(parts));
    auto const r = step(mt::feed<"i">(given), mt::set<"key">(odd + 4));
    static_assert(std::is_same_v<decltype(r.get<"sum">()), std::int64_t>);
    std::uint64_t total = 0;
    for (std::int64_t const i : given) total += static_cast<std::uint64_t>(i);
    CHECK(r.get<"sum">() == static_cast<std::int64_t>(total));
    CHECK(r.get<"greatest">() == most);
    CHECK(r.get<"number">() == odd + 4);
  }
  mt::store weights(job);
  mt::compiled_step<program, of_one, mt::layout<>> step(weights);
  CHECK(step(mt::feed<"i">(given), mt::set<"key">(odd)).get<"number">() == odd);
}

TEST_CASE("a watched tensor has elements of its own type, and is no f64 that does not hold one") {
  mt::job const job = mt::job::in_lockstep();
  for (int const parts : {1, 3}) {
    mt::store weights(job);
    mt::executable<program, mesh, by_row> step(weights, part(parts));
    step(mt::feed<"i">(given));
    integers before;
    for (std::int64_t const i : given) before.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(i) - 1));
    CHECK(elements(step.watched<std::int64_t>("before")) == before);
    CHECK(elements(step.watched("small")) == std::vector<double>{993, 5, 807, 192, 7, 995});
    CHECK(has(sentence([&] { step.watched("before"); }),
              "R14: 'before' is i64 and has the element 9223372036854775806, which f64 does not hold: ask for "
              "watched<std::int64_t>(\"before\")"));
    CHECK(has(sentence([&] { step.watched<float>("before"); }), "R14: 'before' is i64, not f32"));
    step(mt::feed<"i">(integers{odd, 2, 3, 4, 5, -odd}));
    CHECK(elements(step.watched("before")) == std::vector<double>{0x1p53, 1, 2, 3, 4, -0x1p53 - 2});
  }
}

TEST_CASE("the summary of watched integers has all digits of the extremes") {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<program, mesh, by_row> step(weights, part(2));
  step(mt::feed<"i">(integers{1, odd + 2, -odd + 1, 4, 5, 6}));
  std::string const text = mt::watched(step);
  CAPTURE(text);
  CHECK(has(text, " 9007199254740994 "));
  CHECK(has(text, " -9007199254740993 "));
}

TEST_CASE("a number is an output if f64 holds it") {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<gives_number, of_one, mt::layout<>> step(weights);
  auto const with = [&](auto k) { return sentence([&] { step(mt::set<"key">(k)); }); };
  CHECK(with(3) == "");
  CHECK(step.get<"rate">() == 1.5);
  CHECK(with(0.25) == "");
  CHECK(with(std::int64_t{1} << 51) == "");
  CHECK(step.get<"twice">() == 0x1p52 + 1);
  CHECK(has(with(odd),
            "T02: the number key is 9007199254740993, but it is an output in f64, which does not hold this "
            "integer: output full(s, number, mt::i64)"));
  CHECK(has(with(std::int64_t{1} << 53), "T02: the number (key * 2) + 1 is 18014398509481985, but it is an output"));
  CHECK(has(sentence([] { mt::trace<gives<odd>>(); }), "T02: 9007199254740993 is an output in f64"));
  CHECK(has(sentence([] { mt::trace<begins_with<odd>>(); }), "T02: 9007199254740993 is an output in f64"));
  CHECK(sentence([] { mt::trace<gives<odd - 1>>(); }) == "");
  CHECK(sentence([] { mt::trace<gives<1e300>>(); }) == "");
  mt::eager<> s(mt::set<"key">(odd));
  CHECK(
      has(sentence([&] { s.run(gives_number{}), s.get<double>("same"); }), "T02: the number key is 9007199254740993"));
}

TEST_CASE("check sees one in the last digit, and sums that wrap around") {
  auto const r = mt::check<program, mesh, by_row>(part(3), mt::feed<"i">(given), mt::set<"key">(odd));
  INFO(text_of(r));
  CHECK(r.agrees());
  mt::mesh_shape shape = mesh::shape;
  shape.bind(part(2));
  auto const low = mt::lower(mt::detail::traced<program>, mt::entry_name<program>(), shape, by_row::rules, {});
  auto const job = mt::job::in_lockstep();
  mt::store values(job, 5);
  mt::session<mt::reference_device> step(values, low->graph, low->planned, shape, low->entry, {&off_by_one});
  step.feed("i", given.data());
  mt::detail::checker checks(mt::detail::traced<program>, mt::entry_name<program>(), shape, low->planned);
  mt::detail::checked_session here(step);
  auto const wrong = checks.run(low->graph, here, values);
  INFO(wrong.difference);
  CHECK(has(wrong.difference,
            "gives i64[row/part], at row=0: 9007199254740995 on the mesh, 9007199254740996 in the "
            "reference; 2 of 6 elements differ"));
}
