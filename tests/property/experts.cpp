// SPDX-License-Identifier: Apache-2.0
// A mixture of experts under every layout: loads of three to one, experts without tokens, tokens without a slot,
// extents that no mesh divides; and experts that drop nothing. Experts and batch over one axis: tokens travel in one
// all_to_all each way.
// timeout: 300
// passes: start-up
#include "meshtensor/meshtensor.hpp"

#include "meshtensor/pass/cost.hpp"
#include "property/program.hpp"

using namespace property;

namespace {

namespace mixture {
using mt::to;
inline constexpr struct batch : mt::dim<"batch", 5> {} batch;
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct d_model : mt::dim<"d_model", 3> {} d_model;
inline constexpr struct experts : mt::dim<"experts", 7> {} experts;
inline constexpr struct choices : mt::dim<"choices"> {} choices;
inline constexpr struct slots : mt::dim<"slots", 4> {} slots;
inline constexpr struct d_ff : mt::dim<"d_ff", 2> {} d_ff;

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, length, d_model);
    auto h = x * s.parameter("scale", d_model, mt::ones);
    auto [y, balance, dropped] =
        mt::nn::mixture_of_experts(s / "experts", h, length, d_model, experts, choices, slots, d_ff);
    auto loss = mean((h + y) * (h + y * 2)) + 0.1 * balance;
    s.output("y", y);
    s.output("dropped", dropped);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};
struct dropless {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, length, d_model);
    auto h = x * s.parameter("scale", d_model, mt::ones);
    auto [y, balance] = mt::nn::dropless_mixture_of_experts(s / "experts", h, length, d_model, experts, choices, d_ff);
    auto loss = mean((h + y) * (h + y * 2)) + 0.1 * balance;
    s.output("y", y);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};
}  // namespace mixture

template <class Program = mixture::train>
std::unique_ptr<mt::module> traced() {
  return mt::on_heap([] { return mt::trace<mt::precision<Program, mt::dtype::f64>>(); });
}

/// Tokens of an example point in two directions, six in one and two in the other.
void steer(mt::block& x) {
  rng c{5};
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t const m = i % 3, t = i / 3 % 8;
    double const noise = (c.below(2001) - 1000) * 1e-4;
    x.set(i, noise + (t % 4 == 2 ? -2 : 2) * (m == 1 ? -1.25 : 0.75));
  }
}

mt::layout_rules parallel_over(std::initializer_list<char const*> axes) {
  std::vector<mt::name> names;
  for (char const* a : axes) names.push_back(mt::name::of(a));
  mt::layout_rules rules{};
  for (char const* dim : {"batch", "experts"}) {
    mt::layout_rule r{};
    r.dim = mt::name::of(dim);
    for (mt::name const& a : names) r.axes[r.count++] = a;
    rules.add(r);
  }
  return rules.replicate("experts", "router").replicate("batch", "expert");
}

/// Tokens and experts over the same axes, without slots.
mt::layout_rules exchanging_over(std::initializer_list<char const*> axes, char const* tokens) {
  std::vector<mt::name> names;
  for (char const* a : axes) names.push_back(mt::name::of(a));
  mt::layout_rules rules{};
  for (char const* dim : {tokens, "experts"}) {
    mt::layout_rule r{};
    r.dim = mt::name::of(dim);
    for (mt::name const& a : names) r.axes[r.count++] = a;
    rules.add(r);
  }
  return rules.replicate("experts", "router");
}

/// Tries layouts of a subject: some of each kind, some by scope, and those with experts and batch over the same axes.
void try_layouts(subject& s, tally& t) {
  auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
  rng c{1 + sample_number()};
  std::uint64_t number = 0;
  for (auto const& mesh : meshtensor_test::meshes()) {
    sampled_layouts(dims, scopes, mesh, {96, 24}, number, c,
                    [&](mt::layout_rules const& rules) { s.check_layout(mesh, rules, t); });
    s.check_layout(mesh, parallel_over({"ax"}), t);
    if (mesh.count > 1) s.check_layout(mesh, parallel_over({"ax", "by"}), t);
    if (mesh.count > 1) s.check_layout(mesh, parallel_over({"by"}), t);
  }
}

}  // namespace

TEST_CASE("under every layout") {
  auto const m = traced();
  tally t;
  for (std::int64_t const chosen : {1, 2}) {
    subject s(*m, mt::entry_name<mixture::train>(), {{mt::name("choices"), chosen}});
    s.steps = 2, s.tolerance = 1e-9;
    s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
    steer(s.inputs.at("x"));
    s.expect();
    double const dropped = s.expected_outputs().at("dropped").number_at(0);
    MESSAGE("dropped: " << dropped << " of all choices");
    if (chosen == 1) CHECK(dropped == 0.25);  // of each example two of the six that one expert gets: it has four slots
    CHECK(dropped >= 0.05);
    try_layouts(s, t);
  }
  t.say("a mixture of experts");
  at_least(400, t.tried);
}

TEST_CASE("experts that drop nothing, under every layout") {
  auto const m = traced<mixture::dropless>();
  tally t;
  for (std::int64_t const chosen : {1, 2}) {
    subject s(*m, mt::entry_name<mixture::dropless>(), {{mt::name("choices"), chosen}});
    s.steps = 2, s.tolerance = 1e-9;
    s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
    steer(s.inputs.at("x"));
    s.expect();
    try_layouts(s, t);
    long const before = t.tried;
    for (auto const& mesh : meshtensor_test::meshes())
      for (char const* tokens : {"batch", "length"}) {
        s.check_layout(mesh, exchanging_over({"ax"}, tokens), t);
        if (mesh.count > 1) s.check_layout(mesh, exchanging_over({"by", "ax"}, tokens), t);
      }
    CHECK(t.tried - before >= 12);
  }
  t.say("experts that drop nothing");
  at_least(400, t.tried);
}

TEST_CASE("experts in parts: tokens are gathered, and results reduced to where they came from") {
  auto const m = traced<mixture::dropless>();
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", 4);
  mt::layout_rules rules{};
  for (char const* in : {"expert", "optimizer"}) rules.shard(mt::name("d_ff"), {mt::name("ax")}, mt::name::of(in));
  rules.shard("batch", {"ax"}).replicate("batch", "expert");
  auto const p = partitioned(*m, mesh, rules);
  CHECK(mt::verify_layout(*p).view() == "");
  auto const numbers = mt::bind(*p, mesh, std::vector<mt::dim_extent>{{mt::name("choices"), 2}});
  REQUIRE(numbers.ok());
  int gathered = 0, scattered = 0;
  for (int i = 0; i < p->node_count; ++i) {
    mt::node const& n = p->nodes[i];
    if (!mt::is_collective(n.kind)) continue;
    std::int64_t const brought = numbers.local_size(p->operand_value(n, 0));
    bool const of_tokens = numbers.local_size(p->result_value(n)) % (8 * 3) == 0 || brought % (8 * 3) == 0;
    if (of_tokens && n.kind == mt::primitive::all_gather) {
      ++gathered;
      CHECK(brought == 2 * 8 * 3);
    }
    if (of_tokens && n.kind == mt::primitive::reduce_scatter) {
      ++scattered;
      CHECK(brought == 5 * 8 * 3);
    }
    if (n.kind == mt::primitive::all_reduce) CHECK(brought <= 3 * 7);  // of the router, biases and scalars
  }
  CHECK(gathered == 2);
  CHECK(scattered == 2);
}

TEST_CASE("experts and batch over one axis: one all_to_all each way, forward and backward") {
  auto const m = traced();
  for (std::int64_t const size : {2, 3, 4, 6, 8}) {
    mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", size);
    auto const p = partitioned(*m, mesh, parallel_over({"ax"}));
    CHECK(mt::verify_layout(*p).view() == "");
    std::vector<mt::dim_extent> const extents{{mt::name("choices"), 2}};
    auto const numbers = mt::bind(*p, mesh, extents);
    REQUIRE(numbers.ok());
    int exchanged = 0;
    for (int i = 0; i < p->node_count; ++i) {
      mt::node const& n = p->nodes[i];
      if (!mt::is_collective(n.kind)) continue;
      if (n.kind == mt::primitive::all_to_all) {
        ++exchanged;
        std::int64_t const there = (5 + size - 1) / size * 7 * 4 * 3, back = 5 * ((7 + size - 1) / size) * 4 * 3;
        CHECK(numbers.local_size(p->operand_value(n, 0)) == (exchanged % 2 == 1 ? there : back));
      } else {  // parameters of the router and scalars
        CHECK(numbers.local_size(p->result_value(n)) <= 3 * 7);
      }
    }
    CHECK(exchanged == 4);
  }
}
