// SPDX-License-Identifier: Apache-2.0
// Rows that ranks of MPI send to the rows that name them: every bit is that of the same mesh in lockstep on one thread.
// With one row a rank, a hop is one message to each neighbour, with the bytes of the row.
// passes: start-up
// ranks: 2 3 4 6
// needs: mpi
#include "support/permute_programs.hpp"

#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"
#include "property/outcome.hpp"

using namespace property;
using namespace permute_programs;

namespace {

inline constexpr struct row_dim : mt::dim<"row"> {} row;
inline constexpr struct length_dim : mt::dim<"length", 5> {} length;

template <class Program>
int compare() {
  mt::job const ranks(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)), turns = mt::job::in_lockstep();
  int const p = ranks.get().size();
  auto const m = mt::on_heap([] { return mt::trace<mt::precision<Program, mt::dtype::f64>>(); });
  mt::blocks inputs = inputs_of(*m, mt::entry_name<Program>());
  give_sources(inputs.at("sources"));
  auto const outputs = outputs_of(*m);
  int compared = 0;
  auto const on = [&](mt::mesh_shape const& mesh, mt::layout_rules const& rules) {
    auto const low = mt::lower(*m, mt::entry_name<Program>(), mesh, rules, {});
    outcome const all = run_with(turns, *low, mesh, inputs, outputs, 3);
    outcome const mine = run_with(ranks, *low, mesh, inputs, outputs, 3);
    CHECK(mine.size() * static_cast<std::size_t>(mesh.size()) == all.size());
    int different = 0;
    for (auto const& [key, bytes] : mine) different += all.at(key) != bytes;
    INFO(meshtensor_test::text_of(rules));
    CHECK(different == 0);
    ++compared;
  };
  on(mt::mesh_shape{}.add("ax", p), mt::layout_rules{}.shard("worker", {"ax"}));
  if (p % 2 == 0 && p > 2) {
    mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", 2).add("by", p / 2);
    on(mesh, mt::layout_rules{}.shard("worker", {"ax"}).shard("inner", {"by"}));
    on(mesh, mt::layout_rules{}.shard("worker", {"by"}).shard("inner", {"ax"}));
    on(mesh, mt::layout_rules{}.shard("worker", {"by", "ax"}));
  }
  return compared;
}

template <class T>
struct hopped {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::hop<T>(s, row, s.step())(s.input("x", mt::f32, row, length)));
  }
};

/// Counts the messages of each step of a hop, with `each` rows a rank.
template <class T>
void count_messages(std::int64_t each) {
  mt::job const job{std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD)};
  int const p = ranks::count(), me = ranks::rank(), n = static_cast<int>(p * each);
  auto const m = mt::on_heap([] { return mt::trace<hopped<T>>(); });
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("ax", p);
  mt::dim_extent const extents[] = {{mt::name("row"), n}};
  auto const low = mt::lower(*m, mt::entry_name<hopped<T>>(), mesh, mt::layout_rules{}.shard("row", {"ax"}), extents);
  mt::store values(job, 5);
  mt::session<mt::reference_device> step(values, low->graph, low->planned, mesh, low->entry);
  std::vector<float> x(static_cast<std::size_t>(n) * 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  step.feed("x", x.data());
  std::int64_t const planned = mt::traffic_of(low->graph, low->planned).bytes;
  for (std::int64_t round = 0; round < 4; ++round) {
    std::map<std::pair<int, int>, int> got, sent;  // by slot and rank, the rows
    std::int64_t rows = 0;
    for (int i = 0; i < n; ++i)
      for (int slot = 0; slot < T::slots(n); ++slot) {
        int const source = T::incoming(n, round, i, slot).source;
        if (source < 0 || source / each == i / each) continue;
        if (i / each == me) ++got[{slot, static_cast<int>(source / each)}], ++rows;
        if (source / each == me) ++sent[{slot, static_cast<int>(i / each)}];
      }
    counted::clear();
    step.step();
    INFO("round ", round, " on rank ", me);
    CHECK(counted::calls_made["irecv"] == static_cast<int>(got.size()));
    CHECK(counted::calls_made["isend"] == static_cast<int>(sent.size()));
    CHECK(counted::calls_made.size() <= 2);  // no other call
    CHECK(counted::all_received() == rows * 20);
    CHECK(counted::all_received() <= planned);
    mt::view const y = step.local("y", 0);
    for (std::int64_t r = 0; r < each; ++r)
      for (std::int64_t k = 0; k < 5; ++k) {
        int const i = static_cast<int>(me * each + r);
        double sum = T::kept(n, round, i) * static_cast<double>(i * 5 + k);
        for (int slot = 0; slot < T::slots(n); ++slot)
          if (mt::edge const e = T::incoming(n, round, i, slot); e.source >= 0)
            sum += e.weight * static_cast<double>(e.source * 5 + k);
        CHECK(static_cast<double>(y.as<float>()[r * 5 + k]) == doctest::Approx(sum).epsilon(1e-5));
      }
  }
}

}  // namespace

TEST_CASE("ranks and lockstep are one") {
  int const p = ranks::count(), wanted = p == 4 || p == 6 ? 4 : 1;
  CHECK(compare<permuted<6>>() == wanted);
  CHECK(compare<permuted<7>>() == wanted);
  CHECK(compare<permuted<3>>() == wanted);
}

TEST_CASE("a hop is one message to each neighbour") {
  count_messages<mt::one_peer_exponential>(1);
  count_messages<mt::directed_ring>(1);
  count_messages<mt::random_matching<3>>(1);
  count_messages<mt::random_out_degrees<5>>(1);
}

TEST_CASE("with several rows a rank, the rows for a rank are one message") {
  count_messages<mt::one_peer_exponential>(3);
  count_messages<mt::random_out_degrees<5>>(2);
}
