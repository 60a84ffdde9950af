// SPDX-License-Identifier: Apache-2.0
// Maps each primitive to the struct that holds its rules. Passes look rules up only here.
#pragma once

#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/call.hpp"
#include "meshtensor/op/concat.hpp"
#include "meshtensor/op/constant.hpp"
#include "meshtensor/op/conv.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/detail/structure.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/exchange_rows.hpp"
#include "meshtensor/op/extension.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/grouped_einsum.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/iteration.hpp"
#include "meshtensor/op/pad.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/op/reshard.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/stack.hpp"
#include "meshtensor/op/transpose.hpp"

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
    case primitive::grouped_einsum: return f.template operator()<grouped_einsum_rule>();
    case primitive::reduce: return f.template operator()<reduce_rule>();
    case primitive::conv: return f.template operator()<conv_rule>();
    case primitive::pool: return f.template operator()<pool_rule>();
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
    case primitive::exchange_rows: return f.template operator()<exchange_rows_rule>();
    case primitive::cumulative_sum: return f.template operator()<cumulative_sum_rule>();
    case primitive::argsort: return f.template operator()<argsort_rule>();
    case primitive::shift: return f.template operator()<shift_rule>();
    case primitive::stack: return f.template operator()<stack_rule>();
    case primitive::call: return f.template operator()<call_rule>();
    case primitive::extension: return f.template operator()<extension_rule>();
    case primitive::input: return f.template operator()<input_rule>();
    case primitive::read: return f.template operator()<read_rule>();
    case primitive::write: return f.template operator()<write_rule>();
    case primitive::output: return f.template operator()<output_rule>();
    case primitive::watch: return f.template operator()<watch_rule>();
    case primitive::argument: return f.template operator()<argument_rule>();
    case primitive::hide: return f.template operator()<hide_rule>();
    case primitive::show: return f.template operator()<show_rule>();
    case primitive::gradient: return f.template operator()<gradient_rule>();
    case primitive::repeat: return f.template operator()<repeat_rule>();
    case primitive::composite: return f.template operator()<composite_rule>();
    case primitive::all_reduce: return f.template operator()<all_reduce_rule>();
    case primitive::reduce_scatter: return f.template operator()<reduce_scatter_rule>();
    case primitive::all_gather: return f.template operator()<all_gather_rule>();
    case primitive::all_to_all: return f.template operator()<all_to_all_rule>();
    case primitive::move: return f.template operator()<move_rule>();
    case primitive::move_rows: return f.template operator()<move_rows_rule>();
    case primitive::local_slice: return f.template operator()<local_slice_rule>();
    case primitive::wait: return f.template operator()<wait_rule>();
    case primitive::kernel: return f.template operator()<kernel_rule>();
    case primitive::nothing:
    case primitive::count_: break;
  }
  return f.template operator()<nothing_rule>();
}

namespace detail {
struct declaration_table {
  declaration of[static_cast<int>(primitive::count_) + 1];
};
inline constexpr declaration_table declarations = [] {
  declaration_table all{};
  for (int p = 0; p <= static_cast<int>(primitive::count_); ++p)
    all.of[p] = with_rule(static_cast<primitive>(p), []<class R>() { return R::declares; });
  return all;
}();
}  // namespace detail

/// The declaration of a primitive, or of a node, whose operation may be declared outside of the library.
constexpr declaration const& declared(primitive p) { return detail::declarations.of[static_cast<int>(p)]; }
constexpr declaration const& declared(module const& m, node const& n) {
  return n.kind == primitive::extension ? extension_rule::of(m, n).declares : declared(n.kind);
}

/// Checks a node by its operation's `infer`, which must give the dtype and dims of its result, and by the operation's
/// own `verify`. Returns a sentence about the first fault, or null.
constexpr char const* verify_node(module const& m, node const& n) {
  return with_rule(n.kind, [&]<class R>() -> char const* {
    if constexpr (requires(inference& i) { R::infer(i); }) {
      value const& y = m.result_value(n);
      inference i = inference_of(m, n, y.type, y.dims);
      R::infer(i);
      if (i.fault != nullptr) return i.fault + 4;  // without its code
      if (i.type != y.type || !(i.dims == y.dims)) return "a result has another dtype or other dims than its operation";
    }
    if constexpr (requires { R::verify(m, n); }) return R::verify(m, n);
    else return nullptr;
  });
}

/// The sharding rule of a node's operation. A partial sum of bools is reduced as a max, because at most one term is
/// true.
constexpr sharding sharding_of(module const& m, node const& n) {
  sharding s = with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::sharding(m, n); }) return R::sharding(m, n);
    else return sharding{};
  });
  if (s.contracts == reduction::sum && m.result_value(n).type == dtype::boolean) s.contracts = reduction::max;
  return s;
}

/// The dims of a node that hold the same elements. Both shapes are empty if the operation names none.
constexpr same_elements elements_of(module const& m, node const& n) {
  return with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::elements(m, n); }) return R::elements(m, n);
    else return same_elements{};
  });
}

/// Checks that the positions of a node, by the numbers of a step, are within its dims. `extent` has the extent of each
/// dim.
/// errors  R10 a position is beyond its dim, or a step between positions is 0
inline void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
  with_rule(n.kind, [&]<class R>() {
    if constexpr (requires { R::require_places(m, n, numbers, extent); }) R::require_places(m, n, numbers, extent);
  });
}

/// A set of primitives, and the dtypes of their operands and results.
struct primitives {
  std::uint64_t bits[2] = {0, 0};
  dtypes types = {};
  static constexpr primitives all() { return {{~std::uint64_t{0}, ~std::uint64_t{0}}, dtypes::all()}; }
  constexpr void add(primitive p) { bits[static_cast<int>(p) >> 6] |= std::uint64_t{1} << (static_cast<int>(p) & 63); }
  constexpr bool has(primitive p) const {
    return (bits[static_cast<int>(p) >> 6] >> (static_cast<int>(p) & 63) & 1) != 0;
  }
  /// Adds the primitive of a node, and its dtypes.
  constexpr void add(module const& m, node const& n) {
    add(n.kind);
    for (int i = 0; i < n.operands.count; ++i) types.add(m.operand_value(n, i).type);
    for (int i = 0; i < n.results.count; ++i) types.add(m.values[m.result(n, i)].type);
  }
};
static_assert(static_cast<int>(primitive::count_) <= 128);

/// The primitives of a module that a device must compute.
constexpr primitives computed_in(module const& m) {
  primitives all{};
  for (int i = 0; i < m.node_count; ++i)
    if (is_computed(m.nodes[i].kind)) all.add(m, m.nodes[i]);
  return all;
}

namespace detail {
template <class T>
inline constexpr char identity_of = 0;
/// Whether a table of structs by primitive, called as table(primitive, f), leads to `T` for a primitive in `among`.
template <class T>
constexpr bool leads_to(primitives among, auto table) {
  for (int p = 0; p < static_cast<int>(primitive::count_); ++p)
    if (among.has(static_cast<primitive>(p)) &&
        table(static_cast<primitive>(p), []<class Found>() { return &identity_of<Found>; }) == &identity_of<T>)
      return true;
  return false;
}
/// Whether `among` has the primitive of these rules.
template <class Rule>
constexpr bool occurs(primitives among) {
  return leads_to<Rule>(among, [](primitive p, auto f) { return with_rule(p, f); });
}
}  // namespace detail

/// A function that computes one node.
using node_loops = void (*)(evaluation const&);

/// Computes one node in plain loops, which are the reference for every device. The caller handles structure (loops,
/// branches, variables). `Among` lists the primitives and dtypes that occur, so that the compiler instantiates no loops
/// for others.
template <primitives Among = primitives::all()>
void evaluate(evaluation const& e) {
  bool const done = with_rule(e.n.kind, [&]<class R>() {
    if constexpr (requires { R::evaluate(e); }) {
      if constexpr (!detail::occurs<R>(Among)) return false;
      else if constexpr (requires { R::template evaluate<Among.types>(e); })
        return R::template evaluate<Among.types>(e);
      else return R::evaluate(e), true;
    } else {
      return false;
    }
  });
  if (!done) throw error("R01", {"no evaluation rule for ", text_of(e.n.kind)});
}

#if MESHTENSOR_COMPILED
extern template void evaluate<primitives::all()>(evaluation const&);
#endif

}  // namespace meshtensor
