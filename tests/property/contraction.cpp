// SPDX-License-Identifier: Apache-2.0
// Contractions and reductions: integers in floats are summed without rounding, so every layout gives the same bits.
// timeout: 300
#include "meshtensor/op/grouped_einsum.hpp"
#include "property/graph.hpp"

using namespace property;

namespace {

struct product {
  std::vector<char const*> operands;
  char const* result;
};

/// One operand to four; matrix products, batched, outer, over several dims, dims of one operand alone, scalars.
std::vector<product> const products{{{"ab"}, "ba"},
                                    {{"ab"}, "a"},
                                    {{"ab"}, ""},
                                    {{"abc"}, "cb"},
                                    {{"ab", "bc"}, "ac"},
                                    {{"ab", "bc"}, "ca"},
                                    {{"ab", "ba"}, "ab"},
                                    {{"abc", "acd"}, "abd"},
                                    {{"abc", "acd"}, "bda"},
                                    {{"a", "b"}, "ab"},
                                    {{"ab", "ab"}, ""},
                                    {{"abc", "bcd"}, "ad"},
                                    {{"ab", "c"}, "bc"},
                                    {{"ab", "b"}, "a"},
                                    {{"ab", ""}, "ab"},
                                    {{"", ""}, ""},
                                    {{"ab", "bc", "cd"}, "ad"},
                                    {{"ab", "a", "b"}, ""},
                                    {{"ab", "ac", "bc"}, "abc"},
                                    {{"ab", "bc", "c", "cd"}, "da"},
                                    {{"a", "b", "c", "d"}, "dba"}};

mt::value_id einsum_of(graph& g, product const& p, mt::dtype type, mt::id_list<>& operands) {
  char const* labels[] = {"x", "y", "z", "u"};
  for (std::size_t i = 0; i < p.operands.size(); ++i) operands.add(g.input(labels[i], type, p.operands[i]));
  return mt::einsum(g.b, operands, g.dims(p.result));
}

how sums() { return {.filling = fill_kind::integers, .drawn = 10}; }

/// x, y and the index by the groups e: rows with a matrix each, a vector each, batched; sums of groups, of rows and of
/// what only one of the three has.
struct grouped {
  char const *x, *y, *index, *result;
};
constexpr grouped groupings[] = {{"ab", "ebc", "a", "ac"},    {"ecb", "ab", "a", "ca"},  {"abc", "ecd", "ab", "abd"},
                                 {"abc", "ecd", "ba", "ad"},  {"ab", "ebc", "ac", "ac"}, {"ab", "ac", "a", "ebc"},
                                 {"abc", "abd", "ba", "ced"}, {"ab", "bc", "b", "ae"},   {"ab", "eb", "a", "ba"},
                                 {"ab", "e", "a", ""},        {"ab", "ab", "a", "e"},    {"a", "b", "c", "ceab"}};

constexpr char const* subsets[] = {"a", "b", "c", "ab", "ac", "bc", "abc"};

}  // namespace

TEST_CASE("einsum") {
  tally t;
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::f32, mt::dtype::i32})
    for (product const& p : products) {
      graph g;
      mt::id_list<> operands{};
      g.output("y", einsum_of(g, p, type, operands));
      check_graph(g, sums(), t);
    }
  t.say("einsum");
  at_least(13000, t.tried);
}

TEST_CASE("grouped_einsum and its gradients") {
  tally t;
  for (grouped const& p : groupings)
    for (mt::dtype type : {mt::dtype::f64, mt::dtype::i32}) {
      graph g;
      mt::value_id const x = g.input("x", type, p.x), y = g.input("y", type, p.y);
      mt::value_id const index = g.input("index", mt::dtype::i32, p.index);
      mt::value_id const z = mt::grouped_einsum(g.b, x, y, index, g.dim("e"), g.dims(p.result));
      g.output("z", z);
      if (type == mt::dtype::f64) g.output_gradients(z, {x, y});
      check_graph(g, sums(), t);
    }
  t.say("grouped_einsum and its gradients");
  at_least(16000, t.tried);
}

TEST_CASE("gradients of einsum") {
  tally t;
  for (product const& p : products) {
    graph g;
    mt::id_list<> operands{};
    mt::value_id const y = einsum_of(g, p, mt::dtype::f64, operands);
    mt::shape const dims = g.b.m.values[y].dims;
    mt::value_id const w = g.input("w", mt::dtype::f64, dims);
    mt::value_id const loss = mt::reduce(g.b, mt::reduction::sum, mt::multiply(g.b, y, w), dims);
    auto const gradients = mt::detail::record_gradient(g.b, loss, operands);
    char const* labels[] = {"dx", "dy", "dz", "du"};
    for (int i = 0; i < gradients.count; ++i) g.output(labels[i], gradients.at[i]);
    check_graph(g, sums(), t);
  }
  t.say("gradients of einsum");
  at_least(4400, t.tried);
}

TEST_CASE("reductions") {
  tally t;
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::bf16, mt::dtype::i32, mt::dtype::boolean})
    for (auto kind : {mt::reduction::sum, mt::reduction::max, mt::reduction::min})
      for (char const* along : subsets) {
        if (type == mt::dtype::boolean && kind == mt::reduction::sum) continue;
        graph g;
        g.output("y", mt::reduce(g.b, kind, g.input("x", type, "abc"), g.dims(along)));
        check_graph(g, sums(), t);
      }
  t.say("reductions");
  at_least(16000, t.tried);
}

TEST_CASE("the greatest and the least of real numbers, and where the greatest is") {
  tally t;
  how h{.filling = fill_kind::reals, .low = -2, .high = 2};
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::f32, mt::dtype::i64})
    for (char const* along : subsets) {
      graph g;
      mt::value_id const x = g.input("x", type, "abc");
      g.output("max", mt::reduce(g.b, mt::reduction::max, x, g.dims(along)));
      g.output("min", mt::reduce(g.b, mt::reduction::min, x, g.dims(along)));
      g.output("argmax", mt::argmax(g.b, x, static_cast<mt::dim_id>(g.dims(along).at[0])));
      check_graph(g, h, t);
    }
  t.say("max, min, argmax");
  at_least(4300, t.tried);
}

TEST_CASE("means and gradients of reductions") {
  tally t;
  for (auto kind : {mt::reduction::sum, mt::reduction::max, mt::reduction::min})
    for (char const* along : subsets) {
      graph g;
      mt::value_id const x = g.input("x", mt::dtype::f64, "abc");
      mt::value_id const y = mt::reduce(g.b, kind, x, g.dims(along));
      mt::value_id const w = g.input("w", mt::dtype::f64, g.b.m.values[y].dims);
      mt::value_id const weighed = mt::multiply(g.b, y, w);
      mt::value_id const loss = mt::reduce(g.b, mt::reduction::sum, weighed, g.b.m.values[weighed].dims);
      mt::value_id const by[] = {x, w};
      auto const gradients = mt::detail::record_gradient(g.b, loss, by);
      g.output("dx", gradients.at[0]);
      g.output("dw", gradients.at[1]);
      g.output("mean", mt::mean(g.b, x, g.dims(along)));
      check_graph(g, {.filling = fill_kind::reals, .tolerance = 1e-13}, t);
    }
  t.say("means and gradients of reductions");
  at_least(4300, t.tried);
}

// Unfinished sums of real numbers: as close as the number of terms allows.
TEST_CASE("sums of real numbers stay within their bound") {
  tally t;
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16})
    for (product const& p : products) {
      if (p.operands.size() > 2) continue;
      graph g;
      mt::id_list<> operands{};
      g.output("y", einsum_of(g, p, type, operands));
      double const eps = type == mt::dtype::f64 ? 0x1p-52 : type == mt::dtype::f32 ? 0x1p-23 : 0x1p-7;
      check_graph(g, {.filling = fill_kind::reals, .low = 0.5, .high = 1.5, .tolerance = 64 * eps}, t);
    }
  t.say("sums of real numbers");
  at_least(8600, t.tried);
}
