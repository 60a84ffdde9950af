// What is sent: each collective makes the MPI calls of the table and no other, and moves the bytes that it announces.
// ranks: 2 3 4 6
// needs: mpi
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "meshtensor/comm/mpi.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;
using mt::collective;

namespace {

std::map<std::string, int> calls_made;
std::int64_t received = 0;  // from others

int size_of(MPI_Datatype type) {
  int n = 0;
  MPI_Type_size(type, &n);
  return n;
}
int others(MPI_Comm over) {
  int n = 0;
  MPI_Comm_size(over, &n);
  return n - 1;
}
void count(char const* name, std::int64_t bytes) {
  ++calls_made[name];
  received += bytes;
}
std::int64_t all_but_mine(int const* counts, MPI_Comm over) {
  int me = 0;
  MPI_Comm_rank(over, &me);
  std::int64_t sum = 0;
  for (int j = 0; j <= others(over); ++j) sum += j == me ? 0 : counts[j];
  return sum;
}

}  // namespace

extern "C" {
int MPI_Iallgather(void const* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
  count("iallgather", static_cast<std::int64_t>(m) * size_of(t) * others(c));
  return PMPI_Iallgather(a, n, s, b, m, t, c, r);
}
int MPI_Iallgatherv(void const* a, int n, MPI_Datatype s, void* b, int const* m, int const* d, MPI_Datatype t,
                    MPI_Comm c, MPI_Request* r) {
  count("iallgatherv", all_but_mine(m, c) * size_of(t));
  return PMPI_Iallgatherv(a, n, s, b, m, d, t, c, r);
}
int MPI_Ialltoall(void const* a, int n, MPI_Datatype s, void* b, int m, MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
  count("ialltoall", static_cast<std::int64_t>(m) * size_of(t) * others(c));
  return PMPI_Ialltoall(a, n, s, b, m, t, c, r);
}
int MPI_Ialltoallv(void const* a, int const* n, int const* e, MPI_Datatype s, void* b, int const* m, int const* d,
                   MPI_Datatype t, MPI_Comm c, MPI_Request* r) {
  count("ialltoallv", all_but_mine(m, c) * size_of(t));
  return PMPI_Ialltoallv(a, n, e, s, b, m, d, t, c, r);
}
int MPI_Iallreduce(void const* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
  count("iallreduce", 0);
  return PMPI_Iallreduce(a, b, n, t, o, c, r);
}
int MPI_Ireduce_scatter_block(void const* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r) {
  count("ireduce_scatter_block", 0);
  return PMPI_Ireduce_scatter_block(a, b, n, t, o, c, r);
}
int MPI_Ibcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
  int me = 0;
  MPI_Comm_rank(c, &me);
  count("ibcast", me == root ? 0 : static_cast<std::int64_t>(n) * size_of(t));
  return PMPI_Ibcast(a, n, t, root, c, r);
}
int MPI_Isend(void const* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  count("isend", 0);
  return PMPI_Isend(a, n, t, to, tag, c, r);
}
int MPI_Irecv(void* a, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  count("irecv", static_cast<std::int64_t>(n) * size_of(t));
  return PMPI_Irecv(a, n, t, from, tag, c, r);
}
int MPI_Allreduce(void const* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  count("allreduce", 0);
  return PMPI_Allreduce(a, b, n, t, o, c);
}
int MPI_Barrier(MPI_Comm c) {
  count("barrier", 0);
  return PMPI_Barrier(c);
}
}

namespace {

using made = std::map<std::string, int>;

struct traffic {
  made functions;
  std::int64_t bytes;
};

traffic of(mt::mpi_world& world, mt::collective_call const& call) {
  int const p = world.size();
  auto const members = ranks::below(p);
  mt::group const all{members.data(), p, world.rank()};
  world.prepare(all);
  std::vector<std::byte> in(static_cast<std::size_t>(mt::bytes_of(call)));
  std::vector<std::byte> out(static_cast<std::size_t>(mt::result_bytes_of(call, p)));
  std::vector<std::byte> space(static_cast<std::size_t>(world.workspace_bytes(call, p)) + 64);
  calls_made.clear(), received = 0;
  auto r = world.start(call, all, in.data(), out.data(), space.data());
  world.wait(r);
  return {calls_made, received};
}

mt::collective_call block(collective kind, std::int64_t rows, std::int64_t columns, int split = -1, int join = -1) {
  mt::collective_call call;
  call.kind = kind, call.dims = 2, call.extent[0] = rows, call.extent[1] = columns;
  call.split = split, call.join = join;
  return call;
}

}  // namespace

TEST_CASE("all_reduce: gathered whole if small, by parts if long, with the bytes of a ring") {
  mt::mpi_world world;
  int const p = world.size(), me = world.rank();
  auto call = block(collective::all_reduce, 3, 5);
  auto t = of(world, call);
  CHECK(t.functions == made{{"iallgather", 1}});
  CHECK(t.bytes == (p - 1) * 60);

  call = block(collective::all_reduce, 1000, 12);  // 12 divides by 2, 3, 4 and 6
  t = of(world, call);
  CHECK(t.functions == made{{"ialltoall", 1}, {"iallgather", 1}});
  CHECK(t.bytes == 2 * (p - 1) * 48000 / p);
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));

  call = block(collective::all_reduce, 1, 10007);  // a prime
  t = of(world, call);
  CHECK(t.functions == made{{"ialltoallv", 1}, {"iallgatherv", 1}});
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));
}

TEST_CASE("every other collective is one call, wherever it splits and joins") {
  mt::mpi_world world;
  int const p = world.size(), me = world.rank();
  for (int d : {0, 1}) {
    auto const scatter = block(collective::reduce_scatter, 12, 24, d);
    auto t = of(world, scatter);
    CHECK(t.functions == made{{"ialltoall", 1}});
    CHECK(t.bytes == (p - 1) * 12 * 24 * 4 / p);
    auto const gather = block(collective::all_gather, 12, 24, -1, d);
    t = of(world, gather);
    CHECK(t.functions == made{{"iallgather", 1}});
    CHECK(t.bytes == mt::received_bytes_of(gather, p, me));
    for (int e : {0, 1}) {
      auto const turn = block(collective::all_to_all, 12, 24, d, e);
      t = of(world, turn);
      CHECK(t.functions == made{{"ialltoall", 1}});
      CHECK(t.bytes == mt::received_bytes_of(turn, p, me));
    }
  }
  auto call = block(collective::broadcast, 12, 24);
  call.root = p - 1;
  auto t = of(world, call);
  CHECK(t.functions == made{{"ibcast", 1}});
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));
}

TEST_CASE("a permutation sends only what is asked for") {
  mt::mpi_world world;
  int const p = world.size(), me = world.rank();
  std::vector<int> ring;
  for (int m = 0; m < p; ++m) ring.push_back((m + 1) % p);
  auto call = block(collective::permute, 12, 24);
  call.source = ring.data();
  auto t = of(world, call);
  CHECK(t.functions == made{{"irecv", 1}, {"isend", 1}});
  CHECK(t.bytes == 12 * 24 * 4);
  std::vector<int> zeros(static_cast<std::size_t>(p), -1);
  zeros[0] = 0;  // its own
  call.source = zeros.data();
  t = of(world, call);
  CHECK(t.functions == made{});
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));
}

TEST_CASE("native reductions are the MPI library's, save those that it makes otherwise") {
  mt::mpi_world world({mt::reductions::native});
  auto call = block(collective::all_reduce, 1000, 12);
  CHECK(of(world, call).functions == made{{"iallreduce", 1}});
  call = block(collective::reduce_scatter, 12, 12, 1);
  CHECK(of(world, call).functions == made{{"ireduce_scatter_block", 1}});
  for (auto type : {mt::dtype::bf16, mt::dtype::u8}) {
    call.type = type;
    CHECK(of(world, call).functions == made{{"ialltoall", 1}});
  }
  call.type = mt::f32, call.op = mt::reduction::max;
  CHECK(of(world, call).functions == made{{"ialltoall", 1}});
  call.type = mt::i32;
  CHECK(of(world, call).functions == made{{"ireduce_scatter_block", 1}});
}

TEST_CASE("one process, or nothing to send: no call at all") {
  mt::mpi_world world;
  CHECK(of(world, block(collective::all_reduce, 0, 12)).functions == made{});
  int const me = world.rank();
  float x = 3, y = 0;
  mt::group const alone{&me, 1, 0};
  calls_made.clear();
  mt::collective_call call;
  auto r = world.start(call, alone, &x, &y, nullptr);
  CHECK(world.test(r));
  CHECK(y == 3);
  CHECK(calls_made == made{});
}
