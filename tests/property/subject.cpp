// SPDX-License-Identifier: Apache-2.0
// Compiled once for all property tests: passes and the reference device are most of what each would compile.
#include "property/subject.hpp"

#include <cstring>

#include "meshtensor/pass/verify/verify_layout.hpp"
#include "support/late_machine.hpp"

namespace property {

namespace {

void check(char const* what, mt::diagnostic const& d) {
  INFO(std::string(what));
  REQUIRE_MESSAGE(d.empty(), std::string(d.view()));
}
void refuse(mt::diagnostic const& d, tally& t) { ++t.refused[std::string(d.view())]; }
std::string text(char const* what, std::string const& label, std::size_t rank) {
  return std::string(what) + " '" + label + "' of rank " + std::to_string(rank) + ": ";
}

}  // namespace

void tally::say(char const* what) const {
  std::string text;
  if (overlapped != 0) text += ", " + std::to_string(overlapped) + " with collectives beside other work";
  if (late != 0)
    text += ", " + std::to_string(late) + " on a late device, too (" + std::to_string(out_of_order) +
            " kernels out of the list's order)";
  if (repeated != 0) text += ", " + std::to_string(repeated) + " repeated";
  std::map<std::string, long> codes;
  for (auto const& [rule, count] : refused) codes[rule.substr(0, 3)] += count;
  for (auto const& [code, count] : codes) {
    text += ", " + std::to_string(count) + " not legal by " + code;
    CHECK_MESSAGE(code == "S05", code);
  }
  for (auto const& [rule, count] : refused) text += "\n  " + std::to_string(count) + " by " + rule;
  MESSAGE(std::string(what) << ": " << tried << " cases" << text);
}

std::unique_ptr<mt::module> partitioned(mt::module const& traced, mt::mesh_shape const& mesh,
                                        mt::layout_rules const& rules) {
  return mt::on_heap([&] {
    return mt::partition(mt::simplify(mt::save_or_recompute(mt::differentiate(mt::widen(traced)))), mesh, rules);
  });
}

subject::subject(mt::module const& traced, mt::name const& entry, std::vector<mt::dim_extent> extents)
    : traced_(traced), label_(entry), extents_(std::move(extents)) {
  check("trace", mt::verify(traced));
  auto const selected = mt::on_heap([&] { return mt::extract_entry(traced, mt::find_entry(traced, entry)); });
  check("select", mt::verify(*selected));
  differentiated_ = mt::on_heap([&] { return mt::differentiate(mt::widen(*selected)); });
  check("differentiate", mt::verify(*differentiated_));
  auto const saved = mt::on_heap([&] { return mt::save_or_recompute(*differentiated_); });
  check("save_or_recompute", mt::verify(*saved));
  simplified_ = mt::on_heap([&] { return mt::simplify(*saved); });
  check("simplify", mt::verify(*simplified_));
  numbers_ = mt::on_heap([&] { return mt::bind(*differentiated_, mt::mesh_shape{}, extents_); });
  check("bind", numbers_->report);
  for (int i = 0; i < differentiated_->node_count; ++i) {
    mt::node const& n = differentiated_->nodes[i];
    if (n.kind != mt::primitive::input) continue;
    mt::value const& v = differentiated_->result_value(n);
    inputs[differentiated_->names[n.attribute[0]].text()] = mt::block(v.type, v.dims, *numbers_);
  }
}

void subject::fill(fill_kind what, rng c, double low, double high, int extent) {
  for (auto& [label, b] : inputs)
    for (std::int64_t i = 0; i < b.size(); ++i) {
      bool const is_index = !mt::is_float(b.type());
      double const unit = static_cast<double>(c.next() >> 11) / 9007199254740992.0;
      b.set(i, b.type() == mt::dtype::boolean ? c.below(2)
               : is_index                     ? c.below(extent + 1)
               : what == fill_kind::integers  ? c.below(7) - 3
                                              : low + (high - low) * unit);
    }
}

void subject::expect() {
  expected_.clear();
  mt::interpreter whole(*differentiated_, *numbers_);
  mt::blocks variables;
  mt::settings s;
  for (int t = 0; t < steps; ++t) {
    s.step = static_cast<std::uint64_t>(t);
    mt::blocks outputs = whole.run(mt::find_entry(*differentiated_, label_), inputs, variables, s);
    expected_.push_back({std::move(outputs), variables});
  }
}

namespace {

/// The hash of a program on a mesh.
std::uint64_t hash_of(mt::mesh_shape const& mesh, mt::module const& m) {
  std::uint64_t h = 14695981039346656037u;
  auto const add = [&](auto const* rows, int count) {
    static_assert(std::has_unique_object_representations_v<std::remove_cvref_t<decltype(*rows)>>);
    auto const* bytes = reinterpret_cast<unsigned char const*>(rows);
    for (std::size_t i = 0; i < sizeof(*rows) * static_cast<std::size_t>(count); ++i)
      h = (h ^ bytes[i]) * 1099511628211u;
  };
  for (int a = 0; a < mesh.count; ++a) add(&mesh.axes[a].extent, 1);
  for (int i = 0; i < m.node_count; ++i) {  // field by field: a node has a hole
    mt::node const& n = m.nodes[i];
    add(&n.kind, 1), add(&n.function, 1), add(&n.effect, 1), add(&n.ordinal, 1), add(&n.copy, 1),
        add(n.attribute, mt::max_attributes);
    add(&n.region, 1), add(&n.path, 1), add(&n.site, 1);
    add(&n.operands, 1), add(&n.results, 1), add(&n.regions, 1);
  }
  add(m.links, m.link_count);
  for (int v = 0; v < m.value_count; ++v) add(&m.values[v].layout, 1);
  for (int v = 0; v < m.variable_count; ++v) add(&m.variables[v].layout, 1);
  return h;
}

}  // namespace

bool subject::is_new(mt::mesh_shape const& mesh, mt::module const& m) { return tried_.insert(hash_of(mesh, m)).second; }

void subject::check_layout(mt::mesh_shape const& mesh, mt::layout_rules const& rules, tally& t) {
  auto const partitioned = mt::on_heap([&] { return mt::partition(*simplified_, mesh, rules); });
  if (!partitioned->report.empty()) return refuse(partitioned->report, t);
  if (!is_new(mesh, *partitioned)) return void(++t.repeated);
  auto const sliced = mt::on_heap([&] { return mt::slice_collectives(*partitioned); });
  auto const laid = mt::on_heap([&] { return mt::overlap_collectives(*sliced); });
  auto const bound = mt::on_heap([&] { return mt::bind(*laid, mesh, extents_); });
  if (!bound->report.empty()) return refuse(bound->report, t);
  std::string fault;
  for (mt::module const* m : {partitioned.get(), sliced.get(), laid.get()}) {
    if (fault.empty()) fault = mt::verify(*m).view();
    if (fault.empty()) fault = mt::verify_layout(*m).view();
  }
  int const entry = mt::find_entry(*laid, label_);
  if (fault.empty()) {
    auto const plan = mt::on_heap([&] { return mt::plan_memory(*laid, entry, *bound); });
    if (t.tried % 97 == 0) compare_lowering(mesh, rules, *laid, *plan);
    t.overlapped += mt::count_overlapped(*laid, plan->steps) != 0;
    fault = meshtensor_test::fault_at_some_timing(*laid, entry, *plan, [&](mt::job const& job) {
      mt::store values(job);
      mt::session<mt::reference_device> run(values, *laid, *plan, mesh, entry);
      return compare(run, values);
    });
    if (auto const number = hash_of(mesh, *partitioned); fault.empty() && is_in_late_sample(number))
      fault = compare_on_late_device(mesh, *laid, *plan, entry, number, t);
  }
  ++t.tried;
  if (!fault.empty())
    FAIL("mesh " << meshtensor_test::text_of(mesh) << ", layout " << meshtensor_test::text_of(rules) << ": " << fault
                 << "\n"
                 << mt::text_of(*laid));
}

std::string subject::compare_on_late_device(mt::mesh_shape const& mesh, mt::module const& laid, mt::plan const& plan,
                                            int entry, std::uint64_t number, tally& t) const {
  meshtensor_test::late_here here(number % 100000, 1 + static_cast<int>(number % 4));
  std::string fault;
  try {
    mt::job const job = mt::job::in_lockstep();
    mt::store values(job);
    mt::session<meshtensor_test::late_device> run(values, laid, plan, mesh, entry);
    fault = compare(run, values);
  } catch (mt::error const& e) { fault = e.what(); }
  ++t.late, t.out_of_order += here.machine.out_of_order;
  if (fault.empty() && (here.machine.blocks() != 0 || here.machine.host_blocks() != 0)) fault = "memory is left";
  return fault.empty() ? "" : "on a late device, MESHTENSOR_LATE=1: " + fault;
}

template <class Device>
std::string subject::compare(mt::session<Device>& run, mt::store& values) const {
  for (auto const& [label, b] : inputs) run.feed(label, b.data());
  for (outcome const& e : expected_) {
    run.step();
    for (auto const& [label, whole] : e.outputs)
      for (std::size_t k = 0; k < run.held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run.local(label, k), whole, tolerance); !d.empty())
          return text("output", label, k) + d;
    for (auto const& [path, whole] : e.variables) {
      auto const found = values.values().find(path);
      if (found == values.values().end()) continue;  // read by nobody who matters
      for (std::size_t k = 0; k < run.held().size(); ++k) {
        mt::view part = found->second.windows[k];
        part.data = found->second.read_block(k);
        if (auto const d = meshtensor_test::difference(part, whole, tolerance); !d.empty())
          return text("variable", path, k) + d;
      }
    }
  }
  return "";
}

// The steps above are those of `lower`.
void subject::compare_lowering(mt::mesh_shape const& mesh, mt::layout_rules const& rules, mt::module const& laid,
                               mt::plan const& plan) const {
  auto const low = mt::lower(traced_, label_, mesh, rules, extents_);
  CHECK(low->graph.node_count == laid.node_count);
  CHECK(low->planned.arena_bytes == plan.arena_bytes);
  CHECK(std::memcmp(low->planned.offset, plan.offset, sizeof(plan.offset)) == 0);
}

}  // namespace property
