// SPDX-License-Identifier: Apache-2.0
// Products by the libraries: right for every form and type, the same bits at every run, nothing beside the result.
// needs: cpu
// arch: baseline native
#include "meshtensor/device/cpu/matmul.hpp"

#include <dlfcn.h>

#include <doctest/doctest.h>

#include "property/sample.hpp"
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

/// Of the OpenMP that oneDNN brings along.
void set_openmp_threads(int n) { reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))(n); }
int openmp_threads() { return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"))(); }

}  // namespace

TEST_CASE("every form, for every type") {
  std::uint64_t number = 0;
  for (auto type : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32, dtype::i64, dtype::u8})
    for (auto p : forms(type))
      for (bool accumulate : {false, true}) {
        if ((accumulate && type == dtype::u8) || !property::is_in_even_sample(number++)) continue;
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
    cpu::thread_team team(threads);
    for (auto type : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32})
      for (auto const& p : {plain(4, 5, 3000, type), plain(200, 130, 77, type, "b"), plain(300, 270, 260, type, "a"),
                            stacked(plain(9, 16, 40, type), {12})}) {
        run first(p, threads), second(p, threads);
        auto& c = first(&team);
        CHECK(c == second(&team));
        block before(p, p.c, p.m, p.n, 3);
        std::swap(before.bytes, c.bytes);  // the first result aside; the same block again
        CHECK(first(&team) == before);
      }
  }
}

TEST_CASE("in parts, by batch, rows or columns") {
  cpu::thread_team team(3);
  for (auto type : {dtype::f32, dtype::f64, dtype::bf16, dtype::i32})
    for (auto p : {plain(400, 130, 77, type), plain(130, 400, 77, type, "b"), plain(301, 299, 280, type, "ac"),
                   stacked(plain(90, 110, 120, type), {7}), stacked(plain(400, 60, 70, type), {2})}) {
      p.accumulate = type != dtype::bf16;
      run r(p, 3);
      CHECK(r.plan.parts() == 3);
      CHECK(wrong_elements(p, operands(p), r(&team)) == 0);
    }
  CHECK(run(plain(30, 20, 10, dtype::f32), 3).plan.parts() == 1);  // sooner done than handed over
  CHECK(run(plain(16, 1, 1000000, dtype::f32), 3).plan.parts() == 1);
  auto const integers = plain(300, 200, 100, dtype::i32);
  CHECK(run(integers, 3)(&team) == run(integers)());
}

TEST_CASE("parts have all of a product once") {
  for (auto p : {flattened(plain(1000, 37, 900, dtype::f32)), flattened(stacked(plain(64, 64, 65, dtype::f32), {5, 3})),
                 flattened(stacked(plain(100, 100, 100, dtype::f32), {33}))})
    for (int threads : {1, 2, 3, 8, 64}) {
      std::int64_t made = 0;
      for (auto const& part : parts_of(p, threads)) {
        CHECK(part.problem.k == p.k);
        made += part.problem.batch_count() * part.problem.m * part.problem.n;
      }
      CHECK(made == p.batch_count() * p.m * p.n);
      CHECK(parts_of(p, threads).size() <= static_cast<std::size_t>(threads));
    }
}

TEST_CASE("libraries keep the threads that the program gave them") {
  set_openmp_threads(3), openblas_set_num_threads(2);
  run(plain(300, 300, 300, dtype::f32))();
  run(plain(300, 300, 300, dtype::f64))();
  {
    cpu::libraries_on_one_thread const quiet;
    CHECK(openmp_threads() == 1);
    CHECK(openblas_get_num_threads() == 1);
  }
  CHECK(openmp_threads() == 3);
  CHECK(openblas_get_num_threads() == 2);
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
  auto const large = run(plain(256, 256, 256, dtype::f32, "a")).plan.implementation();
  CHECK((large == "cblas" || large.find("onednn brg") == 0));  // not oneDNN's gemm
  auto wide_rows = plain(512, 256, 300, dtype::f32, "a");
  wide_rows.a.column += 512;
  auto const core = cpu::libraries_on_one_thread::openblas_core();
  if (core == "Haswell" || core == "Zen")  // has no kernels for AVX-512
    CHECK((run(wide_rows).plan.implementation() == "cblas") == !cpu::onednn::has_avx512());
  CHECK(run(plain(64, 64, 64, dtype::i32)).plan.implementation() == "loops");
  CHECK(run(plain(0, 64, 64, dtype::f32)).plan.implementation() == "nothing");
}

TEST_CASE("batches of a few rows") {
  int ours = 0;
  for (std::int64_t m : {1, 2, 5, 8})
    for (std::int64_t n : {1, 16, 20, 32, 70, 130})
      for (std::int64_t k : {1, 7, 32, 90})
        for (char const* transposed : {"", "b", "a"}) {
          auto p = stacked(plain(m, n, k, dtype::f32, transposed), {3, 4});
          p.b.batch[0] += 5;  // what lies between two of them is not read
          INFO(m, " ", n, " ", k, " ", std::string(transposed));
          run r(p);
          ours += r.plan.implementation() == "small batch";
          CHECK(wrong_elements(p, operands(p), r()) == 0);
        }
  CHECK(ours > 20);
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
