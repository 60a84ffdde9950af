// SPDX-License-Identifier: Apache-2.0
// pool: the greatest element, the sum or the mean of each window that moves along dims, and the steps of their
// gradients.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/base/window.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/detail/composed.hpp"
#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor {

/// sum       the sum of each window
/// spread    the transposed sum: an input gets the sum of all outputs whose windows reach it
/// position  the position, as i32, of each window's greatest element, counted with the last window fastest
/// pick      the element of each window at its position in operand 1
/// unpool    the transposed pick: an input gets the sum of all outputs whose positions in operand 1 name it
enum class pool_step : std::uint8_t { sum, spread, position, pick, unpool };

struct pool_attributes {
  id first;   // the first window, a row of the table of windows
  int count;  // the number of windows

  static constexpr pool_attributes of(id const* slots) { return {slots[0], slots[1]}; }
  static constexpr pool_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{first, static_cast<id>(count)}}; }
};

constexpr value_id pool(builder& b, pool_step step, std::initializer_list<value_id> operands, pool_attributes windows);

struct pool_rule {
  static constexpr primitive kind = primitive::pool;
  static constexpr declaration declares{.operands = {1, 2},
                                        .attributes = {{attribute_kind::windows}, {attribute_kind::count}},
                                        .functions = 5,
                                        .work = work_kind::sum,
                                        .text = "{0}"};
  /// The position for a window that holds nothing but padding.
  static constexpr std::int32_t nowhere = -1;

  static constexpr pool_step step_of(node const& n) { return static_cast<pool_step>(n.function); }
  static constexpr bool leads_back(pool_step s) { return s == pool_step::spread || s == pool_step::unpool; }
  static constexpr bool has_positions(pool_step s) { return s == pool_step::pick || s == pool_step::unpool; }

  static constexpr void infer(inference& i) {
    auto const step = static_cast<pool_step>(i.function);
    pool_attributes const a = pool_attributes::of(i.attributes);
    shape dims = i.dims_of(0);
    i.expect(!i.has_type(0, dtype::boolean), "T04 pool of bools: cast the operand", 1);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& w = i.m->windows[k];
      i.expect(i.m->dims[w.kernel].kind == dim_row::fixed, "T06 pool: the size of a window is not fixed");
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
  static constexpr std::int64_t elements(module const& m, pool_attributes const& a) {
    std::int64_t all = 1;
    for (int k = a.first; k < a.first + a.count; ++k) all *= m.dims[m.windows[k].kernel].value;
    return all;
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

  /// A window over the parts that a rank holds.
  struct window_in_memory {
    window_numbers window;
    int at;                          // the position of its dim, in operands and result alike
    std::int64_t from_origin, from;  // of operand 0: where its part begins, and how long it is
    std::int64_t to_origin, to;      // of the result: likewise
    bool back;

    /// The index in operand 0 that element `w` of the window relates to index `i` of the result, or -1 if there is
    /// none.
    std::int64_t related(std::int64_t i, std::int64_t w) const {
      std::int64_t index = 0;
      if (back) {
        std::int64_t const reached = i + to_origin + window.low - window.dilation * w;
        if (reached < 0 || reached % window.stride != 0) return -1;
        index = reached / window.stride - from_origin;
      } else {
        index = window.input(i + to_origin, w) - from_origin;
      }
      return index < 0 || index >= from ? -1 : index;
    }
  };
  struct problem {
    pool_step step;
    int count;
    std::int64_t elements;  // the number of elements of all windows together
    window_in_memory windows[max_windows_of_one];

    static problem of(evaluation const& e) {
      pool_attributes const a = pool_attributes::of(e.n);
      problem p{step_of(e.n), a.count, pool_rule::elements(e.m, a), {}};
      view const &x = e.operands[0], &y = e.results[0];
      for (int k = 0; k < a.count; ++k) {
        window_row const& row = e.m.windows[a.first + k];
        bool const back = leads_back(p.step);
        int const at = x.find(back ? row.output : row.input);
        p.windows[k] = {
            {row.stride, row.dilation, whole_number(e.context.numbers[row.low]), e.m.dims[row.kernel].value},
            at,
            x.origin[at],
            x.extent[at],
            y.origin[at],
            y.extent[at],
            back};
      }
      return p;
    }
    bool is_windowed(int at) const { return window_at(at) >= 0; }
    int window_at(int at) const {
      for (int k = 0; k < count; ++k)
        if (windows[k].at == at) return k;
      return -1;
    }
  };

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    with_element(e.operands[0].type, [&]<class E>() { evaluate_as<E>(e); });
  }

 private:
  template <class E>
  static void evaluate_as(evaluation const& e) {
    problem const p = problem::of(e);
    view const &x = e.operands[0], &y = e.results[0];
    walk<1> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    w.bind(0, y, y.dim);
    if (w.empty()) return;
    bool const by_position = has_positions(p.step), back = leads_back(p.step);
    do {
      std::int64_t whole = 0, whole_position = 0;  // the offsets without the terms of windows
      for (int i = 0; i < y.count; ++i) {
        if (!p.is_windowed(i)) whole += w.index[i] * x.stride[i];
        if (by_position && !(back && p.is_windowed(i))) whole_position += w.index[i] * e.operands[1].stride[i];
      }
      wide_sum<E> sum;
      E best{};
      std::int32_t found = nowhere;
      std::int64_t place[max_windows_of_one] = {};  // the index in each window that `position` stands for
      for (std::int64_t position = 0; position < p.elements; ++position) {
        std::int64_t from = whole, position_from = whole_position;
        bool related = true;
        for (int k = 0; k < p.count && related; ++k) {
          int const at = p.windows[k].at;
          std::int64_t const index = p.windows[k].related(w.index[at], place[k]);
          related = index >= 0;
          from += index * x.stride[at];
          if (by_position && back) position_from += index * e.operands[1].stride[at];
        }
        for (int k = p.count; k-- > 0 && ++place[k] == p.windows[k].window.size;) place[k] = 0;
        if (!related) continue;
        if (by_position && e.operands[1].template as<std::int32_t>()[position_from] != position) continue;
        E const element = x.as<E>()[from];
        if (p.step != pool_step::position) sum.add(element);
        else if (found == nowhere || is_greater<arithmetic_t<E>>(element, best))
          found = static_cast<std::int32_t>(position), best = element;
        if (p.step == pool_step::pick) best = element;
      }
      if (p.step == pool_step::position) y.as<std::int32_t>()[w.offset[0]] = found;
      else y.as<E>()[w.offset[0]] = p.step == pool_step::pick ? best : sum.value();
    } while (w.next());
  }
};

constexpr value_id pool(builder& b, pool_step step, std::initializer_list<value_id> operands, pool_attributes windows) {
  return add_node<pool_rule>(b, operands, windows.packed(), {}, static_cast<std::uint8_t>(step));
}

// ---- public functions ----

/// The elements whose number is the divisor of `mean_pool`.
enum class mean_over : std::uint8_t {
  window,    // all elements that the window spans, padding too: PyTorch's count_include_pad, which is its default
  elements,  // only those of the tensor
};

namespace detail {

template <class W>
struct window_dims;
template <class I, class O>
struct window_dims<window_of_size<I, O>> {
  using input = I;
  using output = O;
  static constexpr bool has_fixed_size = true;
};
template <class I, class O, class K>
struct window_dims<window_along<I, O, K>> {
  using input = I;
  using output = O;
  static constexpr bool has_fixed_size = K::dim_rule.kind == extent_rule::fixed;
};

/// The dim of a pool's result in the place of `D`.
template <class D, class... W>
struct dim_after {
  using type = D;
};
template <class D, class W, class... Rest>
struct dim_after<D, W, Rest...> {
  using type = std::conditional_t<same_dim<D, typename window_dims<W>::input>, typename window_dims<W>::output,
                                  typename dim_after<D, Rest...>::type>;
};
template <class List, class... W>
struct dims_after {
  using type = any_dims;
};
template <class... D, class... W>
struct dims_after<dims<D...>, W...> {
  using type = dims<typename dim_after<D, W...>::type...>;
};
template <class X, class W>
inline constexpr bool gives_new_dim =
    same_dim<typename window_dims<W>::input, typename window_dims<W>::output> || is_any<typename X::dim_list> ||
    !has_dim_v<typename X::dim_list, typename window_dims<W>::output>;

struct pool_of_any_number {
  static constexpr bool of_floats_alone = false;
};
struct pool_of_floats {
  static constexpr bool of_floats_alone = true;
};
template <class W>
concept window_of_any_pool = requires { typename window_dims<W>::input; };
/// The first error that the types of a pool over these windows show, or `no_error`.
template <class Pool, handle X, window_of_any_pool... W>
consteval auto pool_finding() {
  if constexpr (Pool::of_floats_alone && !of_float<X>)
    return refusal<"T04 mean_pool takes a tensor of floats: cast the operand", X>{};
  else if constexpr (of_bool<X>) return refusal<"T04 pool of bools: cast the operand", X>{};
  else if constexpr (!(has_dim<X, typename window_dims<W>::input> && ...))
    return refusal<"T01 pool: the operand lacks a dim over which a window moves", X,
                   typename window_dims<W>::input...>{};
  else if constexpr (!(gives_new_dim<X, W> && ...))
    return refusal<"T03 pool: the operand has the dim that a window gives already", X,
                   typename window_dims<W>::output...>{};
  else if constexpr (!(window_dims<W>::has_fixed_size && ...))
    return refusal<"T06 pool: the size of a window is not fixed: give it as a number", X>{};
  else if constexpr (!are_distinct<typename window_dims<W>::input...>() ||
                     !are_distinct<typename window_dims<W>::output...>())
    return refusal<"T07 pool: two windows share a dim: each moves along one and gives one",
                   typename window_dims<W>::input..., typename window_dims<W>::output...>{};
  else return no_error{};
}
/// The line of a call of a pool. It refuses the call if the types show an error.
template <class Pool, class... A>
using pool_line = checked_line<decltype(pool_finding<Pool, A...>())>;

/// Calls `make` with the windows of a pool to add the nodes. A call that its line refuses records nothing.
template <handle X, class Line, class... W>
constexpr auto record_pool(Line const& where, auto const& make, X const& x, W const&... windows) {
  if constexpr (is_refused<Line>) {
    return given_up(x);
  } else {
    recording r(owner_of(x), where);
    r.b.expect(((windows.how.padding.kind != padding::circular) && ...),
               "T06 pools have no mt::circular_padding: stack rolled tensors, or concat the ends");
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

/// A window of a pool: `window(rows, rows_2, 3, …)`, or one with a kernel's dim of fixed extent.
template <class W>
concept window_of_pool = requires { typename detail::window_dims<W>::input; };

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
/// errors  T01 `x` lacks a dim over which a window moves; T03 it has an output already; T04 `x` is bool; T07 two
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

namespace detail {
inline constexpr literal needs_windows =
    "T10 a pool takes one to three windows: max_pool(x, mt::window(rows, rows_2, 3, {.stride = 2}), mt::window(cols, "
    "cols_2, 3)), not";
template <class A>
concept argument_of_no_pool = argument<A> && !window_of_pool<A>;
}  // namespace detail

template <handle X, detail::argument_of_no_pool A = detail::no_argument,
          detail::argument_of_no_pool B = detail::no_argument, detail::argument_of_no_pool C = detail::no_argument,
          detail::argument_of_no_pool D = detail::no_argument>
constexpr auto max_pool(X const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                        detail::refused_call<detail::needs_windows, X, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}
template <handle X, detail::argument_of_no_pool A = detail::no_argument,
          detail::argument_of_no_pool B = detail::no_argument, detail::argument_of_no_pool C = detail::no_argument,
          detail::argument_of_no_pool D = detail::no_argument>
constexpr auto sum_pool(X const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                        detail::refused_call<detail::needs_windows, X, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}
template <handle X, detail::argument_of_no_pool A = detail::no_argument,
          detail::argument_of_no_pool B = detail::no_argument, detail::argument_of_no_pool C = detail::no_argument,
          detail::argument_of_no_pool D = detail::no_argument>
constexpr auto mean_pool(X const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                         detail::refused_call<detail::needs_windows, X, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
