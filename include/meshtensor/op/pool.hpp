// SPDX-License-Identifier: Apache-2.0
// pool: the greatest element, the sum or the mean of each window that moves along dims, and the steps of their
// gradients.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/detail/composed.hpp"
#include "meshtensor/op/pool/call_errors.hpp"
#include "meshtensor/op/pool/loops.hpp"
#include "meshtensor/op/pool/result_dims.hpp"
#include "meshtensor/op/pool/steps.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor {

constexpr value_id pool(builder& b, pool_step step, std::initializer_list<value_id> operands, pool_attributes windows);

struct pool_rule : pool_loops {
  static constexpr primitive kind = primitive::pool;
  static constexpr declaration declares{.operands = {1, 2},
                                        .attributes = {{attribute_kind::windows}, {attribute_kind::count}},
                                        .functions = 5,
                                        .work = work_kind::sum,
                                        .text = "{0}"};

  static constexpr void infer(inference& i) {
    auto const step = static_cast<pool_step>(i.function);
    pool_attributes const a = pool_attributes::of(i.attributes);
    shape dims = i.dims_of(0);
    i.expect(!i.has_type(0, dtype::boolean), "T04 pool of bools: cast the operand", 1);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& w = i.m->windows[k];
      i.expect(i.m->dims[w.kernel].kind == dim_row::fixed, "T48 pool: the size of a window is not fixed");
      dim_id const from = leads_back(step) ? w.output : w.input, to = leads_back(step) ? w.input : w.output;
      i.expect(dims.has(from), "T01 pool: the operand lacks a dim over which a window moves", 1);
      i.expect(from == to || !dims.has(to), "T03 pool: the operand has the dim that a window gives already", 1);
      dims = replaced(dims, from, to);
    }
    i.expect(i.count == (has_positions(step) ? 2 : 1), "T01 pool: another number of operands than it takes");
    if (i.count == 2) {
      i.expect(i.has_type(1, dtype::i32), "T02 pool: positions are i32", 2);
      i.expect(i.dims_of(1) == (leads_back(step) ? i.dims_of(0) : dims), "T01 pool: positions have other dims", 2);
    }
    i.give(step == pool_step::position ? dtype::i32 : i[0].type, dims);
  }

  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    pool_step const step = step_of(n);
    auto s = meshtensor::sharding{}.over_all_operands(step == pool_step::unpool);
    if (step != pool_step::position)
      s.passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum), 1);
    pool_attributes const a = pool_attributes::of(n);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& w = m.windows[k];
      bool const back = leads_back(step);
      s.moves_window(back ? w.output : w.input, back ? w.input : w.output, !back, static_cast<id>(k));
    }
    return s;
  }

  /// One operation for each element of each window. Padding counts, too.
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    value const& outputs = leads_back(step_of(n)) ? m.operand_value(n, 0) : m.result_value(n);
    return saturated_product(extents.local_size(outputs), elements(m, pool_attributes::of(n)));
  }

  // All steps but `position` are linear in operand 0. They come in pairs that are each other's transpose.
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0);
    pool_attributes const a = pool_attributes::of(n);
    pool_step const step = step_of(n);
    if (step == pool_step::position || !d.differentiable(x)) return;
    value_id const dy = d.cotangent(d.b.m.result(n));
    if (step == pool_step::sum) return d.contribute(x, pool(d.b, pool_step::spread, {dy}, a));
    if (step == pool_step::spread) return d.contribute(x, pool(d.b, pool_step::sum, {dy}, a));
    value_id const positions = d.forward(d.b.m.operand(n, 1));
    pool_step const back = step == pool_step::pick ? pool_step::unpool : pool_step::pick;
    d.contribute(x, pool(d.b, back, {dy, positions}, a));
  }
};

constexpr value_id pool(builder& b, pool_step step, std::initializer_list<value_id> operands, pool_attributes windows) {
  return add_node<pool_rule>(b, operands, windows.packed(), {}, static_cast<std::uint8_t>(step));
}

// ---- public functions ----

namespace detail {

/// Calls `make` with the windows of a pool to add the nodes. A call that its line refuses records nothing.
template <handle X, class Line, class... W>
constexpr auto record_pool(Line const& where, auto const& make, X const& x, W const&... windows) {
  if constexpr (is_refused<Line>) {
    return given_up(x);
  } else {
    recording r(owner_of(x), where);
    r.b.expect(((windows.how.padding.kind != padding::circular) && ...),
               "T49 pools have no mt::circular_padding: stack rolled tensors, or concat the ends");
    window_row const rows[] = {row_of(r.b, windows)...};
    pool_attributes const all{r.b.add_windows(rows), static_cast<int>(sizeof...(W))};
    return wrap<X::type, typename dims_after<typename X::dim_list, W...>::type>(r.b, make(r.b, all));
  }
}

/// The number of the tensor's own elements in each window. Its dims are the outputs of the windows.
constexpr value_id elements_in_windows(builder& b, dtype type, pool_attributes const& a) {
  shape inputs{};
  for (int k = a.first; k < a.first + a.count; ++k) inputs.add(b.m.windows[k].input);
  return pool(b, pool_step::sum, {broadcast(b, constant(b, 1, type), inputs)}, a);
}

template <handle X, class Line, class... W>
constexpr auto record_max_pool(Line const& where, X const& x, W const&... windows) {
  auto const make = [&](builder& b, pool_attributes const& a) {
    return pool(b, pool_step::pick, {x.id, pool(b, pool_step::position, {x.id}, a)}, a);
  };
  return record_pool(where, make, x, windows...);
}
template <handle X, class Line, class... W>
constexpr auto record_sum_pool(Line const& where, X const& x, W const&... windows) {
  return record_pool(
      where, [&](builder& b, pool_attributes const& a) { return pool(b, pool_step::sum, {x.id}, a); }, x, windows...);
}
template <handle X, class Line, class... W>
constexpr auto record_mean_pool(mean_over what, Line const& where, X const& x, W const&... windows) {
  composed const here(owner_of(x), where, "mean_pool");
  auto const make = [&](builder& b, pool_attributes const& a) {
    value_id const sum = pool(b, pool_step::sum, {x.id}, a);
    if (what == mean_over::window)
      return divide(b, sum, constant(b, static_cast<double>(pool_rule::elements(b.m, a)), X::type));
    // A window of padding alone has a sum of 0 and counts as one element, so its mean is 0.
    value_id const elements = elements_in_windows(b, X::type, a);
    return divide(b, sum, elementwise(b, function::maximum, elements, constant(b, 1, X::type)));
  };
  return record_pool(where, make, x, windows...);
}

}  // namespace detail

/// The greatest element of each window. Of equal ones it is the first, and NaN is greater than any number. Padding is
/// never taken, so a window of padding alone gives 0.
///
///     auto y = max_pool(x, window(rows, rows_2, 3, {.stride = 2, .padding = {1, 1}}),
///                       window(cols, cols_2, 3, {.stride = 2, .padding = {1, 1}}));
///
/// dims    those of `x`, with each window's output in the place of its input
/// layout  any dim may be sharded, in parts of any length, because ranks exchange the elements that windows reach
///         beyond their parts
/// grad    the cotangent, at the greatest elements. Their positions are saved, as i32
/// errors  T01 `x` lacks a dim over which a window moves; T03 it has an output already; T04 `x` is bool; T45 two
///         windows share a dim; S03 the extent of an output differs from the number of positions of its window
template <handle X, window_of_pool A>
constexpr auto max_pool(X const& x, A const& a, detail::pool_line<detail::pool_of_any_number, X, A> const& where = {}) {
  return detail::record_max_pool(where, x, a);
}
template <handle X, window_of_pool A, window_of_pool B>
constexpr auto max_pool(X const& x, A const& a, B const& b,
                        detail::pool_line<detail::pool_of_any_number, X, A, B> const& where = {}) {
  return detail::record_max_pool(where, x, a, b);
}
template <handle X, window_of_pool A, window_of_pool B, window_of_pool C>
constexpr auto max_pool(X const& x, A const& a, B const& b, C const& c,
                        detail::pool_line<detail::pool_of_any_number, X, A, B, C> const& where = {}) {
  return detail::record_max_pool(where, x, a, b, c);
}

/// The sum of each window, in which padding counts as 0. Otherwise like `max_pool`.
///
/// grad    at each element, the sum of the cotangents of all windows that reach it
template <handle X, window_of_pool A>
constexpr auto sum_pool(X const& x, A const& a, detail::pool_line<detail::pool_of_any_number, X, A> const& where = {}) {
  return detail::record_sum_pool(where, x, a);
}
template <handle X, window_of_pool A, window_of_pool B>
constexpr auto sum_pool(X const& x, A const& a, B const& b,
                        detail::pool_line<detail::pool_of_any_number, X, A, B> const& where = {}) {
  return detail::record_sum_pool(where, x, a, b);
}
template <handle X, window_of_pool A, window_of_pool B, window_of_pool C>
constexpr auto sum_pool(X const& x, A const& a, B const& b, C const& c,
                        detail::pool_line<detail::pool_of_any_number, X, A, B, C> const& where = {}) {
  return detail::record_sum_pool(where, x, a, b, c);
}

/// The mean of each window, over all that it spans or, with `mean_over::elements`, over the elements that are not
/// padding. Otherwise like `sum_pool`.
///
/// errors  T04 `x` is not of floats; those of `max_pool`
template <handle X, window_of_pool A>
constexpr auto mean_pool(X const& x, A const& a, mean_over what = mean_over::window,
                         detail::pool_line<detail::pool_of_floats, X, A> const& where = {}) {
  return detail::record_mean_pool(what, where, x, a);
}
template <handle X, window_of_pool A, window_of_pool B>
constexpr auto mean_pool(X const& x, A const& a, B const& b, mean_over what = mean_over::window,
                         detail::pool_line<detail::pool_of_floats, X, A, B> const& where = {}) {
  return detail::record_mean_pool(what, where, x, a, b);
}
template <handle X, window_of_pool A, window_of_pool B, window_of_pool C>
constexpr auto mean_pool(X const& x, A const& a, B const& b, C const& c, mean_over what = mean_over::window,
                         detail::pool_line<detail::pool_of_floats, X, A, B, C> const& where = {}) {
  return detail::record_mean_pool(what, where, x, a, b, c);
}

}  // namespace meshtensor
