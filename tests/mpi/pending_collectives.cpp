// SPDX-License-Identifier: Apache-2.0
// Several collectives in flight over the rows and columns of a mesh, awaited in different orders on different ranks.
// passes: start-up
// ranks: 2 4 6
// sanitize: yes
// needs: mpi
#include <doctest/doctest.h>

#include "meshtensor/comm/mpi.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

TEST_CASE("long reductions in flight on one group and on crossing groups") {
  mt::mpi_world world;
  int const rows = 2, columns = world.size() / rows, row = world.rank() / columns, column = world.rank() % columns;
  std::vector<int> in_row, in_column;
  for (int c = 0; c < columns; ++c) in_row.push_back(row * columns + c);
  for (int r = 0; r < rows; ++r) in_column.push_back(r * columns + column);
  mt::group const across{in_row.data(), columns, column}, along{in_column.data(), rows, row};
  world.prepare(across);
  world.prepare(along);
  world.prepare(across);  // known already

  std::size_t const n = 5003;
  mt::collective_call call;
  call.dims = 1, call.extent[0] = static_cast<std::int64_t>(n);
  auto gather = call;
  gather.kind = mt::collective::all_gather, gather.extent[0] = 1, gather.join = 0;
  std::vector<float> x(n), a(n), b(n), c(static_cast<std::size_t>(rows)), d(n), e(n);
  struct alignas(64) line {
    std::byte bytes[64];
  };
  auto const space = [&](mt::group const& g) {
    return std::vector<line>(static_cast<std::size_t>(world.workspace_bytes(call, g.count)) / 64 + 1);
  };
  auto wa = space(along), wb = space(across), wd = space(along), we = space(along);
  for (int step = 0; step < 40; ++step) {
    auto const mine = static_cast<float>(world.rank() + step);
    for (std::size_t i = 0; i < n; ++i) x[i] = mine, e[i] = -mine;
    mt::mpi_world::request r[] = {world.start(call, along, x.data(), a.data(), wa.data()),
                                  world.start(call, across, x.data(), b.data(), wb.data()),
                                  world.start(gather, along, x.data(), c.data(), nullptr),
                                  world.start(call, along, x.data(), d.data(), wd.data()),
                                  world.start(call, along, e.data(), e.data(), we.data())};
    for (int i = 0; i < 5; ++i) {
      auto& next = r[(i + world.rank()) % 5];
      if (step % 2 == 0) world.wait(next);
      else
        while (!world.test(next)) std::this_thread::yield();
      CHECK(world.test(next));  // complete, and still so
    }
    float const down = static_cast<float>(2 * column + columns + 2 * step);
    float const over = static_cast<float>(columns * (row * columns + step) + columns * (columns - 1) / 2);
    bool right = true;
    for (std::size_t i = 0; i < n; ++i) right = right && a[i] == down && d[i] == down && e[i] == -down && b[i] == over;
    for (int k = 0; k < rows; ++k)
      right = right && c[static_cast<std::size_t>(k)] == static_cast<float>(k * columns + column + step);
    CHECK(right);
  }
}

TEST_CASE("one rank waits for the first before it starts the second, the others do not") {
  mt::mpi_world world;
  int const p = world.size();
  auto const members = ranks::below(p);
  mt::group const all{members.data(), p, world.rank()};
  world.prepare(all);
  for (std::int64_t n : {5040, 5003}) {  // even parts and uneven ones
    mt::collective_call call;
    call.dims = 1, call.extent[0] = n;
    auto const size = static_cast<std::size_t>(n);
    std::vector<float> x(size), y(size);
    std::vector<double> wx(static_cast<std::size_t>(world.workspace_bytes(call, p)) / 8 + 8), wy(wx.size());
    for (int step = 0; step < 20; ++step) {
      for (std::size_t i = 0; i < size; ++i) x[i] = 1, y[i] = static_cast<float>(i % 1000);
      auto a = world.start(call, all, x.data(), x.data(), wx.data());
      if (world.rank() == step % p) world.wait(a);
      auto b = world.start(call, all, y.data(), y.data(), wy.data());
      world.wait(b);
      world.wait(a);
      bool right = true;
      for (std::size_t i = 0; i < size; ++i)
        right = right && x[i] == static_cast<float>(p) && y[i] == static_cast<float>(p * static_cast<int>(i % 1000));
      CHECK(right);
    }
  }
}

TEST_CASE("a move to several members, and two in flight between the same ones") {
  mt::mpi_world world;
  int const p = world.size();
  auto const members = ranks::below(p);
  mt::group const all{members.data(), p, world.rank()};
  world.prepare(all);
  mt::movement from_last, shift;  // of a row with one element a member; member 0 gets zeros
  for (int m = 0; m < p; ++m) {
    mt::box own, last;
    own.origin[0] = m, last.origin[0] = p - 1, own.extent[0] = last.extent[0] = 1;
    for (mt::movement* x : {&from_last, &shift}) x->dims = 1, x->from.push_back(own), x->copy.push_back(0);
    from_last.to.push_back(last), shift.to.push_back(own);
  }
  shift.along = 0, shift.extent = p;
  from_last.find_alike(), shift.find_alike();
  mt::collective_call call;
  call.kind = mt::collective::move, call.type = mt::i32, call.dims = 1, call.extent[0] = 1, call.at.first = -1;
  for (int step = 0; step < 20; ++step) {
    std::int32_t x[2] = {world.rank() + 100 * step, world.rank() - 100 * step}, y[3] = {-1, -1, -1};
    auto first = call, second = call;
    first.moves = &from_last, second.moves = &shift;
    alignas(64) std::byte space[3][1024];
    REQUIRE(world.workspace_bytes(first, p) <= 1024);
    auto a = world.start(first, all, &x[0], &y[0], space[0]);
    auto b = world.start(second, all, &x[1], &y[1], space[1]);
    auto c = world.start(second, all, &x[0], &y[2], space[2]);
    world.wait(c), world.wait(a), world.wait(b);
    CHECK(y[0] == p - 1 + 100 * step);
    CHECK(y[1] == (world.rank() == 0 ? 0 : world.rank() - 1 - 100 * step));
    CHECK(y[2] == (world.rank() == 0 ? 0 : world.rank() - 1 + 100 * step));
  }
}

TEST_CASE("a barrier while a collective is in flight") {
  mt::mpi_world world;
  auto const members = ranks::below(world.size());
  mt::group const all{members.data(), world.size(), world.rank()};
  world.prepare(all);
  std::vector<float> x(5000, 1.0f);
  mt::collective_call call;
  call.dims = 1, call.extent[0] = 5000;
  std::vector<double> space(static_cast<std::size_t>(world.workspace_bytes(call, world.size())) / 8 + 8);
  auto r = world.start(call, all, x.data(), x.data(), space.data());
  world.barrier();
  world.wait(r);
  CHECK(x[4999] == static_cast<float>(world.size()));
}
