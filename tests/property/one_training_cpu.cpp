// SPDX-License-Identifier: Apache-2.0
// A whole training on the cpu device does not depend on the layout either, and is that of the reference device: kernels
// are fused, and products are oneDNN's and a CBLAS's.
//
// needs: cpu
// sanitize: yes
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "property/one_training.hpp"
#include "property/sample.hpp"

using namespace training;

namespace {

// One thread a processor: a product may be cut between threads, and then rounds by their number.
mt::cpu_device device() { return mt::cpu_device(1); }

}  // namespace

TEST_CASE("in f64") { property::at_least(8, hold<mt::dtype::f64>(1e-9, device())); }
TEST_CASE("in f32") { property::at_least(8, hold<mt::dtype::f32>(1e-4, device())); }
