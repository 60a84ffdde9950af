// SPDX-License-Identifier: Apache-2.0
// The table of rules: it maps each primitive to the struct that holds its rules. Passes look rules up only here.
#pragma once

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/detail/structure.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/movement.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/reshard.hpp"

namespace meshtensor {

/// Calls `f.operator()<Rule>()` with the rules of a primitive.
template <class F>
constexpr decltype(auto) with_rule(primitive p, F&& f) {
  switch (p) {
    case primitive::constant: return f.template operator()<constant_rule>();
    case primitive::iota: return f.template operator()<iota_rule>();
    case primitive::iteration: return f.template operator()<iteration_rule>();
    case primitive::random: return f.template operator()<random_rule>();
    case primitive::elementwise: return f.template operator()<elementwise_rule>();
    case primitive::einsum: return f.template operator()<einsum_rule>();
    case primitive::reduce: return f.template operator()<reduce_rule>();
    case primitive::argmax: return f.template operator()<argmax_rule>();
    case primitive::broadcast: return f.template operator()<broadcast_rule>();
    case primitive::transpose: return f.template operator()<transpose_rule>();
    case primitive::rename: return f.template operator()<rename_rule>();
    case primitive::reshape: return f.template operator()<reshape_rule>();
    case primitive::slice: return f.template operator()<slice_rule>();
    case primitive::pad: return f.template operator()<pad_rule>();
    case primitive::reshard: return f.template operator()<reshard_rule>();
    case primitive::concat: return f.template operator()<concat_rule>();
    case primitive::put: return f.template operator()<put_rule>();
    case primitive::gather: return f.template operator()<gather_rule>();
    case primitive::scatter_add: return f.template operator()<scatter_add_rule>();
    case primitive::call: return f.template operator()<call_rule>();
    case primitive::repeat: return f.template operator()<repeat_rule>();
    case primitive::while_loop: return f.template operator()<while_rule>();
    case primitive::cond: return f.template operator()<cond_rule>();
    case primitive::composite: return f.template operator()<composite_rule>();
    case primitive::wait: return f.template operator()<wait_rule>();
    case primitive::write:
    case primitive::output:
    case primitive::watch: return f.template operator()<effect_rule>();
    default: return f.template operator()<source_rule>();
  }
}

/// The error of an operation's own check, or null: every node's dims and dtypes follow from its operands.
constexpr char const* verify_node(module const& m, node const& n) {
  return with_rule(n.kind, [&]<class R>() { return R::verify(m, n); });
}

/// How a partial reduction passes through an operand; an operation without this rule needs it reduced.
constexpr linearity linear(node const& n, int operand, reduction kind) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::linear(n, operand, kind); }) return R::linear(n, operand, kind);
    else return linearity::none;
  });
}

/// The kind of partial reduction that results if a dim that the result lacks is sharded; none: the dim must not be
/// sharded. A sum of bools has at most one true term, so it is their max.
constexpr reduction contracted(module const& m, node const& n) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::contracted(n); }) {
      reduction const kind = R::contracted(n);
      return kind == reduction::sum && m.result_value(n).type == dtype::boolean ? reduction::max : kind;
    } else {
      return reduction::none;
    }
  });
}

/// Whether a dim must not be sharded for an operation.
constexpr bool needs_whole(module const& m, node const& n, int dim) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::whole(m, n, dim); }) return R::whole(m, n, dim);
    else return false;
  });
}

/// The name, in the result, of a dim of an operand.
constexpr int relabel(module const& m, node const& n, int dim) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::relabel(m, n, dim); }) return R::relabel(m, n, dim);
    else return dim;
  });
}

/// A set of primitives.
struct primitives {
  std::uint64_t bits = 0;
  static constexpr primitives all() { return {~std::uint64_t{0}}; }
  constexpr void add(primitive p) { bits |= std::uint64_t{1} << static_cast<int>(p); }
  constexpr bool has(primitive p) const { return (bits >> static_cast<int>(p) & 1) != 0; }
};
static_assert(static_cast<int>(primitive::count_) <= 64);

/// The primitives of a module that a device must compute.
constexpr primitives computed_in(module const& m) {
  primitives all{};
  for (int i = 0; i < m.node_count; ++i)
    if (is_computed(m.nodes[i].kind)) all.add(m.nodes[i].kind);
  return all;
}

namespace detail {
template <class Rule>
inline constexpr char identity_of = 0;
/// Whether one of the primitives has these rules.
template <class Rule>
constexpr bool occurs(primitives among) {
  for (int p = 0; p < static_cast<int>(primitive::count_); ++p)
    if (among.has(static_cast<primitive>(p)) &&
        with_rule(static_cast<primitive>(p), []<class R>() { return &identity_of<R>; }) == &identity_of<Rule>)
      return true;
  return false;
}
}  // namespace detail

/// A function that computes one node.
using node_loops = void (*)(evaluation const&);

/// Computes one node in plain loops: the reference of every device. The caller handles structure (loops, branches,
/// variables). `Among` lists the primitives that occur, so that the compiler makes no loops for others.
template <primitives Among = primitives::all()>
void evaluate(evaluation const& e) {
  bool const done = with_rule(e.n.kind, [&]<class R>() {
    if constexpr (requires { R::evaluate(e); }) {
      if constexpr (detail::occurs<R>(Among)) return R::evaluate(e), true;
    }
    return false;
  });
  if (!done) throw error("R01", {"no evaluation rule for ", text_of(e.n.kind)});
}

#if MESHTENSOR_COMPILED
extern template void evaluate<primitives::all()>(evaluation const&);
#endif

}  // namespace meshtensor
