// SPDX-License-Identifier: Apache-2.0
// Every elementwise function, alone and broadcast, gives the same bits under every layout; so does its gradient where
// nothing is summed.
// timeout: 300
#include <cmath>

#include "property/graph.hpp"

using namespace property;

namespace {

struct domain {
  double low, high;
};
domain domain_of(mt::function f) {
  switch (f) {
    case mt::function::log:
    case mt::function::sqrt:
    case mt::function::rsqrt:
    case mt::function::power: return {0.25, 2.5};
    default: return {-2.5, 2.5};
  }
}

bool takes(mt::function f, mt::dtype type) {
  if (type == mt::dtype::boolean)
    return mt::is_logical(f) || f == mt::function::equal || f == mt::function::not_equal || f == mt::function::copy;
  if (mt::is_logical(f)) return false;
  return mt::is_float(type) || !mt::takes_only_floats(f);
}

constexpr mt::dtype all_types[] = {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16,   mt::dtype::i32,
                                   mt::dtype::i64, mt::dtype::u8,  mt::dtype::boolean};

how reals(mt::function f) {
  auto const [low, high] = domain_of(f);
  return {.filling = fill_kind::reals, .low = low, .high = high, .drawn = 4};
}

/// Fails if more than one in 16 of the numbers that the interpreter expects are NaN: they compare equal whatever the
/// layout, so that hardly anything would be tested.
void check_numbers(mt::function f, graph const& g, how const& h, tally& t) {
  subject s(g.module(), mt::name("main"), extents_for(g.module(), 4));
  s.fill(h.filling, rng{7}, h.low, h.high);
  s.expect();
  long all = 0, nan = 0;
  for (auto const& [label, b] : s.expected_outputs())
    for (std::int64_t i = 0; i < b.size(); ++i) ++all, nan += std::isnan(b.number_at(i)) ? 1 : 0;
  CHECK_MESSAGE(16 * nan <= all, std::string(mt::text_of(f))
                                     << " gives NaN for " << nan << " of " << all << " elements from [" << h.low << ", "
                                     << h.high << "]: give it a row in domain_of");
  check_graph(g, h, t);
}

}  // namespace

TEST_CASE("functions of one operand") {
  tally t;
  for (int f = 0; f < static_cast<int>(mt::function::add); ++f)
    for (mt::dtype type : all_types) {
      auto const fun = static_cast<mt::function>(f);
      if (fun == mt::function::cast || !takes(fun, type)) continue;
      graph g;
      g.output("y", mt::elementwise(g.b, fun, g.input("x", type, "ab")));
      check_numbers(fun, g, reals(fun), t);
    }
  t.say("functions of one operand");
  at_least(8300, t.tried);
}

TEST_CASE("casts") {
  tally t;
  for (mt::dtype from : all_types)
    for (mt::dtype to : all_types) {
      if (from == to) continue;
      graph g;
      g.output("y", mt::cast(g.b, g.input("x", from, "ab"), to));
      how h = reals(mt::function::cast);
      if (to == mt::dtype::u8) h.low = 0, h.high = 250;  // what lies outside is anything
      check_graph(g, h, t);
    }
  t.say("casts");
  at_least(4900, t.tried);
}

TEST_CASE("functions of two operands, broadcast by name") {
  tally t;
  constexpr char const* shapes[][2] = {{"ab", "ab"}, {"ab", "ba"}, {"ab", "b"}, {"b", "ab"}, {"a", "b"}, {"ab", "cb"}};
  for (int f = static_cast<int>(mt::function::add); f < static_cast<int>(mt::function::select); ++f)
    for (mt::dtype type : {mt::dtype::f64, mt::dtype::bf16, mt::dtype::i32, mt::dtype::u8, mt::dtype::boolean})
      for (auto const& s : shapes) {
        auto const fun = static_cast<mt::function>(f);
        if (!takes(fun, type)) continue;
        graph g;
        mt::value_id const x = g.input("x", type, s[0]), y = g.input("y", type, s[1]);
        g.output("z", mt::elementwise(g.b, fun, x, y));
        check_numbers(fun, g, reals(fun), t);
      }
  t.say("functions of two operands");
  at_least(39000, t.tried);
}

TEST_CASE("select, broadcast by name") {
  tally t;
  constexpr char const* shapes[][3] = {{"ab", "ab", "ab"}, {"a", "ab", "b"}, {"b", "a", "ab"},
                                       {"a", "b", "c"},    {"ab", "", "b"},  {"", "ab", "ba"}};
  for (mt::dtype type : all_types)
    for (auto const& s : shapes) {
      graph g;
      mt::value_id const c = g.input("c", mt::dtype::boolean, s[0]);
      mt::value_id const x = g.input("x", type, s[1]), y = g.input("y", type, s[2]);
      g.output("z", mt::select(g.b, c, x, y));
      check_graph(g, reals(mt::function::select), t);
    }
  t.say("select");
  at_least(5000, t.tried);
}

// The loss weighs every element differently; without broadcasting no sum is made on the way back.
TEST_CASE("gradients, bit for bit without broadcasting, to rounding with it") {
  tally t;
  constexpr char const* shapes[][2] = {{"ab", "ab"}, {"ab", "b"}, {"a", "bc"}};
  for (int f = 0; f < static_cast<int>(mt::function::count_); ++f)
    for (auto const& s : shapes) {
      auto const fun = static_cast<mt::function>(f);
      bool const first = &s == &shapes[0];
      if (mt::is_comparison(fun) || mt::is_logical(fun) || fun == mt::function::cast) continue;
      if (mt::arity(fun) == 1 && !first) continue;
      graph g;
      mt::value_id const x = g.input("x", mt::dtype::f64, s[0]), y = g.input("y", mt::dtype::f64, s[1]);
      mt::value_id const c = g.input("c", mt::dtype::boolean, s[0]);
      mt::value_id const z = mt::arity(fun) == 1   ? mt::elementwise(g.b, fun, x)
                             : mt::arity(fun) == 2 ? mt::elementwise(g.b, fun, x, y)
                                                   : mt::select(g.b, c, x, y);
      mt::value_id const w = g.input("w", mt::dtype::f64, g.b.m.values[z].dims);
      mt::value_id const loss = mt::reduce(g.b, mt::reduction::sum, mt::multiply(g.b, z, w), g.b.m.values[z].dims);
      mt::value_id const by[] = {x, y};
      auto const gradients = mt::detail::record_gradient(g.b, loss, by);
      g.output("dx", gradients.at[0]);
      if (mt::arity(fun) > 1) g.output("dy", gradients.at[1]);
      how h = reals(fun);
      if (!first) h.tolerance = 1e-13;
      check_numbers(fun, g, h, t);
    }
  t.say("gradients of elementwise functions");
  at_least(5500, t.tried);
}
