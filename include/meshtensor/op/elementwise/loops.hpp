// SPDX-License-Identifier: Apache-2.0
// Computes elementwise nodes in plain loops.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor {

/// The rule `evaluate` of elementwise nodes.
struct elementwise_loops {
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
        each<2>(y, {&x, &y}, [&](auto const& at) { y.as<To>()[at[1]] = converted<To>(x.as<From>()[at[0]]); });
      });
    });
    return is_among;
  }

 private:
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

}  // namespace meshtensor
