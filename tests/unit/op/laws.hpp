// SPDX-License-Identifier: Apache-2.0
// Laws of every operation, checked for one at a time: its gradient is that of finite differences, and so are the
// gradient's gradient and that one's; a dim that is new to an operand appears in the result, slice by slice; tensors
// whose dims are values give the same. laws.cpp has the checks, compiled once, and adds losses and gradients to graphs.
#pragma once

#include "unit/op/trial.hpp"

namespace laws {

namespace mt = meshtensor;

inline constexpr struct a_dim : mt::dim<"a", 2> {} a;
inline constexpr struct b_dim : mt::dim<"b", 3> {} b;
inline constexpr struct c_dim : mt::dim<"c", 4> {} c;
inline constexpr struct fresh_dim : mt::dim<"fresh", 2> {} fresh;

enum class handles { typed, any };

using scope = mt::trace_scope<mt::dtype::f64, mt::dtype::f64>;
/// A program that outputs `result`.
using traced_program = void (*)(scope);

/// An operation on x [a, b] and y [b, c], called as f(s, x, y, more…) where `more` are dims that its result has
/// besides.
template <class F, bool FreshX = false, bool FreshY = false, handles How = handles::typed>
void apply(scope s) {
  auto const x = [&] {
    if constexpr (FreshX) return s.input("x", mt::f64, a, fresh, b);
    else return s.input("x", mt::f64, a, b);
  }();
  auto const y = [&] {
    if constexpr (FreshY) return s.input("y", mt::f64, fresh, b, c);
    else return s.input("y", mt::f64, b, c);
  }();
  if constexpr (How == handles::any) s.output("result", F{}(s, mt::any_tensor<mt::f64>(x), mt::any_tensor<mt::f64>(y)));
  else if constexpr (FreshX || FreshY) s.output("result", F{}(s, x, y, fresh));
  else s.output("result", F{}(s, x, y));
}

/// One operation in the forms for which its laws are checked. A form that is null is not.
struct forms {
  traced_program part, fresh_x, fresh_y, fresh_both, any;
};

struct range {
  double low = 0.4, high = 1.6;
};

void check_close(double got, double wanted, double tolerance = 1e-6);

/// A program with its result. From order 1 on, it also has a loss that gives each element another weight, and the
/// gradients dx and dy of the loss. From order 2 on, it has what these change by along the inputs u and v, and from
/// order 3 on what that changes by.
trial::program with_gradients(traced_program traced, int order);

/// The result of a program that takes nothing or only `x`.
std::vector<double> result_of(traced_program traced, std::vector<double> const& x = {});

void check_gradients(forms const& f, range const& r);
void check_fresh_dims(forms const& f, int order, range const& r);
void check_any(forms const& f, int order, range const& r);
void check_sharded(traced_program traced, int order, std::string const& dim);
void check_same(traced_program got, traced_program wanted, int order);

template <class F>
trial::program applying(int order = 1) {
  return with_gradients(apply<F>, order);
}

/// An operation on x alone, or one that uses y too.
enum class uses { x, both };

template <class F, uses Which>
constexpr forms forms_of() {
  if constexpr (Which == uses::both)
    return {apply<F>, apply<F, true>, apply<F, false, true>, apply<F, true, true>,
            apply<F, false, false, handles::any>};
  else return {apply<F>, apply<F, true>, nullptr, nullptr, apply<F, false, false, handles::any>};
}

/// All laws but that of the gradient: for results that are no floats, and for what has no gradient.
template <uses Which = uses::both, class F>
void hold_without_gradient(char const* what, F, range const& r = {}) {
  INFO(std::string(what));
  check_fresh_dims(forms_of<F, Which>(), 0, r);
  check_any(forms_of<F, Which>(), 0, r);
}

/// All laws for one that uses both operands, or for one that uses those said.
template <uses Which = uses::both, class F>
void hold(char const* what, F, range const& r = {}) {
  INFO(std::string(what));
  check_gradients(forms_of<F, Which>(), r);
  check_fresh_dims(forms_of<F, Which>(), 1, r);
  check_any(forms_of<F, Which>(), 1, r);
}

/// All laws for an operation that uses x only.
template <class F>
void hold_for_one(char const* what, F f, range const& r = {}) {
  hold<uses::x>(what, f, r);
}

/// Four ranks, of which some have no element of the dim, give the result and the gradients that whole tensors give. The
/// tests of tests/property try every layout.
template <class F>
void hold_sharded(char const* what, F, std::string const& dim, int order = 1) {
  INFO(std::string(what));
  check_sharded(apply<F>, order, dim);
}

/// Two ways to write one thing give the same numbers, gradients up to the third order included.
template <class F, class G>
void hold_same(char const* what, F, G, int order = 3) {
  INFO(std::string(what));
  check_same(apply<F>, apply<G>, order);
}

}  // namespace laws
