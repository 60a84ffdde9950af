// SPDX-License-Identifier: Apache-2.0
// Lists the passes from module to module in the order in which they run. Lowering in the compiler and at start-up,
// verification, timing and the golden texts of the tests all read this table. The steps after these passes are in
// lower.hpp: bind, plan_memory and the checks of plans.
#pragma once

#include <iterator>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/pass/device_capabilities.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/extract_entry.hpp"
#include "meshtensor/pass/fuse.hpp"
#include "meshtensor/pass/inline_composites.hpp"
#include "meshtensor/pass/join_epilogues.hpp"
#include "meshtensor/pass/overlap.hpp"
#include "meshtensor/pass/partition.hpp"
#include "meshtensor/pass/prune.hpp"
#include "meshtensor/pass/save_or_recompute.hpp"
#include "meshtensor/pass/simplify.hpp"
#include "meshtensor/pass/slice_collectives.hpp"
#include "meshtensor/pass/widen.hpp"

namespace meshtensor {

/// The input of a pass besides a module.
struct lowering_request {
  name label;  // of the entry
  mesh_shape const& mesh;
  layout_rules const& rules;
  device_capabilities capabilities;
};

/// The input that a pass depends on: the program alone, the program with its mesh and layout, or these with the device.
/// All executables with the same input share the pass's result.
enum class pass_input : std::uint8_t { program, layout, device };

struct pass_row {
  char const* name;
  pass_input depends_on;
  meshtensor::module (*run)(module const&, lowering_request const&);
};

template <class = lazy>
inline constexpr pass_row passes[] = {
    {"extract_entry", pass_input::program,
     [](module const& m, lowering_request const& r) { return extract_entry(m, find_entry(m, r.label)); }},
    {"widen", pass_input::program, [](module const& m, lowering_request const&) { return widen(m); }},
    {"differentiate", pass_input::program, [](module const& m, lowering_request const&) { return differentiate(m); }},
    {"save_or_recompute", pass_input::program,
     [](module const& m, lowering_request const&) { return save_or_recompute(m); }},
    {"simplify", pass_input::program, [](module const& m, lowering_request const&) { return simplify(m); }},
    {"partition", pass_input::layout,
     [](module const& m, lowering_request const& r) { return partition(m, r.mesh, r.rules); }},
    {"slice_collectives", pass_input::layout,
     [](module const& m, lowering_request const&) { return slice_collectives(m); }},
    {"inline_composites", pass_input::device,
     [](module const& m, lowering_request const& r) {  // some results of a composite may be unused
       return r.capabilities.fuses ? prune(inline_composites(m, r.capabilities.claims)) : m;
     }},
    {"join_epilogues", pass_input::device,
     [](module const& m, lowering_request const& r) {
       bool const joins = r.capabilities.fuses && may_join_epilogues(m, r.capabilities.joins);
       return joins ? join_epilogues(m, r.capabilities.joins) : m;
     }},
    {"fuse", pass_input::device,
     [](module const& m, lowering_request const& r) { return r.capabilities.fuses ? fuse(m) : m; }},
    {"overlap", pass_input::device, [](module const& m, lowering_request const&) { return overlap(m); }},
};

inline constexpr int pass_count = static_cast<int>(std::size(passes<>));

/// The number of passes that depend on no more than `input`. They are the first rows of the table.
constexpr int passes_of(pass_input input) {
  int n = 0;
  while (n < pass_count && passes<>[n].depends_on <= input) ++n;
  return n;
}

}  // namespace meshtensor
