// SPDX-License-Identifier: Apache-2.0
// The compiler of TPUs takes a training step of the Transformer for four devices, without a TPU, and tells the memory
// and the work that the library has planned; a batch that is too large for them is refused by both. Skipped without the
// Python package libtpu. Nothing runs.
// passes: start-up
// sanitize: no
// part: tpu
// timeout: 900
#include <doctest/doctest.h>

#include "../../bench/run/lm.hpp"
#include "probe/tpu_compiler.hpp"
#include "support/folder.hpp"
#include "support/skip.hpp"

namespace mt = meshtensor;

namespace {

mt::mesh_shape four() {
  mt::mesh_shape m = lm::mesh::shape;
  return m.bind(lm::data(2)).bind(lm::model(2));
}
std::unique_ptr<mt::lowering> lowered(lm::sizes const& z) {
  mt::dim_extent const extents[] = {lm::batch(z.batch),     lm::length(z.length), lm::layers(z.layers),
                                    lm::d_model(z.d_model), lm::heads(z.heads),   lm::d_head(z.d_model / z.heads),
                                    lm::d_ff(z.d_ff),       lm::vocab(z.vocab)};
  auto const traced = mt::on_heap([] { return mt::trace<lm::step_bf16>(); });
  return mt::lower(*traced, mt::entry_name<lm::step_bf16>(), four(), lm::layout::rules, extents);
}

}  // namespace

TEST_CASE("a training step of the Transformer for v5e:2x2 has the memory and the work that were planned") {
  std::string const path = tpu::libtpu();
  if (path.empty()) {
    meshtensor_test::skip("the compiler of TPUs is not here: pip install libtpu");
    return;
  }
  // One layer: the compiler counts the work of one turn of a loop.
  auto const l = lowered({1, 1024, 16, 4096, 256, 8, 4096});
  tpu::has_what_was_planned(tpu::loaded(path), *l, four(), tpu::planned_work_of(*l), 1.02);
}

TEST_CASE("a batch whose texts alone are more than a v5e has is refused, before the compiler of TPUs refuses it") {
  std::string const path = tpu::libtpu();
  if (path.empty()) {
    meshtensor_test::skip("the compiler of TPUs is not here: pip install libtpu");
    return;
  }
  using meshtensor_test::sentence;
  constexpr std::int64_t all = std::int64_t{63} << 28;  // 15.75 GiB: what programs may have of its 16
  auto const refusals = [&](std::int64_t batch) {
    auto const l = lowered({1, 64, 2, 128, 16, batch, 64});
    auto whole = mt::stablehlo(l->graph, l->entry, l->planned.numbers, four());
    auto const bytes = mt::pjrt::bytes_of_arguments(l->graph, l->planned, whole.arguments);
    return std::pair(sentence([&] { mt::pjrt::require_room_for_arguments(bytes, all, "node3 tpu:0 (TPU v5 lite)"); }),
                     sentence([&] { tpu::compiled(tpu::loaded(path), std::move(whole.text)); }));
  };
  auto const [none, nor_theirs] = refusals(8);
  CHECK(none == "");
  CHECK(nor_theirs == "");
  auto const [ours, theirs] = refusals(std::int64_t{1} << 28);  // a device has half of it, 2^31 tokens, twice
  CHECK(ours ==
        "meshtensor M11: the inputs, parameters and state of a step alone need 17.2 GB of each device, but node3 tpu:0 "
        "(TPU v5 lite) has 16.9 GB: take a smaller batch, or shard more dims");
  CAPTURE(theirs);
  CHECK(theirs.starts_with("meshtensor R72: the PJRT plugin '" + path + "' says: "));
  CHECK(theirs.find("Ran out of memory") != theirs.npos);
  CHECK(theirs.find("(15.75G)") != theirs.npos);
}
