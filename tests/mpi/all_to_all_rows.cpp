// SPDX-License-Identifier: Apache-2.0
// Rows that ranks of MPI exchange by group: every bit is that of the same mesh in lockstep on one thread, and of rows
// each rank receives those of its groups alone.
// passes: start-up
// ranks: 2 3 4
// needs: mpi
#include "support/exchange_programs.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"
#include "property/outcome.hpp"

using namespace property;
using namespace exchange_programs;

namespace {

template <class Program>
void compare() {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  int const p = ranks.get().size();
  auto const m = mt::on_heap([] { return mt::trace<mt::precision<Program, mt::dtype::f64>>(); });
  mt::blocks inputs = inputs_of(*m, mt::entry_name<Program>());
  give_loads(inputs.at("index"));
  auto const outputs = outputs_of(*m);
  int compared = 0;
  auto const on = [&](mt::mesh_shape const& mesh) {
    for (mt::layout_rules const& rules : layouts_of_exchanges(mesh)) {
      std::unique_ptr<mt::lowering> low;
      try {
        low = mt::lower(*m, mt::entry_name<Program>(), mesh, rules, {});
      } catch (mt::error const& e) {
        CHECK(e.code() == "S05");
        continue;
      }
      outcome const all = run_with(turns, *low, mesh, inputs, outputs, 2);
      outcome const mine = run_with(ranks, *low, mesh, inputs, outputs, 2);
      CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
      int different = 0;
      for (auto const& [key, bytes] : mine) different += all.at(key) != bytes;
      INFO(meshtensor_test::text_of(rules));
      CHECK(different == 0);
      ++compared;
    }
  };
  on(mt::mesh_shape{}.add("ax", p));
  if (p == 4) on(mt::mesh_shape{}.add("ax", 2).add("by", 2));
  CHECK(compared >= (p == 4 ? 30 : 4));
}

}  // namespace

TEST_CASE("ranks and lockstep are one") {
  compare<exchanged<>>();
  compare<exchanged<4>>();
}
