// SPDX-License-Identifier: Apache-2.0
// Writes a node without regions as StableHLO.
#pragma once

#include "meshtensor/emit/stablehlo/argmax.hpp"
#include "meshtensor/emit/stablehlo/argsort.hpp"
#include "meshtensor/emit/stablehlo/concat.hpp"
#include "meshtensor/emit/stablehlo/convolution.hpp"
#include "meshtensor/emit/stablehlo/cumulative_sum.hpp"
#include "meshtensor/emit/stablehlo/einsum.hpp"
#include "meshtensor/emit/stablehlo/exchange.hpp"
#include "meshtensor/emit/stablehlo/functions.hpp"
#include "meshtensor/emit/stablehlo/gather.hpp"
#include "meshtensor/emit/stablehlo/linear.hpp"
#include "meshtensor/emit/stablehlo/move_rows.hpp"
#include "meshtensor/emit/stablehlo/narrow_sum.hpp"
#include "meshtensor/emit/stablehlo/pad.hpp"
#include "meshtensor/emit/stablehlo/pool.hpp"
#include "meshtensor/emit/stablehlo/put.hpp"
#include "meshtensor/emit/stablehlo/random.hpp"
#include "meshtensor/emit/stablehlo/scatter_add.hpp"
#include "meshtensor/emit/stablehlo/shift.hpp"
#include "meshtensor/emit/stablehlo/slice.hpp"
#include "meshtensor/emit/stablehlo/stack.hpp"
#include "meshtensor/emit/stablehlo/top_k.hpp"

namespace meshtensor::hlo {

/// The condition under which the result of a relu is 0, if the node asks for it, as gradients do.
inline std::optional<value> known_rectified(emission& e, node const& n) {
  if (!applies(n, function::less_equal) || !(e.dims(n, 0) == e.result_dims(n))) return {};
  auto const known = e.rectified.find(e.m.operand(n, 0));
  node const& zero = e.m.nodes[e.m.operand_value(n, 1).node];
  if (known == e.rectified.end() || declared(zero.kind).fusion != fusion_role::number) return {};
  auto const number = e.known(constant_attributes::of(zero).number);
  return number == 0 ? std::optional(known->second) : std::nullopt;
}

inline value elementwise(emission& e, node const& n) {
  auto const f = static_cast<function>(n.function);
  if (is_comparison(f)) {
    if (auto const known = known_rectified(e, n)) return *known;
    auto const side = [&](int i) {
      return e.laid(widened(e.w, e.operand(n, i)), e.dims(n, i), e.result_dims(n), e.result_type(n).shape);
    };
    value const x = side(0), y = side(1);
    return apply(e.w, f, x, y, "i1");
  }
  if (linear_nodes(e, n).takes()) return {};
  value const x = e.laid(n, 0);
  if (f == function::relu) {
    value const is_zero = detail::is_rectified(e.w, x);
    e.rectified.emplace(e.m.result(n), is_zero);
    return select(e.w, {is_zero, like(e.w, x, 0), x});
  }
  if (n.operands.count == 1) return apply(e.w, f, x, x, e.result_type(n).element);
  value const y = e.laid(n, 1);
  if (f == function::add && e.uses[e.m.result(n)].rectifying)  // the relu compares the sum before it is rounded
    return convert(e.w, apply(e.w, f, widened(e.w, x), widened(e.w, y), ""), x.type.element);
  return f == function::select ? select(e.w, {x, y, e.laid(n, 2)}) : apply(e.w, f, x, y, e.result_type(n).element);
}

/// Writes a node. If the result has no name, the node is deferred.
/// errors  R01 the node cannot be emitted
inline value write_node(emission& e, node const& n) {
  switch (n.kind) {
    case primitive::iteration: return e.index;
    case primitive::iota: return e.positions(e.m.result_value(n), 0, e.result_type(n), 0);
    case primitive::random: return random(e, n);
    case primitive::elementwise: return elementwise(e, n);
    case primitive::einsum: return einsum(e, n);
    case primitive::conv: return convolution(e, n);
    case primitive::pool: return pool(e, n);
    case primitive::grouped_einsum: return grouped_einsum(e, n);
    case primitive::reduce: {
      auto const kind = static_cast<reduction>(n.function);
      if (kind == reduction::sum && !e.how.has_f64 && e.result_type(n).element == "f64")
        if (auto const made = narrow_sum(e, n).emit()) return *made;
      if (kind == reduction::sum)
        if (auto const made = linear_nodes(e, n).sum()) return *made;
      return reduce(e.w, kind, e.operand(n), lost(e.dims(n), e.result_dims(n)));
    }
    case primitive::argmax: return argmax(e, n);
    case primitive::broadcast:
    case primitive::transpose: return e.laid(n, 0);
    case primitive::rename:
    case primitive::reshard:  // of a whole value, because a change of placement is a collective
    case primitive::wait: return e.operand(n);
    case primitive::reshape: return e.w.op("reshape", {e.operand(n)}, e.result_type(n));
    case primitive::slice: return slice(e, n);
    case primitive::pad: return pad(e, n);
    case primitive::concat: return concat(e, n);
    case primitive::put: return put(e, n);
    case primitive::gather: return gather(e, n);
    case primitive::scatter_add: return scatter_add(e, n);
    case primitive::cumulative_sum: return cumulative_sum(e, n);
    case primitive::argsort: return argsort(e, n);
    case primitive::call:
      if (e.m.calls[call_of(n)].library == library_call::top_positions) return top_positions(e, n);
      break;
    case primitive::shift: return shift(e, n);
    case primitive::stack: return stack(e, n);
    case primitive::move: return move(e, n);
    case primitive::local_slice: return own_part(e, n);
    case primitive::exchange_rows: return exchange_rows(e, n);
    case primitive::move_rows: return move_rows(e, n);
    default: break;
  }
  if (is_collective(n.kind)) return exchange(e, n);
  name const* const own = own_name_of(e.m, n);
  if (own == nullptr) e.refuse(n, text_of(n.kind));
  e.refuse(n, own->text(), ", an operation of your own: mt::default_device runs it");
}

}  // namespace meshtensor::hlo
