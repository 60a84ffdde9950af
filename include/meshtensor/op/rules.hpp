// SPDX-License-Identifier: Apache-2.0
// The table of rules: which struct holds the rules of which primitive. Passes look rules up here and nowhere else.
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

/// The finding of an operation's own check, or null: every node's dims and dtypes follow from its operands.
constexpr char const* verify_node(module const& m, node const& n) {
  return with_rule(n.kind, [&]<class R>() { return R::verify(m, n); });
}

/// How a partial reduction passes through an operand; an operation that does not say lets none pass.
constexpr linearity linear(node const& n, int operand, reduction kind) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::linear(n, operand, kind); }) return R::linear(n, operand, kind);
    else return linearity::none;
  });
}

/// What a processor's result is when a dim that its result lacks is spread over an axis; none: the dim must be whole.
/// Of bools at most one term is not false, so that their sum is the greatest.
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

/// Whether an operation needs all of a dim on every processor.
constexpr bool needs_whole(module const& m, node const& n, int dim) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::whole(m, n, dim); }) return R::whole(m, n, dim);
    else return false;
  });
}

/// What a dim of an operand is called in the result.
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

/// What a device has to compute of a module.
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

/// How nodes are computed one by one.
using node_loops = void (*)(evaluation const&);

/// Computes one node in plain loops: the oracle of every device. Structure (loops, branches, variables) is for the
/// caller. `Among` says which primitives occur, so that the compiler makes no loops for others.
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
