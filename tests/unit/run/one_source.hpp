// SPDX-License-Identifier: Apache-2.0
// Trains one Transformer on any device: twenty losses under four layouts are those of plain loops.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "../../../bench/run/lm.hpp"

namespace mt = meshtensor;

namespace one_source {

struct whole : mt::layout<> {};
struct by_batch : mt::layout<mt::shard<lm::batch, lm::data>> {};
struct by_heads : mt::layout<mt::shard<lm::heads, lm::model>, mt::shard<lm::d_ff, lm::model>> {};

inline constexpr int steps = 20;

/// The losses of a step for data x model processors, each with texts of its own.
template <class Device, class Layout>
std::vector<double> losses(int on_data, int on_model) {
  lm::sizes const z{2, 32, 4, 64, 8, 4, 64};
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job, 5);
  mt::executable<lm::step_f32, lm::mesh, Layout, Device> step(
      weights, lm::data(on_data), lm::model(on_model), lm::batch(z.batch), lm::length(z.length), lm::layers(z.layers),
      lm::d_model(z.d_model), lm::heads(z.heads), lm::d_head(z.d_model / z.heads), lm::d_ff(z.d_ff),
      lm::vocab(z.vocab));
  lm::batches texts(z);
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    texts.draw();
    all.push_back(
        static_cast<double>(step(mt::feed<"text">(texts.text), mt::feed<"next">(texts.next)).template get<"loss">()));
  }
  return all;
}

/// The losses of plain loops, by layout.
inline std::vector<double> const* plain_losses() {
  static std::vector<double> const all[] = {
      losses<mt::reference_device, whole>(1, 1), losses<mt::reference_device, by_batch>(4, 1),
      losses<mt::reference_device, by_heads>(1, 4), losses<mt::reference_device, lm::layout>(2, 2)};
  return all;
}
template <class Device>
void trains_as_plain_loops() {
  auto const* const wanted = plain_losses();
  std::vector<double> const got[] = {losses<Device, whole>(1, 1), losses<Device, by_batch>(4, 1),
                                     losses<Device, by_heads>(1, 4), losses<Device, lm::layout>(2, 2)};
  for (int k = 0; k < 4; ++k) {
    CAPTURE(k);
    CHECK(got[k][steps - 1] < 0.9 * got[k][0]);
    for (std::size_t i = 0; i < steps; ++i) CHECK(std::abs(got[k][i] - wanted[k][i]) < 1e-4);
  }
}

}  // namespace one_source
