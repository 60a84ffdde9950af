// SPDX-License-Identifier: Apache-2.0
// The table of docs/layouts.md, "What moves along a sharded dim": each rank receives by MPI as many bytes as the row's
// formula says of it.
// passes: start-up
// ranks: 2 3 4 6
// needs: mpi
#include "support/moving_operations.hpp"

#include <doctest/doctest.h>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/job/mpi_runner.hpp"
#include "meshtensor/run/session.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"

using namespace moving_operations;

namespace {

/// The bytes that this rank receives in one step by the row's exchanges.
std::int64_t received(trial const& t, lowered_trial const& l, mt::mesh_shape const& mesh, mt::job const& job) {
  mt::module const& m = l.low->graph;
  mt::store values(job, 5);
  mt::session<mt::reference_device> step(values, m, l.low->planned, mesh, l.low->entry);
  std::vector<std::vector<std::byte>> fed;
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != mt::primitive::input) continue;
    mt::value const& v = m.result_value(m.nodes[i]);
    fed.emplace_back(static_cast<std::size_t>(l.low->planned.numbers.size(v.dims)) * mt::bytes_of(v.type));
    step.feed(m.names[mt::name_of(m.nodes[i])].text(), fed.back().data());
  }
  counted::clear();
  step.step();
  std::int64_t bytes = counted::all_received();
  if (!t.counted.empty()) bytes -= counted::received["ibcast"];  // the slices that the loops gather
  return bytes;
}

}  // namespace

TEST_CASE("each rank receives the bytes of the row") {
  mt::job const job{std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)};
  int const p = ranks::count();
  auto const page = rows_of_page();
  auto const check = [&](trial const& t, row const& r, mt::mesh_shape const& mesh, std::vector<mt::name> const& axes) {
    for (extents const& e : t.sizes) {
      lowered_trial const l(t, e, mesh, axes);
      std::int64_t const bytes = received(t, l, mesh, job);
      double const formula = l.bytes_of(r, static_cast<std::size_t>(ranks::rank()));
      INFO(std::string(t.operation) << " | " << std::string(t.cell) << " | " << e.dim << ", " << e.other << " over "
                                    << axes.size() << " axes: " << bytes << " received, not " << formula);
      CHECK(std::abs(formula - static_cast<double>(bytes)) < 1e-6);
      std::int64_t most = 0;
      MPI_Allreduce(&bytes, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
      CHECK(most <= l.planned_bytes(t));
      if (r.any_parts.size() == 1) CHECK(most == l.planned_bytes(t));
    }
  };
  int tried = 0;
  for (row const& r : page)
    for (trial const& t : trials()) {
      if (r.operation != t.operation || r.sharded != t.cell) continue;
      ++tried;
      check(t, r, mt::mesh_shape{}.add("ax", p), {"ax"});
      if (p == 4 && !t.one_axis) check(t, r, mt::mesh_shape{}.add("ax", 2).add("by", 2), {"ax", "by"});
    }
  CHECK(tried == static_cast<int>(trials().size()));
}
