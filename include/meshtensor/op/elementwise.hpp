// SPDX-License-Identifier: Apache-2.0
// elementwise: one scalar function of one, two or three operands that broadcast by name, with its gradient, sharding
// and loops.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/elementwise/cast.hpp"
#include "meshtensor/op/elementwise/extrema.hpp"
#include "meshtensor/op/elementwise/function_call.hpp"
#include "meshtensor/op/elementwise/loops.hpp"
#include "meshtensor/op/elementwise/powers.hpp"
#include "meshtensor/op/elementwise/select.hpp"
#include "meshtensor/op/elementwise/sign_and_rounding.hpp"
#include "meshtensor/op/elementwise/simplification.hpp"
#include "meshtensor/op/elementwise/stop_gradient.hpp"
#include "meshtensor/op/elementwise/transcendental.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

struct elementwise_rule : elementwise_inference, elementwise_simplification, elementwise_loops {
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
};

}  // namespace meshtensor
