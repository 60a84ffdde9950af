// SPDX-License-Identifier: Apache-2.0
// The order of plans of random programs under random layouts. All nodes run once and after what they need. Collectives
// that move up run right behind the last node that they need, and the results are the same bits whenever they travel.
//
// timeout: 300
#include "meshtensor/meshtensor.hpp"
#include "property/outcome.hpp"
#include "property/program_fuzzer.hpp"
#include "property/sample.hpp"

using namespace property;

namespace {

std::uint64_t seed_of_program = 0;
/// The random program of this seed.
listed random_training() {
  return {"a random program", mt::name("train"), [] {
            auto traced = write_programs(rng{seed_of_program}.next()).traced;
            for (int d = 0; d < traced->dim_count; ++d)
              if (mt::dim_row& row = traced->dims[d]; row.kind == mt::dim_row::dynamic)
                row.kind = mt::dim_row::fixed, row.value = 4;
            return std::make_unique<mt::module>(mt::extract_entry(*traced, mt::find_entry(*traced, mt::name("train"))));
          }};
}

struct order_check {
  mt::module const& m;
  mt::plan const& p;
  std::unique_ptr<mt::detail::scheduler> scheduled;
  std::vector<int> position;  // of a node within its region

  explicit order_check(mt::lowering const& low)
      : m(low.graph),
        p(low.planned),
        scheduled(mt::on_heap([&] { return mt::detail::scheduler(low.graph, low.planned.numbers); })),
        position(static_cast<std::size_t>(m.node_count), -1) {}

  int& position_of(int node) { return position[static_cast<std::size_t>(node)]; }
  int maker(mt::node const& n, int operand) const { return m.values[m.operand(n, operand)].node; }
  void check_that_all_run_once() {
    int total = 0;
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < p.steps.count[r]; ++i, ++total) {
        int const node = p.steps.nodes[p.steps.first[r] + i];
        CHECK(m.nodes[node].region == r);
        CHECK(position_of(node) == -1);
        position_of(node) = i;
      }
    CHECK(total == m.node_count);
  }
  void check_that_operands_come_first() {
    for (int i = 0; i < m.node_count; ++i)
      for (int k = 0; k < m.nodes[i].operands.count; ++k)
        if (int const other = maker(m.nodes[i], k); m.nodes[other].region == m.nodes[i].region)
          CHECK(position_of(other) < position_of(i));
  }
  /// Whether a node needs another one, perhaps through nodes that move with it.
  bool needs(int node, int other) const {
    for (int k = 0; k < m.nodes[node].operands.count; ++k) {
      int const next = maker(m.nodes[node], k);
      if (next == other || (scheduled->early[next] && needs(next, other))) return true;
    }
    return false;
  }
  /// Checks the collectives that start early, and returns how many there are.
  int check_that_early_ones_are_earliest() const {
    int count = 0;
    for (int i = 0; i < m.node_count; ++i) {
      mt::node const& n = m.nodes[i];
      if (!scheduled->early[i] || !mt::is_collective(n.kind) || mt::permutes(n) || p.numbers.is_alone(n)) continue;
      ++count;
      CHECK(scheduled->place[i] <= i);
      if (int const behind = scheduled->place[i] - 1; behind >= 0) CHECK(needs(i, behind));
    }
    return count;
  }
};

}  // namespace

TEST_CASE("collectives move up to the last node that they need, and keep values") {
  mt::mesh_shape mesh{};
  mesh.add("ax", 2), mesh.add("by", 2);
  auto const& jobs = meshtensor_test::jobs_of_each_timing();
  long moved = 0, plans = 0;
  auto const check_plans_of = [&](listed const& program) {
    each_of_three(program, mesh,
                  [&](mt::lowering const& low, mt::blocks const& inputs, std::vector<std::string> const& outputs) {
                    INFO(program.label << ", seed " << seed_of_program);
                    order_check check(low);
                    check.check_that_all_run_once();
                    check.check_that_operands_come_first();
                    int const early = check.check_that_early_ones_are_earliest();
                    ++plans, moved += early;
                    if (early == 0) return;
                    auto const wanted = run_with(jobs[0], low, mesh, inputs, outputs, 2);
                    for (std::size_t k = 1; k < jobs.size(); ++k)
                      CHECK(run_with(jobs[k], low, mesh, inputs, outputs, 2) == wanted);
                  });
  };
  for (char const* label : {"mlp", "recurrent", "nested", "composites", "in_parts"})
    check_plans_of(program_named(label));
  for (int i = 0; i < share_of(60); ++i) {
    seed_of_program = first_in_sample(0, 60) + static_cast<std::uint64_t>(i);
    check_plans_of(random_training());
  }
  MESSAGE(moved << " collectives of " << plans << " plans move up");
  at_least(300, moved);
}
