// SPDX-License-Identifier: Apache-2.0
// A graph network that learns energies and forces of molecules under random layouts: messages by gather and
// scatter_add, a softmax over the edges that enter a node, energies as sums over the nodes of each molecule. Forces are
// a gradient of the energy, so training differentiates a gradient. A second program of the store relaxes molecules.
// timeout: 300
#include "meshtensor/meshtensor.hpp"

#include "property/random_run.hpp"

namespace {
namespace gnn {
namespace mt = meshtensor;
using mt::to;
inline constexpr struct nodes : mt::dim<"nodes"> {} nodes;
inline constexpr struct edges : mt::dim<"edges"> {} edges;
inline constexpr struct molecules : mt::dim<"molecules"> {} molecules;
inline constexpr struct xyz : mt::dim<"xyz", 3> {} xyz;
inline constexpr struct elements : mt::dim<"elements", 4> {} elements;
inline constexpr struct radial : mt::dim<"radial", 4> {} radial;
inline constexpr struct relations : mt::dim<"relations", 3> {} relations;
inline constexpr struct bases : mt::dim<"bases", 2> {} bases;
inline constexpr struct d : mt::dim<"d"> {} d;
inline constexpr struct heads : mt::dim<"heads", 2> {} heads;
inline constexpr struct head : mt::dim<"head"> {} head;
inline constexpr struct made : mt::dim<"made", head + 0> {} made;
inline constexpr struct layers : mt::dim<"layers"> {} layers;

// Of each edge its share among those that enter the same node, and a score of 0 that goes nowhere.
inline constexpr mt::layer softmax_at = [](mt::scope auto s, auto score, auto into) {
  auto enters = into == iota(s, nodes, mt::i32);
  auto greatest = stop_gradient(max(select(enters, score, -1e30), edges));
  auto top = gather(greatest, into, nodes), weight = exp(score - top);
  return weight / (gather(scatter_add(weight, into, nodes, to(nodes, heads)), into, nodes) + exp(-top));
};

inline constexpr mt::layer block = [](mt::scope auto s, auto h, auto near, auto kind, auto from, auto into) {
  auto x = mt::nn::layer_norm(s / "norm", h, d);
  auto q = einsum(x, s.parameter("query", d, heads, head), to(nodes, heads, head));
  auto k = einsum(x, s.parameter("key", d, heads, head), to(nodes, heads, head));
  auto v = einsum(x, s.parameter("value", d, heads, head), to(nodes, heads, head));
  auto bias = einsum(near, s.parameter("distance", radial, heads), to(edges, heads));
  auto score = sum(gather(q, into, nodes) * gather(k, from, nodes), head) * rsqrt(extent(head)) + bias;
  auto share = softmax_at(s / "softmax", score, into);
  auto message =
      einsum(gather(v, from, nodes), share, one_hot(kind, relations, s.real()),
             s.parameter("mixture", relations, bases, mt::normal(1)),
             s.parameter("bases", bases, heads, head, made, mt::normal(0.6)),
             einsum(near, s.parameter("filter", radial, heads, made, mt::normal(0.7)), to(edges, heads, made)),
             to(edges, heads, made));
  auto arrived = scatter_add(message, into, nodes, to(nodes, heads, made));
  auto y = h + einsum(arrived, s.parameter("out", heads, made, d, mt::normal(0.5)), to(nodes, d));
  return y + mt::nn::feed_forward(s / "feed", mt::nn::rms_norm(s / "norm_2", y, d), d, made);
};

// Of each molecule; `owner` says which one a node belongs to.
inline constexpr mt::layer energy_of = [](mt::scope auto s, auto place, auto element, auto owner, auto kind, auto from,
                                          auto into) {
  auto away = gather(place, into, nodes) - gather(place, from, nodes);
  auto distance = sqrt(sum(away * away, xyz) + 1e-2);
  auto offset = distance - s.parameter("centre", radial, mt::uniform(2));
  auto near = exp(-offset * offset) * (0.5 + 0.5 * cos(0.4 * distance));
  auto h = mt::nn::embed(s / "elements", element, elements, d);
  auto all = mt::repeat(s / "blocks", layers, h,
                        [&](mt::scope auto r, auto now) { return block(r, now, near, kind, from, into); });
  auto each =
      einsum(tanh(mt::nn::linear(s / "deep", all, d, made)), s.parameter("last", made, mt::normal(1)), to(nodes));
  return scatter_add(each, owner, molecules, to(molecules));
};
constexpr auto graph_of(mt::scope auto s) {
  return std::tuple(s.input("place", s.real(), nodes, xyz), s.input("element", mt::i32, nodes),
                    s.input("owner", mt::i32, nodes), s.input("kind", mt::i32, edges), s.input("from", mt::i32, edges),
                    s.input("into", mt::i32, edges));
}

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto [place, element, owner, kind, from, into] = graph_of(s);
    auto energy = energy_of(s / "model", place, element, owner, kind, from, into);
    auto force = -gradient(sum(energy), place);
    auto error = energy - s.input("energy", s.real(), molecules);
    auto pull = force - s.input("force", s.real(), nodes, xyz);
    auto loss = mean(error * error) + 10 * mean(pull * pull);
    mt::adam{.learning_rate = mt::nn::warmup_constant(s, 0.01, 3), .beta_1 = 0.8, .clip_norm = s.number("clip_norm", 2)}
        .minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct relax {  // one step down the gradient of the energy
  constexpr void operator()(mt::scope auto s) const {
    auto [place, element, owner, kind, from, into] = graph_of(s);
    auto energy = energy_of(s / "model", place, element, owner, kind, from, into);
    auto force = -gradient(sum(energy), place);
    s.output("energy", energy);
    s.output("force", force);
    s.output("next", place + 0.1 * force / sqrt(1 + sum(force * force, xyz)));
  }
};
struct train64 : mt::precision<train, mt::f64> {};
struct relax64 : mt::precision<relax, mt::f64> {};
struct both : mt::programs<train64, relax64> {};
}  // namespace gnn
}  // namespace

TEST_CASE("energies and forces of molecules under random layouts") {
  property::random_run run(60);
  run.each_layout(property::traced_programs<gnn::both, gnn::train64, gnn::relax64>(1e-9), property::random_meshes(),
                  property::fault_on_threads);
  run.say();
  if (!run.is_asked_for()) property::at_least(60, run.counted());
}
