// SPDX-License-Identifier: Apache-2.0
// Wraps a C++ function over spans as an operation, legal under every layout that does not shard the function's dims.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/call/call_errors.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/detail/call_loop.hpp"

namespace meshtensor {

struct call_rule {
  static constexpr primitive kind = primitive::call;
  static constexpr declaration declares{.operands = {1, 4}, .attributes = {{attribute_kind::call}}};
  static constexpr void infer(inference& i) {
    call_row const& c = i.m->calls[call_attributes::of(i.attributes).call];
    shape kept{};
    for (int k = 0; k < i.count; ++k) kept = united(kept, without(i.dims_of(k), c.whole));
    i.give(i.type, united(kept, c.gives));
  }
  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    call_row const& c = m.calls[call_of(n)];
    return meshtensor::sharding{}.keeps_whole(c.whole).keeps_whole(c.gives);
  }
  /// Reports G30, because this rule is used only if the operation has no gradient of its own. Otherwise the composite
  /// around the call supplies the gradient (record_composite).
  static constexpr void gradient(differentiation& d, node const& n) {
    for (int k = 0; k < n.operands.count; ++k)
      if (diagnostic none{}; d.differentiable(d.b.m.operand(n, k)))
        return d.b.note(none << "G30 the operation '" << d.b.m.names[d.b.m.calls[call_of(n)].label]
                             << "' has no gradient: give it one, or end differentiation before it with stop_gradient");
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    call_row const& c = e.m.calls[call_of(e.n)];
    c.run(e, 0, c.parts(e));
  }
};

namespace detail {

template <class Operation, class... H>
constexpr auto record_call(H const&... operands) {
  builder& b = *owner_of(operands...);
  constexpr dtype first = nth<0, H...>::type::type, type = type_of_call<Operation, first>();
  using whole = decltype(whole_dims<Operation>());
  using gives = decltype(given_dims_of<Operation>());
  name_id const label = b.intern(label_of_call<Operation>());
  shape const w = shape_of(b, whole{}), g = shape_of(b, gives{});
  for (int i = 0; i < g.count && (is_any<typename H::dim_list> || ...); ++i)  // else the types have been checked
    b.expect(w.has(g.at[i]) || !(b.m.values[operands.id].dims.has(g.at[i]) || ...),
             "T03 call: the operation gives a dim that an operand has, without naming it in `whole`");
  auto const run = &run_call<Operation, type, H::type...>;
  int row = 0;
  while (row < b.m.call_count && b.m.calls[row].run != run) ++row;
  if (row == b.m.call_count) {
    if (!b.expect(row < max_calls, "G32 a program calls at most 64 different operations of its own"))
      row = --b.m.call_count;
    b.m.calls[b.m.call_count++] = {label, library_call_of<Operation>(), w, g, run, &parts_of_call};
  }
  value_id const given[] = {operands.id...};
  value_id const v = add_node<call_rule>(b, given, call_attributes{static_cast<id>(row)}.packed(), {type});
  return called_t<Operation, H...>(&b, v);
}

/// Whether the gradient of this operation is being recorded: its region is open, and its function has been called.
template <class Operation, class... H>
constexpr bool is_in_own_gradient(builder& b) {
  constexpr dtype type = type_of_call<Operation, nth<0, H...>::type::type>();
  name_id const label = b.intern(type_name<Operation>());
  bool is_open = false, is_called = false;
  for (int level = 0; level < b.depth; ++level) {
    region const& r = b.m.regions[b.frames[level].region];
    is_open = is_open || (r.kind == region_kind::gradient && r.label == label);
  }
  for (int row = 0; is_open && row < b.m.call_count; ++row)
    is_called = is_called || b.m.calls[row].run == &run_call<Operation, type, H::type...>;
  return is_called;
}

template <class Operation, class Line, class... H>
constexpr called_t<Operation, H...> checked_call(Line const& where, H const&... operands) {
  using result = called_t<Operation, H...>;
  if constexpr (is_refused<Line>) {
    return given_up<result::type, typename result::dim_list>(operands...);
  } else {
    recording r(owner_of(operands...), where);
    auto const body = [](H const&... x) { return record_call<Operation>(x...); };
    auto const note = [&](char const* problem) {
      diagnostic d{};
      r.b.note(d << "G30 the gradient of the operation '" << type_name<Operation>() << "' " << problem);
    };
    if constexpr (requires(H const&... x, result const& y) { Operation::gradient(x..., y, y); }) {
      if (is_in_own_gradient<Operation, H...>(r.b)) {
        note("calls the operation itself: call another operation there, which may run the same function");
        return body(operands...);
      }
      return record_composite(
          r.b, type_name<Operation>(), body, [](auto const&... all) { return Operation::gradient(all...); },
          operands...);
    } else {
      if constexpr (requires(Operation& o, H const&... x, result const& y) { o.gradient(x..., y, y); })
        note("is not static: write static constexpr auto gradient(...)");
      return body(operands...);
    }
  }
}

}  // namespace detail

/// Wraps your own C++ function as an operation of the graph: `auto y = mt::call<running_sum>(x);`
///
///     struct running_sum {
///       static constexpr auto whole = mt::to(time);    // dims that the function sees whole: never sharded
///       static constexpr auto gives = mt::to(time);    // dims of the result in their place
///       static void run(std::span<float const> x, std::span<float> y) {
///         std::partial_sum(x.begin(), x.end(), y.begin());
///       }
///       static constexpr auto gradient(auto x, auto y, auto dy) { return mt::call<running_sum_backwards>(dy); }
///     };
///
/// Several threads call `run`, each for other points of the other dims. Therefore its result must depend on its
/// operands alone. A span has the elements along the dims of `whole`, in the order of `whole`. If an operand lacks some
/// of these dims, its span has the elements along the others. Without `whole` and `gives` the operation is elementwise,
/// so spans have equal but arbitrary length. `run` may take extents as its first argument: in `run(auto extent,
/// std::span<float const> x, std::span<float> y)`, `extent(time)` is the extent of `time`.
///
/// dims    those of the operands without `whole`, then `gives`
/// layout  dims of `whole` and `gives` must not be sharded. If they are, they are gathered first
/// grad    `gradient(operands…, result, cotangent)` returns the operands' cotangents, several as a tuple. Without it,
///         differentiation through the call is an error, G30
/// errors  T01 no operand has a dim of `whole`; T03 `gives` has a dim that an operand keeps; T14 `run` does not take
///         these spans; G30 `gradient` calls the operation itself
template <class Operation, handle A>
constexpr detail::called_t<Operation, A> call(A const& a, detail::call_line<Operation, A> const& where = {}) {
  return detail::checked_call<Operation>(where, a);
}
template <class Operation, handle A, handle B>
constexpr detail::called_t<Operation, A, B> call(A const& a, B const& b,
                                                 detail::call_line<Operation, A, B> const& where = {}) {
  return detail::checked_call<Operation>(where, a, b);
}
template <class Operation, handle A, handle B, handle C>
constexpr detail::called_t<Operation, A, B, C> call(A const& a, B const& b, C const& c,
                                                    detail::call_line<Operation, A, B, C> const& where = {}) {
  return detail::checked_call<Operation>(where, a, b, c);
}
template <class Operation, handle A, handle B, handle C, handle D>
constexpr detail::called_t<Operation, A, B, C, D> call(A const& a, B const& b, C const& c, D const& d,
                                                       detail::call_line<Operation, A, B, C, D> const& where = {}) {
  return detail::checked_call<Operation>(where, a, b, c, d);
}

}  // namespace meshtensor
