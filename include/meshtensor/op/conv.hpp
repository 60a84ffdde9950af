// SPDX-License-Identifier: Apache-2.0
// conv: a product of tensors over which windows move. Along a sharded dim, ranks exchange only the elements that
// windows reach.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/base/window.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/detail/wrapped.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor {

/// Windows relate three tensors: one along their inputs, one along their outputs, and one along their kernels. The
/// direction says which of the three is the result.
///
/// forward   outputs = conv(inputs, kernels)
/// backward  inputs = conv(outputs, kernels): the gradient by the inputs, and the transposed convolution
/// kernel    kernels = conv(inputs, outputs): the gradient by the kernels
enum class conv_direction : std::uint8_t { forward, backward, kernel };

struct conv_attributes {
  id first;   // the first window, a row of the table of windows
  int count;  // the number of windows

  static constexpr conv_attributes of(id const* slots) { return {slots[0], slots[1]}; }
  static constexpr conv_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{first, static_cast<id>(count)}}; }
};

constexpr value_id conv(builder& b, value_id x, value_id y, conv_direction which, conv_attributes const& windows,
                        shape const& to);

struct conv_rule {
  static constexpr primitive kind = primitive::conv;
  static constexpr declaration declares{.operands = {2, 2},
                                        .attributes = {{attribute_kind::windows}, {attribute_kind::count}},
                                        .functions = 3,
                                        .work = work_kind::product,
                                        .joins = epilogues::of_convolutions,
                                        .text = "{0}"};

  /// The three tensors of a node. The direction says which of them is the result.
  enum role : std::uint8_t { inputs, outputs, kernels };
  static constexpr role operand_role(conv_direction d, int operand) {
    if (operand == 0) return d == conv_direction::backward ? outputs : inputs;
    return d == conv_direction::kernel ? outputs : kernels;
  }
  static constexpr role result_role(conv_direction d) {
    return d == conv_direction::forward ? outputs : d == conv_direction::backward ? inputs : kernels;
  }
  static constexpr dim_id dim_of(window_row const& w, role r) {
    return r == inputs ? w.input : r == outputs ? w.output : w.kernel;
  }
  static constexpr conv_direction direction(node const& n) { return static_cast<conv_direction>(n.function); }

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
    shape seen{};
    auto const add = [&](value const& v, role r) {
      for (int i = 0; i < v.dims.count; ++i) {
        int const d = v.dims.at[i];
        bool is_input = false, is_seen = false;
        for (int k = a.first; k < a.first + a.count; ++k)
          is_input = is_input || (r == inputs && m.windows[k].input == d);
        for (int k = 0; k < seen.count; ++k) is_seen = is_seen || seen.at[k] == d;
        if (is_input || is_seen) continue;
        points = saturated_product(points, extents.local(v, i));
        if (seen.count < shape::capacity) seen.add(d);
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

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    with_element(e.results[0].type, [&]<class E>() { evaluate_as<E>(e); });
  }

  /// A window over the parts that a rank holds: where they begin, and how far elements are apart.
  struct window_in_memory {
    window_numbers window;
    int position[3];  // the position of its dim in each tensor, by role
    std::int64_t origin[3], extent[3], stride[3];
  };
  /// The windows of a node, and its tensors by role.
  struct problem {
    conv_direction direction;
    role roles[3];  // of operand 0, of operand 1, of the result
    view const* tensors[3];
    int count;
    window_in_memory windows[max_windows_of_one];

    /// `number(row)` returns the value of a row of the table of numbers.
    static problem of(module const& m, node const& n, view const* operands, view const& result, auto const& number) {
      conv_direction const which = conv_rule::direction(n);
      conv_attributes const a = conv_attributes::of(n);
      problem p{which, {operand_role(which, 0), operand_role(which, 1), result_role(which)}, {}, a.count, {}};
      view const* const all[] = {&operands[0], &operands[1], &result};
      for (int t = 0; t < 3; ++t) p.tensors[p.roles[t]] = all[t];
      for (int k = 0; k < a.count; ++k) {
        window_row const& row = m.windows[a.first + k];
        window_in_memory& w = p.windows[k];
        for (role r : {inputs, outputs, kernels}) {
          view const& v = *p.tensors[r];
          int const at = v.find(dim_of(row, r));
          w.position[r] = at, w.origin[r] = v.origin[at], w.extent[r] = v.extent[at], w.stride[r] = v.stride[at];
        }
        w.window = {row.stride, row.dilation, whole_number(number(row.low)), w.extent[kernels]};
      }
      return p;
    }
    bool is_windowed(role r, int position) const {
      for (int k = 0; k < count; ++k)
        if (windows[k].position[r] == position) return true;
      return false;
    }
  };

 private:
  /// Adds the offsets of the two elements that meet in a term, or returns false if none meet. `at` is the index along
  /// the window's dim in the result. `free` is the index along its dim in the kernel or, if the kernel is the result,
  /// in the outputs.
  static bool add_offsets(conv_direction which, window_in_memory const& w, std::int64_t at, std::int64_t free,
                          std::int64_t& first, std::int64_t& second) {
    if (which == conv_direction::backward) {
      std::int64_t const reached = at + w.origin[inputs] + w.window.low - w.window.dilation * free;
      if (reached % w.window.stride != 0) return false;
      std::int64_t const output = reached / w.window.stride - w.origin[outputs];
      if (reached < 0 || output < 0 || output >= w.extent[outputs]) return false;
      first += output * w.stride[outputs], second += free * w.stride[kernels];
      return true;
    }
    bool const by_kernel = which == conv_direction::kernel;
    std::int64_t const output = (by_kernel ? free : at) + w.origin[outputs];
    std::int64_t const input = w.window.input(output, by_kernel ? at : free) - w.origin[inputs];
    if (input < 0 || input >= w.extent[inputs]) return false;
    first += input * w.stride[inputs], second += free * w.stride[by_kernel ? outputs : kernels];
    return true;
  }

  /// The terms of one window for one element of the result: the offsets of the first term, and the steps to the next
  /// ones.
  struct meeting_run {
    std::int64_t count, first, second, first_step, second_step;
  };
  static meeting_run run_of(conv_direction which, window_in_memory const& w, std::int64_t at, std::int64_t extent) {
    meeting_run r{};
    for (std::int64_t free = 0; free < extent; ++free) {
      std::int64_t first = 0, second = 0;
      if (!add_offsets(which, w, at, free, first, second)) continue;
      if (r.count == 0) r.first = first, r.second = second;
      if (r.count == 1) r.first_step = first - r.first, r.second_step = second - r.second;
      ++r.count;
    }
    return r;
  }
  /// Adds a product for each combination of the terms of `count` windows. The terms of the last window are innermost.
  template <class E>
  static void add_terms(meeting_run const* runs, int count, E const* x, E const* z, wide_sum<E>& sum) {
    using term = typename wide_sum<E>::term;
    if (count == 0) return sum.add(static_cast<term>(*x) * static_cast<term>(*z));
    meeting_run const r = *runs;
    x += r.first, z += r.second;
    if (count == 1) {
      for (std::int64_t i = 0; i < r.count; ++i)
        sum.add(static_cast<term>(x[i * r.first_step]) * static_cast<term>(z[i * r.second_step]));
      return;
    }
    for (std::int64_t i = 0; i < r.count; ++i)
      add_terms(runs + 1, count - 1, x + i * r.first_step, z + i * r.second_step, sum);
  }

  template <class E>
  static void evaluate_as(evaluation const& e) {
    problem const p =
        problem::of(e.m, e.n, e.operands, e.results[0], [&](number_id row) { return e.context.numbers[row]; });
    view const& y = e.results[0];
    role const free = p.roles[2] == kernels ? outputs : kernels;
    // The walk runs over the elements of the result and, for each, over the summed dims.
    walk<2> w;
    std::uint16_t dims[2 * max_dims_of_one];
    for (int i = 0; i < y.count; ++i)
      dims[w.count] = p.is_windowed(p.roles[2], i) ? no_dim : y.dim[i], w.extent[w.count++] = y.extent[i];
    int const kept = w.count;
    for (int o = 0; o < 2; ++o)
      for (int i = 0; i < e.operands[o].count; ++i) {
        bool known = p.is_windowed(p.roles[o], i);
        for (int k = 0; k < w.count; ++k) known = known || dims[k] == e.operands[o].dim[i];
        if (!known) dims[w.count] = e.operands[o].dim[i], w.extent[w.count++] = e.operands[o].extent[i];
      }
    for (int o = 0; o < 2; ++o) w.bind(o, e.operands[o], dims);
    std::int64_t inner = 1, outer = 1, run = 1, step[2] = {};
    for (int i = 0; i < w.count; ++i) (i < kept ? outer : inner) *= w.extent[i];
    if (inner == 0) w.count = kept;      // sums of no terms
    if (inner != 0 && w.count > kept) {  // along the last summed dim without the walk
      run = w.extent[--w.count], inner /= run;
      for (int i = 0; i < 2; ++i) step[i] = w.stride[i][w.count];
    }
    auto const *const x = e.operands[0].as<E>(), *const z = e.operands[1].as<E>();
    meeting_run runs[max_windows_of_one] = {};
    for (std::int64_t o = 0; o < outer; ++o) {
      wide_sum<E> sum;
      std::int64_t where = 0;
      for (int i = 0; i < kept; ++i) where += w.index[i] * y.stride[i];
      bool meet = true;
      for (int k = 0; k < p.count; ++k) {
        runs[k] =
            run_of(p.direction, p.windows[k], w.index[p.windows[k].position[p.roles[2]]], p.windows[k].extent[free]);
        meet = meet && runs[k].count > 0;
      }
      for (std::int64_t k = 0; k < inner; ++k, w.next())
        for (std::int64_t r = 0; meet && r < run; ++r)
          add_terms(runs, p.count, x + w.offset[0] + r * step[0], z + w.offset[1] + r * step[1], sum);
      if (inner == 0) w.next();
      y.as<E>()[where] = sum.value();
    }
  }
  static constexpr std::uint16_t no_dim = 0xffff;
};

/// out[to] = Σ over all other dims of the product of two tensors whose elements meet in windows (window_row).
constexpr value_id conv(builder& b, value_id x, value_id y, conv_direction which, conv_attributes const& windows,
                        shape const& to) {
  return add_node<conv_rule>(b, {x, y}, windows.packed(), {dtype::f32, to}, static_cast<std::uint8_t>(which));
}

// ---- public functions ----

namespace detail {

template <class D, class... W>
inline constexpr bool is_of_window = false;
template <class D, class... I, class... O, class... K>
inline constexpr bool is_of_window<D, window_along<I, O, K>...> = ((same_dim<D, I> || same_dim<D, O>) || ...);

/// Whether these are the arguments of a convolution. Windows after the first one may be missing.
template <class W>
inline constexpr bool may_be_window = std::is_same_v<W, no_argument>;
template <class I, class O, class K>
inline constexpr bool may_be_window<window_along<I, O, K>> = true;
template <class X, class K, class To, class First, class Second, class Third, class More>
inline constexpr bool calls_conv =
    handle<X> && handle<K> && is_to<To> && may_be_window<First> && !std::is_same_v<First, no_argument> &&
    may_be_window<Second> && may_be_window<Third> && std::is_same_v<More, no_argument>;

/// The number of elements by which a window along a ring reaches beyond each end of its dim, or 0 if the dim is no
/// ring.
template <bool Backward, class I, class O, class K>
constexpr std::int64_t beyond_ring(builder& b, window_along<I, O, K> const& w) {
  if (w.how.padding.kind != padding::circular) return 0;
  bool const fits =
      b.expect(!Backward && K::dim_rule.kind == extent_rule::fixed,
               "T06 mt::circular_padding is for convolutions that are not transposed, with a kernel whose "
               "extent is fixed");
  return fits ? w.how.dilation * (K::dim_rule.value - 1) / 2 : 0;
}

/// The refusal of a convolution or, if `Backward`, of a transposed one. `Words` are its sentence.
template <bool Backward, literal Words, class... Facts>
consteval auto conv_refusal() {
  if constexpr (Backward) return refusal<joined_words<literal("T01 conv_transposed: "), Words>, Facts...>{};
  else return refusal<joined_words<literal("T01 conv: "), Words>, Facts...>{};
}
template <class>
inline constexpr bool is_window = false;
template <class I, class O, class K>
inline constexpr bool is_window<window_along<I, O, K>> = true;

template <bool Backward, handle X, handle Y, class To, class... W>
requires(is_window<W> && ...)
consteval auto conv_finding() {
  return []<class... D, class... I, class... O, class... K>(to_dims<D...>,
                                                            std::tuple<window_along<I, O, K>...> const*) {
    constexpr bool traced = is_any<typename X::dim_list> || is_any<typename Y::dim_list>;
    using moved = std::conditional_t<Backward, dims<O...>, dims<I...>>;
    using given = std::conditional_t<Backward, dims<I...>, dims<O...>>;
    constexpr bool are_apart = are_distinct<I...>() && are_distinct<O...>() && are_distinct<K...>();
    if constexpr (X::type != Y::type) return refusal<"T02 the dtypes of the operands differ: cast one of them", X, Y>{};
    else if constexpr (of_bool<X>) return refusal<"T04 arithmetic on bool: cast the operand", X>{};
    else if constexpr (!are_apart)
      return []<class... M, class... G>(dims<M...>, dims<G...>) {
        return refusal<"T07 conv: two windows share a dim: each moves along one, gives one and has one of the kernel",
                       M..., G..., K...>{};
      }(moved{}, given{});
    else if constexpr (traced) return no_error{};
    else if constexpr (!has_all<X, moved>)
      return []<class... M>(dims<M...>) {
        if constexpr (Backward)
          return conv_refusal<true,
                              "the operand lacks the output of a window: take the windows of the convolution that it "
                              "leads back, window(input, output, kernel)",
                              X, M...>();
        else return conv_refusal<false, "the operand lacks a dim over which a window moves", X, M...>();
      }(moved{});
    else if constexpr (!(has_dim<Y, K> && ...))
      return conv_refusal<Backward, "the kernel lacks the dim of a window", Y, K...>();
    else if constexpr (!is_within_v<given, dims<D...>>)
      return []<class... G>(dims<G...>) {
        return conv_refusal<Backward, "the result lacks a dim that a window gives: name it in mt::to(...)", G...>();
      }(given{});
    else if constexpr (!((dim_of_any<D, X, Y> || is_of_window<D, window_along<I, O, K>...>) && ...))
      return conv_refusal<Backward, "no operand has a dim that the result names", X, Y, D...>();
    else return no_error{};
  }(To{}, static_cast<std::tuple<W...> const*>(nullptr));
}
/// The line of a call of a convolution. It refuses the call if the types show an error.
template <bool Backward, class... A>
using conv_line = checked_line<decltype(conv_finding<Backward, A...>())>;

/// Records a convolution or, if `Backward`, a transposed one, from the outputs of its windows to their inputs. A call
/// that its line refuses records nothing. The line of a layer does not check windows, so their error is reported here.
template <bool Backward, class Line, handle X, handle Y, dim_type... D, class... W>
constexpr auto record_conv(Line const& where, X const& x, Y const& kernel, to_dims<D...>, W const&... windows) {
  constexpr auto found = conv_finding<Backward, X, Y, to_dims<D...>, W...>();
  if constexpr (nothing_found<decltype(found)>) {
    recording r(owner_of(x, kernel), where);
    window_row rows[] = {row_of(r.b, windows)...};
    std::int64_t const beyond[] = {beyond_ring<Backward>(r.b, windows)...};
    value_id reached = x.id;
    for (std::size_t k = 0; k < sizeof...(W); ++k) reached = wrapped(r.b, reached, rows[k], beyond[k]);
    conv_attributes const all{r.b.add_windows(rows), static_cast<int>(sizeof...(W))};
    auto const which = Backward ? conv_direction::backward : conv_direction::forward;
    return wrap<X::type, dims<D...>>(r.b, conv(r.b, reached, kernel.id, which, all, shape_of(r.b, dims<D...>{})));
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
/// errors  T01 a tensor lacks a dim of a window, or no operand has a dim of the result; T02 the dtypes differ; T07 two
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

/// Rejects other arguments, for example a window of a pool, a number in the place of the kernel's dim, or dims without
/// `to`.
template <detail::argument A, detail::argument B = detail::no_argument, detail::argument C = detail::no_argument,
          detail::argument D = detail::no_argument, detail::argument E = detail::no_argument,
          detail::argument F = detail::no_argument, detail::argument G = detail::no_argument>
requires((handle<A> || handle<B>) && !detail::calls_conv<A, B, C, D, E, F, G>)
constexpr auto conv(
    A const& a, B const& b = {}, C const& = {}, D const& = {}, E const& = {}, F const& = {}, G const& = {},
    detail::refused_call<
        "T10 conv takes a tensor, a kernel, the dims of its result and one to three windows over dims of "
        "the kernel: conv(x, kernel, mt::to(batch, rows_2, c_out), mt::window(rows, rows_2, k_rows)), not",
        A, B, C, D, E, F, G> const& = {}) {
  return detail::given_up(a, b);
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
template <detail::argument A, detail::argument B = detail::no_argument, detail::argument C = detail::no_argument,
          detail::argument D = detail::no_argument, detail::argument E = detail::no_argument,
          detail::argument F = detail::no_argument, detail::argument G = detail::no_argument>
requires((handle<A> || handle<B>) && !detail::calls_conv<A, B, C, D, E, F, G>)
constexpr auto conv_transposed(
    A const& a, B const& b = {}, C const& = {}, D const& = {}, E const& = {}, F const& = {}, G const& = {},
    detail::refused_call<"T10 conv_transposed takes a tensor, a kernel, the dims of its result and the windows of "
                         "the convolution that it leads back: conv_transposed(y, kernel, mt::to(batch, rows, "
                         "c_in), mt::window(rows, rows_2, k_rows)), not",
                         A, B, C, D, E, F, G> const& = {}) {
  return detail::given_up(a, b);
}

}  // namespace meshtensor
