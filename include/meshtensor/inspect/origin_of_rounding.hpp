// SPDX-License-Identifier: Apache-2.0
// Follows a program that runs on whole tensors, to find the coarsest dtype in which each value was rounded on its way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "meshtensor/array/block.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

inline double largest(block const& b) {
  double most = 0;
  for (std::int64_t i = 0; i < b.size(); ++i)
    if (double const x = std::abs(b.number_at(i)); x > most && std::isfinite(x)) most = x;
  return most;
}

/// The roundings behind a value. Values of an input or a parameter have none, because all ranks have the same bits.
struct rounding_history {
  int coarsest = 0;        // 0 for none, and 1, 2, 3 for f64, f32, bf16
  bool is_decided = true;  // false after a comparison of bf16 values that are equal but for rounding

  static constexpr int level(dtype t) { return t == dtype::f64 ? 1 : t == dtype::f32 ? 2 : t == dtype::bf16 ? 3 : 0; }
  /// The dtype whose tolerance applies to a value of dtype `own`.
  dtype as(dtype own) const {
    constexpr std::array of_level{dtype::f64, dtype::f32, dtype::bf16};
    return !is_float(own) || coarsest <= level(own) ? own : of_level[static_cast<std::size_t>(coarsest - 1)];
  }
  rounding_history with(rounding_history const& other) const {
    return {std::max(coarsest, other.coarsest), is_decided && other.is_decided};
  }
};

/// The roundings behind all values, followed node by node in the order in which they run. A node that only moves
/// elements, or a cast, adds none to those of its operands.
class origin_of_rounding {
 public:
  explicit origin_of_rounding(module const& m)
      : m_(m), of_(static_cast<std::size_t>(m.value_count)), sources_(static_cast<std::size_t>(m.value_count)) {
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.kind != primitive::repeat && n.kind != primitive::composite) continue;
      region const& body = m.regions[m.region_of(n, 0)];
      int const carries = n.kind == primitive::repeat ? loop::of(n).carries : 0;
      for (int k = 0; k < body.arguments.count; ++k) {
        source& s = sources_[m.link(body.arguments, k)];
        s.given = m.operand(n, k);
        if (k < carries) s.before = m.link(body.results, k);
      }
    }
  }

  rounding_history of(value_id v) const {
    source const& s = sources_[v];
    if (s.given == id{no_id}) return of_[v];
    return s.before == id{no_id} ? of(s.given) : of(s.given).with(of_[s.before]);
  }

  /// Follows a node that has run. `at` returns the elements of a value.
  template <class At>
  void follow(node const& n, At const& at) {
    for (int i = 0; i < n.results.count; ++i) of_[m_.result(n, i)] = result_of(n, i, at);
  }

 private:
  struct source {  // of an argument: an operand of the owner, and the result of the previous iteration
    value_id given{no_id}, before{no_id};
  };

  template <class At>
  rounding_history result_of(node const& n, int i, At const& at) const {
    dtype const type = m_.values[m_.result(n, i)].type;
    if (n.kind == primitive::repeat || n.kind == primitive::composite) {
      rounding_history r = of(m_.link(m_.regions[m_.region_of(n, 0)].results, i));
      if (n.kind != primitive::repeat) return r;
      loop const l = loop::of(n);
      if (i < l.carries) return r.with(of(m_.operand(n, i)));
      if (i < l.carries + l.sums) r.coarsest = std::max(r.coarsest, rounding_history::level(type));
      return r;
    }
    rounding_history r;
    for (int k = 0; k < n.operands.count; ++k) r = r.with(of(m_.operand(n, k)));
    if (n.operands.count == 0) return r;
    bool const moves = applies(n, function::cast) || declared(m_, n).work == work_kind::movement;
    if (is_float(type)) {
      if (!moves || r.coarsest != 0) r.coarsest = std::max(r.coarsest, rounding_history::level(type));
      return r;
    }
    if (r.coarsest == rounding_history::level(dtype::bf16) && is_close(n, at)) r.is_decided = false;
    r.coarsest = 0;
    return r;
  }

  /// Whether elements of a comparison differ by no more than roundings. Other nodes that make integers of floats, such
  /// as argsort and casts, may always depend on a rounding.
  template <class At>
  bool is_close(node const& n, At const& at) const {
    if (n.kind != primitive::elementwise || !is_comparison(static_cast<function>(n.function))) return true;
    block const &a = at(m_.operand(n, 0)), &b = at(m_.operand(n, 1)), &y = at(m_.result(n));
    double const bound = 0.02 * std::max(largest(a), largest(b));
    view const v = y.window();
    walk<2> w;
    for (int i = 0; i < v.count; ++i) w.extent[w.count++] = v.extent[i];
    w.bind(0, a.window(), v.dim), w.bind(1, b.window(), v.dim);
    if (w.empty()) return false;
    do {
      if (std::abs(a.number_at(w.offset[0]) - b.number_at(w.offset[1])) <= bound) return true;
    } while (w.next());
    return false;
  }

  meshtensor::module const& m_;
  std::vector<rounding_history> of_;
  std::vector<source> sources_;
};

}  // namespace meshtensor::detail
