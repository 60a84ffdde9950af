// SPDX-License-Identifier: Apache-2.0
// conv: a product of tensors over which windows move. Along a sharded dim, ranks exchange only the elements that
// windows reach.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/conv/call_errors.hpp"
#include "meshtensor/op/conv/kernel_apart.hpp"
#include "meshtensor/op/conv/loops.hpp"
#include "meshtensor/op/conv/roles.hpp"
#include "meshtensor/op/detail/wrapped.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor {

constexpr value_id conv(builder& b, value_id x, value_id y, conv_direction which, conv_attributes const& windows,
                        shape const& to);

struct conv_rule : conv_loops {
  static constexpr primitive kind = primitive::conv;
  static constexpr declaration declares{.operands = {2, 2},
                                        .attributes = {{attribute_kind::windows}, {attribute_kind::count}},
                                        .functions = 3,
                                        .work = work_kind::product,
                                        .joins = epilogues::of_convolutions,
                                        .text = "{0}"};

  static constexpr void infer(inference& i) {
    dtype const type = i.common_type();
    auto const which = static_cast<conv_direction>(i.function);
    conv_attributes const a = conv_attributes::of(i.attributes);
    role const roles[] = {operand_role(which, 0), operand_role(which, 1), result_role(which)};
    shape const* const tensors[] = {&i.dims_of(0), &i.dims_of(1), &i.dims};
    shape given{};  // the dims that windows give to the result
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& w = i.m->windows[k];
      if (!given.has(dim_of(w, roles[2]))) given.add(dim_of(w, roles[2]));
      for (int t = 0; t < 3; ++t) {
        dim_id const own = dim_of(w, roles[t]);
        i.expect(tensors[t]->has(own), "T01 conv: a tensor lacks a dim of a window", 3);
        for (dim_id other : {w.input, w.output, w.kernel})
          i.expect(other == own || !tensors[t]->has(other), "T03 conv: a tensor has two dims of one window", 3);
      }
    }
    for (int k = 0; k < i.dims.count; ++k)
      i.expect(given.has(i.dims.at[k]) || i.dims_of(0).has(i.dims.at[k]) || i.dims_of(1).has(i.dims.at[k]),
               "T01 conv: no operand has a dim that the result names", 3);
    i.give(type, i.dims);
  }

  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    auto s = meshtensor::sharding{}
                 .contracted(reduction::sum)
                 .passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum));
    conv_direction const which = direction(n);
    conv_attributes const a = conv_attributes::of(n);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& w = m.windows[k];
      bool const of_inputs = which != conv_direction::backward;
      s.keeps_whole(w.kernel);
      s.moves_window(of_inputs ? w.input : w.output, of_inputs ? w.output : w.input, of_inputs, static_cast<id>(k));
    }
    return s;
  }

  /// Two operations for each element of each window at each position, and for every point of all other dims. Padding
  /// counts, too.
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    conv_direction const which = direction(n);
    conv_attributes const a = conv_attributes::of(n);
    std::int64_t points = 1;
    bool seen[max_dims] = {};
    auto const add = [&](value const& v, role r) {
      for (int i = 0; i < v.dims.count; ++i) {
        int const d = v.dims.at[i];
        bool is_input = false;
        for (int k = a.first; k < a.first + a.count; ++k)
          is_input = is_input || (r == inputs && m.windows[k].input == d);
        if (is_input || seen[d]) continue;
        points = saturated_product(points, extents.local(v, i));
        seen[d] = true;
      }
    };
    add(m.result_value(n), result_role(which));
    for (int o = 0; o < 2; ++o) add(m.operand_value(n, o), operand_role(which, o));
    return saturated_product(2, points);
  }

  // The gradient by one tensor is the convolution of the other two, because conv is linear in both operands.
  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    conv_direction const which = direction(n);
    conv_attributes const a = conv_attributes::of(n);
    value_id const dy = d.cotangent(b.m.result(n));
    for (int i = 0; i < 2; ++i) {
      value_id const x = b.m.operand(n, i);
      if (!d.differentiable(x)) continue;
      value_id const other = d.forward(b.m.operand(n, 1 - i));
      role const wanted = operand_role(which, i);
      conv_direction const back = wanted == inputs    ? conv_direction::backward
                                  : wanted == outputs ? conv_direction::forward
                                                      : conv_direction::kernel;
      bool const cotangent_first = operand_role(back, 0) == result_role(which);
      shape const dims = b.m.values[x].dims;
      shape reachable{};  // without the dims that only this operand has, because those were summed
      for (int k = 0; k < dims.count; ++k) {
        bool reached = b.m.values[dy].dims.has(dims.at[k]) || b.m.values[other].dims.has(dims.at[k]);
        for (int w = a.first; w < a.first + a.count; ++w)
          reached = reached || dim_of(b.m.windows[w], wanted) == dims.at[k];
        if (reached) reachable.add(dims.at[k]);
      }
      value_id term = cotangent_first ? conv(b, dy, other, back, a, reachable) : conv(b, other, dy, back, a, reachable);
      if (!(reachable == dims)) term = broadcast(b, term, dims);
      d.contribute(x, term);
    }
  }
};

/// out[to] = Σ over all other dims of the product of two tensors whose elements meet in windows (window_row).
constexpr value_id conv(builder& b, value_id x, value_id y, conv_direction which, conv_attributes const& windows,
                        shape const& to) {
  return add_node<conv_rule>(b, {x, y}, windows.packed(), {dtype::f32, to}, static_cast<std::uint8_t>(which));
}

// ---- public functions ----

namespace detail {

/// The number of elements by which a window along a ring reaches beyond each end of its dim, or 0 if the dim is no
/// ring.
template <bool Backward, class I, class O, class K>
constexpr std::int64_t beyond_ring(builder& b, window_along<I, O, K> const& w) {
  if (w.how.padding.kind != padding::circular) return 0;
  bool const fits =
      b.expect(!Backward && K::dim_rule.kind == extent_rule::fixed,
               "T49 mt::circular_padding is for convolutions that are not transposed, with a kernel whose "
               "extent is fixed");
  return fits ? w.how.dilation * (K::dim_rule.value - 1) / 2 : 0;
}

/// Records a convolution or, if `Backward`, a transposed one, from the outputs of its windows to their inputs. A call
/// that its line refuses records nothing. The line of a layer does not check windows, so their error is reported here.
template <bool Backward, class Line, handle X, handle Y, dim_type... D, class... W>
constexpr auto record_conv(Line const& where, X const& x, Y const& kernel, to_dims<D...>, W const&... windows) {
  constexpr auto found = conv_finding<Backward, X, Y, to_dims<D...>, W...>();
  if constexpr (nothing_found<decltype(found)>) {
    recording r(owner_of(x, kernel), where);
    window_row rows[] = {row_of(r.b, windows)...};
    std::int64_t const beyond[] = {beyond_ring<Backward>(r.b, windows)...};
    value_id const kernels = kernel_apart(r.b, kernel.id, rows);
    value_id reached = x.id;
    for (std::size_t k = 0; k < sizeof...(W); ++k) reached = wrapped(r.b, reached, rows[k], beyond[k]);
    conv_attributes const all{r.b.add_windows(rows), static_cast<int>(sizeof...(W))};
    auto const which = Backward ? conv_direction::backward : conv_direction::forward;
    return wrap<X::type, dims<D...>>(r.b, conv(r.b, reached, kernels, which, all, shape_of(r.b, dims<D...>{})));
  } else {
    if constexpr (!is_refused<Line>) refuse(found);
    return given_up<X::type, dims<D...>>(x);
  }
}

}  // namespace detail

/// Multiplies a kernel with `x` at all positions of windows that move along dims of `x`. Sums the products over the
/// window and over all dims that the result lacks. It is an einsum with windows, because other dims are matched by
/// name. For example, a dim that `x`, the kernel and the result have is a dim of groups.
///
///     auto y = conv(x, kernel, to(batch, rows_2, cols_2, c_out),  // x [batch, rows, cols, c_in]
///                   window(rows, rows_2, k_rows, {.stride = 2}),  // kernel [k_rows, k_cols, c_in, c_out]
///                   window(cols, cols_2, k_cols, {.stride = 2}));
///
/// dims    those of `to`, in its order
/// layout  a dim over which a window moves may be sharded, in parts of any length, because ranks exchange the elements
///         that windows reach beyond their parts. Batch, channels and groups are as in einsum. The kernel's window is
///         whole on every rank
/// grad    the convolutions of the cotangent with the other tensor
/// errors  T01 a tensor lacks a dim of a window, or no operand has a dim of the result; T02 the dtypes differ; T45 two
///         windows share a dim; S03 the extent of an output differs from the number of positions of its window
template <handle X, handle K, dim_type... D, dim_type I, dim_type O, dim_type W>
constexpr auto conv(X const& x, K const& kernel, to_dims<D...> result, window_along<I, O, W> const& along,
                    detail::conv_line<false, X, K, to_dims<D...>, window_along<I, O, W>> const& where = {}) {
  return detail::record_conv<false>(where, x, kernel, result, along);
}
template <handle X, handle K, dim_type... D, dim_type I, dim_type O, dim_type W, dim_type I2, dim_type O2, dim_type W2>
constexpr auto conv(
    X const& x, K const& kernel, to_dims<D...> result, window_along<I, O, W> const& first,
    window_along<I2, O2, W2> const& second,
    detail::conv_line<false, X, K, to_dims<D...>, window_along<I, O, W>, window_along<I2, O2, W2>> const& where = {}) {
  return detail::record_conv<false>(where, x, kernel, result, first, second);
}
template <handle X, handle K, dim_type... D, class I, class O, class W, class I2, class O2, class W2, class I3,
          class O3, class W3>
constexpr auto conv(X const& x, K const& kernel, to_dims<D...> result, window_along<I, O, W> const& first,
                    window_along<I2, O2, W2> const& second, window_along<I3, O3, W3> const& third,
                    detail::conv_line<false, X, K, to_dims<D...>, window_along<I, O, W>, window_along<I2, O2, W2>,
                                      window_along<I3, O3, W3>> const& where = {}) {
  return detail::record_conv<false>(where, x, kernel, result, first, second, third);
}

/// The transposed convolution, which is the gradient of `conv` by its operand. `x` has the outputs of the windows as
/// its dims. Each element of `x`, times the kernel, is spread over the inputs of the windows. For y [batch, rows_2,
/// cols_2, c_out], write `conv_transposed(y, kernel, to(batch, rows, cols, c_in), window(rows, rows_2, …), window(cols,
/// cols_2, …))`.
///
/// dims    those of `to`, in its order
/// layout  as for `conv`
/// grad    the convolutions of the cotangent with the other tensor
/// errors  as for `conv`
template <handle X, handle K, dim_type... D, dim_type I, dim_type O, dim_type W>
constexpr auto conv_transposed(X const& x, K const& kernel, to_dims<D...> result, window_along<I, O, W> const& along,
                               detail::conv_line<true, X, K, to_dims<D...>, window_along<I, O, W>> const& where = {}) {
  return detail::record_conv<true>(where, x, kernel, result, along);
}
template <handle X, handle K, dim_type... D, dim_type I, dim_type O, dim_type W, dim_type I2, dim_type O2, dim_type W2>
constexpr auto conv_transposed(
    X const& x, K const& kernel, to_dims<D...> result, window_along<I, O, W> const& first,
    window_along<I2, O2, W2> const& second,
    detail::conv_line<true, X, K, to_dims<D...>, window_along<I, O, W>, window_along<I2, O2, W2>> const& where = {}) {
  return detail::record_conv<true>(where, x, kernel, result, first, second);
}
template <handle X, handle K, dim_type... D, class I, class O, class W, class I2, class O2, class W2, class I3,
          class O3, class W3>
constexpr auto conv_transposed(
    X const& x, K const& kernel, to_dims<D...> result, window_along<I, O, W> const& first,
    window_along<I2, O2, W2> const& second, window_along<I3, O3, W3> const& third,
    detail::conv_line<true, X, K, to_dims<D...>, window_along<I, O, W>, window_along<I2, O2, W2>,
                      window_along<I3, O3, W3>> const& where = {}) {
  return detail::record_conv<true>(where, x, kernel, result, first, second, third);
}

}  // namespace meshtensor
