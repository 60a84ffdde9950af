// SPDX-License-Identifier: Apache-2.0
// An axis of one processor shards nothing: rules that would meet on it serve, whether its size is known to the compiler
// or at start-up only; with more processors the same rules are refused.
#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {
namespace net {
inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 8> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 4> {} hidden;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
inline constexpr struct data_of_4 : mt::axis<"data", 4> {} data_of_4;
inline constexpr struct model_of_1 : mt::axis<"model", 1> {} model_of_1;
inline constexpr struct pipe : mt::axis<"pipe", 2> {} pipe;
struct open_mesh : mt::mesh<data, model, pipe> {};
struct model_of_one : mt::mesh<data_of_4, model_of_1, pipe> {};

// All that meets, meets on `model`: in parameters, in activations, in one operation, by hand.
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model, pipe>, mt::shard<in, model>> {};

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto h = tanh(einsum(x, s.parameter("up", in, hidden), mt::to(batch, hidden)));
  return x + einsum(h, s.parameter("down", hidden, in), mt::to(batch, in)) * mean(h);
};
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, in);
    auto y = mt::repeat(s / "blocks", layers, x, block);
    auto both = sum(x, batch) + transpose(sum(y * sum(y, in), batch), mt::to(in));
    auto outer = reshard(sum(x, in) * both, mt::shard<batch, model>{});
    auto loss = mean(y * y) + mean(outer) * 1e-3;
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("outer", outer);
  }
};
struct program : mt::precision<step, mt::f64> {};
}  // namespace net

struct seen {
  std::vector<double> losses;
  std::vector<double> outer;
};
template <class Executable>
seen train(auto const&... given) {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  Executable step(weights, given...);
  std::vector<double> x(32);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1 * static_cast<double>(i % 7) - 0.2;
  seen s;
  for (int k = 0; k < 3; ++k) {
    auto r = step(mt::feed<"x">(x));
    s.losses.push_back(r.template get<"loss">());
    if (k == 2)
      for (auto const outer = r.template get<"outer">().gather(); double v : std::span(outer.data(), 32))
        s.outer.push_back(v);
  }
  return s;
}
void same(seen const& a, seen const& b) {
  REQUIRE(a.outer.size() == b.outer.size());
  for (std::size_t i = 0; i < a.losses.size(); ++i) CHECK(a.losses[i] == doctest::Approx(b.losses[i]).epsilon(1e-12));
  for (std::size_t i = 0; i < a.outer.size(); ++i) CHECK(a.outer[i] == doctest::Approx(b.outer[i]).epsilon(1e-12));
}
using open = mt::executable<net::program, net::open_mesh, net::layout>;
}  // namespace

TEST_CASE("rules that meet on an axis of one processor serve, known to the compiler or not") {
  struct whole : mt::layout<> {};
  seen const expected = train<mt::executable<net::program, net::open_mesh, whole>>(net::data(1), net::model(1));
  CHECK(expected.losses[2] < expected.losses[0]);
  same(train<mt::executable<net::program, net::model_of_one, net::layout>>(), expected);
  same(train<open>(net::data(4), net::model(1)), expected);
  same(train<open>(net::data(2), net::model(1)), expected);
  same(train<open>(net::data(1), net::model(1)), expected);
}

TEST_CASE("on an axis of several processors they are refused, with the scope that could say otherwise") {
  std::string said;
  try {
    train<open>(net::data(2), net::model(2));
  } catch (mt::error const& e) { said = e.what(); }
  CHECK_MESSAGE(said.starts_with("meshtensor S05: mesh axis 'model' shards two dims of one tensor ["), said);
  CHECK_MESSAGE(said.find("replicate one of them in this scope, in<\"") != std::string::npos, said);
}

TEST_CASE("at start-up the same rules serve the same meshes") {
  auto const traced = mt::on_heap([] { return mt::trace<net::program>(); });
  mt::mesh_shape one{}, two{};
  one.add("data", 4).add("model", 1).add("pipe", 2), two.add("data", 2).add("model", 2).add("pipe", 1);
  CHECK(mt::lower(*traced, mt::entry_name<net::program>(), one, net::layout::rules, {})->graph.report.empty());
  CHECK_THROWS_AS(mt::lower(*traced, mt::entry_name<net::program>(), two, net::layout::rules, {}), mt::error);
}
