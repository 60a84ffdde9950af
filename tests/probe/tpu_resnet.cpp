// SPDX-License-Identifier: Apache-2.0
// The compiler of TPUs takes a training step of ResNet-50 for four devices, without a TPU, and tells the memory and the
// work that the library has planned. Skipped without the Python package libtpu. Nothing runs.
// passes: start-up
// nodes: 8192
// sanitize: no
// part: tpu
// timeout: 900
#include <doctest/doctest.h>

#include "../../examples/resnet/programs.hpp"
#include "../../examples/resnet/sizes.hpp"
#include "probe/tpu_compiler.hpp"
#include "support/skip.hpp"

namespace mt = meshtensor;

namespace {

using namespace resnet;
using program = mt::precision<train_step<bottleneck, with_nesterov>, mt::f32, mt::bf16>;

mt::mesh_shape four() {
  mt::mesh_shape m = resnet::mesh::shape;
  return m.bind(data(4)).bind(over_rows(1)).bind(over_cols(1)).bind(model(1));
}
/// `once`: one block behind the first in each stage.
std::unique_ptr<mt::lowering> lowered(mt::module const& traced, std::int64_t images, bool once) {
  options o;
  o.depth = 50, o.classes = 1000;
  auto const all = sizes<bottleneck>(o, o.classes, batch(images));
  std::vector<mt::dim_extent> extents;
  auto const add = [&]<class G>(G const& g) {
    if constexpr (std::is_same_v<G, mt::dim_extent>) extents.push_back(g);
  };
  std::apply([&](auto const&... each) { (add(each), ...); }, all);
  if (once)
    for (mt::dim_extent& e : extents)
      for (mt::dim_extent const& one : {blocks_2(1), blocks_3(1), blocks_4(1), blocks_5(1)})
        if (e.label == one.label) e = one;
  return mt::lower(traced, mt::entry_name<program>(), four(), resnet::layout::rules, extents);
}

}  // namespace

TEST_CASE("a training step of ResNet-50 for v5e:2x2 has the memory and the work that were planned") {
  std::string const path = tpu::libtpu();
  if (path.empty()) {
    meshtensor_test::skip("the compiler of TPUs is not here: pip install libtpu");
    return;
  }
  auto const traced = mt::on_heap([] { return mt::trace<program>(); });
  // The compiler counts the work of one turn of a loop.
  auto const all = lowered(*traced, 512, false), once = lowered(*traced, 512, true);
  // Of all operations 1.0247 times the products, 0.009 are conversions between bf16 and f32. With statistics in f64,
  // which are pairs of f32 there, it was 1.075.
  tpu::has_what_was_planned(tpu::loaded(path), *all, four(), tpu::planned_work_of(*once), 1.025);
}
