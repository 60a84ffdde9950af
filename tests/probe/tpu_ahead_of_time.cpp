// SPDX-License-Identifier: Apache-2.0
// The compiler of TPUs takes a training step of the Transformer for four devices, without a TPU, and tells the memory
// and the work that the library has planned. Skipped without the Python package libtpu. Nothing runs.
// passes: start-up
// sanitize: no
// part: tpu
// timeout: 900
#include <doctest/doctest.h>

#include "../../bench/run/lm.hpp"
#include "probe/tpu_compiler.hpp"
#include "support/skip.hpp"

namespace mt = meshtensor;

TEST_CASE("a training step of the Transformer for v5e:2x2 has the memory and the work that were planned") {
  std::string const path = tpu::libtpu();
  if (path.empty()) {
    meshtensor_test::skip("the compiler of TPUs is not here: pip install libtpu");
    return;
  }
  // One layer: the compiler counts the work of one turn of a loop.
  lm::sizes const z{1, 1024, 16, 4096, 256, 8, 4096};
  auto const mesh = [] {
    mt::mesh_shape m = lm::mesh::shape;
    return m.bind(lm::data(2)).bind(lm::model(2));
  }();
  mt::dim_extent const extents[] = {lm::batch(z.batch),     lm::length(z.length), lm::layers(z.layers),
                                    lm::d_model(z.d_model), lm::heads(z.heads),   lm::d_head(z.d_model / z.heads),
                                    lm::d_ff(z.d_ff),       lm::vocab(z.vocab)};
  auto const traced = mt::on_heap([] { return mt::trace<lm::step_bf16>(); });
  auto const l = mt::lower(*traced, mt::entry_name<lm::step_bf16>(), mesh, lm::layout::rules, extents);
  tpu::has_what_was_planned(tpu::loaded(path), *l, mesh, tpu::planned_products(*l), 1.02);
}
