// SPDX-License-Identifier: Apache-2.0
// Programs at one size: the compiler's plan of a program whose dims are open is that of start-up.
#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/cost.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct width : mt::dim<"width"> {} width;
inline constexpr struct twice : mt::dim<"twice", width + width> {} twice;
inline constexpr struct data : mt::axis<"data", 2> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, width);
    auto y = einsum(x, s.parameter("w", width, twice), to(batch, twice));
    auto loss = mean(y * y - y);
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct ask {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, width);
    s.output("y", einsum(x, s.parameter("w", width, twice), to(batch, twice)));
  }
};
struct both : mt::programs<train, ask> {};
struct small : mt::sized<train, batch(6), width(4)> {};
struct small_both : mt::sized<both, batch(6), width(4)> {};
struct precise : mt::sized<mt::precision<train, mt::f64>, batch(6), width(4)> {};
struct small_precise : mt::precision<small, mt::f64> {};  // the other way round
struct of_six : mt::sized<train, batch(6)> {};
struct by_and_by : mt::sized<of_six, width(4)> {};

template <class Executable, class T, class... Sizes>
std::vector<T> losses(std::vector<T> const& x, Sizes const&... sizes) {
  auto const job = mt::job::as_threads();
  mt::store weights(job, 5);
  Executable step(weights, sizes...);
  std::vector<T> all;
  for (int i = 0; i < 5; ++i) all.push_back(step(mt::feed<"x">(x)).template get<"loss">());
  return all;
}
template <class T>
std::vector<T> some() {
  std::vector<T> x(24);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i % 5) / 2 - 1;
  return x;
}

}  // namespace

TEST_CASE("a program at one size is bound by the compiler, and gives the same") {
  using open = mt::executable<train, mesh, layout>;
  using fixed = mt::executable<small, mesh, layout>;
  static_assert(!open::is_static && fixed::is_static);
  CHECK(losses<open>(some<float>(), batch(6), width(4)) == losses<fixed>(some<float>()));
  using open_f64 = mt::executable<mt::precision<train, mt::f64>, mesh, layout>;
  using fixed_f64 = mt::executable<precise, mesh, layout>;
  static_assert(fixed_f64::is_static);
  CHECK(losses<open_f64>(some<double>(), batch(6), width(4)) == losses<fixed_f64>(some<double>()));
}

TEST_CASE("sizes and precisions in any order, sizes one after another") {
  using fixed = mt::executable<precise, mesh, layout>;
  using precise = mt::executable<small_precise, mesh, layout>;
  using stepwise = mt::executable<by_and_by, mesh, layout>;
  static_assert(precise::is_static && stepwise::is_static);
  CHECK(losses<precise>(some<double>()) == losses<fixed>(some<double>()));
  CHECK(losses<stepwise>(some<float>()) == losses<mt::executable<small, mesh, layout>>(some<float>()));
}

TEST_CASE("a set of programs") {
  using in_set = mt::executable<small_both, train, mesh, layout>;
  static_assert(in_set::is_static);
  static_assert(mt::one_store<in_set, mt::executable<small_both, ask, mesh, layout>>);
  CHECK(losses<in_set>(some<float>()) == losses<mt::executable<small, mesh, layout>>(some<float>()));
}

TEST_CASE("plan_at") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<train, mesh, layout> const step(weights, batch(64), width(12));
  constexpr auto& planned = mt::plan_at<train, mesh, layout, batch(64), width(12)>;
  static_assert(planned.arena_bytes > 0);
  CHECK(planned.arena_bytes == step.planned().arena_bytes);
  CHECK(planned.variable_bytes == step.planned().variable_bytes);
  static_assert(planned.variable_bytes > mt::plan_at<train, mesh, layout, batch(64), width(10)>.variable_bytes);
}

TEST_CASE("what cannot be fixed") {
  CHECK(mt::try_trace<mt::sized<train, mt::dim_extent{"depth", 3}>>().report.view() ==
        "S15 an extent is given for the dim 'depth', which this program does not have");
  CHECK(mt::try_trace<mt::sized<train, batch(0)>>().report.view() ==
        "S10 the dim 'batch' cannot have the extent 0: an extent is at least 1");
  CHECK(mt::try_trace<mt::sized<train, twice(4)>>().report.view() ==
        "S10 the dim 'twice' cannot have the extent 4: the program fixes it already");
}
