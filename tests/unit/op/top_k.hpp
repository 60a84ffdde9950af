// SPDX-License-Identifier: Apache-2.0
// Programs with top_k and argmax, and what sorting gives in their place.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace chosen {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct vocab : mt::dim<"vocab", 24> {} vocab;
inline constexpr struct part : mt::dim<"part", 4> {} part;
inline constexpr struct rest : mt::dim<"rest", 6> {} rest;
inline constexpr struct best : mt::dim<"best", 5> {} best;
inline constexpr struct many : mt::dim<"many", 25> {} many;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct whole : mt::layout<> {};
struct spread : mt::layout<mt::shard<batch, data>, mt::shard<vocab, model>, mt::shard<part, model>> {};
struct gathered : mt::layout<mt::shard<batch, data>, mt::shard<vocab, model>> {};

struct choose {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, vocab);
    auto const [values, positions] = top_k(x, vocab, best);
    auto const [same, places] = top_k(x * 1, vocab, best, part, rest);
    s.output("values", values);
    s.output("positions", positions);
    s.output("same", same);
    s.output("places", places);
    s.output("greatest", argmax(x, vocab));
    s.output("slope", gradient(sum(values * values), x));
  }
};
struct choose_in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto const [values, positions] = top_k(s.input("x", mt::f32, batch, vocab), vocab, best, part, rest);
    s.output("values", values);
    s.output("positions", positions);
  }
};
inline constexpr char const* refused_too_many =
    "meshtensor R59: top_k: there are no 25 greatest of the 24 elements along 'vocab'";
struct choose_too_many {
  constexpr void operator()(mt::scope auto s) const {
    s.output("values", std::get<0>(top_k(s.input("x", mt::f32, vocab), vocab, many)));
  }
};

inline double const no_number = std::numeric_limits<double>::quiet_NaN(),
                    infinity = std::numeric_limits<double>::infinity();
inline bool same(double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); }
/// Whether p comes before q, which stands behind it.
inline bool comes_before(double p, double q) { return std::isnan(p) || (p >= q && !std::isnan(q)); }

/// Many are equal; a row of nans, one of both infinities, one of -inf, one with a nan.
inline std::vector<double> some(int rows) {
  std::vector<double> x(static_cast<std::size_t>(rows) * 24);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i * 31 % 17) - 8;
    if (i / 24 == 1) x[i] = no_number;
    if (i / 24 == 2 && i % 3 != 0) x[i] = i % 3 == 1 ? infinity : -infinity;
    if (i / 24 == 3) x[i] = -infinity;
    if (i == 4 * 24 + 11) x[i] = no_number;
  }
  return x;
}

template <class Layout, class Device>
void run(int over_data, int over_model) {
  auto const job = mt::job::in_lockstep();
  mt::store none(job);
  mt::executable<mt::precision<choose, mt::dtype::f64>, mesh, Layout, Device> step(none, batch(6), data(over_data),
                                                                                   model(over_model));
  auto const x = some(6);
  auto const result = step(mt::feed<"x">(x));
  auto const values = result.template get<"values">().gather();
  auto const positions = result.template get<"positions">().gather();
  auto const greatest = result.template get<"greatest">().gather();
  auto const derivative = result.template get<"slope">().gather();
  CHECK(std::ranges::equal(result.template get<"same">().gather(), values, same));
  CHECK(result.template get<"places">().gather() == positions);
  for (int b = 0; b < 6; ++b) {
    std::vector<int> order(24);
    std::iota(order.begin(), order.end(), 0);
    auto const at = [&](int v) { return x[static_cast<std::size_t>(b * 24 + v)]; };
    std::ranges::sort(order,
                      [&](int p, int q) { return p < q ? comes_before(at(p), at(q)) : !comes_before(at(q), at(p)); });
    CHECK(greatest(batch(b)) == order[0]);
    for (int k = 0; k < 5; ++k) {
      CHECK(positions(batch(b), best(k)) == order[static_cast<std::size_t>(k)]);
      CHECK(same(values(batch(b), best(k)), at(order[static_cast<std::size_t>(k)])));
    }
    for (int v = 0; v < 24; ++v)
      CHECK(same(derivative(batch(b), vocab(v)),
                 std::find(order.begin(), order.begin() + 5, v) < order.begin() + 5 ? 2 * at(v) : 0));
  }
}

}  // namespace chosen
