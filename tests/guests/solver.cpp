// SPDX-License-Identifier: Apache-2.0
// The solver of examples/in_fortran_solver with the same programs as a guest in C++: it must print the same numbers.
#include "heat.h"
// Behind it, for its dims have the names of heat's variables.
#include "examples/in_fortran_solver/solver_model.cpp"

namespace {

void simulate() {
  heat const h = begin_heat();
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  on_slabs<learn> training(weights, z(nz), y(ny), x(nx));
  on_slabs<predict> prediction(weights, z(nz), y(ny), x(nx));
  auto const field = [&](double* cells) { return mt::in_memory(cells, z(h.n), y(ny), x(nx)); };
  for (int step = 1; step <= steps; ++step) {
    compute_change(&h);
    double const loss =
        training(mt::feed_local<"temperature">(field(h.own)), mt::feed_local<"laplacian">(field(h.laplacian)),
                 mt::feed_local<"change">(field(h.change)), mt::feed<"time_step">(h.time_step))
            .get<"loss">();
    apply_change(&h, step, loss);
  }
  prediction(mt::feed_local<"temperature">(field(h.own)), mt::feed_local<"laplacian">(field(h.laplacian)),
             mt::feed<"time_step">(h.time_step), mt::fetch_local<"change">(field(h.guess)));
  end_heat(&h);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    simulate();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
