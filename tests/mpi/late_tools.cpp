// SPDX-License-Identifier: Apache-2.0
// Tools that look at values, on ranks whose devices have late queues and memory of their own: what is watched, what is
// not finite, and the comparison with plain loops.
// passes: start-up
// ranks: 2 3
// needs: mpi
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meshtensor/inspect/check.hpp"
#include "meshtensor/inspect/watched.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/ranks.hpp"
#include "support/late_machine.hpp"

namespace mt = meshtensor;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

namespace {

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

constexpr int line_of_root = __LINE__ + 4;
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, width);
    auto const root = sqrt(x) * s.parameter("w", width, mt::ones);
    auto const deep = repeat(s / "deep", layers, root, [](mt::scope auto r, auto h) {
      auto const next = h + tanh(h * r.parameter("gain", width, mt::constant(0.5)));
      r.watch("next", next);
      return next;
    });
    auto const loss = mean(deep * deep);
    s.watch("root", root);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
using program = mt::precision<train, mt::dtype::f64>;
template <class Device>
using step_of = mt::executable<program, mesh, layout, Device>;

std::vector<double> given(int step) {
  std::vector<double> x(48);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = 0.25 * static_cast<double>((i * 7 + static_cast<std::size_t>(step)) % 11 + 1);
  return x;
}
int last() { return ranks::count() - 1; }

}  // namespace

TEST_CASE("what is watched has the bits of plain loops, before and after its device was looked at node by node") {
  late_here const here(static_cast<std::uint64_t>(ranks::rank()) + 1, 3);
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job), others(job);
  step_of<late_device> step(weights, data(ranks::count()));
  step_of<mt::reference_device> same(others, data(ranks::count()));
  for (int i = 0; i < 6; ++i) {
    step.check_numerics(i == 2 || i == 3);
    auto const x = given(i);
    CHECK(step(mt::feed<"x">(x)).get<"loss">() == same(mt::feed<"x">(x)).get<"loss">());
    CHECK(mt::watched(step) == mt::watched(same));
    CHECK(step.watched("deep/next") == same.watched("deep/next"));
  }
  CHECK(weights.get<double>("deep/gain") == others.get<double>("deep/gain"));
  CHECK(here.machine.out_of_order > 0);
}

TEST_CASE("a step from the values of ranks agrees with plain loops") {
  late_here const here(static_cast<std::uint64_t>(ranks::rank()) + 1, 3);
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  step_of<late_device> step(weights, data(ranks::count()));
  for (int i = 0; i < 3; ++i) step(mt::feed<"x">(given(i)));
  auto const before = weights.get<double>("deep/gain");
  mt::check_result const r =
      mt::check<program, mesh, layout, late_device>(weights, data(ranks::count()), mt::feed<"x">(given(3)));
  CHECK(text_of(r).find("values agree with the reference") != std::string::npos);
  CHECK(r.compared > 10);
  CHECK(weights.get<double>("deep/gain") == before);
  mt::store others(job);
  step_of<mt::reference_device> same(others, data(ranks::count()));
  for (int i = 0; i < 3; ++i) same(mt::feed<"x">(given(i)));
  CHECK(step(mt::feed<"x">(given(3))).get<"loss">() == same(mt::feed<"x">(given(3))).get<"loss">());
}

TEST_CASE("a value that is not finite on one rank: it is named there, and the others are told") {
  late_here const here(static_cast<std::uint64_t>(ranks::rank()) + 1, 3);
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  step_of<late_device> step(weights, data(ranks::count()));
  step.check_numerics();
  auto x = given(0);
  step(mt::feed<"x">(x));
  MPI_Barrier(MPI_COMM_WORLD);  // a rank that is still in this step would be told in it
  x[47] = -4;                   // the last rank's
  std::string said;
  try {
    step(mt::feed<"x">(x));
    if (ranks::rank() != last()) step(mt::feed<"x">(x));
  } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  std::string const named = "R32: sqrt (late_tools.cpp:" + std::to_string(line_of_root) +
                            ") gives f64[batch/data, width]: 1 of " + std::to_string(48 / ranks::count()) +
                            " elements are not finite, the first is nan, at batch=11, width=3 on rank " +
                            std::to_string(last()) + " in step 1";
  CHECK(said.find(named) != std::string::npos);
  CHECK(said.starts_with(ranks::rank() == last() ? "meshtensor R32: " : "meshtensor R21: rank "));
  CHECK(here.machine.is_idle());
  MPI_Barrier(MPI_COMM_WORLD);
}
