// What takes whose memory: carries, slices of stacked results, collectives of one processor; and that steps run so give
// what the interpreter gives, which gives every value memory of its own.
#include "meshtensor/pass/plan_memory.hpp"

#include <doctest/doctest.h>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "support/compare.hpp"
#include "unit/pass/results.hpp"

using namespace meshtensor_test;

namespace {

template <class Program>
struct subject {
  std::unique_ptr<mt::lowering> low;
  mt::mesh_shape mesh{};
  mt::plan const& plan() const { return low->planned; }

  explicit subject(mt::layout_rules const& rules = {}, std::int64_t processors = 0) {
    if (processors != 0) mesh.add("ax", processors);
    low = mt::lower(traced<Program>, mt::entry_name<Program>(), mesh, rules, {});
  }

  /// Values that are made in a slice of a stacked result.
  int filled() const {
    int n = 0;
    for (int v = 0; v < low->graph.value_count; ++v) n += plan().where[v] == mt::place::filled && plan().root[v] == v;
    return n;
  }
  /// Carries whose next value is made in their memory.
  int kept_in_place() const {
    int n = 0;
    mt::module const& m = low->graph;
    for (int i = 0; i < m.node_count; ++i) {
      if (m.nodes[i].kind != mt::primitive::repeat) continue;
      mt::region const& body = m.regions[m.region_of(m.nodes[i], 0)];
      for (int k = 0; k < mt::loop::of(m.nodes[i]).carries; ++k)
        n += plan().root[m.link(body.results, k)] == plan().root[m.link(body.arguments, k)];
    }
    return n;
  }
  /// Three steps, of the plan and of the interpreter.
  void check_steps() {
    mt::module const& whole = traced<Program>;
    auto const simple = made([&] { return mt::simplify(mt::differentiate(whole)); });
    auto const b = mt::bind(*simple, mt::mesh_shape{});
    int const entry = mt::find_entry(*simple, mt::entry_name<Program>());
    auto const job = mt::processors::in_lockstep();
    mt::store values(job, 7);
    mt::session<mt::reference_device> run(values, low->graph, plan(), mesh, low->entry);
    mt::interpreter oracle(*simple, b);
    mt::blocks variables;
    for (unsigned step = 0; step < 3; ++step) {
      auto const inputs = random_inputs(*simple, entry, b, step);
      for (auto const& [label, x] : inputs) run.feed(label, x.data());
      run.step();
      for (auto const& [label, x] : oracle.run(entry, inputs, variables, mt::settings{{}, 7, step}))
        for (std::size_t k = 0; k < run.held().size(); ++k) {
          CAPTURE(label);
          CHECK(difference(run.local(label, k), x, 1e-5) == "");
        }
    }
  }
};

/// What is added to the carry can be made in its memory; what is stacked, in its slice.
struct adds {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, all] = scan(s / "blocks", layers, x, bias, [](mt::scope auto, auto h, auto b) {
      return std::tuple(einsum(tanh(h), mt::to(in)) + h * 0.5, std::tuple(exp(h), sin(h) * b));
    });
    s.output("y", y), s.output("all", std::get<0>(all)), s.output("more", std::get<1>(all));
  }
};
/// The old carry is needed after the next one is made: stacked, read by what follows, or as the other carry.
struct looks_back {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, old] =
        scan(s / "a", layers, x, bias, [](mt::scope auto, auto h, auto b) { return std::tuple(tanh(h) + b, h); });
    auto z = repeat(s / "b", layers, std::tuple(x, y),
                    [](mt::scope auto, auto p, auto q) { return std::tuple(q, p * 0.5 + q); });
    auto w = repeat(s / "c", layers, std::tuple(x, y), [](mt::scope auto, auto p, auto q) { return std::tuple(q, p); });
    s.output("y", y), s.output("old", old), s.output("z", std::get<0>(z) + std::get<1>(z));
    s.output("p", std::get<0>(w)), s.output("q", std::get<1>(w));
  }
};
/// One value stacked twice, and one that is both the carry and stacked.
struct given_twice {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto bias = s.input("bias", mt::f32, layers, in);
    auto [y, all] = scan(s / "blocks", layers, x, bias, [](mt::scope auto, auto h, auto b) {
      auto e = exp(h * b);
      auto next = tanh(h + e);
      return std::tuple(next, std::tuple(e, e, next));
    });
    s.output("y", y), s.output("one", std::get<0>(all)), s.output("two", std::get<1>(all));
    s.output("three", std::get<2>(all));
  }
};
/// Variables that take each other's value, one of them through a sum over processors.
struct changes_places {
  constexpr void operator()(mt::scope auto s) const {
    auto left = s.parameter("left", in, mt::normal(1)), right = s.parameter("right", in, mt::normal(1));
    auto x = s.input("x", mt::f32, batch, in);
    s.output("sum", einsum(x * left, mt::to()) + einsum(x, mt::to()));
    s.output("left", left), s.output("right", right);
    s.update(left, right), s.update(right, left);
  }
};

}  // namespace

TEST_CASE("made where it will be found") {
  subject<adds> s;
  CHECK(s.filled() == 2);
  s.check_steps();
}

TEST_CASE("not while the old value is needed") {
  subject<looks_back> s;
  CHECK(s.kept_in_place() == 0);
  CHECK(s.filled() == 0);
  s.check_steps();
}

TEST_CASE("what is stacked twice has one place; a carry and its slice have two") {
  subject<given_twice> s;
  CHECK(s.filled() == 1);
  s.check_steps();
}

TEST_CASE("a collective of one processor is another name, unless it keeps two variables apart") {
  mt::layout_rules rules{};
  rules.shard("in", {"ax"});
  for (std::int64_t processors : {1, 2}) {
    subject<changes_places> s(rules, processors);
    s.check_steps();
    int names = 0, collectives = 0;
    for (int i = 0; i < s.low->graph.node_count; ++i) {
      mt::node const& n = s.low->graph.nodes[i];
      if (!mt::is_collective(n.kind)) continue;
      ++collectives;
      names += s.plan().root[s.low->graph.result(n)] == s.plan().root[s.low->graph.operand(n, 0)];
    }
    CHECK(collectives > 0);
    CHECK(names == (processors == 1 ? collectives : 0));
  }
}
