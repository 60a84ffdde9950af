// SPDX-License-Identifier: Apache-2.0
// Applies the rules of a node's operation, which op/table.hpp lists: its declaration, its checks, its sharding and its
// plain loops.
#pragma once

#include "meshtensor/op/table.hpp"

namespace meshtensor {

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

/// A function that computes one node.
using node_loops = void (*)(evaluation const&);

/// Computes one node in plain loops, which are the reference for every device. The caller handles structure (loops,
/// branches, variables). `Among` lists the primitives and dtypes that occur, so that the compiler instantiates no loops
/// for others.
template <primitives Among = primitives::all()>
void evaluate(evaluation const& e) {
  bool const done = with_rule(e.n.kind, [&]<class R>() {
    if constexpr (requires { R::evaluate(e); }) {
      if constexpr (!Among.has(R::kind)) return false;
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
