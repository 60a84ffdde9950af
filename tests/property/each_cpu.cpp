// SPDX-License-Identifier: Apache-2.0
// Programs of the catalogue in an each on the cpu device: what the interpreter gives. The bits of one index are those
// of the program alone, and those with any number of indices on a rank.
// needs: cpu
// passes: start-up
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "property/in_each.hpp"
#include "property/outcome.hpp"
#include "property/under_layout.hpp"

#include <algorithm>

using namespace property;

namespace {

bool is_refused(std::string const& label) { return label == "grouped"; }
/// Convolutions are prepared for a size of batch. One program asks for the axis of the indices itself.
bool depends_on_batch(std::string const& label) {
  return label == "convolved" || label == "normed" || label == "asked";
}
mt::mesh_shape ranks(std::int64_t n) { return mt::mesh_shape{}.add("ax", n); }
/// All bits that a program gives in some steps.
outcome on_cpu(mt::module const& m, mt::name const& entry, mt::mesh_shape const& mesh, mt::layout_rules const& rules,
               mt::blocks const& inputs, int steps) {
  auto const low = mt::lower(m, entry, mesh, rules, {}, mt::capabilities_of<mt::cpu_device>);
  return run_on<mt::cpu_device>(mt::job::in_lockstep(), low->graph, low->planned, low->entry, mesh, inputs,
                                outputs_of(m), steps);
}

}  // namespace

TEST_CASE("on the cpu device, programs in an each give what the interpreter gives") {
  long runs = 0;
  std::uint64_t number = 0;
  for (listed const& p : catalogue()) {
    if (is_refused(p.label) || std::string(p.label).find("f32") != std::string::npos) continue;
    if (!is_in_even_sample(number++)) continue;
    INFO(std::string(p.label));
    in_each const each(*unwatched(*p.trace()), 2);
    subject s(*each.graph, p.entry, {});
    s.steps = 2, s.tolerance = 1e-9;
    s.fill(fill_kind::reals, rng{11}, -1.5, 1.5, 11);
    s.expect();
    for (int n : {1, 2, 3}) {
      auto const mesh = ranks(n);
      auto const o =
          under<mt::cpu_device>(s, *each.graph, p.entry, {}, mesh, mt::layout_rules{}.shard("index", {"ax"}));
      CHECK(o.fault == "");
      CHECK(o.refusal == "");
      runs += o.runs();
    }
  }
  MESSAGE(runs << " runs");
  at_least(90, runs);
}

// A sum of all elements is made in parts, a sum for every index along rows. So single numbers may differ in the last
// digit.
TEST_CASE("on the cpu device, an each with one index gives the bits of the program alone") {
  long same = 0, tried = 0;
  std::uint64_t number = 0;
  for (listed const& p : catalogue()) {
    if (is_refused(p.label)) continue;
    if (!is_in_even_sample(number++)) continue;
    INFO(std::string(p.label));
    auto const alone = unwatched(*p.trace());
    in_each const each(*alone, 1);
    auto const got = on_cpu(*each.graph, p.entry, ranks(1), {}, inputs_of(*each.graph, p.entry), 2);
    auto const wanted = on_cpu(*alone, p.entry, ranks(1), {}, inputs_of(*alone, p.entry), 2);
    std::string differs;
    for (auto const& [key, bytes] : wanted)
      if (bytes.size() > sizeof(double) && got.at(key) != bytes) differs += key + "; ";
    CHECK(differs == "");
    ++tried, same += differs.empty();
  }
  MESSAGE(same << " of " << tried << " programs");
  at_least(39, tried);
}

TEST_CASE("on the cpu device, indices give the same bits alone on a rank and together") {
  long same = 0, tried = 0, compared = 0;
  std::uint64_t number = 0;
  for (listed const& p : catalogue()) {
    if (is_refused(p.label) || depends_on_batch(p.label)) continue;
    if (!is_in_even_sample(number++)) continue;
    INFO(std::string(p.label));
    in_each const each(*unwatched(*p.trace()), 2);
    auto const inputs = inputs_of(*each.graph, p.entry);
    auto const together = on_cpu(*each.graph, p.entry, ranks(1), {}, inputs, 2);
    auto const apart = on_cpu(*each.graph, p.entry, ranks(2), mt::layout_rules{}.shard("index", {"ax"}), inputs, 2);
    std::string differs;
    auto const outputs = outputs_of(*each.graph);  // whose leading dim is that of the indices
    for (auto const& [key, bytes] : together) {
      std::string const step_and_label = key.substr(0, key.size() - 2), label = step_and_label.substr(2);
      bool leads = std::find(outputs.begin(), outputs.end(), label) != outputs.end();
      for (int v = 0; v < each.graph->variable_count; ++v)
        if (mt::variable const& kept = each.graph->variables[v]; mt::path_text(*each.graph, kept.path) == label)
          leads = kept.dims.at[0] == each.index;
      if (!leads) continue;
      auto all = apart.at(step_and_label + " 0");
      auto const& second = apart.at(step_and_label + " 1");
      all.insert(all.end(), second.begin(), second.end());
      if (all != bytes) differs += step_and_label + "; ";
      ++compared;
    }
    CHECK(differs == "");
    ++tried, same += differs.empty();
  }
  MESSAGE(same << " of " << tried << " programs, " << compared << " values");
  at_least(36, tried);
}
