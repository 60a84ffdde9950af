// SPDX-License-Identifier: Apache-2.0
// The list of instructions: each node that computes is launched once, memory that is shared is not copied, every
// collective of several processors starts and is waited for.
#include "meshtensor/pass/list_instructions.hpp"

#include <doctest/doctest.h>

#include <map>

#include "property/outcome.hpp"
#include "support/layouts.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;
using kind = mt::instruction_kind;

namespace {

/// The first law that a list breaks; empty: none.
std::string broken_law(mt::lowering const& low) {
  auto const& all = low.instructions;
  mt::module const& m = low.graph;
  mt::plan const& p = low.planned;
  int depth = 0;
  std::map<mt::id, int> launched, started, awaited;
  for (mt::instruction const& i : all) {
    mt::node const& n = m.nodes[i.node];
    auto const law = [&](char const* text) {
      return std::string(text) + ": " + text_of(i.kind) + " of " + mt::text_of(n);
    };
    depth += mt::begins(i.kind) - (i.kind == kind::end);
    if (depth < 0) return law("an end without a beginning");
    if (i.kind == kind::launch && ++launched[i.node] > 1) return law("a kernel is launched twice");
    if (i.kind == kind::launch && i.to + 1u != launched.size()) return law("kernels are not numbered in their order");
    if (i.kind == kind::copy && p.root[i.from] == p.root[i.to]) return law("a copy within one value's memory");
    if (i.kind == kind::copy && i.bytes != p.numbers.local_bytes(m.values[i.to])) return law("a copy of other bytes");
    if (i.kind == kind::start || i.kind == kind::collective) {
      if (p.numbers.members(mt::axes_of_collective(n)) < 2 && !mt::shifts(n))
        return law("one processor exchanges with itself");
      ++started[i.node];
      if (i.kind == kind::collective) ++awaited[i.node];
    }
    if (i.kind == kind::wait) {
      ++awaited[i.from];
      if (!started.contains(i.from)) return law("a wait before its start");
    }
    if (i.kind == kind::begin_loop && i.trips != p.numbers.extent[mt::loop::of(n).dim])
      return law("another trip count");
  }
  if (depth != 0) return "a beginning without an end";
  for (auto const& [which, times] : started)
    if (times != (mt::starts_ahead(p.numbers, m.nodes[which]) ? 2 : 1) || awaited[which] == 0)
      return std::string(mt::text_of(m.nodes[which])) + " has no wait";
  for (int r = 0; r < m.region_count; ++r) {
    auto const where = m.regions[r].kind;
    if (where == mt::region_kind::kernel || where == mt::region_kind::gradient) continue;
    for (int k = 0; k < p.steps.count[r]; ++k) {
      mt::node_id const id = p.steps.nodes[p.steps.first[r] + k];
      mt::node const& n = m.nodes[id];
      bool const is_seen = p.where[p.root[n.results.count == 0 ? mt::value_id{} : m.result(n)]] != mt::place::nowhere;
      if (mt::is_computed(n.kind) && is_seen && !mt::shares_memory(n) && n.kind != mt::primitive::slice &&
          n.kind != mt::primitive::local_slice && !mt::is_collective(n.kind) && !launched.contains(id))
        return std::string(mt::text_of(n)) + " is not launched";
    }
  }
  return "";
}

/// The number of instructions of a kind.
int number_of(mt::dynamic_array<mt::instruction> const& all, kind k) {
  return static_cast<int>(std::ranges::count(all, k, &mt::instruction::kind));
}

}  // namespace

TEST_CASE("laws of every list") {
  int tried = 0;
  for (auto const& mesh : meshes())
    for (char const* label :
         {"functions", "contractions", "reductions", "movements", "orders", "lookups", "noise", "mlp", "recurrent",
          "nested", "composites", "classifier", "attending", "in_parts", "memories"})
      property::each_of_three(property::program_named(label), mesh,
                              [&](mt::lowering const& low, mt::blocks const&, std::vector<std::string> const&) {
                                INFO(std::string(label) << " on " << text_of(mesh));
                                CHECK(broken_law(low) == "");
                                ++tried;
                              });
  CHECK(tried == 15 * 3 * 9);
}

TEST_CASE("collectives of one processor are no instructions, or copies") {
  mt::layout_rules rules{};
  rules.shard("batch", {"ax"});
  planned<network> const alone(rules, 1), spread(rules, 3);
  auto const &one = alone.low->instructions, &three = spread.low->instructions;
  CHECK(number_of(one, kind::start) + number_of(one, kind::collective) + number_of(one, kind::wait) == 0);
  CHECK(number_of(three, kind::start) + number_of(three, kind::collective) > 0);
}
