// Products by the libraries: right for every form and type, the same bits at every run, nothing beside the result.
// needs: cpu
// arch: baseline native
#include "meshtensor/device/cpu/matmul.hpp"

#include <doctest/doctest.h>

#include "unit/device/products.hpp"

using namespace products;
namespace cpu = mt::cpu;

namespace {

struct run {
  explicit run(matmul_problem const& p, int threads = 1) : plan(p, threads), x(p), workspace(plan.workspace_bytes()) {}
  block& operator()(cpu::thread_team* team = nullptr) {
    plan.execute(x.a.bytes.get(), x.b.bytes.get(), x.c.bytes.get(), workspace.memory.data(), team);
    CHECK(workspace.intact());
    return x.c;
  }
  cpu::matmul_plan plan;
  operands x;
  guarded_workspace workspace;
};

}  // namespace

TEST_CASE("every form, for every type") {
  for (auto type : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32, dtype::i64, dtype::u8})
    for (auto p : forms(type))
      for (bool accumulate : {false, true}) {
        if (accumulate && type == dtype::u8) continue;
        p.accumulate = accumulate;
        CAPTURE(mt::text_of(type));
        CAPTURE(p.m);
        CAPTURE(p.n);
        CAPTURE(p.k);
        run r(p);
        CAPTURE(r.plan.implementation());
        CHECK(wrong_elements(p, operands(p), r()) == 0);
      }
}

TEST_CASE("bf16 into f32, and mixed floats") {
  for (auto p : forms(dtype::bf16)) {
    p.c.type = dtype::f32;
    CHECK(wrong_elements(p, operands(p), run(p)()) == 0);
    p.b.type = dtype::f32;
    CHECK(wrong_elements(p, operands(p), run(p)()) == 0);
  }
}

TEST_CASE("a second run and a second plan give the same bits") {
  for (int threads : {1, 2, 3}) {
    cpu::set_library_threads(threads);
    CHECK(cpu::library_threads() == threads);
    cpu::thread_team team(threads);
    for (auto type : {dtype::f32, dtype::f64, dtype::bf16})
      for (auto const& p :
           {plain(4, 5, 3000, type), plain(200, 130, 77, type, "b"), stacked(plain(9, 16, 40, type), {12})}) {
        run first(p, threads), second(p, threads);
        auto& c = first(&team);
        CHECK(c == second(&team));
        block before(p, p.c, p.m, p.n, 3);
        std::swap(before.bytes, c.bytes);  // the first result aside; the same block again
        CHECK(first(&team) == before);
      }
  }
  cpu::set_library_threads(cpu::thread_budget());
}

TEST_CASE("one plan serves any blocks") {
  auto const p = plain(12, 20, 30, dtype::f32);
  run r(p);
  operands other(p);
  for (std::int64_t i = 0; i < other.a.count; ++i) other.a.set(i, 2 * r.x.a.get(i));
  auto const once = r().get(17);
  r.plan.execute(other.a.bytes.get(), other.b.bytes.get(), other.c.bytes.get(), r.workspace.memory.data());
  CHECK(other.c.get(17) == 2 * once);
}

TEST_CASE("the libraries are used") {
  CHECK(run(plain(64, 64, 64, dtype::f32)).plan.implementation().find("onednn ") == 0);
  CHECK(run(stacked(plain(64, 64, 64, dtype::f32, "b"), {4})).plan.implementation().find("onednn ") == 0);
  CHECK(run(forms(dtype::f32).at(forms(dtype::f32).size() - 3)).plan.implementation().find("onednn ") ==
        0);  // attention
  CHECK(run(plain(64, 64, 64, dtype::f64, "ac")).plan.implementation() == "cblas");
  CHECK(run(plain(64, 64, 64, dtype::i32)).plan.implementation() == "loops");
  CHECK(run(plain(0, 64, 64, dtype::f32)).plan.implementation() == "nothing");
}

TEST_CASE("nothing to sum, nothing to make") {
  auto p = plain(3, 4, 0, dtype::f32);
  CHECK(run(p)().get(5) == 0);
  p.accumulate = true;
  CHECK(run(p)() == operands(p).c);
  run empty(plain(3, 0, 5, dtype::f64));
  CHECK(empty.plan.workspace_bytes() == 0);
  empty();
}

TEST_CASE("what cannot be is refused") {
  auto const code = [](matmul_problem const& p) {
    try {
      cpu::matmul_plan plan(p);
    } catch (mt::error const& e) { return e.code(); }
    return std::string();
  };
  auto p = plain(3, 4, 5, dtype::f32);
  CHECK(code(p) == "");
  p.b.type = dtype::i32;
  CHECK(code(p) == "R30");
  p = plain(3, 4, 5, dtype::f32);
  p.k = -1;
  CHECK(code(p) == "R30");
  p = stacked(plain(3, 4, 5, dtype::f32), {2});
  p.c.batch[0] = 0;
  CHECK(code(p) == "R30");
  p.batch_dims = 7;
  CHECK(code(p) == "R30");
}
