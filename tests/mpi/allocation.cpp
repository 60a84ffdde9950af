// SPDX-License-Identifier: Apache-2.0
// A step of a rank takes nothing from the heap once two have been made; what the MPI library takes for itself, by
// malloc, does not count.
// passes: start-up
// ranks: 2 4
// needs: mpi
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "meshtensor/job/mpi_runner.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using namespace programs;

namespace {

std::atomic<long> allocations = 0;

struct mesh : mt::mesh<ax> {};
struct data_parallel : mt::layout<mt::shard<batch, ax>, mt::in<"optimizer", mt::shard<model, ax>>> {};
struct spread : mt::layout<mt::shard<inner, ax>> {};
struct trained {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, model);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      return h + mt::nn::feed_forward(r, mt::nn::rms_norm(r / "norm", h, model), model, inner);
    });
    auto loss = mt::nn::mean_squared_error(y, sin(x));
    s.output("loss", loss);
    mt::adam{.learning_rate = s.number("learning_rate_of_the_step", 1)}.minimize(s / "optimizer", loss);
  }
};

template <class Layout>
void check() {
  mt::job const job(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  mt::store weights(job);
  mt::executable<trained, mesh, Layout, mt::reference_device> step(weights);
  mt::array<float, batch, model> x;
  for (float n = 0; float& e : x) e = 1 / ++n;
  float first = 0, last = 0;
  auto const run = [&] {
    last = step(mt::feed<"x">(x), mt::set<"learning_rate_of_the_step">(1e-2)).template get<"loss">();
  };
  run();
  first = last;
  run();
  long const before = allocations;
  for (int i = 0; i < 5; ++i) run();
  CHECK(allocations - before == 0);
  CHECK(last < first);
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* const p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

TEST_CASE("the batch and the optimizer are spread") { check<data_parallel>(); }
TEST_CASE("the layers are spread") { check<spread>(); }
