// SPDX-License-Identifier: Apache-2.0
// Curves of a job of several processes: all call, and one writes. The unit of progress is that of the whole batch.
// passes: start-up
// needs: mpi
// ranks: 1 2 3 4 6
#include "meshtensor/train/tensorboard.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>

#include "meshtensor/meshtensor.hpp"
#include "meshtensor/train/progress_unit.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct width : mt::dim<"width", 3> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};
struct program {
  constexpr void operator()(mt::scope auto s) const { s.output("loss", mean(s.input("x", mt::f32, batch, width))); }
};

}  // namespace

TEST_CASE("one process writes what all of them have") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  mt::executable<program, mesh, layout, mt::reference_device> step(weights, data(ranks::count()));
  auto const folder = std::filesystem::temp_directory_path() / "meshtensor_tensorboard";
  if (job.is_root()) std::filesystem::remove_all(folder);
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<float> x(36);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  step(mt::feed<"x">(x));
  CHECK(step.scalars() == std::vector<std::pair<std::string, double>>{{"loss", 17.5}});
  {
    mt::tensorboard board(job, folder);
    CHECK(board.is_written() == job.is_root());
    board.outputs(step, 1), board.scalar("held_out", 2, 1), board.text("sample", "words", 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  mt::progress_unit const unit = mt::unit_of(step);
  CHECK(unit.name == "rows");
  CHECK(unit.per_step == 12);
  MPI_Barrier(MPI_COMM_WORLD);
  if (job.is_root()) std::filesystem::remove_all(folder);
}
