// SPDX-License-Identifier: Apache-2.0
// What reads a partial sum, maximum or minimum reduces it, or leaves that to a later one: the result is the same.
// timeout: 300

#include "property/graph.hpp"

using namespace property;

namespace {

constexpr auto f64 = mt::dtype::f64;
constexpr mt::reduction kinds[] = {mt::reduction::sum, mt::reduction::max, mt::reduction::min};

enum class reads { one, both };

/// `make(graph, u, v, w)` of u and v, reduced along n, partial wherever n is sharded, and w; all are [a, c]. Those
/// of the two that it reads are reduced in all ways, for what may stay as it is depends on that.
template <class F>
void hold(char const* what, reads which, F make, tally& t) {
  INFO(std::string(what));
  for (auto first : kinds)
    for (auto second : kinds) {
      if (which == reads::one && second != first) continue;
      graph g;
      mt::value_id const x = g.input("x", f64, "nac"), y = g.input("y", f64, "nac");
      mt::value_id const z = g.input("z", f64, "ac"), one = mt::constant(g.b, 1, f64);
      mt::value_id const w = mt::add(g.b, mt::multiply(g.b, z, z), one);  // what one can divide by
      mt::value_id const u = mt::reduce(g.b, first, x, g.dims("n")), v = mt::reduce(g.b, second, y, g.dims("n"));
      g.output("z", make(g, u, v, w));
      // off by rounding, for what is linear may be done before parts are added and after
      check_graph(g, {.filling = fill_kind::integers, .tolerance = 1e-12, .drawn = 3}, t);
    }
}

}  // namespace

TEST_CASE("elementwise functions") {
  tally t;
  for (int f = 0; f < static_cast<int>(mt::function::select); ++f) {
    auto const fun = static_cast<mt::function>(f);
    if (mt::is_logical(fun) || fun == mt::function::cast) continue;
    auto const hold_of = [&](reads which, auto operands) {
      hold(
          mt::text_of(fun), mt::arity(fun) == 1 ? reads::one : which,
          [&](graph& g, mt::value_id u, mt::value_id v, mt::value_id w) {
            auto const [p, q] = operands(u, v, w);
            return mt::arity(fun) == 2 ? mt::elementwise(g.b, fun, p, q) : mt::elementwise(g.b, fun, p);
          },
          t);
    };
    hold_of(reads::both, [](mt::value_id u, mt::value_id v, mt::value_id) { return std::pair(u, v); });
    if (mt::arity(fun) == 1) continue;
    hold_of(reads::one, [](mt::value_id u, mt::value_id, mt::value_id w) { return std::pair(u, w); });
    hold_of(reads::one, [](mt::value_id u, mt::value_id, mt::value_id w) { return std::pair(w, u); });
    hold_of(reads::one, [](mt::value_id u, mt::value_id, mt::value_id) { return std::pair(u, u); });
  }
  hold(
      "select", reads::both,
      [](graph& g, mt::value_id u, mt::value_id v, mt::value_id w) {
        return mt::select(g.b, mt::elementwise(g.b, mt::function::less, w, u), u, v);
      },
      t);
  hold(
      "select by what is whole", reads::both,
      [](graph& g, mt::value_id u, mt::value_id v, mt::value_id w) {
        return mt::select(g.b, mt::elementwise(g.b, mt::function::less, w, mt::multiply(g.b, w, w)), u, v);
      },
      t);
  hold(
      "cast", reads::one,
      [](graph& g, mt::value_id u, mt::value_id, mt::value_id) { return mt::cast(g.b, u, mt::dtype::i32); }, t);
  t.say("elementwise functions of what is partial");
  at_least(52000, t.tried);
}

TEST_CASE("products and reductions") {
  tally t;
  for (char const* to : {"ac", "a", "c", ""}) {
    hold(
        "einsum of both", reads::both,
        [&](graph& g, mt::value_id u, mt::value_id v, mt::value_id) { return mt::einsum(g.b, u, v, g.dims(to)); }, t);
    hold(
        "einsum of one", reads::one,
        [&](graph& g, mt::value_id u, mt::value_id, mt::value_id w) { return mt::einsum(g.b, w, u, g.dims(to)); }, t);
    hold(
        "einsum of three", reads::both,
        [&](graph& g, mt::value_id u, mt::value_id v, mt::value_id w) {
          mt::value_id const all[] = {u, w, v};
          return mt::einsum(g.b, all, g.dims(to));
        },
        t);
  }
  for (auto kind : kinds)
    hold(
        "reduce", reads::one,
        [&](graph& g, mt::value_id u, mt::value_id, mt::value_id) { return mt::reduce(g.b, kind, u, g.dims("a")); }, t);
  t.say("products and reductions of what is partial");
  at_least(17000, t.tried);
}

TEST_CASE("movement") {
  tally t;
  using made = mt::value_id (*)(graph&, mt::value_id, mt::value_id, mt::value_id);
  std::pair<char const*, made> const all[] = {
      {"transpose",
       [](graph& g, mt::value_id u, mt::value_id, mt::value_id) { return mt::transpose(g.b, u, g.dims("ca")); }},
      {"broadcast",
       [](graph& g, mt::value_id u, mt::value_id, mt::value_id) { return mt::broadcast(g.b, u, g.dims("adc")); }},
      {"rename", [](graph& g, mt::value_id u, mt::value_id,
                    mt::value_id) { return mt::rename(g.b, u, g.dim("a"), g.same("e", "a")); }},
      {"merge", [](graph& g, mt::value_id u, mt::value_id,
                   mt::value_id) { return mt::merge(g.b, u, g.dims("ac"), g.product("e", "a", "c")); }},
      {"concat", [](graph& g, mt::value_id u, mt::value_id v,
                    mt::value_id) { return mt::concat(g.b, u, g.dim("c"), v, g.dim("c"), g.sum("e", "c", "c")); }},
      {"gather", [](graph& g, mt::value_id u, mt::value_id,
                    mt::value_id) { return mt::gather(g.b, u, g.input("i", mt::dtype::i32, "d"), g.dim("c")); }},
      {"put",
       [](graph& g, mt::value_id u, mt::value_id v, mt::value_id) {
         return mt::put(g.b, u, mt::reduce(g.b, mt::reduction::sum, v, g.dims("c")), g.dim("c"), g.b.literal(0));
       }},
      {"put at an index",
       [](graph& g, mt::value_id u, mt::value_id v, mt::value_id) {
         mt::value_id const part = mt::reduce(g.b, mt::reduction::sum, v, g.dims("c"));
         return mt::put_rows(g.b, u, part, g.input("i", mt::dtype::i32, "a"), g.dim("c"));
       }},
      {"scatter_add",
       [](graph& g, mt::value_id u, mt::value_id, mt::value_id) {
         return mt::scatter_add(g.b, u, g.input("i", mt::dtype::i32, "a"), g.dim("d"), g.dims("dc"));
       }},
  };
  for (auto const& [what, make] : all)
    hold(what,
         std::string_view(what) == "concat" || std::string_view(what).starts_with("put") ? reads::both : reads::one,
         make, t);
  t.say("movement of what is partial");
  at_least(7600, t.tried);
}
