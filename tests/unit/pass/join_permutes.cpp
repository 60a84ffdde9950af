// SPDX-License-Identifier: Apache-2.0
// Permutes that travel as one message, and those that must not. Steps on threads, which join them, give what the
// interpreter gives.
#include "meshtensor/pass/cost.hpp"
#include "property/regime_programs.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

inline constexpr struct worker : mt::dim<"worker", 6> {} worker;
inline constexpr struct second : mt::dim<"second", 6> {} second;
inline constexpr struct wide : mt::dim<"wide", 140000> {} wide;
inline constexpr struct from : mt::dim<"from", 6> {} from;
inline constexpr struct inner : mt::dim<"inner", 5> {} inner;
inline constexpr struct outer : mt::dim<"outer", 3> {} outer;

/// Rows that are contiguous, and rows that are not.
struct same_sources {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const x = permute(s.input("x", mt::f32, worker, inner), worker, sources);
    auto const y = permute(s.input("y", mt::f32, outer, worker, inner), worker, sources);
    auto const z = permute(s.input("z", mt::f32, worker), worker, sources);
    s.output("x", x), s.output("y", y), s.output("z", z);
  }
};
struct other_sources {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const x = permute(s.input("x", mt::f32, worker, inner), worker, sources);
    auto const y = permute(s.input("y", mt::f32, worker, inner), worker, sources + 1);
    s.output("x", x), s.output("y", y);
  }
};
struct other_dtypes {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const x = permute(s.input("x", mt::f64, worker, inner), worker, sources);
    auto const y = permute(s.input("y", mt::bf16, outer, worker, inner), worker, sources);
    auto const z = permute(s.input("z", mt::i32, worker), worker, sources);
    s.output("x", x), s.output("y", y), s.output("z", z);
  }
};
struct other_rows {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const x = permute(s.input("x", mt::f32, worker, inner), worker, sources);
    auto const y = permute(s.input("y", mt::f32, second, inner), second, sources);
    s.output("x", x), s.output("y", y);
  }
};
/// Each operand has more bytes than a joined all_reduce, and both have more than a joint message of all_reduces.
struct large {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const x = permute(s.input("x", mt::f32, worker, wide), worker, sources);
    auto const y = permute(s.input("y", mt::f32, worker, wide), worker, sources);
    s.output("x", x), s.output("y", y);
  }
};
/// The second permute needs the result of the first.
struct in_turn {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    s.output("x", permute(permute(s.input("x", mt::f32, worker, inner), worker, sources), worker, sources));
  }
};
/// The first permute travels during the loop.
struct around_a_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const x = permute(s.input("x", mt::f32, worker, inner), worker, sources);
    auto const y = repeat(s / "outer", outer, s.input("y", mt::f32, worker, inner),
                          [](mt::scope auto, auto h) { return tanh(h); });
    auto const z = permute(y, worker, sources);
    s.output("x", x), s.output("z", z);
  }
};

/// Behind a loop, a permute of its result, and one of inputs with other sources.
struct two_groups {
  constexpr void operator()(mt::scope auto s) const {
    auto const sources = s.input("sources", mt::i32, from);
    auto const y = repeat(s / "outer", outer, s.input("y", mt::f32, worker, inner),
                          [](mt::scope auto, auto h) { return tanh(h); });
    s.output("late", permute(y, worker, sources));
    s.output("early", permute(s.input("x", mt::f32, worker, inner) * 0.5, worker, sources + 1));
  }
};

template <class Program>
void check(std::int64_t moves, std::int64_t messages) {
  for (std::int64_t const ranks : {2, 3, 4, 6}) {
    CAPTURE(ranks);
    planned<Program> s(mt::layout_rules{}.shard("worker", {"ax"}).shard("second", {"ax"}), ranks);
    mt::step_traffic const t = mt::traffic_of(s.low->graph, s.plan());
    CHECK(t.moves == moves);
    CHECK(t.messages == messages);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

/// A program with one replica a rank.
template <class Program>
std::unique_ptr<mt::lowering> lowered(bool fuses) {
  mt::device_capabilities device{};
  device.fuses = fuses;
  return mt::lower(traced<Program>, mt::entry_name<Program>(), mt::mesh_shape{}.add("ax", 6),
                   mt::layout_rules{}.shard("replica", {"ax"}), {}, device);
}
template <class Policy>
using training = mt::replicas<regimes::train_step, regimes::replica, Policy>;
template <class Policy>
mt::step_traffic traffic_of_training(bool fuses) {
  auto const low = lowered<training<Policy>>(fuses);
  return mt::traffic_of(low->graph, low->planned);
}

/// When a step starts its permutes and waits for them. Its loops are the forward pass and the backward pass.
struct when {
  int started = 0, awaited = 0;                   // how many
  bool before_loops = true, behind_loops = true;  // whether all start before the first loop, and end behind the last
};
template <class Policy>
when of_training(bool fuses) {
  auto const low = lowered<training<Policy>>(fuses);
  mt::module const& m = low->graph;
  mt::order const& steps = low->planned.steps;
  when all;
  int loops = 0;
  for (int i = 0; i < steps.count[low->entry]; ++i) {
    mt::node const& n = m.nodes[steps.nodes[steps.first[low->entry] + i]];
    loops += n.kind == mt::primitive::repeat;
    if (mt::permutes(n)) ++all.started, all.before_loops = all.before_loops && loops == 0;
    if (n.kind == mt::primitive::wait) ++all.awaited, all.behind_loops = all.behind_loops && loops == 2;
  }
  return all;
}

}  // namespace

TEST_CASE("permutes with the same sources are one message") { check<same_sources>(3, 1); }
TEST_CASE("permutes with other sources are messages of their own") { check<other_sources>(2, 2); }
TEST_CASE("permutes along another dim are messages of their own") { check<other_rows>(2, 2); }
TEST_CASE("permutes have no limit of size") {
  planned<large> s(mt::layout_rules{}.shard("worker", {"ax"}), 6);
  CHECK(mt::traffic_of(s.low->graph, s.plan()).messages == 1);
}
TEST_CASE("permutes of several dtypes are one message") { check<other_dtypes>(3, 1); }
TEST_CASE("a permute does not wait for one that needs its result") { check<in_turn>(2, 2); }
TEST_CASE("a permute before a loop does not wait for one behind it") { check<around_a_loop>(2, 2); }

TEST_CASE("permutes that need only inputs start before a loop, though others with other sources need its result") {
  check<two_groups>(2, 2);
  planned<two_groups> s(mt::layout_rules{}.shard("worker", {"ax"}), 3);
  mt::module const& m = s.low->graph;
  mt::order const& steps = s.plan().steps;
  std::string order;
  for (int i = 0; i < steps.count[s.low->entry]; ++i) {
    mt::node const& n = m.nodes[steps.nodes[steps.first[s.low->entry] + i]];
    if (mt::permutes(n)) order += "permute ";
    if (n.kind == mt::primitive::repeat) order += "loop ";
  }
  CHECK(order == "permute loop permute ");
}

TEST_CASE("a hop of all parameters and of the weight is one message for each slot of the topology") {
  for (bool const fuses : {false, true}) {
    CAPTURE(fuses);
    mt::step_traffic const one = traffic_of_training<mt::stochastic_gradient_push<>>(fuses);
    CHECK(one.moves == 3);
    CHECK(one.messages == 1);
    CHECK(one.bytes == (2 * 4 * 4 + 4 + 1) * 4);
    CHECK(traffic_of_training<mt::overlapped_gradient_push<>>(fuses).messages == 1);
    mt::step_traffic const two = traffic_of_training<mt::stochastic_gradient_push<mt::ring>>(fuses);
    CHECK(two.moves == 6);
    CHECK(two.messages == 2);
    CHECK(two.bytes == 2 * one.bytes);
    CHECK(traffic_of_training<mt::decentralized_sgd<>>(fuses).messages == 2);
  }
}

TEST_CASE("parameters of bf16 and their weight of f32 are one message") {
  auto const low = lowered<mt::precision<training<mt::stochastic_gradient_push<>>, mt::bf16>>(true);
  mt::step_traffic const t = mt::traffic_of(low->graph, low->planned);
  CHECK(t.messages == 1);
  CHECK(t.bytes == (2 * 4 * 4 + 4) * 2 + 4);
}

TEST_CASE("messages that need only variables travel during the whole step") {
  for (bool const fuses : {false, true}) {
    CAPTURE(fuses);
    for (when const& w : {of_training<mt::overlapped_gradient_push<>>(fuses),
                          of_training<mt::decentralized_sgd<mt::directed_ring>>(fuses)}) {
      CHECK(w.started >= 2);
      CHECK(w.awaited == w.started);
      CHECK(w.before_loops);
      CHECK(w.behind_loops);
    }
    when const late = of_training<mt::stochastic_gradient_push<>>(fuses);  // the weight waits for the parameters
    CHECK(late.started == 3);
    CHECK(!late.before_loops);
    CHECK(late.behind_loops);
  }
}
