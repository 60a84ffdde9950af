// SPDX-License-Identifier: Apache-2.0
// Every collective over MPI against the oracle, bit for bit, and against ranks that are threads.
// passes: start-up
// ranks: 1 2 3 4 6
// sanitize: yes
// needs: mpi
#include <doctest/doctest.h>

#include <memory>

#include "meshtensor/comm/local.hpp"
#include "meshtensor/comm/mpi.hpp"
#include "mpi/ranks.hpp"
#include "unit/comm/calls.hpp"

namespace mt = meshtensor;
using calls::bytes;

namespace {

struct everybody {
  explicit everybody(mt::mpi_world& world)
      : members(ranks::below(world.size())), all{members.data(), world.size(), world.rank()} {
    world.prepare(all);
  }
  std::vector<int> members;
  mt::group all;
};

// Aligned as an arena is; bytes beyond the announced end show an overrun.
struct workspace {
  explicit workspace(std::int64_t n) : size(static_cast<std::size_t>(n)), block(size + 128, std::byte{0x77}) {
    void* p = block.data();
    std::size_t room = block.size();
    start = static_cast<std::byte*>(std::align(64, size, p, room));
  }
  void* data() { return size == 0 ? nullptr : start; }
  bool intact() const {
    for (std::byte const* b = start + size; b != block.data() + block.size(); ++b)
      if (*b != std::byte{0x77}) return false;
    return true;
  }
  std::size_t size;
  bytes block;
  std::byte* start;
};

/// `any` is the call of any member.
bytes result(mt::mpi_world& world, mt::group const& g, mt::collective_call const& any, bytes const& in) {
  mt::collective_call const call = mt::of_member(any, g.count, g.index);
  bytes out(static_cast<std::size_t>(mt::result_bytes_of(call, g.count, g.index)), std::byte{0xee});
  workspace space(world.workspace_bytes(call, g.count));
  auto request = world.start(call, g, in.data(), out.data(), space.data());
  world.wait(request);
  CHECK(space.intact());
  CHECK(static_cast<std::int64_t>(space.size) <= mt::workspace_bytes_of(call, g.count));
  return out;
}

bytes in_place(mt::mpi_world& world, mt::group const& g, mt::collective_call const& call, bytes block) {
  workspace space(world.workspace_bytes(call, g.count));
  auto request = world.start(call, g, block.data(), block.data(), space.data());
  while (!world.test(request)) std::this_thread::yield();
  return block;
}

bytes oracle(mt::collective_call const& call, int p, std::vector<bytes> const& blocks, int me) {
  bytes out(static_cast<std::size_t>(mt::result_bytes_of(call, p, me)));
  mt::reference(call, p, calls::pointers_to(blocks).data(), me, out.data());
  return out;
}

}  // namespace

TEST_CASE("every kind and dtype, bit for bit") {
  mt::mpi_world world;
  everybody const every(world);
  int const p = world.size();
  calls::generator g(10);  // the same on all ranks
  for (auto kind : calls::kinds)
    for (auto type : calls::types)
      for (int trial = 0; trial < 5; ++trial) {
        mt::movement moves;
        auto const call = calls::any_call(g, kind, type, p, moves);
        auto const blocks = calls::blocks_of(call, g(), p);
        auto const& mine = blocks[static_cast<std::size_t>(world.rank())];
        auto const right = oracle(call, p, blocks, world.rank());
        CHECK_MESSAGE(calls::is_right(call, world.rank(), result(world, every.all, call, mine), right),
                      mt::text_of(call));
        if (kind == mt::collective::all_reduce || kind == mt::collective::broadcast)
          CHECK_MESSAGE(in_place(world, every.all, call, mine) == right, mt::text_of(call));
      }
}

TEST_CASE("long all_reduces, by parts that do or do not divide") {
  mt::mpi_world world;
  everybody const every(world);
  int const p = world.size();
  for (auto type : calls::types)
    for (std::int64_t n : {2, 1023, 1024, 1025, 12 * 1001, 100003}) {
      mt::collective_call call;
      call.type = type, call.op = type == mt::boolean ? mt::reduction::max : mt::reduction::sum;
      call.dims = 1, call.extent[0] = n;
      auto const blocks = calls::blocks_of(call, static_cast<std::uint64_t>(n), p);
      auto const& mine = blocks[static_cast<std::size_t>(world.rank())];
      auto const right = oracle(call, p, blocks, world.rank());
      CHECK_MESSAGE(result(world, every.all, call, mine) == right, mt::text_of(call));
      CHECK_MESSAGE(in_place(world, every.all, call, mine) == right, mt::text_of(call));
    }
}

TEST_CASE("processes and threads give the same bits") {
  mt::mpi_world world;
  everybody const every(world);
  int const p = world.size();
  mt::local_world threads(p);
  calls::generator g(11);
  for (auto kind : calls::kinds)
    for (auto type : {mt::dtype::f32, mt::dtype::bf16, mt::dtype::f64}) {
      mt::movement moves;
      auto const call = calls::any_call(g, kind, type, p, moves);
      auto const blocks = calls::blocks_of(call, g(), p);
      bytes same;
      threads.run([&](mt::local_member& m) {
        mt::collective_call const own = mt::of_member(call, p, m.rank());
        bytes out(static_cast<std::size_t>(mt::result_bytes_of(own, p, m.rank())));
        auto request = m.start(own, {every.members.data(), p, m.rank()},
                               blocks[static_cast<std::size_t>(m.rank())].data(), out.data());
        m.wait(request);
        if (m.rank() == world.rank()) same = out;
      });
      auto const mine = result(world, every.all, call, blocks[static_cast<std::size_t>(world.rank())]);
      CHECK_MESSAGE(calls::is_right(call, world.rank(), mine, same), mt::text_of(call));
    }
}

TEST_CASE("reductions of the MPI library: exact on integers, close on reals") {
  mt::mpi_world world({mt::reductions::native});
  everybody const every(world);
  int const p = world.size();
  calls::generator g(12);
  for (auto kind : {mt::collective::all_reduce, mt::collective::reduce_scatter})
    for (auto type : calls::types)
      for (int trial = 0; trial < 4; ++trial) {
        mt::movement moves;
        auto const call = calls::any_call(g, kind, type, p, moves);
        auto const blocks = calls::blocks_of(call, g(), p);
        auto const& mine = blocks[static_cast<std::size_t>(world.rank())];
        auto const right = oracle(call, p, blocks, world.rank());
        auto const got = result(world, every.all, call, mine);
        if (!mt::is_float(type) || !mt::comm::may_be_native(call)) {
          CHECK_MESSAGE(got == right, mt::text_of(call));
          if (kind == mt::collective::all_reduce) CHECK(in_place(world, every.all, call, mine) == right);
          continue;
        }
        REQUIRE(got.size() == right.size());
        mt::with_element(type, [&]<class E>() {
          for (std::size_t i = 0; i < got.size(); i += sizeof(E)) {
            E a, b;
            std::memcpy(&a, got.data() + i, sizeof(E)), std::memcpy(&b, right.data() + i, sizeof(E));
            CHECK(static_cast<double>(a) == doctest::Approx(static_cast<double>(b)).epsilon(1e-3));
          }
        });
      }
}

TEST_CASE("what cannot be done is refused before anything is sent") {
  mt::mpi_world world;
  mt::collective_call call;
  call.type = mt::u8, call.dims = 1, call.extent[0] = 30000000000;
  if (world.size() == 1) return;
  auto const members = ranks::below(world.size());
  mt::group const all{members.data(), world.size(), world.rank()};
  auto const code = [&](mt::collective_call const& c, mt::group const& g) -> std::string {
    try {
      world.start(c, g, nullptr, nullptr, nullptr);
    } catch (mt::error const& e) { return e.code(); }
    return "";
  };
  CHECK(code(call, all) == "R26");
  call.kind = mt::collective::all_gather, call.join = 0;  // the parts differ, so each has an offset in the result
  call.joined = 3000000001 * world.size() + 1;
  call.extent[0] = mt::joined_part(call, world.size(), world.rank()).count;
  CHECK(code(call, all) == "R26");
  char const* const by_offset = world.size() == 2 ? "R23" : "R26";  // the last of three parts is beyond 2^31 elements
  call.joined = 1500000000ll * world.size() + 1;
  call.extent[0] = mt::joined_part(call, world.size(), world.rank()).count;
  CHECK(code(call, all) == by_offset);
  call.kind = mt::collective::reduce, call.join = -1, call.extent[0] = 1100000000ll * world.size();
  CHECK(code(call, all) == by_offset);
  call.kind = mt::collective::all_reduce;
  CHECK(code(call, all) == "R23");  // by parts: each is small enough
  call.extent[0] = 30;
  CHECK(code(call, all) == "R23");  // not prepared
  world.prepare(all);
  CHECK(code(call, all) == "R20");  // no workspace
  call.kind = mt::collective::all_gather;
  CHECK(code(call, all) == "R20");  // no dim to join
  CHECK_THROWS_AS(world.prepare({members.data(), world.size(), (world.rank() + 1) % world.size()}), mt::error);
}
