// SPDX-License-Identifier: Apache-2.0
// Lists what a kernel's loop needs from its descriptor. It is computed once, because the compiler needs it many times.
#pragma once

#include "meshtensor/pass/fuse/descriptor.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// A list of a kernel's steps, operands or results, in order.
struct chosen {
  int count;
  signed char at[max_kernel_steps];
  constexpr void add(int i) { at[count++] = static_cast<signed char>(i); }
};

struct loop_facts {
  bool reads[max_kernel_phases][64];    // whether the elements of a source are read in a phase
  bool has_vector[max_kernel_phases];   // whether a phase loops over the vector
  signed char place[max_kernel_steps];  // the scratch row of a step that a later phase reads, or -1
  int places;
  // Steps that run once for a task, once for a row before or after its elements, or for each register of elements.
  chosen uniform_steps, starts[max_kernel_phases], ends[max_kernel_phases], steps[max_kernel_phases];
  chosen rounded_sums[max_kernel_phases];   // sums of floats along the vector
  bool has_totals;                          // reductions over rows
  chosen random_steps;                      // random steps along the vector
  chosen walking_steps[max_kernel_phases];  // steps with an index or with totals
  chosen vector_results;
  chosen uniform_operands, row_operands, operands[max_kernel_phases];
  chosen rereads[max_kernel_phases];  // steps of earlier phases, read from scratch rows
  chosen row_results, last_results;   // last_results: vector results that no vector step computes

  constexpr explicit loop_facts(descriptor const& d)
      : reads{},
        has_vector{},
        place{},
        places(0),
        uniform_steps{},
        starts{},
        ends{},
        steps{},
        rounded_sums{},
        has_totals(false),
        random_steps{},
        walking_steps{},
        vector_results{},
        uniform_operands{},
        row_operands{},
        operands{},
        rereads{},
        row_results{},
        last_results{} {
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
    choose(d);
  }
  /// Whether a result is a step along the vector. Such a result is stored where it is computed, or with the totals.
  static constexpr bool is_vector_step(descriptor const& d, source s) {
    return s.is_step() && d.step(s.index()).level == extent_class::vector && !goes_along(d.step(s.index()).kind);
  }

 private:
  constexpr void choose(descriptor const& d) {
    for (int i = 0; i < d.step_count; ++i) {
      kernel_step const s = d.step(i);
      bool const sums_up = goes_along(s.kind) || is_total(s.kind);
      if (s.level == extent_class::uniform) uniform_steps.add(i);
      if (sums_up || s.level == extent_class::row) starts[s.phase].add(i);
      if (sums_up) ends[s.phase].add(i);
      if (sums_up && reduction_of(s.kind) == reduction::sum && is_float(s.type)) rounded_sums[s.phase].add(i);
      has_totals = has_totals || goes_over(s.kind) || is_total(s.kind);
      if (s.level == extent_class::vector) steps[s.phase].add(i);
      if (s.level == extent_class::vector && is_random(s.kind)) random_steps.add(i);
      if (s.level == extent_class::vector && (is_random(s.kind) || s.kind == step_kind::position || goes_over(s.kind)))
        walking_steps[s.phase].add(i);
      for (int p = s.phase + 1; p < d.phases(); ++p)
        if (place[i] >= 0 && reads[p][i]) rereads[p].add(i);
    }
    for (int o = 0; o < d.operand_count; ++o) {
      if (d.operand_class(o) == extent_class::uniform) uniform_operands.add(o);
      if (d.operand_class(o) == extent_class::row) row_operands.add(o);
      for (int p = 0; p < d.phases(); ++p)
        if (d.operand_class(o) >= extent_class::vector && reads[p][source::operands + o]) operands[p].add(o);
    }
    for (int r = 0; r < d.result_count; ++r) {
      source const s = d.result(r);
      if (d.result_class(r) >= extent_class::vector) {
        vector_results.add(r);
        if (!is_vector_step(d, s)) last_results.add(r);
      } else if (!s.is_step() || !(goes_over(d.step(s.index()).kind) || is_total(d.step(s.index()).kind))) {
        row_results.add(r);
      }
    }
  }
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
