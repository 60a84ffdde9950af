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
inline constexpr struct major_dim : mt::dim<"major", 5> {} major;
inline constexpr struct pair_dim : mt::dim<"pair", 2> {} pair;
inline constexpr struct triple_dim : mt::dim<"triple", 3> {} triple;
inline constexpr struct pairs_dim : mt::dim<"pairs", 10> {} pairs;
inline constexpr struct whole_dim : mt::dim<"whole", 30> {} whole;
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
/// Merges three dims and splits what they make between other ones.
struct merges_and_splits {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, major, pair, triple);
    auto const merged = merge(x, mt::to(major, pair, triple), whole);
    s.output("y", sum(split(merged * 2, whole, mt::to(pairs, triple)), triple));
  }
};
struct by_major : mt::layout<mt::shard<major, data>, mt::shard<whole, data>, mt::shard<pairs, data>> {};
struct together : mt::programs<by_heads, anywhere> {};
struct the_other_way_round : mt::programs<anywhere, by_heads> {};

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
  auto const gain = weights.get<float>("gain");
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += gain(model(i));
  CHECK(first().get<"sum">() == doctest::Approx(sum));
  auto const gains = second().get<"gains">().gather();
  for (int h = 0; h < 3; ++h) CHECK(gains(heads(h)) == doctest::Approx(gain(model(2 * h)) + gain(model(2 * h + 1))));
}

TEST_CASE("the program that splits it may be any of them") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<the_other_way_round, anywhere, mesh, by_model> first(weights, data(2), other(1));
  CHECK(parts_of(weights, "gain") == std::vector<std::int64_t>{4, 2});
  mt::executable<the_other_way_round, by_heads, mesh, by_model> second(weights, data(2), other(1));
}

TEST_CASE("what a dim is split into keeps together what one of the dims it was merged from does") {
  auto job = mt::job::in_lockstep();
  for (int processors : {1, 2, 3, 4, 6, 8}) {
    CAPTURE(processors);
    mt::store weights(job);
    mt::executable<merges_and_splits, mesh, by_major> step(weights, data(processors), other(1));
    mt::binding const& numbers = step.planned().numbers;
    for (int d = 0; d < step.graph().dim_count; ++d)
      if (step.graph().dim_name(static_cast<mt::dim_id>(d)) == "pairs")
        CHECK(numbers.grain[d] == (processors == 1 ? 1 : 2));
    std::vector<double> x(30);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * i);
    auto const y = step(mt::feed<"x">(x)).get<"y">().gather();
    for (int p = 0; p < 10; ++p) {
      auto const at = static_cast<std::size_t>(3 * p);
      CHECK(y(pairs(p)) == 2 * (x[at] + x[at + 1] + x[at + 2]));
    }
  }
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
