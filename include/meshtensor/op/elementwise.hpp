// SPDX-License-Identifier: Apache-2.0
// Elementwise operations: one scalar function of one, two or three operands that broadcast by name, with its gradient,
// sharding and loops.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

// ---- the rules ----

struct elementwise_rule : elementwise_inference {
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    constexpr unsigned sums = meshtensor::sharding::kind(reduction::sum);
    meshtensor::sharding s{};
    switch (static_cast<function>(n.function)) {
      case function::copy:
      case function::stop_gradient: return s.passes_partial(linearity::separate);
      case function::negate:
      case function::multiply: return s.passes_partial(linearity::separate, sums);
      case function::divide: return s.passes_partial(linearity::separate, sums, 1);
      case function::add:
      case function::subtract: return s.passes_partial(linearity::joint, sums);
      case function::maximum: return s.passes_partial(linearity::joint, meshtensor::sharding::kind(reduction::max));
      case function::minimum: return s.passes_partial(linearity::joint, meshtensor::sharding::kind(reduction::min));
      default: return s;
    }
  }

  /// Functions that only move bytes count as no operation.
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return static_cast<function>(n.function) <= function::stop_gradient ? 0 : extents.local_size(m.result_value(n));
  }

  /// The operand that the function returns unchanged. Every result stays the same bit for bit. For example, x + 0 stays
  /// because it turns -0 into 0, and x * 0 stays because it may be NaN.
  static constexpr value_id simplify(auto& s, node& n) {
    value_id const y = s.m.result(n), a = s.m.operand(n, 0), b = n.operands.count > 1 ? s.m.operand(n, 1) : a;
    auto if_alike = [&](value_id v) { return s.alike(v, y) ? v : no_id; };
    bool const real = is_float(s.m.values[y].type);
    switch (static_cast<function>(n.function)) {
      case function::copy:  // a path of its own asks for the layout there, and a copy of a carry keeps the old value
        return n.path == s.maker(a).path && !s.made_by(a, primitive::argument) ? if_alike(a) : no_id;
      case function::stop_gradient: return s.differentiates ? no_id : if_alike(a);
      case function::cast:
        if (s.made_by(a, function::cast) && widens(s.m.values[y].type, s.m.values[a].type))
          return if_alike(s.m.operand(s.maker(a), 0));
        return if_alike(a);
      case function::negate:
      case function::logical_not:
        return s.made_by(a, static_cast<function>(n.function)) ? if_alike(s.m.operand(s.maker(a), 0)) : no_id;
      case function::add:
        if (s.is_literal(b, -0.0) || (!real && s.is_literal(b, 0))) return if_alike(a);
        return s.is_literal(a, -0.0) || (!real && s.is_literal(a, 0)) ? if_alike(b) : no_id;
      case function::subtract: return s.is_literal(b, 0) ? if_alike(a) : no_id;
      case function::multiply:
        if (s.is_literal(b, 1)) return if_alike(a);
        if (s.is_literal(a, 1)) return if_alike(b);
        if (s.is_literal(b, -1)) return negates(s, n, a);
        return s.is_literal(a, -1) ? negates(s, n, b) : no_id;
      case function::divide:
        if (s.is_literal(b, 1)) return if_alike(a);
        return s.is_literal(b, -1) ? negates(s, n, a) : no_id;
      case function::maximum:
      case function::minimum:
      case function::logical_and:
      case function::logical_or: return a == b ? if_alike(a) : no_id;
      case function::select: return b == s.m.operand(n, 2) ? if_alike(b) : no_id;
      default: return no_id;
    }
  }

  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    value_id const y = b.m.result(n), dy = d.cotangent(y);
    value_id const x0 = b.m.operand(n, 0);
    value_id const x1 = n.operands.count > 1 ? b.m.operand(n, 1) : no_id;
    dtype const type = b.m.values[dy].type;
    auto give = [&](value_id x, auto term) {
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
          value_id const t = d.forward(y);
          return multiply(b, dy, subtract(b, {constant(b, 1, type), multiply(b, t, t)}));
        });
        break;
      case function::sigmoid:
        give(x0, [&] {
          value_id const s = d.forward(y);
          return multiply(b, dy, multiply(b, s, subtract(b, constant(b, 1, type), s)));
        });
        break;
      case function::erf:  // 2 / sqrt(pi) exp(-x^2)
        give(x0, [&] {
          value_id const t = x();
          value_id const bell = elementwise(b, function::exp, negate(b, multiply(b, t, t)));
          return multiply(b, dy, scale(b, bell, 1.1283791670955125739));
        });
        break;
      case function::relu:  // y <= 0 where x <= 0, and y is kept more often, because later nodes read it
        give(x0, [&] { return select(b, {elementwise(b, function::less_equal, {d.forward(y), zero()}), zero(), dy}); });
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
      case function::power:  // the exponent's gradient is y log x, and at x = 0 its limit, 0
        give(x0, [&] {
          value_id const less_one = subtract(b, {z(), constant(b, 1, type)});
          value_id const term = multiply(b, dy, multiply(b, {z(), elementwise(b, function::power, x(), less_one)}));
          if (number_value const* exponent = literal_of(b.m, x1); exponent != nullptr && !(*exponent == 0)) return term;
          return select(b, {elementwise(b, function::equal, {z(), zero()}), zero(), term});  // x^0 is 1 at 0, too
        });
        give(x1, [&] {
          value_id const positive = elementwise(b, function::less, {zero(), x()});
          value_id const safe = select(b, {positive, x(), constant(b, 1, type)});
          return multiply(b, dy, multiply(b, {d.forward(y), elementwise(b, function::log, safe)}));
        });
        break;
      case function::maximum:  // ties share it, but with a nan no comparison holds, so both get all of it
      case function::minimum: {
        bool const is_max = static_cast<function>(n.function) == function::maximum;
        auto share = [&] { return select(b, {elementwise(b, function::equal, {x(), z()}), scale(b, dy, 0.5), dy}); };
        auto less = [&](bool first) { return elementwise(b, function::less, {first ? x() : z(), first ? z() : x()}); };
        give(x0, [&] { return select(b, {less(is_max), zero(), share()}); });
        give(x1, [&] { return select(b, {less(!is_max), zero(), share()}); });
        break;
      }
      case function::select: {
        value_id const x2 = b.m.operand(n, 2);
        give(x1, [&] { return select(b, {x(), dy, zero()}); });
        give(x2, [&] { return select(b, {x(), zero(), dy}); });
        break;
      }
      case function::modulo:  // x - n z, where the integer n has gradient 0
        give(x0, [&] { return dy; });
        give(x1, [&] {
          value_id const whole = divide(b, {subtract(b, {x(), d.forward(y)}), z()});
          value_id const times = elementwise(b, function::floor, add(b, {whole, constant(b, 0.5, type)}));
          value_id const is_divisor = elementwise(b, function::equal, {d.forward(y), z()});  // if z is infinite, too
          return negate(b, multiply(b, dy, select(b, {is_divisor, constant(b, -1, type), times})));
        });
        break;
      default: break;  // stop_gradient, sign, floor, comparisons and logic have none
    }
  }

  template <dtypes Among = dtypes::all()>
  static bool evaluate(evaluation const& e) {
    auto const f = static_cast<function>(e.n.function);
    view const& y = e.results[0];
    if (f == function::cast) return convert<Among>(e.operands[0], y);
    // The type of the last operand: the result of a comparison and the first operand of a select are bools.
    dtype const type = e.operands[e.n.operands.count - 1].type;
    return with_element<Among>(type, [&]<class E>() { evaluate_as<E>(e, f); });
  }

  template <dtypes Among = dtypes::all()>
  static bool convert(view const& x, view const& y) {
    bool is_among = false;
    with_element<Among>(x.type, [&]<class From>() {
      is_among = with_element<Among>(y.type, [&]<class To>() {
        each<2>(y, {&x, &y}, [&](auto const& at) {
          y.as<To>()[at[1]] =
              static_cast<To>(static_cast<arithmetic_t<To>>(static_cast<arithmetic_t<From>>(x.as<From>()[at[0]])));
        });
      });
    });
    return is_among;
  }

 private:
  /// Whether every number of type `a` converts to type `b` and back unchanged.
  static constexpr bool widens(dtype a, dtype b) {
    return (b == dtype::f64 && a != dtype::i64) || (b == dtype::f32 && (a == dtype::bf16 || a == dtype::u8)) ||
           (b == dtype::i64 && (a == dtype::i32 || a == dtype::u8)) || (b == dtype::i32 && a == dtype::u8);
  }

  // Turns a node into -x. If x is the negation of a value itself, returns that value.
  static constexpr value_id negates(auto& s, node& n, value_id x) {
    value_id const y = s.m.result(n);
    if (!s.alike(x, y)) return no_id;
    n.function = static_cast<std::uint8_t>(function::negate);
    s.m.links[n.operands.first] = x, n.operands.count = 1;
    return s.made_by(x, function::negate) && s.alike(s.m.operand(s.maker(x), 0), y) ? s.m.operand(s.maker(x), 0)
                                                                                    : no_id;
  }

  template <int N, class F>
  static void each(view const& y, std::initializer_list<view const*> views, F f) {
    walk<N> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    int k = 0;
    for (view const* v : views) w.bind(k++, *v, y.dim);
    if (w.empty()) return;
    std::int64_t run = 1, at[N], step[N] = {};  // along the last dim without the walk
    if (w.count > 0) {
      run = w.extent[--w.count];
      for (k = 0; k < N; ++k) step[k] = w.stride[k][w.count];
    }
    do {
      for (k = 0; k < N; ++k) at[k] = w.offset[k];
      for (std::int64_t r = 0; r < run; ++r) {
        f(at);
        for (k = 0; k < N; ++k) at[k] += step[k];
      }
    } while (w.next());
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

// ---- public functions ----

namespace detail {
template <function F>
struct inference_of_function : elementwise_inference {
  static constexpr void infer(inference& i) {
    i.function = static_cast<std::uint8_t>(F);
    elementwise_inference::infer(i);
  }
};
template <function F, class... H>
struct function_finding {
  using type = no_error;  // the types show none
};
template <function F, operand_like... H>
requires(handle<H> || ...) && (!is_any<dims_of_t<H>> && ...)
struct function_finding<F, H...> {
  using types = typed_inference<inference_of_function<F>, dims<>, H...>;
  static consteval auto found() {
    if constexpr (types::fails) return error_of<types::finding>();
    else return no_error{};
  }
  using type = decltype(found());
};
/// The line of a call of a scalar function. It refuses the call if the function does not take these operands.
template <function F, class... H>
using line_of = checked_line<typename function_finding<F, H...>::type>;
}  // namespace detail

/// A scalar function, applied to every element. Operands broadcast by name, and numbers take the dtype of the tensors.
/// For integers, `/` truncates, `%` has the sign of the divisor, a divisor of 0 gives 0, and overflow wraps around.
///
/// dims    the dims of all operands, in order of first appearance
/// layout  each dim keeps its axes. Partial sums pass through linear functions
/// grad    the function's derivative, summed over broadcast dims
/// errors  T02 the operands' dtypes differ: cast one of them
template <function F, operand_like... H>
constexpr auto elementwise(fn<F>, line const& where, H const&... operands) {
  return detail::record<detail::inference_of_function<F>>(
      where,
      [&](builder& b) {
        constexpr dtype type = detail::common_type<H...>();
        value_id const inside[] = {detail::value_of(b, operands, type)...};  // in this order with every compiler
        return elementwise(b, F, inside);
      },
      operands...);
}

/// `elementwise` for a call whose line parameter has already refused operands that the function does not take.
template <function F, operand_like... H>
constexpr auto elementwise_at(fn<F> f, line const& where, H const&... operands) {
  if constexpr (nothing_found<typename detail::function_finding<F, H...>::type>)
    return elementwise(f, where, operands...);
  else if constexpr (is_comparison(F))
    return detail::given_up<dtype::boolean, typename decltype(detail::first_handle(operands...))::dim_list>(
        operands...);
  else return detail::given_up(operands...);
}

/// The exponential function of each element. Numbers have it, too.
///
/// grad    dy · exp(x)
template <handle H>
constexpr auto exp(H const& x, detail::line_of<function::exp, H> const& where = {}) {
  return elementwise_at(fn<function::exp>{}, where, x);
}
/// The natural logarithm of each element. It is NaN below 0 and minus infinity at 0. Numbers have it, too.
///
/// grad    dy / x
template <handle H>
constexpr auto log(H const& x, detail::line_of<function::log, H> const& where = {}) {
  return elementwise_at(fn<function::log>{}, where, x);
}
/// The square root of each element, which is NaN below 0. Numbers have it, too: `scores / sqrt(extent(d_head))`.
///
/// grad    dy / (2 √x), which is infinite at 0
template <handle H>
constexpr auto sqrt(H const& x, detail::line_of<function::sqrt, H> const& where = {}) {
  return elementwise_at(fn<function::sqrt>{}, where, x);
}
/// One divided by the square root of each element. Numbers have it, too.
///
/// grad    −dy / (2 x √x)
template <handle H>
constexpr auto rsqrt(H const& x, detail::line_of<function::rsqrt, H> const& where = {}) {
  return elementwise_at(fn<function::rsqrt>{}, where, x);
}
/// The sine of each element, in radians.
///
/// grad    dy · cos(x)
template <handle H>
constexpr auto sin(H const& x, detail::line_of<function::sin, H> const& where = {}) {
  return elementwise_at(fn<function::sin>{}, where, x);
}
/// The cosine of each element, in radians. Numbers have it, too.
///
/// grad    −dy · sin(x)
template <handle H>
constexpr auto cos(H const& x, detail::line_of<function::cos, H> const& where = {}) {
  return elementwise_at(fn<function::cos>{}, where, x);
}
/// The hyperbolic tangent of each element, between -1 and 1.
///
/// grad    dy · (1 − tanh(x)²)
template <handle H>
constexpr auto tanh(H const& x, detail::line_of<function::tanh, H> const& where = {}) {
  return elementwise_at(fn<function::tanh>{}, where, x);
}
/// The logistic function of each element, 1 / (1 + exp(−x)), between 0 and 1.
///
/// grad    dy · y · (1 − y)
template <handle H>
constexpr auto sigmoid(H const& x, detail::line_of<function::sigmoid, H> const& where = {}) {
  return elementwise_at(fn<function::sigmoid>{}, where, x);
}
/// The error function of each element: 2 / √π times the integral of exp(−t²) from 0 to x. For example, `gelu` is made
/// with it.
///
/// grad    dy · 2 / √π · exp(−x²)
template <handle H>
constexpr auto erf(H const& x, detail::line_of<function::erf, H> const& where = {}) {
  return elementwise_at(fn<function::erf>{}, where, x);
}
/// Each element, or 0 where it is negative. A NaN stays one.
///
/// grad    dy where x > 0, else 0
template <handle H>
constexpr auto relu(H const& x, detail::line_of<function::relu, H> const& where = {}) {
  return elementwise_at(fn<function::relu>{}, where, x);
}
/// The absolute value of each element.
///
/// grad    dy · sign(x), which is 0 at 0
template <handle H>
constexpr auto abs(H const& x, detail::line_of<function::abs, H> const& where = {}) {
  return elementwise_at(fn<function::abs>{}, where, x);
}
/// -1, 0 or 1 for each element, by its sign. A NaN gives 0.
///
/// grad    0
template <handle H>
constexpr auto sign(H const& x, detail::line_of<function::sign, H> const& where = {}) {
  return elementwise_at(fn<function::sign>{}, where, x);
}
/// The largest whole number that is not above each element.
///
/// grad    0
template <handle H>
constexpr auto floor(H const& x, detail::line_of<function::floor, H> const& where = {}) {
  return elementwise_at(fn<function::floor>{}, where, x);
}
/// The same values, through which no gradient flows: for targets and statistics that are not trained.
///
/// grad    0
template <handle H>
constexpr auto stop_gradient(H const& x, detail::line_of<function::stop_gradient, H> const& where = {}) {
  return elementwise_at(fn<function::stop_gradient>{}, where, x);
}
/// The larger of two elements. The operands broadcast by name, and one of them may be a number. If either is NaN, the
/// result is NaN. For the largest element along a dim, see `max`.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    to the larger operand, and half to each of two equal ones
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto maximum(A const& a, B const& b, detail::line_of<function::maximum, A, B> const& where = {}) {
  return elementwise_at(fn<function::maximum>{}, where, a, b);
}
/// The smaller of two elements. The operands broadcast by name, and one of them may be a number. If either is NaN, the
/// result is NaN. For the smallest element along a dim, see `min`.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    to the smaller operand, and half to each of two equal ones
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto minimum(A const& a, B const& b, detail::line_of<function::minimum, A, B> const& where = {}) {
  return elementwise_at(fn<function::minimum>{}, where, a, b);
}
/// The first operand to the power of the second. The operands broadcast by name, and one of them may be a number. Two
/// numbers have it, too.
///
/// dims    the dims of both operands, in order of first appearance
/// grad    dy · b · a^(b − 1) for the first, dy · a^b · log(a) for the second, where a is positive
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto power(A const& a, B const& b, detail::line_of<function::power, A, B> const& where = {}) {
  return elementwise_at(fn<function::power>{}, where, a, b);
}
/// `power` by the name that C++ has for it.
template <operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto pow(A const& a, B const& b, detail::line_of<function::power, A, B> const& where = {}) {
  return elementwise_at(fn<function::power>{}, where, a, b);
}

/// `yes` where `condition` holds, `no` elsewhere. A value that is not chosen has no effect, not even if it is a NaN.
///
/// dims    those of `yes`, then other dims of `no` and `condition`
template <handle C, operand_like A, operand_like B>
requires(handle<A> || handle<B>)
constexpr auto select(C const& condition, A const& yes, B const& no,
                      detail::line_of<function::select, C, A, B> const& where = {}) {
  return detail::record<detail::inference_of_function<function::select>>(
      where,
      [&](builder& b) {
        constexpr dtype type = detail::common_type<A, B>();
        value_id const first = detail::value_of(b, yes, type), second = detail::value_of(b, no, type);
        return select(b, condition.id, first, second);
      },
      condition, yes, no);
}

/// The same values in another dtype. A cast to floats rounds to nearest even, and a cast to integers rounds towards
/// zero.
template <dtype To, handle H>
constexpr auto cast(H const& x, line const& where = {}) {
  detail::recording r(x.owner, where);
  return detail::wrap<To, typename H::dim_list>(r.b, cast(r.b, x.id, To));
}

/// `cast` with the dtype as an argument: `cast(x, mt::f32)`.
template <dtype To, handle H>
constexpr auto cast(H const& x, dtype_constant<To>, line const& where = {}) {
  return cast<To>(x, where);
}

/// Rejects a type of C++ in the place of a dtype.
template <class To, handle H>
constexpr auto cast(
    H const& x,
    detail::refused_call<"T10 cast takes a dtype, not a type of C++: mt::cast<mt::f32>(x)", H> const& = {}) {
  return detail::given_up(x);
}
/// Rejects other arguments, for example the dtype before the tensor, or a dtype that is not a constant.
template <detail::argument A, detail::argument B = detail::no_argument, detail::argument C = detail::no_argument>
requires(handle<A> ? !detail::is_dtype<B> : handle<B>)
constexpr auto cast(
    A const& a, B const& b = {}, C const& = {},
    detail::refused_call<"T10 cast takes a tensor, then a dtype: cast(x, mt::f32)", A, B, C> const& = {}) {
  return detail::given_up(a, b);
}
/// Rejects a number, because it takes the dtype of the tensor beside it.
template <dtype To, number_like N>
constexpr number cast(N const& n,
                      detail::refused_call<"T10 a number takes the dtype of the tensor beside it: leave the "
                                           "cast out, or make a tensor of it, full(s, n, mt::f32)",
                                           N> const& = {}) {
  return n;
}
namespace detail {
/// Whether these are a condition and two values, without a fourth argument.
template <class C, class A, class B, class D>
inline constexpr bool is_choice = handle<C> && operand_like<A> && operand_like<B> && std::is_same_v<D, no_argument>;
}  // namespace detail
/// Rejects two numbers as the values, because they have no dtype.
template <handle C, number_like A, number_like B>
constexpr auto select(C const& condition, A const&, B const&,
                      detail::refused_call<"T10 select: one of the two values is a tensor, the other takes its dtype: "
                                           "cast(condition, mt::f32) is 1 where it holds, 0 elsewhere",
                                           C, A, B> const& = {}) {
  return detail::given_up(condition);
}
/// Rejects a condition that is no tensor.
template <detail::argument C, detail::argument A = detail::no_argument, detail::argument B = detail::no_argument,
          detail::argument D = detail::no_argument>
requires((handle<C> || handle<A> || handle<B> || handle<D>) && !detail::is_choice<C, A, B, D>)
constexpr auto select(C const& condition, A const& a = {}, B const& b = {}, D const& d = {},
                      detail::refused_call<"T10 select takes a tensor of bools, then two values: select(x > 0, x, 0); "
                                           "by what C++ knows, C++ chooses: known ? x : y",
                                           C, A, B, D> const& = {}) {
  return detail::given_up(condition, a, b, d);
}
/// Rejects the name that other libraries have for select.
template <detail::argument C, detail::argument A = detail::no_argument, detail::argument B = detail::no_argument>
requires(handle<C> || handle<A> || handle<B>)
constexpr auto where(
    C const& c, A const& a = {}, B const& b = {},
    detail::refused_call<"T10 a choice for each element is select(condition, a, b)", C, A, B> const& = {}) {
  return detail::given_up(c, a, b);
}

namespace detail {
inline constexpr literal not_of_numbers =
    "T10 numbers have + - * /, sqrt, rsqrt, exp, log, cos, pow, maximum and minimum: full(s, n, mt::f32) is a tensor, "
    "which has the other functions, too";
}  // namespace detail
/// Rejects a number as the operand of functions that only tensors have.
template <std::same_as<number> N>
constexpr number sin(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}
template <std::same_as<number> N>
constexpr number tanh(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}
template <std::same_as<number> N>
constexpr number abs(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}
template <std::same_as<number> N>
constexpr number floor(N const& n, detail::refused_call<detail::not_of_numbers, N> const& = {}) {
  return n;
}

}  // namespace meshtensor
