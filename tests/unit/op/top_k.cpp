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
#include "meshtensor/meshtensor.hpp"
#include "unit/op/top_k.hpp"

using namespace chosen;

TEST_CASE("on every layout what sorting gives") {
  for (auto const& [d, m] : {std::pair{1, 1}, {2, 1}, {3, 1}, {1, 2}, {2, 2}, {3, 2}, {2, 4}}) {
    run<whole, mt::reference_device>(d, m);
    run<spread, mt::reference_device>(d, m);
    run<spread, mt::default_device>(d, m);
    run<gathered, mt::default_device>(d, m);
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
  mt::executable<choose_too_many, mesh, whole, mt::reference_device> step(none, data(1), model(1));
  std::string said;
  try {
    step(mt::feed<"x">(std::vector<float>(24)));
  } catch (mt::error const& e) { said = e.what(); }
  CHECK(said == refused_too_many);
}
