// SPDX-License-Identifier: Apache-2.0
// A step that the compiler writes out calls kernels in the host's memory.
// expect: meshtensor T15: the compiler can write out a step only for a device that runs its kernels in the host
#include "meshtensor/device/cuda/device.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

struct batch : mt::dim<"batch", 8> {};
struct squares {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch{});
    s.output("sum", sum(x * x));
  }
};
struct data : mt::axis<"data", 2> {};
struct mesh : mt::mesh<data{}> {};
struct layout : mt::layout<mt::shard<batch{}, data{}>> {};

void use(mt::store& weights) { mt::compiled_step<squares, mesh, layout, mt::cuda_device> step(weights); }

int main() {}
