// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients on mt::cuda_device, as the oracle has them: by one thread in a block, and by 128 that
// take turns in several orders, with the same bits.
// passes: start-up
// sanitize: no
// timeout: 600
// part: cuda
#include "meshtensor/device/cuda/device.hpp"
#include "support/gpu_of_tests.hpp"
#include "unit/device/attending.hpp"

using namespace attending;

namespace {

/// On the card with MESHTENSOR_ON_CARD=1, else on the host with so many threads in a block, in three orders.
template <class Program>
void run(sizes const& z, double tolerance, int threads, std::size_t shared_bytes = 101376, int composites = 2) {
  CAPTURE(z.length);
  CAPTURE(z.memory);
  CAPTURE(z.head);
  CAPTURE(threads);
  subject<Program> s(z);
  meshtensor_test::gpu_of_tests here(threads);
  if (here.host() != nullptr) here.host()->shared = shared_bytes;
  auto const order = [&](int step) {
    if (here.host() != nullptr) here.host()->order = step == 2 ? 77u : static_cast<unsigned>(step);
  };
  CHECK(s.template fault_on<mt::cuda_device>({}, {}, tolerance, threads == 1 ? 1 : 3, order) == "");
  CHECK(s.composites() == composites);
}

using mt::dtype;

}  // namespace

TEST_CASE("by one thread: dtypes, masks, orders of dims, lengths that are no whole tiles") {
  run<attends<dtype::f32, false>>({2, 5, 3, 3, 7}, 1e-5, 1);
  run<attends<dtype::f32, true>>({1, 65, 130, 1, 9}, 1e-5, 1);
  run<attends<dtype::f64, true>>({3, 130, 65, 2, 17}, 1e-12, 1);
  run<attends<dtype::f64, false, true>>({1, 70, 200, 2, 33}, 1e-12, 1);
  run<attends<dtype::bf16, true>>({1, 96, 97, 2, 16}, 0.03, 1);
  run<attends_to_some<dtype::f64, heads, batch>>({2, 70, 110, 3, 8}, 1e-12, 1);
  run<attends_to_some<dtype::f64, length>>({2, 96, 97, 3, 8}, 1e-12, 1);
}

TEST_CASE("by fused multiply-adds of many threads, in any order") {
  run<attends<dtype::f32, true>>({2, 130, 67, 2, 33}, 1e-5, 128);
  run<attends<dtype::f64, false, true>>({1, 65, 130, 2, 9}, 1e-12, 128);
  run<attends_to_some<dtype::f32, length, batch>>({2, 70, 97, 1, 64}, 1e-5, 128);
}

TEST_CASE("by matrix units, in any order") {
  run<attends<dtype::bf16, false>>({2, 5, 3, 3, 7}, 0.03, 128);
  run<attends<dtype::bf16, true>>({1, 200, 200, 2, 64}, 0.03, 128);
  run<attends<dtype::bf16, true>>({1, 33, 100, 1, 144}, 0.03, 128);
  run<attends<dtype::bf16, false, true>>({2, 70, 130, 1, 29}, 0.03, 128);
  run<attends_to_some<dtype::bf16, batch>>({3, 70, 130, 2, 32}, 0.05, 128);
  run<attends_to_some<dtype::bf16, heads, length>>({2, 130, 70, 2, 16}, 0.05, 128);
}

TEST_CASE("bf16, scores whose logarithm is too coarse in bf16") {
  run<attends_to_equals>(equals, 0.01, 1);
  run<attends_to_equals>(equals, 0.01, 128);
}

TEST_CASE("heads too wide for shared memory: tiles in the workspace") {
  run<attends<dtype::f32, true>>({1, 40, 50, 2, 40}, 1e-5, 128, 4096);
  run<attends<dtype::bf16, false>>({1, 40, 50, 2, 40}, 0.03, 1, 4096);
}

TEST_CASE("a nan reaches what it reaches without the kernel: not what hides it") {
  for (char const* spoilt : {"q", "v"}) {
    CAPTURE(spoilt);
    meshtensor_test::gpu_of_tests here;
    subject<attends_to_some<dtype::f64, batch>> s({3, 70, 110, 2, 8}, 1, spoilt);
    CHECK(s.fault_on<mt::cuda_device>({}, {}, 1e-12, 1, [](int) {}) == "");
    CHECK(s.composites() == 2);
  }
}

TEST_CASE("scores of any size") {
  for (double largest : {1e4, 1e-40}) {
    meshtensor_test::gpu_of_tests here;
    subject<attends<dtype::f32, true>> s({1, 70, 70, 2, 8}, largest);
    CHECK(s.fault_on<mt::cuda_device>({}, {}, 1e-2, 1, [](int) {}) == "");
  }
}

TEST_CASE("sharded: each processor its batches, heads or queries; by kernels and products where parts must meet") {
  auto const mesh = mt::mesh_shape{}.add("ax", 3);
  for (sizes const& z : {sizes{3, 12, 12, 6, 4}, sizes{3, 2, 2, 2, 4}}) {  // of the second one, a rank has nothing
    subject<attends<dtype::f64, true>> s(z);
    for (auto const& [dim, whole] :
         std::vector<std::pair<char const*, int>>{{"length", 2}, {"heads", 2}, {"memory", 1}, {"head", 0}}) {
      CAPTURE(dim);
      CAPTURE(z.length);
      meshtensor_test::gpu_of_tests here;
      auto const rules = mt::layout_rules{}.shard(mt::name::of(dim), {"ax"});
      CHECK(s.fault_on<mt::cuda_device>(mesh, rules, 1e-12, 2, [](int) {}) == "");
      CHECK(s.composites() == whole);
    }
  }
}

TEST_CASE("a device that leaves attention to products and kernels") {
  subject<attends<dtype::f32, true>> s({1, 20, 20, 2, 8});
  meshtensor_test::gpu_of_tests here;
  CHECK(s.fault_on<mt::cuda_device_without_attention>({}, {}, 1e-5, 1, [](int) {}) == "");
  CHECK(s.composites() == 0);
}
