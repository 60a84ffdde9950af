// SPDX-License-Identifier: Apache-2.0
// Every program of the catalogue, and random ones, on mt::cuda_device under drawn layouts: what the interpreter gives,
// with kernels that the host's compiler makes of the text for a GPU.
// passes: start-up
// sanitize: no
// timeout: 600
// part: cuda
#include "property/on_cuda.hpp"
#include "property/program.hpp"
#include "property/random_run.hpp"

using namespace property;

TEST_CASE("the programs of the catalogue on mt::cuda_device") {
  stand_in const here;
  long runs = 0, refused = 0;
  char const* const only = std::getenv("MESHTENSOR_PROGRAM");
  for (listed const& program : catalogue()) {
    if (only != nullptr && std::string(only) != program.label) continue;
    if (only == nullptr && !is_in_even_sample(static_cast<std::uint64_t>(&program - catalogue().data()))) continue;
    CAPTURE(std::string(program.label));
    auto const traced = program.trace();
    subject s(*traced, program.entry, {});
    s.steps = 3;
    std::string const label = program.label;
    s.tolerance = label.find("bf16") != std::string::npos ? 0.05 : label.find("f32") != std::string::npos ? 2e-4 : 1e-9;
    s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
    s.expect();
    auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
    rng c{7 + sample_number()};
    bool can = true;
    auto const attempt = [&](mt::mesh_shape const& mesh, mt::layout_rules const& rules) {
      CAPTURE(meshtensor_test::text_of(mesh));
      CAPTURE(meshtensor_test::text_of(rules));
      auto const o = on_cuda(s, *traced, program.entry, {}, mesh, rules);
      CHECK(o.fault == "");
      runs += o.runs(), can = can && o.refusal.empty();
      return o.is_legal;
    };
    attempt({}, {});
    refused += !can;
    for (int legal = 0, tried = 0; can && legal < 3 && tried < 100; ++tried) {
      auto const all = meshtensor_test::meshes();
      auto const& mesh = all[static_cast<std::size_t>(1 + c.below(5))];
      legal += attempt(mesh, meshtensor_test::drawn_layout(dims, scopes, mesh, c));
    }
  }
  MESSAGE(runs << " runs, " << refused << " programs refused");
  if (only == nullptr) at_least(90, runs);
}

TEST_CASE("random programs on mt::cuda_device") {
  stand_in const here;
  auto const turns = mt::job::in_lockstep();
  random_run run(24, 700000);
  long refused = 0;
  run.each(
      random_meshes(),
      [&](layout_trial const& trial) -> std::string {
        try {
          return trial.compare(trial.run(turns, mt::cuda_device{}));
        } catch (mt::error const& e) {
          if (e.code() != "R84") throw;
          ++refused;
          return "";
        }
      },
      mt::capabilities_of<mt::cuda_device>);
  run.say();
  MESSAGE(refused << " programs refused");
  if (!run.is_asked_for()) at_least(24, run.counted());
}
