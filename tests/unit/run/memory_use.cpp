// SPDX-License-Identifier: Apache-2.0
// What a process has of memory: the plan, workspaces, and the rest, before the first step and after.
// needs: cpu
// passes: start-up
// sanitize: no
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows", 256> {} rows;
inline constexpr struct width : mt::dim<"width", 2048> {} width;
inline constexpr struct inner : mt::dim<"inner", 4096> {} inner;
inline constexpr struct data : mt::axis<"data", 2> {} data;
struct alone : mt::mesh<> {};
struct whole : mt::layout<> {};
struct both : mt::mesh<data> {};
struct spread : mt::layout<mt::shard<rows, data>> {};

struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, width);
    auto up = s.parameter("up", width, inner, mt::normal(0.01));
    auto down = s.parameter("down", inner, width, mt::normal(0.01));
    auto off = einsum(relu(einsum(x, up, mt::to(rows, inner))), down, mt::to(rows, width)) - x;
    auto loss = mean(off * off);
    mt::adam{.learning_rate = 1e-3}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

std::int64_t peak() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

constexpr double megabyte = 1 << 20;

template <class Mesh, class Layout>
void look(int processors) {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  std::vector<float> const x(256 * 2048, 0.5f);
  mt::executable<learn, Mesh, Layout, mt::default_device> step(weights);
  mt::plan const& p = step.planned();
  mt::memory_use const before = step.memory();
  CHECK(before.planned == processors * (p.arena_bytes + p.variable_bytes + p.input_bytes));
  CHECK(before.planned / megabyte > 200);
  CHECK(before.workspace > 0);
  CHECK(before.process > 0);
  CHECK(before.process / megabyte < 80);
  step(mt::feed<"x">(x));
  step(mt::feed<"x">(x));
  mt::memory_use const after = step.memory();
  CHECK(after.planned == before.planned);
  CHECK(after.workspace == before.workspace);
  CHECK(after.process - before.process < 32 * megabyte);  // what libraries keep from their first call on
  auto const kept_by_libraries = std::max<std::int64_t>(0, after.process - before.process);
  CHECK(static_cast<double>(peak()) < 1.05 * static_cast<double>(before.all() + kept_by_libraries));
}

}  // namespace

TEST_CASE("the peak is what was said before the first step") {
  SUBCASE("of one processor") { look<alone, whole>(1); }
  SUBCASE("of two") { look<both, spread>(2); }
}
