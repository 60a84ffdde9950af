// SPDX-License-Identifier: Apache-2.0
// Where collectives stand and what travels together: over each slice inside a loop instead of over all of them behind
// it, waited for later; small ones as one. Steps run so give what the interpreter gives.
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/pass/cost.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct width : mt::dim<"width", 12> {} width;
inline constexpr struct inner : mt::dim<"inner", 5> {} inner;

inline constexpr struct other : mt::dim<"other", 5> {} other;
inline constexpr struct blocks : mt::dim<"blocks", 3> {} blocks;

/// Quotients of sums of integers.
struct halves {
  constexpr void operator()(mt::scope auto s) const {
    auto const n = s.input("n", mt::i32, rows, inner), u = s.input("u", mt::i64, rows, inner);
    s.output("sum", sum(n, rows) / 2);
    s.output("product", einsum(n, mt::to(inner)) / 3 * 2);
    s.output("of_one", -sum(u) / 2);
  }
};

/// Two matrices, a bias and a gain in each of some layers, and a gain behind them.
struct trains {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto y = repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto h) {
      auto up = r.parameter("up", width, inner, mt::normal(0.3));
      auto down = r.parameter("down", inner, width, mt::normal(0.3));
      auto bias = r.parameter("bias", inner);
      auto gain = r.parameter("gain", width, mt::normal(1));
      return h + einsum(tanh(einsum(h, up, mt::to(rows, inner)) + bias), down, mt::to(rows, width)) * gain;
    });
    auto off = y * s.parameter("gain", width, mt::normal(1)) - 1.0;
    auto loss = mean(off * off);
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  }
};

inline constexpr struct features : mt::dim<"features", 4> {} features;
/// Two matrices in each layer.
struct trains_matrices {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto y = repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto h) {
      auto up = r.parameter("up", width, features, mt::normal(0.3));
      auto down = r.parameter("down", features, width, mt::normal(0.3));
      return h + einsum(tanh(einsum(h, up, mt::to(rows, features))), down, mt::to(rows, width));
    });
    auto loss = mean(y * y);
    s.output("loss", loss);
    mt::sgd{.learning_rate = 1.0}.minimize(s / "optimizer", loss);
  }
};

/// The gradient of each layer's own matrix is a term of that of the one that they share.
struct shares {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto shared = s.parameter("shared", width, inner, mt::normal(0.3));
    auto y = repeat(s / "blocks", blocks, x, [=](mt::scope auto r, auto h) {
      auto w = r.parameter("own", width, inner, mt::normal(0.3)) + shared;
      return h + tanh(einsum(einsum(h, w, mt::to(rows, inner)), w, mt::to(rows, width)));
    });
    auto loss = mean(y * y);
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  }
};

/// The gradient of what the layers share is, by another name, that of each layer's own.
struct shares_by_another_name {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto shared = s.parameter("shared", width, inner, mt::normal(0.3));
    auto y = repeat(s / "blocks", blocks, x, [=](mt::scope auto r, auto h) {
      auto own = r.parameter("own", width, other, mt::normal(0.3));
      auto w = rename(own, other, inner) + shared;
      return h + tanh(einsum(einsum(h, w, mt::to(rows, inner)), w, mt::to(rows, width)));
    });
    auto loss = mean(y * y);
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  }
};

/// A matrix in each layer, trained by its gradient alone, which is scaled before it is summed.
struct descends {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto y = repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto h) {
      auto up = r.parameter("up", width, inner, mt::normal(0.3));
      auto down = r.parameter("down", inner, width, mt::normal(0.3));
      return h + einsum(tanh(einsum(h, up, mt::to(rows, inner))), down, mt::to(rows, width));
    });
    auto loss = mean(y * y);
    mt::sgd{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// Two operations read a sum over the processors.
struct reads_twice {
  constexpr void operator()(mt::scope auto s) const {
    auto total = sum(s.input("x", mt::f32, rows, width), rows);
    s.output("bent", tanh(total));
    s.output("scaled", total * 0.5);
  }
};

/// Two matrices in each layer whose gradients a composite of its own gives: not in their places in the stacks where a
/// device takes composites apart.
struct gives_gradients {
  static constexpr auto both = [](auto x, auto up, auto down) {
    return composite_with_gradient(
        "both",
        [](auto a, auto u, auto d) { return einsum(einsum(a, u, mt::to(rows, inner)), d, mt::to(rows, width)); },
        [](auto a, auto u, auto d, auto, auto dy) {
          auto const derivative = einsum(dy, d, mt::to(rows, inner));
          return std::tuple(einsum(derivative, u, mt::to(rows, width)), einsum(a, derivative, mt::to(width, inner)),
                            einsum(einsum(a, u, mt::to(rows, inner)), dy, mt::to(inner, width)));
        },
        x, up, down);
  };
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto y = repeat(s / "blocks", blocks, x, [](mt::scope auto r, auto h) {
      auto up = r.parameter("up", width, inner, mt::normal(0.3));
      auto down = r.parameter("down", inner, width, mt::normal(0.3));
      return h + tanh(both(h, up, down));
    });
    auto loss = mean(y * y);
    mt::sgd{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// The stacked gradient has another use, in which it stays partial.
struct looks_at_gradients {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto w = s.parameter("w", blocks, width, inner, mt::normal(0.3));
    auto const [last, each] = mt::scan(s / "blocks", blocks, x, w, [](auto, auto h, auto wi) {
      auto const next = h + tanh(einsum(einsum(h, wi, mt::to(rows, inner)), wi, mt::to(rows, width)));
      return std::tuple(next, sum(next));
    });
    auto loss = mean(last * last) + mean(each);
    auto const gradients = gradient(loss, w);
    s.update(w, w - gradients * 0.05);
    s.output("loss", loss);
    s.output("together", sum(gradients));
  }
};

/// What a number has made of the stacked gradient has another use, in which it stays partial.
struct looks_at_changes {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto w = s.parameter("w", blocks, width, inner, mt::normal(0.3));
    auto const y = mt::scan(s / "blocks", blocks, x, w, [](auto, auto h, auto wi) {
      auto const next = h + tanh(einsum(einsum(h, wi, mt::to(rows, inner)), wi, mt::to(rows, width)));
      return std::tuple(next, sum(next));
    });
    auto loss = mean(std::get<0>(y) * std::get<0>(y));
    auto const change = gradient(loss, w) * 0.05;
    s.output("together", sum(change));
    s.update(w, w - change);
    s.output("loss", loss);
  }
};

/// A composite gives two results, of which one is used.
struct uses_one_of_two {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto const [squares, doubles] = mt::composite(
        "two",
        [](auto const& h) {
          auto const total = sum(h, rows);
          return std::tuple(total * total, h * 2.0);
        },
        x);
    s.output("doubles", doubles);
  }
};

struct found {
  int behind_loop = 0, stack_slices = 0, scattered_in_loops = 0, outside = 0;
  template <class P>
  explicit found(planned<P> const& s) {
    mt::module const& m = s.low->graph;
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      bool const in_loop = m.regions[n.region].kind == mt::region_kind::body;
      behind_loop += mt::ends_behind_loop(n);
      if (mt::ends_behind_loop(n)) {
        CHECK(in_loop);
        mt::value_id const root = s.plan().root[m.result(n)];
        CHECK(root == s.plan().root[m.operand(n, 0)]);
        stack_slices += s.plan().where[root] == mt::place::stack_slice;
      }
      scattered_in_loops += in_loop && n.kind == mt::primitive::reduce_scatter;
      outside += !in_loop && n.kind == mt::primitive::all_reduce;
    }
  }
};

mt::layout_rules data_parallel() {
  mt::layout_rules rules{};
  rules.shard("rows", {"ax"});
  return rules;
}

}  // namespace

TEST_CASE("matrices' gradients are summed layer by layer, in their slices; vectors' behind the loop, as one") {
  for (std::int64_t processors : {2, 3, 4, 6}) {
    CAPTURE(processors);
    planned<trains> s(data_parallel(), processors);
    found const f(s);
    CHECK(f.behind_loop == 2);
    CHECK(f.stack_slices == 2);
    CHECK(f.outside == 4);  // two vectors of the layers, one behind them, the loss
    auto const all = mt::traffic_of(s.low->graph, s.plan());
    CHECK(all.all_reduces == 2 * 3 + 4);
    CHECK(all.messages < all.collectives());
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("gradients that a number scales are summed in their slices, before") {
  for (std::int64_t processors : {2, 3, 4, 6}) {
    CAPTURE(processors);
    planned<descends> s(data_parallel(), processors);
    found const f(s);
    CHECK(f.behind_loop == 2);
    CHECK(f.stack_slices == 2);
    CHECK(f.outside == 1);  // the loss
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
  auto rules = data_parallel();
  rules.shard("width", {"ax"}, "optimizer");
  planned<descends> s(rules, 2);
  s.check_steps();
  s.check_steps(mt::job::as_threads());
}

TEST_CASE("a slice that is reduced outside of its stack is awaited before it is copied there") {
  for (std::int64_t processors : {2, 3, 4, 6}) {
    CAPTURE(processors);
    planned<gives_gradients> s(data_parallel(), processors);
    found const f(s);
    CHECK(f.behind_loop == 2);
    CHECK(f.stack_slices == 0);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("what a loop leaves on its way is gathered behind the wait for it") {
  mt::mesh_shape mesh{};
  mesh.add("ax", 2), mesh.add("by", 2);
  auto rules = data_parallel();
  rules.shard("features", {"by"}, "blocks");
  planned<trains_matrices> s(rules, mesh);
  CHECK(found(s).behind_loop == 2);
  int gathered = 0;
  for (int i = 0; i < s.low->graph.node_count; ++i) gathered += s.low->graph.nodes[i].kind == mt::primitive::all_gather;
  CHECK(gathered >= 2);
  CHECK(mt::count_overlapped(s.low->graph, s.plan().steps) >= 2);
  s.check_steps();
  s.check_steps(mt::job::as_threads());
}

TEST_CASE("what an optimizer needs in parts is scattered inside the loop, and only that is stacked") {
  auto rules = data_parallel();
  rules.shard("width", {"ax"}, "optimizer");
  for (std::int64_t processors : {2, 3, 6}) {
    CAPTURE(processors);
    planned<trains> s(rules, processors);
    CHECK(found(s).scattered_in_loops == 2);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("a slice that is used in its iteration, too") {
  for (std::int64_t processors : {2, 3, 6}) {
    CAPTURE(processors);
    planned<shares> s(data_parallel(), processors);
    CHECK(found(s).behind_loop == 0);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("a slice that is a term of a sum, by another name, keeps it") {
  for (std::int64_t processors : {2, 3, 6}) {
    CAPTURE(processors);
    planned<shares_by_another_name> s(data_parallel(), processors);
    CHECK(found(s).behind_loop == 0);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
  }
}

TEST_CASE("what is stacked and has another use is summed behind the loop") {
  for (std::int64_t processors : {2, 3, 6}) {
    CAPTURE(processors);
    planned<looks_at_gradients> s(data_parallel(), processors);
    CHECK(found(s).behind_loop == 0);
    s.check_steps();
    s.check_steps(mt::job::as_threads());
    planned<looks_at_changes> scaled(data_parallel(), processors);
    CHECK(found(scaled).behind_loop == 0);
    scaled.check_steps();
  }
}

TEST_CASE(
    "a result of a composite that nobody uses is neither computed nor reduced where the composite is taken apart") {
  mt::mesh_shape mesh{};
  mesh.add("ax", 2);
  mt::device_capabilities capabilities{};
  capabilities.fuses = true;
  auto const low =
      mt::lower(traced<uses_one_of_two>, mt::name("uses_one_of_two"), mesh, data_parallel(), {}, capabilities);
  for (int i = 0; i < low->graph.node_count; ++i) CHECK(!mt::is_collective(low->graph.nodes[i].kind));
}

TEST_CASE("the first of two operations waits for the sum that both read") {
  planned<reads_twice> s(data_parallel(), 2);
  CHECK(mt::traffic_of(s.low->graph, s.plan()).all_reduces == 1);
  s.check_steps();
}

TEST_CASE("one processor has nothing to send") {
  planned<trains> s(data_parallel(), 1);
  CHECK(mt::traffic_of(s.low->graph, s.plan()).messages == 0);
  for (int i = 0; i < s.low->graph.node_count; ++i) CHECK(s.plan().joined[i] == 0);
  s.check_steps(mt::job::as_threads());
}

TEST_CASE("what travels together starts when the last of it is there, before any of it is needed") {
  planned<trains> s(data_parallel(), 2);
  mt::module const& m = s.low->graph;
  mt::order const& steps = s.plan().steps;
  std::vector<int> when(static_cast<std::size_t>(m.node_count));
  for (int r = 0; r < m.region_count; ++r)
    for (int i = 0; i < steps.count[r]; ++i) when[steps.nodes[steps.first[r] + i]] = i;
  int together = 0;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    if (n.kind == mt::primitive::wait && s.plan().joined[m.values[m.result(mt::awaited(m, n))].node] != 0) {
      auto const last = static_cast<std::size_t>(s.plan().joined[m.values[m.result(mt::awaited(m, n))].node] - 1);
      CHECK(when[last] < when[static_cast<std::size_t>(i)]);
    }
    if (s.plan().joined[i] == 0) continue;
    ++together;
    CHECK(when[static_cast<std::size_t>(i)] <= when[static_cast<std::size_t>(s.plan().joined[i] - 1)]);
    CHECK(s.plan().joined[s.plan().joined[i] - 1] == s.plan().joined[i]);
    CHECK(n.region == m.nodes[s.plan().joined[i] - 1].region);
  }
  CHECK(together > 1);
}

TEST_CASE("integers are added up before they are divided, because a quotient is truncated") {
  for (std::int64_t const ranks : {1, 2, 3, 4, 6, 8}) {
    CAPTURE(ranks);
    planned<halves>(data_parallel(), ranks).check_steps();
  }
}
