// SPDX-License-Identifier: Apache-2.0
// What is sent: each collective makes the MPI calls of the table and no other, and moves the bytes that it announces.
// passes: start-up
// ranks: 2 3 4 6
// needs: mpi
#include <doctest/doctest.h>

#include "meshtensor/comm/mpi.hpp"
#include "mpi/counted.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;
using mt::collective;

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
  counted::clear();
  auto r = world.start(call, all, in.data(), out.data(), space.data());
  world.wait(r);
  return {counted::calls_made, counted::all_received()};
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
  counted::clear();
  mt::collective_call call;
  auto r = world.start(call, alone, &x, &y, nullptr);
  CHECK(world.test(r));
  CHECK(y == 3);
  CHECK(counted::calls_made == made{});
}
