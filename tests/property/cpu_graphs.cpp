// SPDX-License-Identifier: Apache-2.0
// Graphs made at random on the cpu device: fused, planned in place, under layouts made at random; values are exact, so
// that every bit is known. The device without libraries, at -O0, has random_programs_cpu.
//
// needs: cpu
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/pass/lower.hpp"
#include "property/graph_fuzzer.hpp"
#include "support/fused.hpp"

using namespace property;

namespace {

struct counts {
  long tried = 0, kernels = 0, steps = 0, refused = 0;
};

std::vector<mt::dim_extent> extents_of(mt::module const& m, std::int64_t processors, rng& c) {
  std::vector<mt::dim_extent> extents;
  bool const even = c.one_in(2);
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == mt::dim_row::dynamic)
      extents.push_back(
          {m.dim_name(d), even ? processors * (processors == 1 && c.one_in(4) ? 9 : 1 + c.below(3)) : 1 + c.below(17)});
  return extents;
}

void count_kernels(mt::module const& m, counts& seen) {
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    bool const inside = m.regions[n.region].kind == mt::region_kind::kernel;
    bool const joins =
        n.kind == mt::primitive::elementwise || n.kind == mt::primitive::reduce || n.kind == mt::primitive::random;
    if (joins && !inside) REQUIRE(static_cast<mt::function>(n.function) == mt::function::stop_gradient);
    if (n.kind != mt::primitive::kernel) continue;
    auto const reading = mt::read_kernel(m, n);
    ++seen.kernels, seen.steps += reading.key.step_count;
  }
}

std::string outcome(mt::session<mt::cpu_device>& run, subject const& s, mt::blocks const& inputs) {
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  for (int t = 0; t < s.steps; ++t) {
    run.step();
    for (auto const& [label, whole] : s.expected_outputs(t))
      for (std::size_t k = 0; k < run.held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run.local(label, k), whole, s.tolerance); !d.empty())
          return "output '" + label + "' of rank " + std::to_string(k) + " in step " + std::to_string(t) + ": " + d;
  }
  return "";
}

/// Some layouts, drawn at random, of a graph on a mesh: what every processor gives is what the oracle gives.
void try_layouts(mt::module const& traced, subject& s, mt::mesh_shape const& mesh,
                 std::vector<mt::dim_extent> const& extents, int count, rng& c, counts& seen) {
  auto const dims = dims_for_layouts(traced);
  for (int i = 0; i < count; ++i) {
    auto const rules = meshtensor_test::drawn_layout(dims, {"in", "op", "other", "out"}, mesh, c);
    auto const laid = mt::on_heap([&] { return mt::partition(s.graph(), mesh, rules); });
    if (!laid->report.empty() && ++seen.refused) continue;
    if (!s.is_new(mesh, *laid)) continue;
    auto const sliced = mt::on_heap([&] { return mt::slice_collectives(*laid); });
    auto const fused = mt::on_heap([&] { return meshtensor_test::fused(*sliced, mt::cpu_device::capabilities); });
    auto const graph = mt::on_heap([&] { return mt::overlap_collectives(*fused); });
    std::string fault(mt::verify(*graph).view());
    auto const bound = mt::on_heap([&] { return mt::bind(*graph, mesh, extents); });
    if (!bound->report.empty() && ++seen.refused) continue;
    int const entry = mt::find_entry(*graph, "main");
    if (fault.empty()) {
      count_kernels(*graph, seen);
      auto const plan = mt::on_heap([&] { return mt::plan_memory(*graph, entry, *bound); });
      fault = meshtensor_test::fault_at_some_timing(*graph, entry, *plan, [&](mt::job const& job) {
        mt::store values(job);
        mt::session<mt::cpu_device> run(values, *graph, *plan, mesh, entry);
        return outcome(run, s, s.inputs);
      });
    }
    ++seen.tried;
    if (!fault.empty())
      FAIL("mesh " << meshtensor_test::text_of(mesh) << ", layout " << meshtensor_test::text_of(rules) << ": " << fault
                   << "\n"
                   << mt::text_of(*laid) << "\n"
                   << mt::text_of(*graph));
  }
}

void try_graph(std::uint64_t seed, purpose what, counts& seen) {
  static auto const meshes = meshtensor_test::meshes();
  graph_fuzzer const a(seed, what, loops_of(seed));
  rng c{seed + 1};
  auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
  auto const extents = extents_of(a.g.module(), mesh.size(), c);
  subject s(a.g.module(), "main", extents);
  s.steps = 2;
  s.tolerance = what == purpose::values ? meshtensor_test::same_numbers : 1e-9;
  s.fill(fill_kind::integers, c, 0, 0, static_cast<int>(mesh.size()));
  s.expect();
  try_layouts(a.g.module(), s, mesh, extents, 4, c, seen);
}

long try_graphs(purpose what, std::uint64_t first, int count) {
  first = first_in_sample(first, count), count = share_of(count);
  if (char const* one = std::getenv("SEED")) first = std::strtoull(one, nullptr, 10), count = 1;
  counts seen;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    INFO("SEED=" << seed);
    try_graph(seed, what, seen);
  }
  MESSAGE(seen.tried << " cases, " << seen.refused << " not legal, " << seen.kernels << " kernels of " << seen.steps
                     << " steps");
  if (count > 1) CHECK(2 * seen.steps > 3 * seen.kernels);
  return seen.tried;
}

}  // namespace

TEST_CASE("values") { at_least(1700, try_graphs(purpose::values, 1, 500)); }
TEST_CASE("gradients") { at_least(700, try_graphs(purpose::gradients, 20000, 200)); }

TEST_CASE("every function of real numbers gives its bits, wherever an element lies and whatever it is fused with") {
  counts seen;
  rng c{7 + sample_number()};
  for (mt::dtype type : {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16})
    for (auto const& mesh : meshtensor_test::meshes()) {
      graph g;
      mt::value_id const x = g.input("x", type, "ab"), y = g.input("y", type, "b");
      mt::value_id chain = x;
      for (int f = 0; f < static_cast<int>(mt::function::select); ++f) {
        auto const fun = static_cast<mt::function>(f);
        if (fun == mt::function::cast || mt::is_logical(fun) || mt::is_comparison(fun)) continue;
        mt::value_id const z = mt::arity(fun) == 2 ? mt::elementwise(g.b, fun, x, y) : mt::elementwise(g.b, fun, x);
        g.output(mt::text_of(fun), z);
        chain = mt::add(g.b, mt::multiply(g.b, chain, y), z);
      }
      g.output("chain", chain);
      auto const extents = extents_for(g.module(), mesh.size(), c.one_in(2));
      subject s(g.module(), "main", extents);
      s.fill(fill_kind::reals, c, 0.25, 1.75);
      s.expect();
      try_layouts(g.module(), s, mesh, extents, share_of(8), c, seen);
    }
  MESSAGE(seen.tried << " cases, " << seen.refused << " not legal, " << seen.kernels << " kernels");
  at_least(170, seen.tried);
}
