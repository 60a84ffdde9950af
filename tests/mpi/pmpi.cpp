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
  std::vector<std::byte> out(static_cast<std::size_t>(mt::result_bytes_of(call, p, world.rank())));
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

TEST_CASE("all_reduce: in steps if small, by parts if long, with the bytes of a ring") {
  mt::mpi_world world;
  int const p = world.size(), me = world.rank();
  auto call = block(collective::all_reduce, 3, 5);
  auto t = of(world, call);
  int const messages = mt::reduction_steps(p).received(me);  // as many as it sends
  CHECK(t.functions == made{{"irecv", messages}, {"isend", messages}});
  CHECK(t.bytes == messages * 60);
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));
  call.type = mt::bf16;  // partial sums travel in f32
  CHECK(of(world, call).bytes == messages * 60);

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
    auto const turn = block(collective::all_to_all, 12, 24, d, 1 - d);
    t = of(world, turn);
    CHECK(t.functions == made{{"ialltoall", 1}});
    CHECK(t.bytes == mt::received_bytes_of(turn, p, me));
  }
  auto call = block(collective::broadcast, 12, 24);
  call.root = p - 1;
  auto t = of(world, call);
  CHECK(t.functions == made{{"ibcast", 1}});
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));
  call = block(collective::reduce, 12, 24);  // straight to the root
  call.root = p - 1;
  t = of(world, call);
  CHECK(t.functions == (me == p - 1 ? made{{"irecv", p - 1}} : made{{"isend", 1}}));
  CHECK(t.bytes == (me == p - 1 ? (p - 1) * 12 * 24 * 4 : 0));
  for (int columns : {12, 13}) {  // by parts
    call = block(collective::reduce, 1001, columns);
    call.root = p - 1;
    t = of(world, call);
    CHECK(t.functions == made{{1001 * columns % p == 0 ? "ialltoall" : "ialltoallv", 1}, {"igatherv", 1}});
    CHECK(t.bytes == mt::received_bytes_of(call, p, me));
  }
}

TEST_CASE("a move sends what changes hands, and nothing else") {
  mt::mpi_world world;
  int const p = world.size(), me = world.rank();
  mt::movement moves;  // rows that are shifted along a dim of 13 p + 1 of them
  moves.dims = 2, moves.along = 0, moves.extent = 13 * p + 1, moves.kind = mt::shift_kind::wrap;
  for (int m = 0; m < p; ++m) {
    mt::interval const rows = mt::part_of(moves.extent, p, m);
    mt::box b;
    b.origin[0] = rows.begin, b.extent[0] = rows.count, b.extent[1] = 24;
    moves.from.push_back(b), moves.to.push_back(b), moves.copy.push_back(0);
  }
  moves.find_alike();
  mt::collective_call call;
  call.kind = collective::move, call.moves = &moves, call.dims = 2, call.at.first = 2;
  call = mt::of_member(call, p, me);
  auto t = of(world, call);
  CHECK(t.functions == made{{"irecv", 1}, {"isend", 1}});
  CHECK(t.bytes == 2 * 24 * 4);
  CHECK(t.bytes == mt::received_bytes_of(call, p, me));
  call.at.first = 0;
  CHECK(of(world, call).functions == made{});
  moves.kind = mt::shift_kind::cut, call.at.first = -2;
  t = of(world, call);
  CHECK(t.bytes == (me == 0 ? 0 : 2 * 24 * 4));
}

TEST_CASE("parts that differ go by calls with counts, and no byte is sent for padding") {
  mt::mpi_world world;
  int const p = world.size(), me = world.rank();
  auto const gather = [&](int rows) {
    auto call = block(collective::all_gather, 1, 12, -1, 0);
    call.joined = rows;
    return mt::of_member(call, p, me);
  };
  for (int rows : {1, 5, 13 * p, 13 * p + 1}) {
    bool const even = rows % p == 0;
    auto t = of(world, gather(rows));
    CHECK(t.functions == made{{even ? "iallgather" : "iallgatherv", 1}});
    CHECK(t.bytes == (rows - mt::part_of(rows, p, me).count) * 12 * 4);
    auto call = block(collective::reduce_scatter, rows, 12, 0);
    t = of(world, call);
    if (rows >= p) CHECK(t.functions == made{{even ? "ialltoall" : "ialltoallv", 1}});
    else CHECK(t.functions.contains("irecv") == (me < rows));  // one by one, to those that get something
    CHECK(t.bytes == mt::part_of(rows, p, me).count * (p - 1) * 12 * 4);
    call = block(collective::all_to_all, rows, 0, 0, 1);
    call.joined = 7;
    t = of(world, mt::of_member(call, p, me));
    CHECK(t.bytes == mt::part_of(rows, p, me).count * (7 - mt::part_of(7, p, me).count) * 4);
  }
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
