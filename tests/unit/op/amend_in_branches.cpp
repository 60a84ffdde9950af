// SPDX-License-Identifier: Apache-2.0
// A branch that replaces an update which the body around its cond has made.
// passes: start-up
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::numbers_of, trial::program;

namespace {

inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct member_dim : mt::dim<"member", 2> {} member;
inline constexpr struct width_dim : mt::dim<"width", 2> {} width;

using numbers = std::vector<double>;

/// w ← w + 1, and then twice that if the number is positive, or three times that if `Both` and it is not.
template <bool Both>
constexpr void step_of(mt::scope auto s, auto number) {
  auto const w = s.state("w", mt::f32, width);
  s.update(w, w + 1);
  auto const scaled = [&](auto branch, float by) {
    branch.amend(w, branch.next(w) * by);
    return mt::full(branch, 0, mt::f32);
  };
  mt::cond(
      s, number > 0, [&](mt::scope auto b) { return scaled(b, 2); },
      [&](mt::scope auto b) {
        if constexpr (Both) return scaled(b, 3);
        else return mt::full(b, 0, mt::f32);
      });
  s.amend(w, s.next(w) + 0.5);  // what stands behind the cond sees its result
}

template <bool Both>
struct in_entry {
  constexpr void operator()(mt::scope auto s) const { step_of<Both>(s, s.input("number", mt::f32)); }
};
template <bool Both>
struct in_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const number = s.input("number", mt::f32, rounds);
    auto const [last, all] = mt::scan(s, rounds, mt::full(s, 0, mt::f32), number, [](mt::scope auto r, auto, auto one) {
      step_of<Both>(r, one);
      return std::tuple(one, one);
    });
    s.output("last", last);
  }
};
template <bool Both>
struct in_each {
  constexpr void operator()(mt::scope auto s) const {
    mt::each(s, member, s.input("number", mt::f32, member), [](mt::scope auto m, auto one) { step_of<Both>(m, one); });
  }
};
struct second_alone {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", width, mt::constant(1));
    auto const loss = sum(w * w);
    mt::sgd{.learning_rate = 0.25}.minimize(s / "optimizer", loss);  // w / 2, counted as an update
    auto const nothing = [](mt::scope auto b) { return mt::full(b, 0, mt::f32); };
    mt::cond(s, s.input("number", mt::f32) > 0, nothing, [&](mt::scope auto b) {
      b.amend(w, b.next(w) + w);
      return mt::full(b, 0, mt::f32);
    });
    s.output("updates", s.updates(s.path_for(w)));
  }
};

/// Amends an update to what a loop makes of it.
struct behind_a_loop {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.state("w", mt::f32, width);
    s.update(w, w + 8);
    s.amend(w, mt::repeat(s / "rounds", rounds, s.next(w), [](mt::scope auto, auto h) { return h * 0.5; }));
  }
};
/// A branch alone amends an update.
struct in_a_branch {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.state("w", mt::f32, width);
    s.update(w, w + 1);
    auto const nothing = [](mt::scope auto b) { return mt::full(b, 0, mt::f32); };
    mt::cond(
        s, s.input("number", mt::f32) > 0,
        [&](mt::scope auto b) {
          b.amend(w, b.next(w) * 2);
          return nothing(b);
        },
        nothing);
  }
};

double after(double w, double number, bool both) { return (w + 1) * (number > 0 ? 2 : both ? 3 : 1) + 0.5; }

template <bool Both>
void check() {
  program one = program::of<in_entry<Both>>(), loop = program::of<in_loop<Both>>(), many = program::of<in_each<Both>>();
  double w = 0, first = 0, second = 0, looped = 0;
  for (double const number : {1.0, -1.0, -2.0, 3.0, 4.0}) {
    one.fill("number", {number}), many.fill("number", {number, -number}), loop.fill("number", {number, -number, 1});
    one.run(), many.run(), loop.run();
    w = after(w, number, Both);
    CHECK(numbers_of(one.variables.at("w")) == numbers{w, w});
    first = after(first, number, Both), second = after(second, -number, Both);
    CHECK(numbers_of(many.variables.at("w")) == numbers{first, first, second, second});
    for (double const n : {number, -number, 1.0}) looped = after(looped, n, Both);
    CHECK(numbers_of(loop.variables.at("w")) == numbers{looped, looped});
  }
}

}  // namespace

TEST_CASE("a branch amends an update before its cond, alone") { check<false>(); }
TEST_CASE("both branches amend an update before their cond") { check<true>(); }

TEST_CASE("an optimizer's update that a branch amends counts once") {
  program p = program::of<second_alone>();
  p.fill("number", {1});
  p.run();
  CHECK(numbers_of(p.variables.at("w")) == numbers{0.5, 0.5});
  p.fill("number", {-1});
  p.run();
  CHECK(numbers_of(p.variables.at("w")) == numbers{0.75, 0.75});
  std::unique_ptr<mt::module> const m(new mt::module(mt::trace<second_alone>()));
  int writes = 0;
  for (int i = 0; i < m->node_count; ++i) {
    if (m->nodes[i].kind != mt::primitive::write) continue;
    ++writes;
    CHECK(mt::counting_of(m->nodes[i]).under != mt::path_id{mt::no_id});
  }
  CHECK(writes == 1);
}

TEST_CASE("an update is amended behind the loop or the branch that makes the new value") {
  program loop = program::of<behind_a_loop>(), branch = program::of<in_a_branch>();
  double looped = 0, branched = 0;
  for (double const number : {1.0, -1.0, 2.0}) {
    loop.run(), branch.fill("number", {number}), branch.run();
    looped = (looped + 8) / 8, branched = (branched + 1) * (number > 0 ? 2 : 1);
    CHECK(numbers_of(loop.variables.at("w")) == numbers{looped, looped});
    CHECK(numbers_of(branch.variables.at("w")) == numbers{branched, branched});
  }
  auto const traced = std::make_unique<mt::module>(mt::trace<behind_a_loop>());
  mt::module const& m = *traced;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::write) CHECK(m.nodes[i].regions.count == 0);
}
