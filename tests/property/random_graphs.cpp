// SPDX-License-Identifier: Apache-2.0
// Graphs made at random: loops, composites and state, with any operations between them, under layouts made at random.
// timeout: 300
#include "property/graph_fuzzer.hpp"
#include "property/integer_fuzzer.hpp"
#include "property/seeds.hpp"

#include <set>

using namespace property;

namespace {

/// How many outputs there are, and how many of them are not all zeros.
struct variety {
  long outputs = 0, alive = 0;
  void add(mt::blocks const& made) {
    for (auto const& [label, b] : made) ++outputs, alive += meshtensor_test::detail::greatest(b) != 0;
  }
};

long try_graphs(purpose what, std::uint64_t first, int count) {
  static auto const meshes = meshtensor_test::meshes();
  tally t;
  variety seen;
  each_seed(first, count, [&](std::uint64_t seed) {
    graph_fuzzer const a(seed, what, loops_of(seed));
    rng c{seed + 1};
    auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
    subject s(a.g.module(), "main", extents_of(a.g.module(), mesh.size(), c));
    s.steps = 2;
    // Of zeros of both signs the greatest is either.
    s.tolerance = what == purpose::values ? meshtensor_test::same_numbers : 1e-9;
    s.fill(fill_kind::integers, c, 0, 0, static_cast<int>(mesh.size()));
    s.expect();
    seen.add(s.expected_outputs());
    auto const dims = dims_for_layouts(a.g.module());
    for (int i = 0; i < 16; ++i)
      s.check_layout(mesh, meshtensor_test::drawn_layout(dims, {"in", "op", "other", "out"}, mesh, c), t);
  });
  t.say(what == purpose::values ? "graphs" : "gradients of graphs");
  MESSAGE("not all zeros: " << seen.alive << " of " << seen.outputs << " outputs");
  if (seen.outputs >= 60) CHECK(seen.alive * 3 >= seen.outputs * 2);  // of few, by chance, most are zeros
  return t.tried;
}

double loss_of(mt::interpreter& whole, mt::blocks const& inputs) {
  mt::blocks variables;
  return whole.run(0, inputs, variables, {}).at("loss").number_at(0);
}

}  // namespace

TEST_CASE("graphs of integers near the limits of i64, i32 and f64") {
  static auto const meshes = meshtensor_test::meshes();
  tally t;
  long outputs = 0, beyond = 0;  // beyond: with an integer that f64 does not hold
  each_seed(5000001, 600, [&](std::uint64_t seed) {
    integer_fuzzer const a(seed);
    rng c{seed + 1};
    auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
    subject s(a.g.module(), "main", extents_of(a.g.module(), mesh.size(), c));
    s.steps = 2;
    s.fill(fill_kind::integers, c, 0, 0, static_cast<int>(mesh.size()));
    fill_near_limits(s.inputs, rng{seed});
    s.expect();
    for (auto const& [label, b] : s.expected_outputs()) ++outputs, beyond += mt::detail::first_beyond_f64(b) >= 0;
    auto const dims = dims_for_layouts(a.g.module());
    for (int i = 0; i < 16; ++i)
      s.check_layout(mesh, meshtensor_test::drawn_layout(dims, {"in", "op", "other", "out"}, mesh, c), t);
  });
  t.say("graphs of integers");
  MESSAGE("with an integer that f64 does not hold: " << beyond << " of " << outputs << " outputs");
  if (outputs >= 60) CHECK(beyond * 4 >= outputs);
  at_least(6000, t.tried);
}
TEST_CASE("graphs made at random") { at_least(17000, try_graphs(purpose::values, 1, 1500)); }
TEST_CASE("gradients of graphs made at random") { at_least(8800, try_graphs(purpose::gradients, 1000001, 750)); }

namespace {
/// The derivative along one direction, against a central difference.
int try_derivatives(std::uint64_t first, int count, may_end_early loops) {
  int alive = 0, tried = 0, off = 0;
  each_seed(first, count, [&](std::uint64_t seed) {
    graph_fuzzer const a(seed, purpose::derivatives, loops);
    rng of_extents{seed};
    subject s(a.g.module(), "main", extents_of(a.g.module(), 2, of_extents));
    s.fill(fill_kind::reals, rng{seed}, -2, 2, 2);
    auto const whole_module = mt::on_heap([&] { return mt::differentiate(a.g.module()); });
    mt::interpreter whole(*whole_module, s.numbers());
    mt::blocks variables;
    mt::blocks const given = whole.run(0, s.inputs, variables, {});
    mt::blocks above = s.inputs, below = s.inputs;
    rng c{seed};
    double derivative = 0;
    constexpr double step = 1e-6;
    char const* labels[] = {"x", "y", "z"};
    for (std::size_t k = 0; k < 3; ++k) {
      mt::block const& by = given.at(a.gradients[k]);
      for (std::int64_t i = 0; i < by.size(); ++i) {
        double const direction = (c.below(9) - 4) / 4.0, here = s.inputs.at(labels[k]).number_at(i);
        derivative += direction * by.number_at(i);
        above.at(labels[k]).set(i, here + step * direction), below.at(labels[k]).set(i, here - step * direction);
      }
    }
    double const difference = (loss_of(whole, above) - loss_of(whole, below)) / (2 * step);
    ++tried, alive += derivative != 0;
    if (!(std::abs(derivative - difference) <= 1e-5 * (1 + std::abs(difference)))) {  // NaN, too
      ++off;
      MESSAGE("SEED=" << seed << ": " << derivative << " but " << difference);
    }
  });
  MESSAGE(alive << " of " << tried << " gradients are not zero");
  CHECK(off == 0);
  return tried;
}
}  // namespace

// Loops within loops, composites within loops.
TEST_CASE("gradients are derivatives") { at_least(3000, try_derivatives(2000001, 3000, may_end_early::no)); }
TEST_CASE("gradients of loops that may end early are derivatives") {
  at_least(1500, try_derivatives(4000001, 1500, may_end_early::yes));
}

TEST_CASE("every operation is among them, in every direction") {
  std::set<mt::primitive> drawn;
  std::set<int> pools, convolutions, shifts;
  int sums = 0, two_windows = 0, three_parts = 0;
  for (std::uint64_t seed = 3000001; seed < 3000401; ++seed) {
    graph_fuzzer const a(seed, seed % 2 == 0 ? purpose::values : purpose::gradients);
    mt::module const& m = a.g.module();
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      drawn.insert(n.kind);
      if (n.kind == mt::primitive::pool) pools.insert(n.function);
      if (n.kind == mt::primitive::conv) convolutions.insert(n.function);
      if (n.kind == mt::primitive::shift) shifts.insert(n.function);
      if (n.kind == mt::primitive::repeat) sums += mt::loop::of(n).sums;
      if (n.kind == mt::primitive::pool) two_windows += mt::pool_attributes::of(n).count == 2;
      if (n.kind == mt::primitive::concat) three_parts += m.dim_name(mt::concat_attributes::of(n).to) == "t";
    }
  }
  std::set<mt::primitive> const elsewhere = {mt::primitive::grouped_einsum, mt::primitive::all_to_all_rows,
                                             mt::primitive::permute, mt::primitive::reshard, mt::primitive::extension};
  for (int i = 0; i < static_cast<int>(mt::primitive::count_); ++i)
    if (auto const p = static_cast<mt::primitive>(i); mt::is_computed(p) && !elsewhere.contains(p))
      CHECK_MESSAGE(drawn.contains(p), std::string(mt::text_of(p)));
  CHECK(pools.size() == 4);  // all but that of gradients alone
  CHECK(convolutions.size() == 3);
  CHECK(shifts.size() == 3);
  CHECK(sums > 0);
  CHECK(two_windows > 0);
  CHECK(three_parts > 0);
}
