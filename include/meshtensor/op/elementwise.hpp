// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: one scalar function of one, two or three operands that broadcast by name.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

// ---- the rules ----

struct elementwise_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    auto const f = static_cast<function>(n.function);
    if (n.operands.count != arity(f)) return "an elementwise node has another number of operands than its function";
    shape dims{};
    int const first = f == function::select ? 1 : 0;  // the dims of a condition come last
    for (int i = 0; i < n.operands.count; ++i)
      dims = united(dims, m.operand_value(n, (i + first) % n.operands.count).dims);
    if (!(dims == m.result_value(n).dims)) return "an elementwise result does not have its operands' dims";
    return nullptr;
  }

  static constexpr linearity linear(node const& n, int operand, reduction kind) {
    switch (static_cast<function>(n.function)) {
      case function::copy:
      case function::stop_gradient: return linearity::alone;
      case function::negate:
      case function::multiply: return kind == reduction::sum ? linearity::alone : linearity::none;
      case function::divide: return kind == reduction::sum && operand == 0 ? linearity::alone : linearity::none;
      case function::add:
      case function::subtract: return kind == reduction::sum ? linearity::together : linearity::none;
      case function::maximum: return kind == reduction::max ? linearity::together : linearity::none;
      case function::minimum: return kind == reduction::min ? linearity::together : linearity::none;
      default: return linearity::none;
    }
  }

  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    id const y = b.m.result(n), dy = d.cotangent(y);
    id const x0 = b.m.operand(n, 0);
    id const x1 = n.operands.count > 1 ? b.m.operand(n, 1) : no_id;
    dtype const type = b.m.values[dy].type;
    auto give = [&](id x, auto term) {
      if (d.differentiable(x)) d.contribute(x, sum_to(b, term(), b.m.values[x].dims));
    };
    auto zero = [&] { return constant(b, 0, type); };
    auto x = [&] { return d.forward(x0); };
    auto z = [&] { return d.forward(x1); };
    switch (static_cast<function>(n.function)) {
      case function::copy: give(x0, [&] { return dy; }); break;
      case function::cast: give(x0, [&] { return cast(b, dy, b.m.values[x0].type); }); break;
      case function::negate: give(x0, [&] { return negate(b, dy); }); break;
      case function::abs: give(x0, [&] { return multiply(b, dy, elementwise(b, function::sign, x())); }); break;
      case function::exp: give(x0, [&] { return multiply(b, dy, d.forward(y)); }); break;
      case function::log: give(x0, [&] { return divide(b, dy, x()); }); break;
      case function::sqrt: give(x0, [&] { return divide(b, {scale(b, dy, 0.5), d.forward(y)}); }); break;
      case function::rsqrt:  // y = x^(-1/2), dy/dx = -y / (2 x)
        give(x0, [&] { return divide(b, {multiply(b, {scale(b, dy, -0.5), d.forward(y)}), x()}); });
        break;
      case function::sin: give(x0, [&] { return multiply(b, dy, elementwise(b, function::cos, x())); }); break;
      case function::cos:
        give(x0, [&] { return negate(b, multiply(b, dy, elementwise(b, function::sin, x()))); });
        break;
      case function::tanh:
        give(x0, [&] {
          id const t = d.forward(y);
          return multiply(b, dy, subtract(b, {constant(b, 1, type), multiply(b, t, t)}));
        });
        break;
      case function::sigmoid:
        give(x0, [&] {
          id const s = d.forward(y);
          return multiply(b, dy, multiply(b, s, subtract(b, constant(b, 1, type), s)));
        });
        break;
      case function::erf:  // 2 / sqrt(pi) exp(-x^2)
        give(x0, [&] {
          id const t = x();
          id const bell = elementwise(b, function::exp, negate(b, multiply(b, t, t)));
          return multiply(b, dy, scale(b, bell, 1.1283791670955125739));
        });
        break;
      case function::relu:
        give(x0, [&] { return select(b, {elementwise(b, function::less_equal, {x(), zero()}), zero(), dy}); });
        break;
      case function::add:
        give(x0, [&] { return dy; });
        give(x1, [&] { return dy; });
        break;
      case function::subtract:
        give(x0, [&] { return dy; });
        give(x1, [&] { return negate(b, dy); });
        break;
      case function::multiply:
        give(x0, [&] { return multiply(b, dy, z()); });
        give(x1, [&] { return multiply(b, dy, x()); });
        break;
      case function::divide:
        give(x0, [&] { return divide(b, dy, z()); });
        give(x1, [&] { return negate(b, divide(b, {multiply(b, dy, d.forward(y)), z()})); });
        break;
      case function::power:  // the exponent's gradient is y log x; at x = 0 its limit, 0
        give(x0, [&] {
          id const less_one = subtract(b, {z(), constant(b, 1, type)});
          id const term = multiply(b, dy, multiply(b, {z(), elementwise(b, function::power, x(), less_one)}));
          if (is_other_than_zero(b.m, x1)) return term;
          return select(b, {elementwise(b, function::equal, {z(), zero()}), zero(), term});  // x^0 is 1 at 0, too
        });
        give(x1, [&] {
          id const positive = elementwise(b, function::less, {zero(), x()});
          id const safe = select(b, {positive, x(), constant(b, 1, type)});
          return multiply(b, dy, multiply(b, {d.forward(y), elementwise(b, function::log, safe)}));
        });
        break;
      case function::maximum:  // ties share it; with a nan, which no comparison holds for, both get all of it
      case function::minimum: {
        bool const is_max = static_cast<function>(n.function) == function::maximum;
        auto share = [&] { return select(b, {elementwise(b, function::equal, {x(), z()}), scale(b, dy, 0.5), dy}); };
        auto less = [&](bool first) { return elementwise(b, function::less, {first ? x() : z(), first ? z() : x()}); };
        give(x0, [&] { return select(b, {less(is_max), zero(), share()}); });
        give(x1, [&] { return select(b, {less(!is_max), zero(), share()}); });
        break;
      }
      case function::select: {
        id const x2 = b.m.operand(n, 2);
        give(x1, [&] { return select(b, {x(), dy, zero()}); });
        give(x2, [&] { return select(b, {x(), zero(), dy}); });
        break;
      }
      case function::modulo:  // x - z floor(x / z); floor has gradient 0
        give(x0, [&] { return dy; });
        give(x1, [&] { return negate(b, multiply(b, dy, elementwise(b, function::floor, divide(b, {x(), z()})))); });
        break;
      default: break;  // stop_gradient, sign, floor, comparisons and logic have none
    }
  }

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    auto const f = static_cast<function>(e.n.function);
    view const& y = e.results[0];
    if (f == function::cast) return convert(e.operands[0], y);
    // The type of the last operand: the result of a comparison and the first operand of a select are bools.
    dtype const type = e.operands[e.n.operands.count - 1].type;
    with_element(type, [&]<class E>() { evaluate_as<E>(e, f); });
  }

  static void convert(view const& x, view const& y) {
    with_element(x.type, [&]<class From>() {
      with_element(y.type, [&]<class To>() {
        each<2>(y, {&x, &y}, [&](auto const& at) {
          y.as<To>()[at[1]] =
              static_cast<To>(static_cast<arithmetic_t<To>>(static_cast<arithmetic_t<From>>(x.as<From>()[at[0]])));
        });
      });
    });
  }

 private:
  /// Whether a value is a nonzero literal.
  static constexpr bool is_other_than_zero(module const& m, id v) {
    node const& n = m.nodes[m.values[v].node];
    if (n.kind != primitive::constant) return false;
    number_row const& row = m.numbers[n.attribute[0]];
    return row.kind == number_row::literal && row.value != 0;
  }

  template <int N, class F>
  static void each(view const& y, std::initializer_list<view const*> views, F f) {
    walk<N> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    int k = 0;
    for (view const* v : views) w.bind(k++, *v, y.dim);
    if (w.empty()) return;
    do f(w.offset);
    while (w.next());
  }

  template <class E>
  static void evaluate_as(evaluation const& e, function f) {
    using A = arithmetic_t<E>;
    view const& y = e.results[0];
    view const &a = e.operands[0], &b = e.operands[e.n.operands.count > 1 ? 1 : 0];
    if (f == function::select) {
      view const& c = e.operands[2];
      each<4>(y, {&a, &b, &c, &y},
              [&](auto const& at) { y.as<E>()[at[3]] = a.as<bool>()[at[0]] ? b.as<E>()[at[1]] : c.as<E>()[at[2]]; });
    } else if (is_comparison(f)) {
      each<3>(y, {&a, &b, &y},
              [&](auto const& at) { y.as<bool>()[at[2]] = compare<A>(f, a.as<E>()[at[0]], b.as<E>()[at[1]]); });
    } else {
      each<3>(y, {&a, &b, &y}, [&](auto const& at) {
        y.as<E>()[at[2]] = static_cast<E>(apply<A>(f, a.as<E>()[at[0]], b.as<E>()[at[1]]));
      });
    }
  }
};

// ---- what users call ----

/// A scalar function, applied to every element; operands broadcast by name, numbers take the dtype of the tensors. Of
/// integers `/` truncates, `%` has the sign of the divisor, a divisor of 0 gives 0, and overflow wraps around.
///
/// dims    the dims of all operands, in order of first appearance
/// layout  each dim keeps its axes; partial sums pass through linear functions
/// grad    the function's derivative, summed over broadcast dims
/// errors  T02 the operands' dtypes differ: cast one of them
template <function F, operand_like... H>
constexpr auto elementwise(fn<F>, line const& where, H const&... operands) {
  constexpr dtype type = detail::common_type<H...>();
  if constexpr (!(detail::has_type<H, type>() && ...))
    static_assert(is_valid<detail::wrong<"T02 the dtypes of the operands differ: cast one of them", H...>>);
  else if constexpr (is_logical(F) && type != dtype::boolean)
    static_assert(is_valid<detail::wrong<"T04 and, or and not take bool tensors: compare first", H...>>);
  else if constexpr (!is_float(type) && F >= function::exp && F <= function::erf && F != function::logical_not)
    static_assert(is_valid<detail::wrong<"T04 this function takes tensors of floats: cast the operand", H...>>);
  else if constexpr (type == dtype::boolean && F != function::copy && F != function::select && !is_comparison(F) &&
                     !is_logical(F))
    static_assert(is_valid<detail::wrong<"T04 arithmetic on bool: cast the operand", H...>>);
  detail::recording r(detail::owner_of(operands...), where);
  id const inside[] = {detail::value_of(r.b, operands, type)...};  // in this order with every compiler
  id const v =
      sizeof...(H) == 1 ? elementwise(r.b, F, inside[0]) : elementwise(r.b, F, inside[0], inside[sizeof...(H) - 1]);
  using result = result_dims_t<united_all<sizeof...(H)>, detail::dims_of_t<H>...>;
  return detail::wrap<result_type(F, type), result>(r.b, v);
}

template <handle H>
constexpr auto exp(H const& x, line const& where = {}) {
  return elementwise(fn<function::exp>{}, where, x);
}
template <handle H>
constexpr auto log(H const& x, line const& where = {}) {
  return elementwise(fn<function::log>{}, where, x);
}
template <handle H>
constexpr auto sqrt(H const& x, line const& where = {}) {
  return elementwise(fn<function::sqrt>{}, where, x);
}
template <handle H>
constexpr auto rsqrt(H const& x, line const& where = {}) {
  return elementwise(fn<function::rsqrt>{}, where, x);
}
template <handle H>
constexpr auto sin(H const& x, line const& where = {}) {
  return elementwise(fn<function::sin>{}, where, x);
}
template <handle H>
constexpr auto cos(H const& x, line const& where = {}) {
  return elementwise(fn<function::cos>{}, where, x);
}
template <handle H>
constexpr auto tanh(H const& x, line const& where = {}) {
  return elementwise(fn<function::tanh>{}, where, x);
}
template <handle H>
constexpr auto sigmoid(H const& x, line const& where = {}) {
  return elementwise(fn<function::sigmoid>{}, where, x);
}
template <handle H>
constexpr auto erf(H const& x, line const& where = {}) {
  return elementwise(fn<function::erf>{}, where, x);
}
template <handle H>
constexpr auto relu(H const& x, line const& where = {}) {
  return elementwise(fn<function::relu>{}, where, x);
}
template <handle H>
constexpr auto abs(H const& x, line const& where = {}) {
  return elementwise(fn<function::abs>{}, where, x);
}
template <handle H>
constexpr auto sign(H const& x, line const& where = {}) {
  return elementwise(fn<function::sign>{}, where, x);
}
template <handle H>
constexpr auto floor(H const& x, line const& where = {}) {
  return elementwise(fn<function::floor>{}, where, x);
}
template <handle H>
constexpr auto stop_gradient(H const& x, line const& where = {}) {
  return elementwise(fn<function::stop_gradient>{}, where, x);
}
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto maximum(A const& a, B const& b, line const& where = {}) {
  return elementwise(fn<function::maximum>{}, where, a, b);
}
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto minimum(A const& a, B const& b, line const& where = {}) {
  return elementwise(fn<function::minimum>{}, where, a, b);
}
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto power(A const& a, B const& b, line const& where = {}) {
  return elementwise(fn<function::power>{}, where, a, b);
}

/// `yes` where `condition` holds, `no` elsewhere; a value that is not chosen has no effect, not even a NaN.
///
/// dims    those of `yes`, then other dims of `no` and `condition`
template <handle C, operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto select(C const& condition, A const& yes, B const& no, line const& where = {}) {
  if constexpr (!of_bool<C>)
    static_assert(is_valid<detail::wrong<"T02 select: the condition is not a bool tensor", C>>);
  constexpr dtype type = detail::common_type<A, B>();
  if constexpr (!detail::has_type<A, type>() || !detail::has_type<B, type>())
    static_assert(is_valid<detail::wrong<"T02 the dtypes of the operands differ: cast one of them", A, B>>);
  detail::recording r(detail::owner_of(condition, yes, no), where);
  id const v = select(r.b, condition.id, detail::value_of(r.b, yes, type), detail::value_of(r.b, no, type));
  using result = result_dims_t<united_all<3>, detail::dims_of_t<A>, detail::dims_of_t<B>, detail::dims_of_t<C>>;
  return detail::wrap<type, result>(r.b, v);
}

/// The same values in another dtype: to floats, rounded to nearest even; to integers, towards zero.
template <dtype To, handle H>
constexpr auto cast(H const& x, line const& where = {}) {
  detail::recording r(x.owner, where);
  return detail::wrap<To, typename H::dim_list>(r.b, cast(r.b, x.id, To));
}

}  // namespace meshtensor
