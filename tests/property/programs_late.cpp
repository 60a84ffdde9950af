// SPDX-License-Identifier: Apache-2.0
// Every program of the catalogue, and random ones, on a device whose queues run late and out of order, with memory that
// nobody else can touch, under drawn layouts: what the interpreter gives, and the bits of the reference device.
// passes: start-up
// timeout: 600
#include "property/program.hpp"
#include "property/random_run.hpp"
#include "property/under_layout.hpp"
#include "support/late_machine.hpp"

using namespace property;
using meshtensor_test::late_device;

TEST_CASE("the programs of the catalogue on a late device") {
  long runs = 0, runs_of_several = 0, in_order = 0, programs = 0, with_choices = 0;
  char const* const only = std::getenv("MESHTENSOR_PROGRAM");
  for (listed const& program : catalogue()) {
    if (only != nullptr && std::string(only) != program.label) continue;
    if (only == nullptr && !is_in_even_sample(static_cast<std::uint64_t>(&program - catalogue().data()))) continue;
    std::string const label = program.label;
    CAPTURE(label);
    auto const traced = program.trace();
    subject s(*traced, program.entry, {});
    s.steps = 2;
    s.tolerance = label.find("bf16") != std::string::npos ? 0.05 : label.find("f32") != std::string::npos ? 2e-4 : 1e-9;
    s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
    s.expect();
    auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
    rng c{29 + sample_number()};
    long unordered = 0, out_of_order = 0;
    auto const attempt = [&](mt::mesh_shape const& mesh, mt::layout_rules const& rules) {
      CAPTURE(meshtensor_test::text_of(mesh));
      CAPTURE(meshtensor_test::text_of(rules));
      meshtensor_test::late_here here(static_cast<std::uint64_t>(1 + c.below(1000)), 2 + c.below(3));
      auto const o = under<late_device>(s, *traced, program.entry, {}, mesh, rules);
      CHECK(o.fault == "");
      CHECK(here.machine.blocks() == 0);
      CHECK(here.machine.host_blocks() == 0);
      CHECK(o.refusal == "");
      runs += o.runs();
      unordered += here.machine.unordered, out_of_order += here.machine.out_of_order;
      if (o.runs() && mesh.size() > 1) ++runs_of_several, in_order += here.machine.out_of_order == 0;
      return o.is_legal;
    };
    attempt({}, {});
    for (int legal = 0, tried = 0; legal < 5 && tried < 100; ++tried) {
      auto const all = meshtensor_test::meshes();
      auto const& mesh = all[static_cast<std::size_t>(1 + c.below(5))];
      legal += attempt(mesh, meshtensor_test::drawn_layout(dims, scopes, mesh, c));
    }
    // The order is drawn: of 20 pairs that may run either way round one does, but once in a million.
    ++programs, with_choices += unordered >= 20;
    if (unordered >= 20) CHECK(out_of_order > 0);
    else MESSAGE(label << ": " << unordered << " pairs of work that nothing puts in order");
  }
  MESSAGE(with_choices << " of " << programs << " programs have work on several queues that nothing puts in order");
  MESSAGE(runs << " runs");
  MESSAGE(in_order << " of " << runs_of_several << " runs on several processors happened to keep the list's order");
  CHECK(in_order * 20 <= runs_of_several);
  if (only == nullptr) at_least(200, runs);
}

TEST_CASE("random programs on a late device") {
  auto const turns = mt::job::in_lockstep();
  random_run run(40, 900000);
  std::uint64_t seed = 0;
  run.each(random_meshes(), [&](layout_trial const& trial) -> std::string {
    ++seed;
    meshtensor_test::late_here here(seed, 2 + static_cast<int>(seed % 4));
    return first_difference(trial.run(turns, late_device()), trial.run(turns, mt::reference_device()));
  });
  run.say();
  if (!run.is_asked_for()) at_least(40, run.counted());
}
