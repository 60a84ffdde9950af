// SPDX-License-Identifier: Apache-2.0
// Computes convolutions in plain loops.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/conv/problem.hpp"

namespace meshtensor {

/// The rule `evaluate` of convolutions.
struct conv_loops : conv_in_memory {
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    with_element(e.results[0].type, [&]<class E>() { evaluate_as<E>(e); });
  }

 private:
  /// Adds the offsets of the two elements that meet in a term, or returns false if none meet. `at` is the index along
  /// the window's dim in the result. `free` is the index along its dim in the kernel or, if the kernel is the result,
  /// in the outputs.
  static bool add_offsets(conv_direction which, window_in_memory const& w, std::int64_t at, std::int64_t free,
                          std::int64_t& first, std::int64_t& second) {
    if (which == conv_direction::backward) {
      std::int64_t const reached = at + w.origin[inputs] + w.window.low - w.window.dilation * free;
      if (reached % w.window.stride != 0) return false;
      std::int64_t const output = reached / w.window.stride - w.origin[outputs];
      if (reached < 0 || output < 0 || output >= w.extent[outputs]) return false;
      first += output * w.stride[outputs], second += free * w.stride[kernels];
      return true;
    }
    bool const by_kernel = which == conv_direction::kernel;
    std::int64_t const output = (by_kernel ? free : at) + w.origin[outputs];
    std::int64_t const input = w.window.input(output, by_kernel ? at : free) - w.origin[inputs];
    if (input < 0 || input >= w.extent[inputs]) return false;
    first += input * w.stride[inputs], second += free * w.stride[by_kernel ? outputs : kernels];
    return true;
  }

  /// The terms of one window for one element of the result: the offsets of the first term, and the steps to the next
  /// ones.
  struct meeting_run {
    std::int64_t count, first, second, first_step, second_step;
  };
  static meeting_run run_of(conv_direction which, window_in_memory const& w, std::int64_t at, std::int64_t extent) {
    meeting_run r{};
    for (std::int64_t free = 0; free < extent; ++free) {
      std::int64_t first = 0, second = 0;
      if (!add_offsets(which, w, at, free, first, second)) continue;
      if (r.count == 0) r.first = first, r.second = second;
      if (r.count == 1) r.first_step = first - r.first, r.second_step = second - r.second;
      ++r.count;
    }
    return r;
  }
  /// Adds a product for each combination of the terms of `count` windows. The terms of the last window are innermost.
  template <class E>
  static void add_terms(meeting_run const* runs, int count, E const* x, E const* z, wide_sum<E>& sum) {
    using term = typename wide_sum<E>::term;
    if (count == 0) return sum.add(static_cast<term>(*x) * static_cast<term>(*z));
    meeting_run const r = *runs;
    x += r.first, z += r.second;
    if (count == 1) {
      for (std::int64_t i = 0; i < r.count; ++i)
        sum.add(static_cast<term>(x[i * r.first_step]) * static_cast<term>(z[i * r.second_step]));
      return;
    }
    for (std::int64_t i = 0; i < r.count; ++i)
      add_terms(runs + 1, count - 1, x + i * r.first_step, z + i * r.second_step, sum);
  }

  template <class E>
  static void evaluate_as(evaluation const& e) {
    problem const p =
        problem::of(e.m, e.n, e.operands, e.results[0], [&](number_id row) { return e.context.numbers[row]; });
    view const& y = e.results[0];
    role const free = p.roles[2] == kernels ? outputs : kernels;
    // The walk runs over the elements of the result and, for each, over the summed dims.
    walk<2> w;
    std::uint16_t dims[2 * max_dims_of_one];
    for (int i = 0; i < y.count; ++i)
      dims[w.count] = p.is_windowed(p.roles[2], i) ? no_dim : y.dim[i], w.extent[w.count++] = y.extent[i];
    int const kept = w.count;
    for (int o = 0; o < 2; ++o)
      for (int i = 0; i < e.operands[o].count; ++i) {
        bool known = p.is_windowed(p.roles[o], i);
        for (int k = 0; k < w.count; ++k) known = known || dims[k] == e.operands[o].dim[i];
        if (!known) dims[w.count] = e.operands[o].dim[i], w.extent[w.count++] = e.operands[o].extent[i];
      }
    for (int o = 0; o < 2; ++o) w.bind(o, e.operands[o], dims);
    std::int64_t inner = 1, outer = 1, run = 1, step[2] = {};
    for (int i = 0; i < w.count; ++i) (i < kept ? outer : inner) *= w.extent[i];
    if (inner == 0) w.count = kept;      // sums of no terms
    if (inner != 0 && w.count > kept) {  // along the last summed dim without the walk
      run = w.extent[--w.count], inner /= run;
      for (int i = 0; i < 2; ++i) step[i] = w.stride[i][w.count];
    }
    auto const *const x = e.operands[0].as<E>(), *const z = e.operands[1].as<E>();
    meeting_run runs[max_windows_of_one] = {};
    for (std::int64_t o = 0; o < outer; ++o) {
      wide_sum<E> sum;
      std::int64_t where = 0;
      for (int i = 0; i < kept; ++i) where += w.index[i] * y.stride[i];
      bool meet = true;
      for (int k = 0; k < p.count; ++k) {
        runs[k] =
            run_of(p.direction, p.windows[k], w.index[p.windows[k].position[p.roles[2]]], p.windows[k].extent[free]);
        meet = meet && runs[k].count > 0;
      }
      for (std::int64_t k = 0; k < inner; ++k, w.next())
        for (std::int64_t r = 0; meet && r < run; ++r)
          add_terms(runs, p.count, x + w.offset[0] + r * step[0], z + w.offset[1] + r * step[1], sum);
      if (inner == 0) w.next();
      y.as<E>()[where] = sum.value();
    }
  }
  static constexpr std::uint16_t no_dim = 0xffff;
};

}  // namespace meshtensor
