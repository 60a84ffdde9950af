// SPDX-License-Identifier: Apache-2.0
// What holds of every operation, checked for one at a time: its gradient is that of finite differences; a dim that is
// new to an operand appears in the result, slice by slice; tensors whose dims are values give the same.
#pragma once

#include "unit/op/trial.hpp"

namespace laws {

namespace mt = meshtensor;

inline constexpr struct a_dim : mt::dim<"a", 2> {
} a;
inline constexpr struct b_dim : mt::dim<"b", 3> {
} b;
inline constexpr struct c_dim : mt::dim<"c", 4> {
} c;
inline constexpr struct fresh_dim : mt::dim<"fresh", 2> {
} fresh;

enum class handles { typed, any };

/// An operation on x [a, b] and y [b, c], called as f(s, x, y, more…) where `more` are dims that its result has
/// besides. Outputs the result and, if there are slopes, a loss that gives each of its elements another weight, with
/// the loss's gradients.
template <class F, bool FreshX, bool FreshY, handles How, bool Slopes>
struct applied {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = [&] {
      if constexpr (FreshX) return s.input("x", mt::f64, a, fresh, b);
      else return s.input("x", mt::f64, a, b);
    }();
    auto const y = [&] {
      if constexpr (FreshY) return s.input("y", mt::f64, fresh, b, c);
      else return s.input("y", mt::f64, b, c);
    }();
    auto const made = [&] {
      if constexpr (How == handles::any) return F{}(s, mt::any_tensor<mt::f64>(x), mt::any_tensor<mt::f64>(y));
      else if constexpr (FreshX || FreshY) return F{}(s, x, y, fresh);
      else return F{}(s, x, y);
    }();
    s.output("result", made);
    if constexpr (Slopes) {
      auto const loss = sum(made * (made * 0.5 + 0.3));
      s.output("loss", loss);
      s.output("dx", gradient(loss, x));
      s.output("dy", gradient(loss, y));
    }
  }
};

struct range {
  double low = 0.4, high = 1.6;
};

inline void check_close(double got, double wanted, double tolerance = 1e-6) {
  CHECK(std::abs(got - wanted) <= tolerance * (1 + std::abs(wanted)));
}

/// Every partial derivative of the loss, against a central difference.
inline void check_gradient(trial::program p, range const& r) {
  p.fill_at_random(r.low, r.high);
  mt::blocks const given = p.run();
  constexpr double step = 1e-5;
  for (std::string const name : {"x", "y"}) {
    mt::block& input = p.inputs.at(name);
    mt::block const& slope = given.at("d" + name);
    for (std::int64_t i = 0; i < input.size(); ++i) {
      double const here = input.number_at(i);
      input.set(i, here + step);
      double const above = p.run().at("loss").number_at(0);
      input.set(i, here - step);
      double const below = p.run().at("loss").number_at(0);
      input.set(i, here);
      INFO("d loss / d " << name << "[" << i << "]");
      check_close(slope.number_at(i), (above - below) / (2 * step));
    }
  }
}

/// Element by element: calls f(index in `part`, index in `whole` at `fresh` = k).
template <class G>
void each_slice(mt::module const& of_part, mt::block const& part, mt::module const& of_whole, mt::block const& whole,
                int k, G g) {
  mt::view const p = part.window(), w = whole.window();
  std::int64_t stride[mt::max_dims_of_one] = {}, first = 0;
  for (int i = 0; i < w.count; ++i) {
    bool found = false;
    for (int j = 0; j < p.count; ++j)
      if (of_part.dim_name(p.dim[j]) == of_whole.dim_name(w.dim[i])) stride[j] = w.stride[i], found = true;
    if (!found) {
      REQUIRE(of_whole.dim_name(w.dim[i]) == mt::name("fresh"));
      first = k * w.stride[i];
    }
  }
  for (std::int64_t i = 0; i < part.size(); ++i) {
    std::int64_t place = first, rest = i;
    for (int j = p.count; j-- > 0;) place += rest % p.extent[j] * stride[j], rest /= p.extent[j];
    g(i, place);
  }
}

/// A fresh dim of x, of y, or of both appears in the result, whose slices are the results of the slices.
inline void check_fresh(trial::program whole, trial::program part, range const& r) {
  whole.fill_at_random(r.low, r.high);
  mt::blocks const together = whole.run();
  mt::view const made = together.at("result").window();
  CHECK(made.find(trial::dim_of(whole.graph(), "fresh")) >= 0);
  for (int k = 0; k < 2; ++k) {
    for (std::string const name : {"x", "y"})
      each_slice(part.graph(), part.inputs.at(name), whole.graph(), whole.inputs.at(name), k,
                 [&](auto i, auto place) { part.inputs.at(name).set(i, whole.inputs.at(name).number_at(place)); });
    mt::blocks const alone = part.run();
    int wrong = 0;
    each_slice(part.graph(), alone.at("result"), whole.graph(), together.at("result"), k, [&](auto i, auto place) {
      wrong += !(alone.at("result").number_at(i) == together.at("result").number_at(place));
    });
    INFO("slice " << k);
    CHECK(wrong == 0);
  }
}

/// Tensors whose dims are values: the same nodes, hence the same numbers.
inline void check_any(trial::program typed, trial::program any, range const& r) {
  typed.fill_at_random(r.low, r.high);
  any.fill_at_random(r.low, r.high);
  CHECK(typed.graph().node_count == any.graph().node_count);
  mt::blocks const wanted = typed.run(), got = any.run();
  for (auto const& [name, numbers] : wanted) CHECK(trial::numbers_of(got.at(name)) == trial::numbers_of(numbers));
}

template <class F, bool FreshX = false, bool FreshY = false, handles How = handles::typed, bool Slopes = true>
trial::program applying() {
  return trial::program::of<mt::precision<applied<F, FreshX, FreshY, How, Slopes>, mt::dtype::f64>>();
}

/// An operation on x alone, or one that uses y too.
enum class uses { x, both };

/// All laws but that of the gradient: for results that are no floats, and for what has no gradient.
template <uses Which = uses::both, class F>
void hold_without_gradient(char const* what, F, range const& r = {}) {
  INFO(std::string(what));
  auto const part = [] { return applying<F, false, false, handles::typed, false>(); };
  check_fresh(applying<F, true, false, handles::typed, false>(), part(), r);
  if constexpr (Which == uses::both) {
    check_fresh(applying<F, false, true, handles::typed, false>(), part(), r);
    check_fresh(applying<F, true, true, handles::typed, false>(), part(), r);
  }
  check_any(part(), applying<F, false, false, handles::any, false>(), r);
}

/// All laws for an operation that uses x only.
template <class F>
void hold_for_one(char const* what, F, range const& r = {}) {
  INFO(std::string(what));
  check_gradient(applying<F>(), r);
  check_fresh(applying<F, true, false>(), applying<F>(), r);
  check_any(applying<F>(), applying<F, false, false, handles::any>(), r);
}

/// All laws for one that uses both operands.
template <class F>
void hold(char const* what, F f, range const& r = {}) {
  hold_for_one(what, f, r);
  INFO(std::string(what));
  check_fresh(applying<F, false, true>(), applying<F>(), r);
  check_fresh(applying<F, true, true>(), applying<F>(), r);
}

}  // namespace laws
