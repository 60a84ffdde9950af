// SPDX-License-Identifier: Apache-2.0
// Laws of every operation, checked for one at a time: its gradient is that of finite differences, and so are the
// gradient's gradient and that one's; a dim that is new to an operand appears in the result, slice by slice; tensors
// whose dims are values give the same.
#pragma once

#include "unit/op/trial.hpp"

namespace laws {

namespace mt = meshtensor;

inline constexpr struct a_dim : mt::dim<"a", 2> {} a;
inline constexpr struct b_dim : mt::dim<"b", 3> {} b;
inline constexpr struct c_dim : mt::dim<"c", 4> {} c;
inline constexpr struct fresh_dim : mt::dim<"fresh", 2> {} fresh;

enum class handles { typed, any };

/// An operation on x [a, b] and y [b, c], called as f(s, x, y, more…) where `more` are dims that its result has
/// besides. Outputs the result and, from order 1 on, a loss that gives each of its elements another weight, with the
/// loss's gradients; from order 2 on, what these change by along the inputs u and v, from order 3 on what that changes
/// by.
template <class F, bool FreshX, bool FreshY, handles How, int Order>
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
    if constexpr (Order >= 1) {
      auto const loss = sum(made * (made * 0.5 + 0.3));
      s.output("loss", loss);
      auto const dx = gradient(loss, x);
      auto const dy = gradient(loss, y);
      s.output("dx", dx);
      s.output("dy", dy);
      if constexpr (Order >= 2) {
        auto const u = s.input("u", mt::f64, a, b);
        auto const v = s.input("v", mt::f64, b, c);
        auto const [ddx, ddy] = gradient(sum(dx * u) + sum(dy * v), x, y);
        s.output("ddx", ddx);
        s.output("ddy", ddy);
        if constexpr (Order >= 3) {
          auto const [dddx, dddy] = gradient(sum(ddx * u) + sum(ddy * v), x, y);
          s.output("dddx", dddx);
          s.output("dddy", dddy);
        }
      }
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
    mt::block const& derivative = given.at("d" + name);
    for (std::int64_t i = 0; i < input.size(); ++i) {
      double const here = input.number_at(i);
      input.set(i, here + step);
      double const above = p.run().at("loss").number_at(0);
      input.set(i, here - step);
      double const below = p.run().at("loss").number_at(0);
      input.set(i, here);
      INFO("d loss / d " << name << "[" << i << "]");
      check_close(derivative.number_at(i), (above - below) / (2 * step));
    }
  }
}

/// Gradients of gradients along a direction, against central differences of what they are the gradients of.
inline void check_curvature(trial::program p, range const& r) {
  p.fill_at_random(r.low, r.high);
  mt::blocks const given = p.run();
  constexpr double step = 1e-5;
  auto const moved = [&](double by) {
    mt::blocks const before = p.inputs;
    for (auto const& [name, along] : {std::pair<std::string, std::string>("x", "u"), {"y", "v"}})
      for (std::int64_t i = 0; i < before.at(name).size(); ++i)
        p.inputs.at(name).set(i, before.at(name).number_at(i) + by * before.at(along).number_at(i));
    mt::blocks outputs = p.run();
    p.inputs = before;
    return outputs;
  };
  mt::blocks const above = moved(step), below = moved(-step);
  for (std::string const name : {"dx", "dy", "ddx", "ddy"})
    for (std::int64_t i = 0; i < given.at(name).size(); ++i) {
      INFO("d" << name << "[" << i << "]");
      double const wanted = (above.at(name).number_at(i) - below.at(name).number_at(i)) / (2 * step);
      check_close(given.at("d" + name).number_at(i), wanted, name.size() == 2 ? 1e-6 : 1e-5);
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

template <class F, bool FreshX = false, bool FreshY = false, handles How = handles::typed, int Order = 1>
trial::program applying() {
  return trial::program::of<mt::precision<applied<F, FreshX, FreshY, How, Order>, mt::dtype::f64>>();
}

/// An operation on x alone, or one that uses y too.
enum class uses { x, both };

/// All laws but that of the gradient: for results that are no floats, and for what has no gradient.
template <uses Which = uses::both, class F>
void hold_without_gradient(char const* what, F, range const& r = {}) {
  INFO(std::string(what));
  auto const part = [] { return applying<F, false, false, handles::typed, 0>(); };
  check_fresh(applying<F, true, false, handles::typed, 0>(), part(), r);
  if constexpr (Which == uses::both) {
    check_fresh(applying<F, false, true, handles::typed, 0>(), part(), r);
    check_fresh(applying<F, true, true, handles::typed, 0>(), part(), r);
  }
  check_any(part(), applying<F, false, false, handles::any, 0>(), r);
}

/// All laws for an operation that uses x only.
template <class F>
void hold_for_one(char const* what, F, range const& r = {}) {
  INFO(std::string(what));
  check_gradient(applying<F>(), r);
  check_curvature(applying<F, false, false, handles::typed, 3>(), r);
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
