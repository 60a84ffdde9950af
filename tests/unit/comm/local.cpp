// SPDX-License-Identifier: Apache-2.0
// Ranks as threads: every collective against the oracle, in place, several in flight, over groups, in any order of
// waits.
//
// timeout: 240
#include "meshtensor/comm/local.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "unit/comm/calls.hpp"

namespace mt = meshtensor;
using calls::bytes;

namespace {

std::atomic<long> allocations{0};

std::vector<int> ranks_below(int n) {
  std::vector<int> all;
  for (int r = 0; r < n; ++r) all.push_back(r);
  return all;
}

// The result of one collective over all ranks, and whether it is right, for every rank.
void check_all(mt::local_world& world, mt::collective_call const& call, std::uint64_t seed) {
  int const p = world.size();
  auto const members = ranks_below(p);
  auto const blocks = calls::blocks_of(call, seed, p);
  std::vector<bytes> results(static_cast<std::size_t>(p)), in_place(static_cast<std::size_t>(p));
  bool const either = call.kind == mt::collective::all_reduce || call.kind == mt::collective::broadcast;
  world.run([&](mt::local_member& m) {
    mt::group const all{members.data(), p, m.rank()};
    auto const r = static_cast<std::size_t>(m.rank());
    mt::collective_call const own = mt::of_member(call, p, m.rank());
    bytes in = blocks[r], out(static_cast<std::size_t>(mt::result_bytes_of(own, p, m.rank())), std::byte{0xee});
    auto request = m.start(own, all, in.data(), out.data());
    m.wait(request);
    std::fill(in.begin(), in.end(), std::byte{0xdd});  // nobody reads it any more
    results[r] = std::move(out);
    if (!either) return;
    in_place[r] = blocks[r];
    request = m.start(own, all, in_place[r].data(), in_place[r].data());
    while (!m.test(request)) std::this_thread::yield();
  });
  auto const inputs = calls::pointers_to(blocks);
  for (int m = 0; m < p; ++m) {
    bytes right(static_cast<std::size_t>(mt::result_bytes_of(call, p, m)));
    mt::reference(call, p, inputs.data(), m, right.data());
    CHECK_MESSAGE(calls::is_right(call, m, results[static_cast<std::size_t>(m)], right), mt::text_of(call));
    if (either) CHECK(in_place[static_cast<std::size_t>(m)] == right);
  }
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

TEST_CASE("every kind, dtype and number of ranks") {
  calls::generator g(3);
  for (int p : {1, 2, 3, 4, 6, 8}) {
    mt::local_world world(p);
    for (auto kind : calls::kinds)
      for (auto type : calls::types) {
        mt::movement moves;
        auto const call = calls::any_call(g, kind, type, p, moves);
        check_all(world, call, g());
      }
  }
}

TEST_CASE("long all_reduces, by parts that do not divide") {
  for (int p : {2, 3, 6}) {
    mt::local_world world(p);
    for (std::int64_t n : {257, 4096, 10007}) {
      mt::collective_call call;
      call.dims = 1, call.extent[0] = n;
      check_all(world, call, static_cast<std::uint64_t>(n));
    }
  }
}

TEST_CASE("several in flight over rows and columns of a mesh, awaited in different orders") {
  int const rows = 2, columns = 3;
  mt::local_world world(rows * columns);
  std::vector<float> sums(6);
  world.run([&](mt::local_member& m) {
    int const row = m.rank() / columns, column = m.rank() % columns;
    int const in_row[] = {row * columns, row * columns + 1, row * columns + 2},
              in_column[] = {column, columns + column};
    mt::group const across{in_row, columns, column}, along{in_column, rows, row};
    std::vector<float> x(1000, static_cast<float>(m.rank() + 1)), a(1000), b(1000), c(3), d(1000);
    mt::collective_call call;
    call.dims = 1, call.extent[0] = 1000;
    for (int step = 0; step < 50; ++step) {
      auto ra = m.start(call, across, x.data(), a.data());
      auto rb = m.start(call, along, x.data(), b.data());
      auto gather = call;
      gather.kind = mt::collective::all_gather, gather.extent[0] = 1, gather.join = 0;
      auto rc = m.start(gather, across, x.data(), c.data());
      auto rd = m.start(call, across, x.data(), d.data());
      mt::local_member::request* order[] = {&ra, &rb, &rc, &rd};
      for (int i = 0; i < 4; ++i) m.wait(*order[(i + m.rank()) % 4]);
      bool right = true;
      float const first = static_cast<float>(row * columns);
      for (std::size_t i = 0; i < 1000; ++i)
        right = right && a[i] == 3 * first + 6 && d[i] == a[i] && b[i] == static_cast<float>(2 * column + 2 + columns);
      for (int j = 0; j < 3; ++j) right = right && c[static_cast<std::size_t>(j)] == first + static_cast<float>(j) + 1;
      if (right) sums[static_cast<std::size_t>(m.rank())] += 1;
    }
  });
  for (float s : sums) CHECK(s == 50);
}

TEST_CASE("many more ranks than processors") {
  int const p = 96;
  mt::local_world world(p);
  auto const members = ranks_below(p);
  std::atomic<int> right{0};
  world.run([&](mt::local_member& m) {
    mt::collective_call call;
    call.type = mt::i64, call.dims = 1, call.extent[0] = 500;
    std::vector<std::int64_t> x(500, m.rank());
    for (int step = 0; step < 3; ++step) {
      auto request = m.start(call, {members.data(), p, m.rank()}, x.data(), x.data());
      m.wait(request);
      if (x[0] == p * (p - 1) / 2 && x[499] == x[0]) ++right;
      std::fill(x.begin(), x.end(), m.rank());
      m.barrier();
    }
  });
  CHECK(right == 3 * p);
}

TEST_CASE("a barrier waits for all, and world.run may be called again") {
  mt::local_world world(5);
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> before{0}, early{0};
    world.run([&](mt::local_member& m) {
      ++before;
      m.barrier();
      if (before != 5) ++early;
    });
    CHECK(early == 0);
  }
}

TEST_CASE("a steady step allocates nothing") {
  mt::local_world world(3);
  auto const members = ranks_below(3);
  std::atomic<long> extra{-1};
  world.run([&](mt::local_member& m) {
    mt::group const all{members.data(), 3, m.rank()};
    m.prepare(all);
    std::vector<float> x(2000), y(2000);
    mt::collective_call call;
    call.dims = 1, call.extent[0] = 2000;
    auto const step = [&] {
      auto a = m.start(call, all, x.data(), y.data());
      auto b = m.start(call, all, x.data(), x.data());
      m.wait(a), m.wait(b);
    };
    for (int i = 0; i < 20; ++i) step();
    m.barrier();
    long const before = allocations;
    m.barrier();
    for (int i = 0; i < 20; ++i) step();
    m.barrier();
    if (m.rank() == 0) extra = allocations - before;
    m.barrier();
  });
  CHECK(extra == 0);
}
