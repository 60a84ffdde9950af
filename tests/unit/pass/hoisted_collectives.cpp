// SPDX-License-Identifier: Apache-2.0
// Collectives that move up with the kernels that lead to them: the order of the plan, what stays where it was made, and
// the memory. Steps give what the interpreter gives.
#include <algorithm>

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

inline constexpr struct replica : mt::dim<"replica", 12> {} replica;
inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct width : mt::dim<"width", 16> {} width;
inline constexpr struct inner : mt::dim<"inner", 16> {} inner;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;
inline constexpr struct large : mt::dim<"large", 128> {} large;
inline constexpr struct wide : mt::dim<"wide", 128> {} wide;

inline constexpr mt::layer layer = [](mt::scope auto s, auto h) {
  auto const w = s.parameter("w", width, inner, mt::normal(0.3));
  return rename(tanh(einsum(h, w, mt::to(rows, inner))), inner, width);
};
/// Three layers, one after the other.
struct step_of_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto const first = layer(s / "first", s.input("x", mt::f32, rows, width));
    auto const last = layer(s / "third", layer(s / "second", first));
    auto const loss = mean(last * last);
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
/// Three layers, as a loop.
struct step_of_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const last = repeat(s / "blocks", blocks, s.input("x", mt::f32, rows, width), [](mt::scope auto b, auto h) {
      return layer(b / "layer", h) + b.parameter("bias", width, mt::normal(0.3));
    });
    auto const loss = mean(last * last);
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
template <class Step>
using synchronous = mt::replicas<Step, replica, mt::synchronous>;

/// A sum over ranks that is bent, work beside it, and then the sum's users.
struct bends_a_sum {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, width);
    auto const part = tanh(x) * 0.5;
    auto const beside = einsum(x, s.input("w", mt::f32, width, inner), mt::to(rows, inner));
    s.output("beside", beside);
    s.output("total", tanh(sum(part * part, rows)));
  }
};
/// The sum needs the work, too.
struct needs_the_work {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, width);
    auto const part = tanh(x) * 0.5;
    auto const beside = einsum(x, s.input("w", mt::f32, width, inner), mt::to(rows, inner));
    s.output("total", tanh(sum(part, rows) + sum(rename(beside, inner, width), rows)));
  }
};
/// A product whose sum over ranks is wanted late, and that another node reads as it is, even later.
template <bool IsReadLater>
struct keeps_a_product {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, replica, rows, large);
    auto const products = einsum(x, s.input("y", mt::f32, replica, rows, wide), mt::to(replica, large, wide));
    auto const beside = einsum(x, s.input("w", mt::f32, large, inner), mt::to(replica, rows, inner));
    s.output("beside", beside);
    s.output("mean", tanh(mean(products, replica)));
    if constexpr (IsReadLater) s.output("largest", max(products, large, wide));
  }
};
inline constexpr mt::layer weight_of_net = [](mt::scope auto s) {
  return s.parameter("w", width, inner, mt::normal(0.3));
};
inline constexpr mt::layer averaged = [](mt::scope auto s, auto next) {
  auto const kept = s.state("kept", mt::f32, width, inner);
  s.update(kept, kept * 0.5 + next);
  return kept;
};
/// A weight and, in another layout, its average. Only the gradient needs other ranks if `by` has one rank.
struct averages_a_weight {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = weight_of_net(s / "net");
    auto const loss = mean(tanh(einsum(s.input("x", mt::f32, rows, width), w, mt::to(rows, inner))));
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("kept", averaged(s / "average", s.next(w)));
  }
};

mt::layout_rules over(mt::name const& dim) { return mt::layout_rules{}.shard(dim, {"ax"}); }

template <class Program>
std::unique_ptr<mt::lowering> lowered_over(mt::name const& dim, std::int64_t ranks, bool fuses) {
  mt::device_capabilities device{};
  device.fuses = fuses;
  return mt::lower(traced<Program>, mt::entry_name<Program>(), mt::mesh_shape{}.add("ax", ranks), over(dim), {},
                   device);
}
/// The nodes of the entry in the order of the plan.
std::vector<mt::node_id> order_of(mt::lowering const& low) {
  mt::node_id const* first = low.planned.steps.nodes + low.planned.steps.first[low.entry];
  return {first, first + low.planned.steps.count[low.entry]};
}
std::vector<int> places_of(mt::lowering const& low, auto const& is_one) {
  std::vector<int> places;
  std::vector<mt::node_id> const all = order_of(low);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (is_one(low.graph.nodes[all[i]])) places.push_back(static_cast<int>(i));
  return places;
}
bool is_product(mt::node const& n) { return n.kind == mt::primitive::einsum; }
bool is_sum(mt::node const& n) { return n.kind == mt::primitive::all_reduce; }
bool is_wait(mt::node const& n) { return n.kind == mt::primitive::wait; }
bool keeps_order(mt::lowering const& low) {
  std::vector<mt::node_id> const all = order_of(low);
  return std::is_sorted(all.begin(), all.end());
}

}  // namespace

TEST_CASE("synchronous replicas send the gradient of the last layer before that of the first layer is computed") {
  for (std::int64_t const ranks : {2, 3, 4, 6, 12})
    for (bool const fuses : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(fuses);
      auto const low = lowered_over<synchronous<step_of_layers>>("replica", ranks, fuses);
      std::vector<int> const products = places_of(*low, is_product), sums = places_of(*low, is_sum);
      REQUIRE(products.size() == 8);  // three forward, five backward
      REQUIRE(sums.size() == 3);
      CHECK(sums[0] < products[6]);
      CHECK(sums[1] > products[5]);
      CHECK(sums[1] < products[7]);
      CHECK(sums[2] > products[7]);
      CHECK(places_of(*low, is_wait).front() > sums[2]);  // all of them are on their way then
    }
}

TEST_CASE("synchronous replicas give what the interpreter gives, whenever collectives do their work") {
  for (std::int64_t const ranks : {1, 2, 3, 4, 6, 12}) {
    CAPTURE(ranks);
    planned<synchronous<step_of_layers>> unrolled(over("replica"), ranks);
    unrolled.check_steps();
    unrolled.check_steps(mt::job::as_threads());
    planned<synchronous<step_of_loop>> loop(over("replica"), ranks);
    loop.check_steps();
    loop.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("synchronous replicas send the gradients of a loop's layers inside the loop") {
  for (std::int64_t const ranks : {2, 3, 4, 6})
    for (bool const fuses : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(fuses);
      auto const low = lowered_over<synchronous<step_of_loop>>("replica", ranks, fuses);
      mt::module const& m = low->graph;
      int inside = 0, outside = 0;
      for (int i = 0; i < m.node_count; ++i) {
        if (!is_sum(m.nodes[i])) continue;
        bool const in_loop = m.regions[m.nodes[i].region].kind == mt::region_kind::body;
        (in_loop ? inside : outside) += 1;
        if (!in_loop) continue;
        CHECK(mt::ends_behind_loop(m.nodes[i]));
        CHECK(low->planned.where[low->planned.root[m.result(m.nodes[i])]] == mt::place::stack_slice);
        CHECK(m.result_value(m.nodes[i]).dims.count == 2);  // the replicas' dim is summed inside, too
      }
      CHECK(inside == 1);   // the matrix
      CHECK(outside == 1);  // the bias
    }
}

TEST_CASE("a collective moves to the place where the last of its operands is ready") {
  for (std::int64_t const ranks : {2, 3, 4, 6})
    for (bool const fuses : {false, true}) {
      CAPTURE(ranks);
      CAPTURE(fuses);
      auto const early = lowered_over<bends_a_sum>("rows", ranks, fuses);
      REQUIRE(places_of(*early, is_sum).size() == 1);
      CHECK(places_of(*early, is_sum)[0] < places_of(*early, is_product)[0]);
      CHECK(places_of(*early, is_wait)[0] > places_of(*early, is_product)[0]);
      CHECK(!keeps_order(*early));
      auto const late = lowered_over<needs_the_work>("rows", ranks, fuses);
      CHECK(places_of(*late, is_sum).back() > places_of(*late, is_product)[0]);
    }
  for (std::int64_t const ranks : {1, 2, 3, 4}) {
    CAPTURE(ranks);
    planned<bends_a_sum> s(over("rows"), ranks);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("what is computed for an update alone stays there, also by a collective of one rank") {
  for (std::int64_t const ranks : {1, 2, 3, 4})
    for (std::int64_t const by : {1, 2, 3}) {
      CAPTURE(ranks);
      CAPTURE(by);
      mt::layout_rules rules = over("rows");
      rules.shard("width", {"by"}, "net").shard("inner", {"by"}, "average").shard("inner", {"cz"}, "optimizer");
      planned<averages_a_weight>(rules, mt::mesh_shape{}.add("ax", ranks).add("by", by).add("cz", by)).check_steps();
    }
}

TEST_CASE("nothing moves on one rank") {
  for (bool const fuses : {false, true}) {
    CHECK(keeps_order(*lowered_over<bends_a_sum>("rows", 1, fuses)));
    CHECK(keeps_order(*lowered_over<keeps_a_product<false>>("replica", 1, fuses)));
  }
}

TEST_CASE("a collective stays if it would take memory that the step does not have yet") {
  for (std::int64_t const ranks : {2, 3, 4}) {
    CAPTURE(ranks);
    auto const moved = lowered_over<keeps_a_product<false>>("replica", ranks, false);
    CHECK(places_of(*moved, is_sum)[0] < places_of(*moved, is_product)[1]);
    auto const kept = lowered_over<keeps_a_product<true>>("replica", ranks, false);
    CHECK(places_of(*kept, is_sum)[0] > places_of(*kept, is_product)[1]);
    planned<keeps_a_product<false>> s(over("replica"), ranks);
    s.check_steps();
  }
}
