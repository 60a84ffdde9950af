// SPDX-License-Identifier: Apache-2.0
// A loss in parts, and gradients of gradients, on the cpu device: fused, planned in place, under several layouts, in
// turns and as threads; what the interpreter gives.
// needs: cpu
#include "meshtensor/device/cpu/device.hpp"
#include "property/program.hpp"

using namespace property;

namespace {

mt::mesh_shape two_by(std::int64_t n) { return mt::mesh_shape{}.add("ax", 2).add("by", n); }
mt::layout_rules by_batch() { return mt::layout_rules{}.shard("batch", {"ax"}); }

/// All outputs of two steps, or what is wrong with them.
std::string steps_of(subject const& s, mt::lowering const& low, mt::mesh_shape const& mesh, mt::job const& job) {
  mt::store values(job);
  mt::session<mt::cpu_device> run(values, low.graph, low.planned, mesh, low.entry, mt::cpu_device(1));
  for (auto const& [label, b] : s.inputs) run.feed(label, b.data());
  for (int t = 0; t < s.steps; ++t) {
    run.step();
    for (auto const& [label, whole] : s.expected_outputs(t))
      for (std::size_t k = 0; k < run.held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run.local(label, k), whole, s.tolerance); !d.empty())
          return label + ": " + d;
  }
  return "";
}

}  // namespace

TEST_CASE("a loss in parts on the cpu device") {
  listed const& program = program_named("in_parts");
  auto const traced = program.trace();
  subject s(*traced, program.entry, {});
  s.steps = 3;
  s.tolerance = 1e-9;
  s.fill(fill_kind::integers, rng{3}, 0, 0, 12);
  s.expect();
  auto const by_both = [] { return by_batch().shard("inner", {"by"}).shard("vocab", {"by"}); };
  struct {
    mt::mesh_shape mesh;
    mt::layout_rules rules;
  } const spreads[] = {{{}, {}},
                       {two_by(1), by_batch()},
                       {two_by(2), by_both()},
                       {two_by(3), by_both().shard("model", {"ax"}, "optimizer")},
                       {two_by(3), mt::layout_rules{}.shard("batch", {"by", "ax"})},
                       {two_by(3), by_batch().shard("steps", {"by"})},
                       {two_by(2), by_batch().shard("layers", {"by"})}};
  int tried = 0;
  for (auto const& [mesh, rules] : spreads) {
    CAPTURE(meshtensor_test::text_of(mesh));
    CAPTURE(meshtensor_test::text_of(rules));
    auto const low = mt::lower(*traced, program.entry, mesh, rules, {}, mt::capabilities_of<mt::cpu_device>);
    CHECK(meshtensor_test::fault_at_some_timing(low->graph, low->entry, low->planned, [&](mt::job const& job) {
            return steps_of(s, *low, mesh, job);
          }) == "");
    CHECK(steps_of(s, *low, mesh, mt::job::as_threads()) == "");
    tried += 2;
  }
  at_least(14, tried);
}

TEST_CASE("gradients of gradients, and states that loops update, on the cpu device") {
  struct {
    mt::mesh_shape mesh;
    mt::layout_rules rules;
  } const spreads[] = {{{}, {}},
                       {two_by(2), by_batch().shard("inner", {"by"}).shard("heads", {"by"})},
                       {two_by(3), by_batch().shard("model", {"by"}, "optimizer").shard("length", {"by"})}};
  int tried = 0;
  for (char const* label : {"penalised", "bent", "averaged"}) {
    listed const& program = program_named(label);
    auto const traced = program.trace();
    subject s(*traced, program.entry, {});
    s.steps = 2;
    s.tolerance = 1e-9;
    s.fill(fill_kind::reals, rng{3}, -1.5, 1.5, 11);
    s.expect();
    for (auto const& [mesh, rules] : spreads) {
      CAPTURE(std::string(label));
      CAPTURE(meshtensor_test::text_of(mesh));
      auto const low = mt::lower(*traced, program.entry, mesh, rules, {}, mt::capabilities_of<mt::cpu_device>);
      CHECK(steps_of(s, *low, mesh, mt::job::in_lockstep()) == "");
      CHECK(steps_of(s, *low, mesh, mt::job::as_threads()) == "");
      tried += 2;
    }
  }
  at_least(18, tried);
}
