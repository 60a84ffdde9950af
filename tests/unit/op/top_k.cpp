// SPDX-License-Identifier: Apache-2.0
// The greatest elements and their positions: order, ties, nan, gradients, and every layout of a dim that is spread.
//
// passes: start-up
// needs: cpu
#include "meshtensor/op/top_k.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

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
struct choose_too_many {
  constexpr void operator()(mt::scope auto s) const {
    s.output("values", std::get<0>(top_k(s.input("x", mt::f32, vocab), vocab, many)));
  }
};

double const no_number = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
bool same(double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); }
/// Whether p comes before q, which stands behind it.
bool comes_before(double p, double q) { return std::isnan(p) || (p >= q && !std::isnan(q)); }

/// Many are equal; a row of nans, one of both infinities, one of -inf, one with a nan.
std::vector<double> some(int rows) {
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

}  // namespace

TEST_CASE("on every layout what sorting gives") {
  for (auto const& [d, m] : {std::pair{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {2, 4}}) {
    run<whole, mt::reference_device>(d, m);
    run<spread, mt::reference_device>(d, m);
    run<spread, mt::default_device>(d, m);
    run<gathered, mt::default_device>(d, m);
  }
}

TEST_CASE("on a PJRT plugin, too") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  auto const devices = mt::pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT")).devices().size();
  for (auto const& [d, m] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {1, 4}}) {
    if (static_cast<std::size_t>(d * m) > devices) continue;
    run<spread, mt::pjrt_device>(d, m);
    run<gathered, mt::pjrt_device>(d, m);
  }
}

TEST_CASE("a dim that lies spread is not gathered") {
  auto const job = mt::job::in_lockstep();
  mt::store none(job);
  mt::executable<choose_in_parts, mesh, spread, mt::reference_device> step(none, batch(6), data(1), model(4));
  mt::module const& m = step.graph();
  int gathers = 0;
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != mt::primitive::all_gather) continue;
    ++gathers;
    mt::shape const& moved = m.operand_value(m.nodes[i], 0).dims;
    for (int d = 0; d < moved.count; ++d) {
      CHECK(m.dim_name(moved.at[d]) != vocab.dim_name);
      CHECK(m.dim_name(moved.at[d]) != rest.dim_name);
    }
  }
  CHECK(gathers == 2);  // of the candidates, and where they are
}

TEST_CASE("nan is greater than any number, and the first of equals comes first") {
  mt::array<double, vocab> x;
  for (double& e : x) e = -infinity;
  x(vocab(7)) = no_number, x(vocab(3)) = 2, x(vocab(20)) = 2, x(vocab(23)) = infinity;
  auto const [values, positions] = mt::at_once([](auto const& t) { return top_k(t, vocab, best); }, x);
  int const expected[] = {7, 23, 3, 20, 0};
  for (int k = 0; k < 5; ++k) CHECK(positions(best(k)) == expected[k]);
  CHECK(std::isnan(values(best(0))));
  CHECK(values(best(4)) == -infinity);
  CHECK(argmax(x, vocab) == 7);
}

TEST_CASE("of many: as sorted, with nan and ties in every block") {
  auto const as_sorted = []<class T>(T) {
    for (std::size_t count : {5, 64, 65, 200, 1000}) {
      std::vector<T> x(count);
      for (std::size_t i = 0; i < count; ++i)
        x[i] = static_cast<T>(i % 37 == 5 ? std::numeric_limits<float>::quiet_NaN()
                                          : static_cast<float>(i * 7919 % 101) - 50.0f);
      std::vector<std::int32_t> sorted(count), found(5);
      std::iota(sorted.begin(), sorted.end(), 0);
      std::sort(sorted.begin(), sorted.end(), [&](std::int32_t a, std::int32_t b) {
        auto const p = static_cast<float>(x[static_cast<std::size_t>(a)]);
        auto const q = static_cast<float>(x[static_cast<std::size_t>(b)]);
        return a < b ? comes_before(double{p}, double{q}) : !comes_before(double{q}, double{p});
      });
      mt::detail::top_positions<struct vocab, struct best>::run<T>(std::span<T const>(x), found);
      sorted.resize(5);
      CHECK(found == sorted);
    }
  };
  as_sorted(float()), as_sorted(double()), as_sorted(mt::bf16_t());
}

TEST_CASE("more than there are") {
  auto const job = mt::job::in_lockstep();
  mt::store none(job);
  std::string const refused = "meshtensor R59: top_k: there are no 25 greatest of the 24 elements along 'vocab'";
  if (!meshtensor_test::pjrt_plugin().empty())
    CHECK(meshtensor_test::sentence([&] {
            mt::executable<choose_too_many, mesh, whole, mt::pjrt_device>(none, data(1), model(1));
          }) == refused);
  mt::executable<choose_too_many, mesh, whole, mt::reference_device> step(none, data(1), model(1));
  std::string said;
  try {
    step(mt::feed<"x">(std::vector<float>(24)));
  } catch (mt::error const& e) { said = e.what(); }
  CHECK(said == refused);
}
