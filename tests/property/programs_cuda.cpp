// SPDX-License-Identifier: Apache-2.0
// Every program of the catalogue, and random ones, on mt::cuda_device under drawn layouts: what the interpreter gives,
// with kernels that the host's compiler makes of the text for a GPU.
// passes: start-up
// sanitize: no
// timeout: 600
#include "meshtensor/device/cuda/device.hpp"
#include "property/program.hpp"
#include "property/random_run.hpp"
#include "support/host_gpu.hpp"

using namespace property;

namespace {

/// The GPU of a test.
struct stand_in {
  meshtensor_test::host_gpu gpu;
  stand_in() { mt::cuda::given_gpu() = &gpu; }
  ~stand_in() { mt::cuda::given_gpu() = nullptr; }
};

struct outcome_of_layout {
  bool is_legal = false, runs = false;
  std::string fault;
};

outcome_of_layout under(subject const& s, mt::module const& traced, mt::name const& entry, mt::mesh_shape const& mesh,
                        mt::layout_rules const& rules) {
  outcome_of_layout o;
  std::unique_ptr<mt::lowering> low;
  try {
    low = mt::lower(traced, entry, mesh, rules, {}, mt::capabilities_of<mt::cuda_device>);
  } catch (mt::error const&) { return o; }
  o.is_legal = true;
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  std::unique_ptr<mt::session<mt::cuda_device>> run;
  try {
    run = std::make_unique<mt::session<mt::cuda_device>>(values, low->graph, low->planned, mesh, low->entry);
  } catch (mt::error const& e) {
    if (e.code() != "R84") o.fault = e.what();
    return o;
  }
  o.runs = true;
  for (auto const& [label, b] : s.inputs) run->feed(label, b.data());
  for (int t = 0; t < s.steps; ++t) {
    run->step();
    for (auto const& [label, whole] : s.expected_outputs(t))
      for (std::size_t k = 0; k < run->held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run->local(label, k), whole, s.tolerance);
            !d.empty() && o.fault.empty())
          o.fault = "step " + std::to_string(t) + ", output " + label + ": " + d;
    for (auto const& [path, whole] : s.expected_variables(t)) {
      auto const found = values.values().find(path);
      if (found == values.values().end()) continue;
      for (std::size_t k = 0; k < run->held().size(); ++k) {
        mt::view part = found->second.windows[k];
        part.data = found->second.read_block(k);
        if (auto const d = meshtensor_test::difference(part, whole, s.tolerance); !d.empty() && o.fault.empty())
          o.fault = "step " + std::to_string(t) + ", variable " + path + ": " + d;
      }
    }
  }
  return o;
}

}  // namespace

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
      auto const o = under(s, *traced, program.entry, mesh, rules);
      CHECK(o.fault == "");
      runs += o.runs, can = can && (o.runs || !o.is_legal);
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
