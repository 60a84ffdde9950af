// SPDX-License-Identifier: Apache-2.0
// One place of a tensor written anew: what a sequence keeps of the past, position by position.
#pragma once

#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

/// `x` with `part` in the place of its slice at a number along `dim`; other dims that one of them lacks are repeated.
constexpr id put(builder& b, id x, id part, id dim, id position) {
  value const v = b.m.values[x], w = b.m.values[part];
  require(v.dims.has(dim), "T01: put: the operand lacks the dim");
  require(!w.dims.has(dim), "T03: put: what is put has the dim along which it is put");
  require(v.type == w.type, "T02: the dtypes of the operands differ: cast one of them");
  shape one{};
  shape const dims = united(v.dims, w.dims), inner = without(dims, one.add(dim));
  if (!(v.dims == dims)) x = broadcast(b, x, dims);
  if (!(w.dims.count == inner.count && inner.includes(w.dims))) part = broadcast(b, part, inner);
  id const operands[] = {x, part};
  return b.add(primitive::put, 0, operands, v.type, dims, {{dim, position}});
}

struct put_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    value const &x = m.operand_value(n, 0), &part = m.operand_value(n, 1), &y = m.result_value(n);
    shape one{};
    shape const inner = without(x.dims, one.add(n.attribute[0]));
    bool const fits = x.dims.has(n.attribute[0]) && part.dims.count == inner.count && inner.includes(part.dims);
    return fits && y.dims == x.dims && y.type == x.type && part.type == x.type ? nullptr
                                                                               : "the operands of put do not fit it";
  }
  static constexpr bool whole(module const&, node const& n, int dim) { return dim == n.attribute[0]; }
  static constexpr linearity linear(node const&, int, partial) { return linearity::together; }
  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    id const dy = d.cotangent(b.m.result(n));
    dtype const type = b.m.values[dy].type;
    shape const inner = b.m.operand_value(n, 1).dims;
    id const nothing = constant(b, 0, type);
    shape one{};
    one.add(n.attribute[0]);
    d.contribute(b.m.operand(n, 0), put(b, dy, broadcast(b, nothing, inner), n.attribute[0], n.attribute[1]));
    id const place = iota(b, n.attribute[0], dtype::i64);
    id const at = constant(b, number::of_row(&b, n.attribute[1]), dtype::i64);
    id const here = elementwise(b, function::equal, place, at);
    d.contribute(b.m.operand(n, 1), reduce(b, reduction_kind::sum, select(b, here, dy, nothing), one));
  }
  template <class = when_used>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &part = e.operands[1], &y = e.results[0];
    std::int64_t const first = start_of(e);
    if (y.data != x.data) detail::copy_by_name(x, 0, y, 0, no_id, no_id, y.extent);
    view at = y;
    at.extent[y.find(e.n.attribute[0])] = 1;
    detail::copy_by_name(part, 0, at, first, no_id, no_id, at.extent);
  }
  /// Where in the result, in elements, what is put begins. errors R10 the dim has no such position
  static std::int64_t start_of(evaluation const& e) {
    view const& y = e.results[0];
    int const along = y.find(e.n.attribute[0]);
    auto const position = static_cast<std::int64_t>(e.number(1));
    if (position < 0 || position >= y.extent[along])
      throw error("R10", {"put at ", position, ", but the dim '", e.m.dim_name(e.n.attribute[0]), "' has ",
                          y.extent[along], " positions"});
    return position * y.stride[along];
  }
};

// ---- what users call ----

/// `x` with `part` in the place of what it has at `position` along a dim: `s.update(keys, put(keys, now, length,
/// s.number("position", 0)))`. Where a state is updated so, and nothing reads it afterwards, nothing else is written:
/// the place alone changes; so it is in a loop that runs along a state and stacks its next value: `auto [y, next] =
/// repeat(s / "layers", layers, x, keys, body)`, then `s.update(keys, next)`.
///
/// dims    those of `x`, then what else `part` has, which lacks the dim; what one of them lacks is repeated
/// layout  the dim must be whole on every processor, others lie as they are
/// grad    of `x`: the cotangent with zeros there; of `part`: what the cotangent has there
/// errors  T01 `x` lacks the dim; T02 the dtypes differ; T03 `part` has the dim; R10 there is no such position
template <handle X, handle P, dim_type D>
constexpr auto put(X const& x, P const& part, D along, number const& position, line const& where = {}) {
  static_assert(has_dim<X, D>, "meshtensor T01: put: the operand lacks the dim");
  static_assert(detail::lacks_dim<P, D>, "meshtensor T03: put: what is put has the dim along which it is put");
  static_assert(same_dtype_as<X, P>, "meshtensor T02: the dtypes of the operands differ: cast one of them");
  if constexpr (has_dim<X, D> && detail::lacks_dim<P, D> && X::type == P::type) {
    detail::recording r(detail::owner_of(x, part), where);
    using result = result_dims_t<united_all<2>, typename X::dim_list, typename P::dim_list>;
    id const dim = detail::dim_id(r.b, along);
    return detail::wrap<X::type, result>(r.b, put(r.b, x.id, part.id, dim, r.b.add_number(position)));
  } else {
    return x;
  }
}

}  // namespace meshtensor
