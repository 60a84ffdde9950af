// SPDX-License-Identifier: Apache-2.0
// Dims of any extent on any mesh, as a user sees them: who holds what, and what cannot be shared.
// passes: start-up
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace uneven {
inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct heads_dim : mt::dim<"heads", 3> {} heads;
inline constexpr struct head_dim : mt::dim<"head", 2> {} head;
inline constexpr struct model_dim : mt::dim<"model", 6> {} model;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct other_axis : mt::axis<"other"> {} other;
struct mesh : mt::mesh<data, other> {};
struct by_batch : mt::layout<mt::shard<batch, data, other>> {};
struct by_model : mt::layout<mt::shard<model, data>> {};

struct twice {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch);
    s.output("y", x * 2 + iota(s, batch, mt::f64));
    s.output("sum", sum(x));
  }
};
/// Cuts `model` between heads.
struct by_heads {
  constexpr void operator()(mt::scope auto s) const {
    auto const gain = s.parameter("gain", model, mt::normal(1));
    s.output("gains", sum(split(gain, model, mt::to(heads, head)), head));
  }
};
/// Has no heads.
struct anywhere {
  constexpr void operator()(mt::scope auto s) const { s.output("sum", sum(s.parameter("gain", model, mt::normal(1)))); }
};
struct together : mt::programs<by_heads, anywhere> {};

std::string sentence(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "nothing was thrown";
}
std::vector<std::int64_t> parts_of(mt::store& weights, std::string const& label) {
  std::vector<std::int64_t> all;
  for (mt::view const& v : weights.values().at(label).windows) all.push_back(v.extent[0]);
  return all;
}
}  // namespace uneven
using namespace uneven;

TEST_CASE("the first processors have one element more, and the last ones may have none") {
  auto job = mt::job::as_threads();
  for (int extent : {1, 2, 3, 5, 7, 13})
    for (int processors : {1, 2, 3, 4, 6}) {
      CAPTURE(extent);
      CAPTURE(processors);
      mt::store weights(job);
      mt::executable<twice, mesh, by_batch> step(weights, batch(extent), data(processors), other(1));
      std::vector<double> x(static_cast<std::size_t>(extent));
      double sum = 0;
      for (int i = 0; i < extent; ++i) sum += x[static_cast<std::size_t>(i)] = i * i;
      auto const r = step(mt::feed<"x">(x));
      CHECK(r.get<"sum">() == sum);
      auto const y = r.get<"y">().gather();
      for (int i = 0; i < extent; ++i) CHECK(y(batch(i)) == 2 * i * i + i);
    }
}

TEST_CASE("several axes cut one after the other") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<twice, mesh, by_batch> step(weights, batch(6), data(2), other(2));
  step(mt::feed<"x">(std::vector<double>(6)));
  mt::binding const& numbers = step.planned().numbers;
  mt::module const& m = step.graph();
  std::vector<std::int64_t> parts;
  for (int v = 0; v < m.value_count && parts.empty(); ++v)
    if (m.values[v].dims.count == 1)
      for (int rank = 0; rank < 4; ++rank)
        parts.push_back(numbers.part(m.values[v], 0, [&](int a) { return a == 0 ? rank / 2 : rank % 2; }).count);
  CHECK(parts == std::vector<std::int64_t>{2, 1, 2, 1});
}

TEST_CASE("a dim that a program splits is cut between whole rows, in all programs declared together") {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<together, anywhere, mesh, by_model> first(weights, data(2), other(1));
  CHECK(parts_of(weights, "gain") == std::vector<std::int64_t>{4, 2});
  mt::executable<together, by_heads, mesh, by_model> second(weights, data(2), other(1));
  auto const whole = weights.get<float>("gain");
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += whole(model(i));
  CHECK(first().get<"sum">() == doctest::Approx(sum));
  auto const gains = second().get<"gains">().gather();
  for (int h = 0; h < 3; ++h) CHECK(gains(heads(h)) == doctest::Approx(whole(model(2 * h)) + whole(model(2 * h + 1))));
}

TEST_CASE("programs declared apart that cut a parameter otherwise cannot share it") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<anywhere, mesh, by_model> first(weights, data(4), other(1));
  CHECK(parts_of(weights, "gain") == std::vector<std::int64_t>{2, 2, 1, 1});
  std::string const said =
      sentence([&] { mt::executable<by_heads, mesh, by_model> second(weights, data(4), other(1)); });
  CAPTURE(said);
  CHECK(
      said.starts_with("meshtensor R04: programs that share 'gain', f32[model=6/data=4], cut 'model' into different "
                       "parts: the one cuts it anywhere, the other keeps 2 elements together (parts.cpp:"));
  CHECK(said.ends_with("; declare them together, as mt::programs, so that all cut it alike"));
  mt::store even(job);  // where the parts are the same, it does not matter
  mt::executable<anywhere, mesh, by_model> third(even, data(3), other(1));
  mt::executable<by_heads, mesh, by_model> fourth(even, data(3), other(1));
}
