// SPDX-License-Identifier: Apache-2.0
// A small training, compiled for the instruction set of the file that includes it.
#pragma once

#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

std::vector<float> losses_of_other_level();
char const* level_of_other_file();

namespace level_program {
namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 33> {} rows;
inline constexpr struct width : mt::dim<"width", 45> {} width;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.parameter("x", rows, width, mt::normal(1));
    auto loss = mean(softmax(x, width) * tanh(x) + exp(-x * x));
    mt::adam{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

inline std::vector<float> losses() {
  auto const job = mt::job::as_threads();
  mt::store weights(job, 3);
  mt::executable<train, mesh, layout, mt::default_device> step(weights);
  std::vector<float> all;
  for (int i = 0; i < 5; ++i) all.push_back(step().get<"loss">());
  return all;
}

}  // namespace level_program
