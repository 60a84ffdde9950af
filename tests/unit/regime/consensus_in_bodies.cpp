// SPDX-License-Identifier: Apache-2.0
// The consensus of parameters that are read in loops, branches and maps: values, and the place where it is computed.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/regime/regime.hpp"
#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::numbers_of, trial::program;

namespace {

inline constexpr struct copies_dim : mt::dim<"copies", 4> {} copies;
inline constexpr struct time_dim : mt::dim<"time", 3> {} time_of;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;
inline constexpr struct members_dim : mt::dim<"members", 3> {} members;
inline constexpr struct wide_dim : mt::dim<"wide", 2> {} wide;

/// Reads a parameter in each kind of body.
struct bodies {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, time_of, wide);
    auto const zeros = mt::full(s, 0, mt::f64, mt::to(wide));
    auto const gain = [](mt::scope auto b) { return b.parameter("gain", wide); };
    auto const [last, all] = mt::scan(s / "scan", time_of, zeros, x, [&](mt::scope auto b, auto h, auto one) {
      auto const next = tanh(h * gain(b) + one);
      return std::tuple(next, next);
    });
    auto const behind = mt::repeat(s / "layers", layers, last, [&](mt::scope auto b, auto h) {
      auto const inner = mt::scan(b / "scan", time_of, h, x,
                                  [&](mt::scope auto c, auto g, auto one) { return std::tuple(g * gain(c) + one, g); });
      return h * gain(b) + std::get<0>(inner);
    });
    auto const of_members = mt::each(s / "members", members, [&](mt::scope auto b) { return gain(b) * gain(b); });
    auto const shared = mt::map(s / "shared", time_of, x, [&](mt::scope auto b, auto one) { return one * gain(b); });
    auto const chosen = mt::cond(
        s / "branch", sum(x) > 0, [&](mt::scope auto b) { return gain(b); }, [&](mt::scope auto) { return zeros; });
    s.output("all", all), s.output("behind", behind), s.output("members", of_members);
    s.output("shared", shared), s.output("chosen", chosen);
  }
};
struct train {
  constexpr void operator()(mt::scope auto s) const {
    mt::sgd{}.minimize(s / "optimizer", sum(s.parameter("unused", wide)));
  }
};
struct in_f64 : mt::precision<bodies, mt::f64> {};
struct pushed : mt::replicas<mt::precision<train, mt::f64>, copies, mt::stochastic_gradient_push<>> {};
struct of_all : mt::consensus<in_f64, pushed> {};

/// Gives replicas numbers and weights, and one model their mean.
void give_replicas(program& mean, program& replicas) {
  trial::stream s{11};
  std::vector<double> x;
  for (int i = 0; i < 6; ++i) x.push_back(s.between(0, 1));
  mean.fill("x", x), replicas.fill("x", x);
  mean.run(), replicas.run();
  std::vector<double> const weights{0.5, 2, 1, 0.5};
  for (int r = 0; r < 4; ++r)
    replicas.variables.at("regime/push_sum_weight").set(r, weights[static_cast<std::size_t>(r)]);
  for (auto& [path, one] : mean.variables) {
    CAPTURE(path);
    mt::block& all = replicas.variables.at(path);
    REQUIRE(all.size() == 4 * one.size());
    std::int64_t const outer = path.starts_with("layers/") ? 2 : 1, inner = one.size() / outer;  // around the replicas
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) {
        double total = 0;
        for (int r = 0; r < 4; ++r) {
          double const value = s.between(-1, 1);
          all.set((o * 4 + r) * inner + i, value);
          total += value * weights[static_cast<std::size_t>(r)];
        }
        one.set(o * inner + i, total / 4);
      }
  }
}
void require_alike(mt::blocks const& found, mt::blocks const& expected) {
  for (auto const& [label, whole] : expected) {
    CAPTURE(label);
    for (std::int64_t i = 0; i < whole.size(); ++i)
      CHECK(found.at(label).number_at(i) == doctest::Approx(whole.number_at(i)).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("the consensus of a parameter is its mean in every body") {
  program mean = program::of<in_f64>({}), replicas = program::of<of_all>({});
  give_replicas(mean, replicas);
  mt::blocks const expected = mean.run(), found = replicas.run();
  REQUIRE(expected.size() == 5);
  require_alike(found, expected);
}

TEST_CASE("no loop computes the consensus of a parameter in each iteration") {
  auto const m = std::make_unique<mt::module>(mt::trace<of_all>());
  int means = 0;
  for (int i = 0; i < m->node_count; ++i) {
    mt::node const& n = m->nodes[i];
    if (n.kind != mt::primitive::reduce) continue;
    mt::shape const& dims = m->operand_value(n, 0).dims;
    bool has_copies = false;
    for (int d = 0; d < dims.count; ++d) has_copies = has_copies || m->dim_name(dims.at[d]) == copies.dim_name;
    if (!has_copies) continue;
    ++means;
    CHECK(m->regions[n.region].kind == mt::region_kind::entry);
  }
  CHECK(means > 0);
}

namespace {
/// Gradients by all parameters, in each kind of body.
struct gradients_in_bodies {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, time_of, wide);
    auto const loss = [](mt::scope auto b, auto one) {
      auto const gain = b.parameter("gain", wide);
      return sum(gain * gain * gain * one);
    };
    auto const norm = [](auto const& l) { return mt::global_norm(mt::gradient_by_parameters<mt::f64>(l)); };
    auto const zero = mt::full(s, 0, mt::f64);
    s.output("entry", norm(loss(s, sum(x, time_of))));
    s.output("scan", std::get<1>(mt::scan(s / "scan", time_of, zero, x, [&](mt::scope auto b, auto h, auto one) {
               return std::tuple(h, norm(loss(b, one)));
             })));
    s.output("map", mt::map(s / "map", time_of, x, [&](mt::scope auto b, auto one) { return norm(loss(b, one)); }));
    auto const [nats, parts] = mt::accumulate(s / "parts", time_of, std::tuple(x), loss);
    s.output("parts", mt::global_norm(parts));
    auto const behind = mt::repeat(s / "layers", layers, sum(x, time_of),
                                   [](mt::scope auto b, auto h) { return h * b.parameter("gain", wide); });
    s.output("layers", norm(sum(behind)));
  }
};
struct gradients_in_f64 : mt::precision<gradients_in_bodies, mt::f64> {};
struct gradients_of_all : mt::consensus<gradients_in_f64, pushed> {};
}  // namespace

TEST_CASE("gradients by all parameters are those by the consensus") {
  program mean = program::of<gradients_in_f64>({}), replicas = program::of<gradients_of_all>({});
  give_replicas(mean, replicas);
  mt::blocks const expected = mean.run(), found = replicas.run();
  REQUIRE(expected.size() == 5);
  require_alike(found, expected);
}
