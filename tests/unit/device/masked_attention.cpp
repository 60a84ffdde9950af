// SPDX-License-Identifier: Apache-2.0
// Attention to those positions that a mask leaves open, run whole by the cpu device: as the oracle has it where some
// queries have no key, in blocks that nothing fills, beside a nan, of masks with any dims.
//
// passes: start-up
// needs: cpu
// arch: baseline native
// timeout: 300
#include "unit/device/attending.hpp"

using namespace attending;

namespace {

using in_f64 = attends_to_some<mt::dtype::f64, batch>;

}  // namespace

TEST_CASE("f32") { hold<attends_to_some<mt::dtype::f32, batch>>(1e-4); }
TEST_CASE("f64, a mask for each batch and head") { hold<attends_to_some<mt::dtype::f64, heads, batch>>(1e-12); }
TEST_CASE("f64, one mask for all") { hold<attends_to_some<mt::dtype::f64>>(1e-12); }
TEST_CASE("f64, a mask for each query") { hold<attends_to_some<mt::dtype::f64, length>>(1e-12); }
TEST_CASE("f32, a mask for each query of a batch") { hold<attends_to_some<mt::dtype::f32, length, batch>>(1e-4); }
TEST_CASE("bf16, a mask for each head") { hold<attends_to_some<mt::dtype::bf16, heads>>(0.05); }

TEST_CASE("a nan reaches what it reaches without the kernel: not what hides it") {
  for (char const* spoilt : {"q", "k", "v", "weights"}) {
    CAPTURE(spoilt);
    subject<in_f64> s({3, 70, 110, 2, 8}, 1, spoilt);
    CHECK(s.fault({}, {}, 1, true, 1e-12) == "");
    CHECK(s.composites() == 2);
  }
}

TEST_CASE("scores of any size") {
  for (double largest : {1e4, 1e-40})
    CHECK(subject<in_f64>({3, 70, 70, 2, 8}, largest).fault({}, {}, 1, true, 1e-9) == "");
}

TEST_CASE("under every layout") {
  subject<in_f64> s({2, 12, 12, 6, 4});
  int whole = 0, half = 0, other = 0;
  mt::mesh_shape mesh{};
  mesh.add("ax", 2);
  meshtensor_test::each_assignment({"batch", "length", "memory", "heads", "head"}, mesh, [&](auto const& rules) {
    CAPTURE(meshtensor_test::text_of(rules));
    CHECK(s.fault(mesh, rules, 1, true, 1e-12) == "");
    ++(s.composites() == 2 ? whole : s.composites() == 1 ? half : other);
  });
  CHECK(whole == 4);  // nothing spread; batch, length, heads
  CHECK(half == 1);   // memory: each processor has the gradients by its keys
  CHECK(other == 1);  // head

  subject<attends_to_some<mt::dtype::f64, batch, length>> each({2, 12, 12, 6, 4});
  meshtensor_test::each_assignment({"batch", "length", "memory", "heads", "head"}, mesh, [&](auto const& rules) {
    CAPTURE(meshtensor_test::text_of(rules));
    CHECK(each.fault(mesh, rules, 1, true, 1e-12) == "");
  });
}
