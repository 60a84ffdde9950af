/* SPDX-License-Identifier: Apache-2.0
 * The solver of examples/in_fortran_solver in C99 and C++, in whole planes and without halos along x and y. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { nx = 8, ny = 6, nz = 10, steps = 100 };

/* temperature: the first and the last plane are the neighbours'; own: behind the first one. */
struct heat {
  int rank, ranks, first, n;
  double time_step, *temperature, *own, *laplacian, *change, *guess;
  int64_t extents[3];
};

static double* planes(int n) { return (double*)malloc(sizeof(double) * (size_t)(n * ny * nx)); }
static int begin_of(int part, int ranks) {
  return nz / ranks * part + (part < nz % ranks ? part : nz % ranks);
}

static struct heat begin_heat(void) {
  struct heat h;
  int z, y, x;
  MPI_Comm_rank(MPI_COMM_WORLD, &h.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &h.ranks);
  h.first = begin_of(h.rank, h.ranks), h.n = begin_of(h.rank + 1, h.ranks) - h.first;
  h.time_step = 0.125;
  h.temperature = planes(h.n + 2), h.laplacian = planes(h.n), h.change = planes(h.n), h.guess = planes(h.n);
  h.own = h.temperature + ny * nx;
  for (z = 0; z < h.n; ++z)
    for (y = 0; y < ny; ++y)
      for (x = 0; x < nx; ++x)
        h.own[(z * ny + y) * nx + x] = (7 * (x + 1) + 5 * (y + 1) * (y + 1) + 11 * (h.first + z + 1)) % 16 / 16.0;
  h.extents[0] = h.n, h.extents[1] = ny, h.extents[2] = nx;
  return h;
}

static void compute_change(struct heat const* h) {
  int const below = (h->rank + h->ranks - 1) % h->ranks, above = (h->rank + 1) % h->ranks, plane = ny * nx;
  double const* t = h->own;
  int z, y, x;
  MPI_Sendrecv(t + (h->n - 1) * plane, plane, MPI_DOUBLE, above, 0, h->temperature, plane, MPI_DOUBLE, below, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(t, plane, MPI_DOUBLE, below, 1, h->own + h->n * plane, plane, MPI_DOUBLE, above, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (z = 0; z < h->n; ++z)
    for (y = 0; y < ny; ++y)
      for (x = 0; x < nx; ++x) {
        int const i = (z * ny + y) * nx + x, row = z * plane + y * nx;
        h->laplacian[i] = t[row + (x + nx - 1) % nx] + t[row + (x + 1) % nx] +
                          t[z * plane + (y + ny - 1) % ny * nx + x] + t[z * plane + (y + 1) % ny * nx + x] +
                          t[i - plane] + t[i + plane] - 6 * t[i];
        h->change[i] = h->time_step * (0.25 + t[i] * t[i]) * h->laplacian[i];
      }
}

static void apply_change(struct heat const* h, int step, double loss) {
  int i;
  if (h->rank == 0 && step % 20 == 0) printf("%4d %19.12E\n", step, loss);
  for (i = 0; i < h->n * ny * nx; ++i) h->own[i] += 0.25 * h->change[i];
}

static void end_heat(struct heat const* h) {
  double most = 0, all = 0;
  int i;
  for (i = 0; i < h->n * ny * nx; ++i) {
    double const size = h->guess[i] < 0 ? -h->guess[i] : h->guess[i];
    if (size > most) most = size;
  }
  MPI_Reduce(&most, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (h->rank == 0) printf("the largest predicted change:  %19.12E\n", all);
  free(h->temperature), free(h->laplacian), free(h->change), free(h->guess);
}
