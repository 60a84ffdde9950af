// SPDX-License-Identifier: Apache-2.0
// Tensors of nine and ten dims on mt::cuda_device, with kernels that the host's compiler makes of the text for a GPU.
// passes: start-up
// sanitize: no
// timeout: 600
// part: cuda
#include "property/many_dims.hpp"
#include "property/on_cuda.hpp"

using namespace property;

TEST_CASE("tensors of nine and ten dims on mt::cuda_device") {
  stand_in const here;
  at_least(12, many_dims::hold_all<mt::cuda_device>());
}
