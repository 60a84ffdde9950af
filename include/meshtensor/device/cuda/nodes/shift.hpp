// SPDX-License-Identifier: Apache-2.0
// Runs shift on the GPU by a copy of each run of elements, with a number where no elements come from.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/number_filler.hpp"
#include "meshtensor/op/shift.hpp"

namespace meshtensor::cuda {

inline node_work shift_of(node_setup const& s) {
  constexpr auto none = id{no_id};
  number_filler const filler(s.p, s.result.type);
  return [&copier = s.copier, filler](recording& to_do, evaluation const& e, address state, address) {
    view const &x = e.operands[0], &y = e.results[0];
    shift_attributes const a = shift_attributes::of(e.n);
    auto const how = static_cast<shift_kind>(e.n.function);
    int const along = y.find(a.dim);
    positions const at{whole_number(e.context.numbers[a.first])};
    interval const all{0, y.extent[along]};
    if (count_shifted(how, at, all.count, all, all) != all.count) filler.fill(to_do, y, a.around, state);
    each_run(how, at, all.count, all, all, [&](shifted_run const& r) {
      view from = x, to = y;
      from.stride[along] *= r.from_step, to.extent[along] = r.count;
      copier.by_name(to_do, from, r.from * x.stride[along], to, r.to * y.stride[along], none, none, to.extent);
    });
  };
}

}  // namespace meshtensor::cuda
