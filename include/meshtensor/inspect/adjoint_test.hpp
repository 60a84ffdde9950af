// SPDX-License-Identifier: Apache-2.0
// Runs the dot-product test of `check_adjoint`, one input or parameter after the other.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/base/philox.hpp"
#include "meshtensor/inspect/adjoint_program.hpp"
#include "meshtensor/inspect/check.hpp"

namespace meshtensor {

/// The result of `check_adjoint`.
struct adjoint_result {
  int compared = 0;        // inputs and parameters
  std::string difference;  // of the first one whose gradient differs, or empty
  bool agrees() const { return difference.empty(); }
};
inline std::string text_of(adjoint_result const& r) {
  if (!r.agrees()) return r.difference;
  return fmt::format("all {} gradients agree with differences of the outputs", r.compared);
}

namespace detail {

template <class = lazy>
class adjoint_test {
 public:
  adjoint_test(module const& traced, name const& label, checked_step& step, store& values)
      : forward_(adjoint_program(traced, label, false)),
        backward_(adjoint_program(traced, label, true)),
        numbers_(step.next_numbers()) {
    std::vector<dim_extent> extents;
    for (int d = 0; d < traced.dim_count; ++d)
      if (traced.dims[d].kind == dim_row::dynamic)
        extents.push_back({traced.dim_name(d), step.planned().numbers.extent[d]});
    for (adjoint_program* p : {&forward_, &backward_}) {
      p->bound = on_heap([&] { return meshtensor::bind(*p->graph, mesh_shape{}, extents); });
      raise(p->bound->report);
    }
    take_state(traced, values);
    for (auto const& [input, given] : step.fed()) inputs_[input] = is_float(given.type()) ? wide(given) : given;
    for (adjoint_program::port const& output : backward_.outputs)
      inputs_[output.adjoint] = direction(output.dims, output.adjoint);
  }

  adjoint_result run() {
    blocks state = state_;
    outputs_ = run(backward_, state);
    adjoint_result r;
    for (adjoint_program::port const& by : backward_.by) {
      ++r.compared;
      r.difference = difference(by);
      if (!r.agrees()) break;
    }
    return r;
  }

 private:
  // How far a difference may be off, as a share of the sizes of both sides, and of the outputs for its rounding.
  static constexpr double share = 1e-6, rounding = 1e-8;

  blocks run(adjoint_program const& p, blocks& state) const {
    return interpreter(*p.graph, *p.bound).run(p.entry, inputs_, state, numbers_);
  }
  block wide(block const& given) const {
    shape dims{};
    for (int i = 0; i < given.window().count; ++i) dims.add(given.window().dim[i]);
    block all(dtype::f64, dims, *forward_.bound);
    for (std::int64_t i = 0; i < all.size(); ++i) all.set(i, given.number_at(i));
    return all;
  }
  void take_state(module const& traced, store& values) {
    for (int v = 0; v < traced.variable_count; ++v) {
      variable const& kept = traced.variables[v];
      std::string const path = path_text(traced, kept.path);
      if (!values.values().contains(path)) continue;
      block stored(kept.type, kept.dims, *forward_.bound);
      values.copy_out(path, stored.data());
      state_[path] = is_float(kept.type) ? wide(stored) : stored;
    }
  }
  // Numbers from -1 to 1, others for each label.
  block direction(shape const& dims, std::string const& label) const {
    block all(dtype::f64, dims, *backward_.bound);
    std::uint64_t identity = 1;
    for (char const c : label) identity = identity * 31 + static_cast<unsigned char>(c);
    random_stream const stream({0, identity, 0}, 0);
    for (std::int64_t i = 0; i < all.size(); ++i)
      all.set(i, 2 * random_uniform<double>(stream, static_cast<std::uint64_t>(i)) - 1);
    return all;
  }
  static double product(block const& a, block const& b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a.number_at(i) * b.number_at(i);
    return sum;
  }
  static double size_of(block const& a) { return std::sqrt(product(a, a)); }

  // The sides of the test, and the sizes of the tensors in them.
  struct sides {
    double forward = 0, derivative = 0, outputs = 0, cotangents = 0;
  };
  sides differences(adjoint_program::port const& by, block const& along, double step) {
    blocks const start = by.is_input ? inputs_ : state_;
    block const& x = start.at(by.label);
    blocks found[2];
    for (int side : {0, 1}) {
      blocks state = state_;
      block& moved = (by.is_input ? inputs_ : state).at(by.label);
      for (std::int64_t i = 0; i < x.size(); ++i)
        moved.set(i, x.number_at(i) + (side == 0 ? step : -step) * along.number_at(i));
      found[side] = run(forward_, state);
    }
    if (by.is_input) inputs_ = start;
    sides s;
    for (adjoint_program::port const& output : backward_.outputs) {
      block change = found[0].at(output.label);
      block const& cotangent = inputs_.at(output.adjoint);
      s.outputs = std::hypot(s.outputs, size_of(change)), s.cotangents = std::hypot(s.cotangents, size_of(cotangent));
      for (std::int64_t i = 0; i < change.size(); ++i)
        change.set(i, (change.number_at(i) - found[1].at(output.label).number_at(i)) / (2 * step));
      s.forward += product(change, cotangent), s.derivative = std::hypot(s.derivative, size_of(change));
    }
    return s;
  }

  /// One sentence about a gradient that differs, or nothing.
  std::string difference(adjoint_program::port const& by) {
    block const along = direction(by.dims, by.label), gradient = outputs_.at(by.adjoint);
    double const backward = product(along, gradient);
    block const& x = (by.is_input ? inputs_ : state_).at(by.label);
    double greatest = 1, forward = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) greatest = std::max(greatest, std::abs(x.number_at(i)));
    for (double const step : {1e-6, 1e-7}) {  // a shorter one passes fewer kinks, such as those of relu
      sides const s = differences(by, along, step * greatest);
      double const bound = share * (s.derivative * s.cotangents + size_of(along) * size_of(gradient)) +
                           rounding * s.outputs * s.cotangents;
      forward = s.forward;
      if (std::abs(forward - backward) <= bound) return "";
    }
    diagnostic place{};
    add_line(place, *backward_.graph, by.site);
    return fmt::format(
        "the gradient by the {} '{}'{} is not the derivative of the outputs: ⟨J v, u⟩ = {:.9g} by "
        "differences, but ⟨v, Jᵀ u⟩ = {:.9g} by the gradient",
        by.is_input ? "input" : "variable", by.label, place.view(), forward, backward);
  }

  adjoint_program forward_, backward_;
  settings numbers_;
  blocks inputs_, state_, outputs_;
};

}  // namespace detail
}  // namespace meshtensor
