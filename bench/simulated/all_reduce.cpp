// SPDX-License-Identifier: Apache-2.0
// An all_reduce of floats among all ranks, beside the MPI library's own: seconds of each, as MPI's clock tells them.
// bench/simulated.sh runs it on many simulated hosts.
//
//   all_reduce BYTES [theirs: the MPI library's alone]
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <meshtensor/comm/mpi.hpp>

namespace mt = meshtensor;

namespace {

/// The seconds that the slowest rank takes.
template <class F>
double seconds_of(F const& exchange) {
  exchange();  // the first one also makes connections
  MPI_Barrier(MPI_COMM_WORLD);
  double const before = MPI_Wtime();
  exchange();
  double took = MPI_Wtime() - before, longest = 0;
  MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::int64_t const bytes = argc > 1 ? std::atoll(argv[1]) : 1024;
  std::vector<float> in(static_cast<std::size_t>(bytes / 4), 1), out(in.size());
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double ours = 0;
  bool right = true;
  if (argc < 3) {
    mt::mpi_options options;
    options.limits = {.warn = {}, .end = {}};
    mt::mpi_world world(MPI_COMM_WORLD, options);
    std::vector<int> members(static_cast<std::size_t>(world.size()));
    std::iota(members.begin(), members.end(), 0);
    mt::group const all{members.data(), world.size(), world.rank()};
    world.prepare(all);
    mt::collective_call call;
    call.kind = mt::collective::all_reduce, call.dims = 1, call.extent[0] = bytes / 4;
    std::vector<std::byte> space(static_cast<std::size_t>(world.workspace_bytes(call, world.size())) + 64);
    ours = seconds_of([&] {
      auto request = world.start(call, all, in.data(), out.data(), space.data());
      world.wait(request);
    });
    right = out.front() == static_cast<float>(size) && out.back() == out.front();
  }
  double const theirs = seconds_of(
      [&] { MPI_Allreduce(in.data(), out.data(), static_cast<int>(in.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
  if (rank == 0)
    std::printf("%lld bytes on %d ranks: %.6f s, the MPI library %.6f s%s\n", static_cast<long long>(bytes), size, ours,
                theirs, right ? "" : ", and the sum is WRONG");
  MPI_Finalize();
}
