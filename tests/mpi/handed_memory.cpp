// SPDX-License-Identifier: Apache-2.0
// Memory of a device that is handed to MPI: it can be touched within calls of MPI alone, which here open it. What else
// a transport reads or writes must lie on the host.
// passes: start-up
// sanitize: no
// ranks: 2 3 4
// needs: mpi
// timeout: 300
#include "mpi/recorded_devices.hpp"
#include "support/late_machine.hpp"

using namespace recorded;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

namespace {

/// Operands and results that MPI alone touches stay where they are.
struct open_device : late_device {
  static bool hands_memory_to_transport() { return true; }
};

bool opens = false;
long handed = 0;  // collectives with an address of the device
/// The machine's memory is open in its lifetime; calls do not contain each other.
struct within_mpi {
  bool const is_mine = opens;
  within_mpi() {
    if (is_mine) meshtensor_test::given_machine()->open(true);
  }
  ~within_mpi() {
    if (is_mine) meshtensor_test::given_machine()->open(false);
  }
};
void count(void const* at) {
  auto* const one = meshtensor_test::given_machine();
  handed += opens && one != nullptr && one->has(static_cast<std::byte const*>(at));
}

}  // namespace

extern "C" {
int MPI_Iallgather(void const* in, int n, MPI_Datatype a, void* out, int m, MPI_Datatype b, MPI_Comm c,
                   MPI_Request* r) {
  count(out);
  within_mpi const now;
  return PMPI_Iallgather(in, n, a, out, m, b, c, r);
}
int MPI_Iallgatherv(void const* in, int n, MPI_Datatype a, void* out, int const* m, int const* at, MPI_Datatype b,
                    MPI_Comm c, MPI_Request* r) {
  count(out);
  within_mpi const now;
  return PMPI_Iallgatherv(in, n, a, out, m, at, b, c, r);
}
int MPI_Ialltoall(void const* in, int n, MPI_Datatype a, void* out, int m, MPI_Datatype b, MPI_Comm c, MPI_Request* r) {
  count(out);
  within_mpi const now;
  return PMPI_Ialltoall(in, n, a, out, m, b, c, r);
}
int MPI_Ialltoallv(void const* in, int const* n, int const* from, MPI_Datatype a, void* out, int const* m,
                   int const* at, MPI_Datatype b, MPI_Comm c, MPI_Request* r) {
  count(out);
  within_mpi const now;
  return PMPI_Ialltoallv(in, n, from, a, out, m, at, b, c, r);
}
int MPI_Isend(void const* in, int n, MPI_Datatype a, int to, int tag, MPI_Comm c, MPI_Request* r) {
  within_mpi const now;
  return PMPI_Isend(in, n, a, to, tag, c, r);
}
int MPI_Irecv(void* out, int n, MPI_Datatype a, int from, int tag, MPI_Comm c, MPI_Request* r) {
  within_mpi const now;
  return PMPI_Irecv(out, n, a, from, tag, c, r);
}
int MPI_Ibcast(void* out, int n, MPI_Datatype a, int root, MPI_Comm c, MPI_Request* r) {
  within_mpi const now;
  return PMPI_Ibcast(out, n, a, root, c, r);
}
int MPI_Igatherv(void const* in, int n, MPI_Datatype a, void* out, int const* m, int const* at, MPI_Datatype b,
                 int root, MPI_Comm c, MPI_Request* r) {
  within_mpi const now;
  return PMPI_Igatherv(in, n, a, out, m, at, b, root, c, r);
}
int MPI_Testany(int n, MPI_Request* all, int* which, int* is_there, MPI_Status* s) {
  within_mpi const now;
  return PMPI_Testany(n, all, which, is_there, s);
}
int MPI_Waitany(int n, MPI_Request* all, int* which, MPI_Status* s) {
  within_mpi const now;
  return PMPI_Waitany(n, all, which, s);
}
int MPI_Test(MPI_Request* r, int* is_there, MPI_Status* s) {
  within_mpi const now;
  return PMPI_Test(r, is_there, s);
}
int MPI_Iprobe(int from, int tag, MPI_Comm c, int* is_there, MPI_Status* s) {
  within_mpi const now;
  return PMPI_Iprobe(from, tag, c, is_there, s);
}
}

TEST_CASE("MPI alone touches the memory that it gets, and it is not copied to the host") {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  std::vector<listed> const some{program_named("mlp"), program_named("attending"), program_named("movements")};
  late_here const here(static_cast<std::uint64_t>(ranks::rank()) + 1);
  auto const downloads = [&]<class Device>(Device const&) {
    long const before = here.machine.downloads;
    opens = true;
    CHECK(hold_in_catalogue<Device, mt::reference_device>(job, some) > 6);
    opens = false;
    return here.machine.downloads - before;
  };
  long const staged = downloads(late_device());
  CHECK(handed == 0);
  long const left = downloads(open_device());
  if (job.is_root()) MESSAGE(staged << " copies to the host; " << left << " where MPI has had " << handed << " blocks");
  CHECK(handed > 0);
  CHECK(left < staged);
}
