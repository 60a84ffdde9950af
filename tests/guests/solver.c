/* SPDX-License-Identifier: Apache-2.0
 * The solver of examples/in_fortran_solver in C99: it must print the same numbers. */
#include "heat.h"
#include "solver_model.h"

static void require(int status) {
  if (status == 0) return;
  fprintf(stderr, "%s\n", solver_model_error());
  MPI_Abort(MPI_COMM_WORLD, status);
}

int main(int argc, char** argv) {
  struct heat h;
  solver_model model;
  double loss;
  int step;
  MPI_Init(&argc, &argv);
  h = begin_heat();
  require(solver_model_create(&model, MPI_COMM_WORLD, nz, ny, nx, 0));
  for (step = 1; step <= steps; ++step) {
    compute_change(&h);
    require(solver_model_learn_set_temperature(model, h.own, h.extents, NULL));
    require(solver_model_learn_set_laplacian(model, h.laplacian, h.extents, NULL));
    require(solver_model_learn_set_change(model, h.change, h.extents, NULL));
    require(solver_model_learn_set_time_step(model, h.time_step));
    require(solver_model_learn_step(model));
    require(solver_model_learn_get_loss(model, &loss));
    apply_change(&h, step, loss);
  }
  require(solver_model_predict_set_temperature(model, h.own, h.extents, NULL));
  require(solver_model_predict_set_laplacian(model, h.laplacian, h.extents, NULL));
  require(solver_model_predict_set_time_step(model, h.time_step));
  require(solver_model_predict_step(model));
  require(solver_model_predict_get_change(model, h.guess, h.extents, NULL));
  end_heat(&h);
  require(solver_model_destroy(&model));
  MPI_Finalize();
  return 0;
}
