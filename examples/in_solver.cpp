// SPDX-License-Identifier: Apache-2.0
// Trains a network inside a solver. The solver is a heat code with its own MPI, decomposition and arrays. It trains a
// small network on its fields while it runs, and none of its fields is copied or moved. Start it with mpirun -n 4.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/meshtensor.hpp>

// ---- the solver, which knows nothing of meshtensor ----

/// Simulates heat on a torus of 48 x 96 cells. Rows and columns are divided over a grid of ranks as evenly as possible,
/// so that the first ranks may have one row or column more. The conductivity depends on the temperature.
struct heat {
  static constexpr int all_rows = 48, all_columns = 96;
  MPI_Comm grid;
  int dims[2] = {0, 0}, at[2] = {0, 0}, top, leftmost, rows, columns;
  std::vector<double> temperature, laplacian, change;     // `change` is the increment of the last step
  std::vector<double> above, below, left, right, column;  // the halo: cells of the four neighbours, and a buffer

  explicit heat(MPI_Comm world) {
    int size = 0, rank = 0, around[2] = {1, 1};
    MPI_Comm_size(world, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(world, 2, dims, around, 1, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, at);
    top = begin(all_rows, dims[0], at[0]), leftmost = begin(all_columns, dims[1], at[1]);
    rows = begin(all_rows, dims[0], at[0] + 1) - top, columns = begin(all_columns, dims[1], at[1] + 1) - leftmost;
    auto const cells = static_cast<std::size_t>(rows * columns);
    temperature.resize(cells), laplacian.resize(cells), change.resize(cells);
    above.resize(static_cast<std::size_t>(columns)), below = above;
    left.resize(static_cast<std::size_t>(rows)), right = left, column = left;
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        cell(temperature, y, x) = 1.5 * std::sin(0.2 * (top + y) + 0.1) * std::cos(0.1 * (leftmost + x)) +
                                  0.4 * std::sin(0.9 * (leftmost + x));
  }
  heat(heat const&) = delete;
  ~heat() { MPI_Comm_free(&grid); }

  static int begin(int cells, int parts, int part) { return cells / parts * part + std::min(part, cells % parts); }
  double& cell(std::vector<double>& field, int y, int x) const {
    return field[static_cast<std::size_t>(y * columns + x)];
  }
  void shift(int dim, int by, double const* out, double* in, int n) const {
    int from = 0, to = 0;
    MPI_Cart_shift(grid, dim, by, &from, &to);
    MPI_Sendrecv(out, n, MPI_DOUBLE, to, 0, in, n, MPI_DOUBLE, from, 0, grid, MPI_STATUS_IGNORE);
  }
  void exchange_halos() {
    shift(0, 1, &cell(temperature, rows - 1, 0), above.data(), columns);
    shift(0, -1, &cell(temperature, 0, 0), below.data(), columns);
    for (int x : {columns - 1, 0}) {
      for (int y = 0; y < rows; ++y) column[static_cast<std::size_t>(y)] = cell(temperature, y, x);
      shift(1, x == 0 ? -1 : 1, column.data(), (x == 0 ? right : left).data(), rows);
    }
  }
  void advance() {
    exchange_halos();
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        auto const xs = static_cast<std::size_t>(x), ys = static_cast<std::size_t>(y);
        cell(laplacian, y, x) = (y == 0 ? above[xs] : cell(temperature, y - 1, x)) +
                                (y == rows - 1 ? below[xs] : cell(temperature, y + 1, x)) +
                                (x == 0 ? left[ys] : cell(temperature, y, x - 1)) +
                                (x == columns - 1 ? right[ys] : cell(temperature, y, x + 1)) -
                                4 * cell(temperature, y, x);
        cell(change, y, x) = 0.05 * (1 + std::tanh(2 * cell(temperature, y, x))) * cell(laplacian, y, x);
      }
  }
  void apply() {  // only now, because the network also needs the temperature before the change
    for (std::size_t i = 0; i < change.size(); ++i) temperature[i] += change[i];
  }
};

// ---- the network, which learns the conductivity ----

namespace guest {
namespace mt = meshtensor;

inline constexpr struct y : mt::dim<"y", heat::all_rows> {} y;
inline constexpr struct x : mt::dim<"x", heat::all_columns> {} x;
inline constexpr struct hidden : mt::dim<"hidden", 16> {} hidden;
inline constexpr struct down : mt::axis<"down"> {} down;  // the axes are those of the solver's own grid
inline constexpr struct across : mt::axis<"across"> {} across;
struct mesh : mt::mesh<down, across> {};
struct layout : mt::layout<mt::shard<y, down>, mt::shard<x, across>> {};

struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto temperature = s.input("temperature", mt::f64, y, x);
    auto laplacian = s.input("laplacian", mt::f64, y, x), change = s.input("change", mt::f64, y, x);
    auto features = tanh(temperature * s.parameter("in", hidden, mt::normal(1)) + s.parameter("bias", hidden));
    auto conducts = einsum(features, s.parameter("out", hidden, mt::normal(0.1)), mt::to(y, x));
    auto error = (conducts * laplacian - 20 * change) * 10;
    auto loss = mean(error * error);
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct in_f64 : mt::precision<learn, mt::f64> {};

}  // namespace guest

void simulate() {
  using namespace guest;
  heat solver(MPI_COMM_WORLD);
  mt::job const job(solver.grid);
  mt::store weights(job);
  mt::executable<in_f64, mesh, layout, mt::default_device> step(weights, down(solver.dims[0]), across(solver.dims[1]));
  auto const field = [&](std::vector<double> const& cells) {
    return mt::in_memory(cells, y(solver.rows), x(solver.columns));
  };
  for (int i = 0; i <= 300; ++i) {
    solver.advance();
    double const loss =
        step(mt::feed_local<"temperature">(field(solver.temperature)),
             mt::feed_local<"laplacian">(field(solver.laplacian)), mt::feed_local<"change">(field(solver.change)))
            .get<"loss">();
    solver.apply();
    if (i % 50 == 0) mt::print(job, "{:>4}  {:.8f}\n", i, loss);
  }
  mt::print(job, "{} bytes of the fields were copied\n", step.copied_bytes());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    simulate();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, code = 1);
  }
  MPI_Finalize();
  return code;
}
