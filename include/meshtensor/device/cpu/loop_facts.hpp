// What the loop of a descriptor must know of it, found once: the compiler asks many times.
#pragma once

#include "meshtensor/pass/descriptor.hpp"

namespace meshtensor::cpu::detail {

struct loop_facts {
  bool reads[max_kernel_phases][64];    // whether the elements of a source are read in a phase
  bool has_vector[max_kernel_phases];   // whether a phase walks the vector
  signed char place[max_kernel_steps];  // the scratch row of a step that is read in a later phase; -1: it is not
  int places;

  constexpr explicit loop_facts(descriptor const& d) : reads{}, has_vector{}, place{}, places(0) {
    for (int i = 0; i < d.step_count; ++i) {
      kernel_step const s = d.step(i);
      if (s.level != extent_class::vector) continue;
      has_vector[s.phase] = true;
      for (int a = 0; a < d.arity_of(i); ++a) reads[s.phase][s.from[a].code] = true;
    }
    int const last = d.phases() - 1;
    for (int r = 0; r < d.result_count; ++r)
      if (d.result_class(r) >= extent_class::vector && !is_vector_step(d, d.result(r)))
        reads[last][d.result(r).code] = has_vector[last] = true;
    for (int i = 0; i < d.step_count; ++i) {
      kernel_step const s = d.step(i);
      bool crosses = false;
      for (int p = s.phase + 1; p <= last; ++p) crosses = crosses || reads[p][i];
      crosses = crosses && s.level == extent_class::vector && !is_reduction(s.kind);
      place[i] = static_cast<signed char>(crosses ? places++ : -1);
    }
  }
  /// Whether a result is stored where its step is made, or with the totals.
  static constexpr bool is_vector_step(descriptor const& d, source s) {
    return s.is_step() && d.step(s.index()).level == extent_class::vector && !goes_along(d.step(s.index()).kind);
  }
};

}  // namespace meshtensor::cpu::detail
