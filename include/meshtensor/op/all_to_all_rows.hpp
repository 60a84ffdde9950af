// SPDX-License-Identifier: Apache-2.0
// all_to_all_rows: sends each row to the rank that holds its group, for example each token to its expert. return_rows
// sends the results back.
#pragma once

#include <limits>

#include "meshtensor/op/detail/all_to_all_rows_on_mesh.hpp"
#include "meshtensor/op/iota.hpp"

namespace meshtensor {

/// The steps `send` and `back` are each other's gradient.
constexpr void all_to_all_rows_rule::gradient(differentiation& d, node const& n) {
  row_step const step = step_of(n);
  if (step == row_step::count || step == row_step::number) return;
  value_id const x = d.b.m.operand(n, 0);
  if (!d.differentiable(x)) return;
  value_id const dy = d.cotangent(d.b.m.result(n)), index = d.forward(d.b.m.operand(n, 1)),
                 counts = d.forward(d.b.m.operand(n, 2));
  bool const sends = step == row_step::send;
  value_id const term =
      add_step(d.b, sends ? row_step::back : row_step::send, {dy, index, counts}, all_to_all_rows_attributes::of(n));
  d.contribute(x, sends ? sum_to(d.b, term, d.b.m.values[x].dims) : term);
}

namespace detail {

/// The index of the first `at_most` rows of each group, in their order, and -1 for the others. On a mesh the ranks
/// exchange only the totals of their rows. The mesh does not change which rows are chosen.
constexpr value_id first_of_each(builder& b, value_id index, dim_id groups, number const& at_most) {
  shape const dims = b.m.values[index].dims;
  dtype const wide = b.m.values[index].type == dtype::i64 ? dtype::i64 : dtype::i32;
  value_id const wanted = cast(b, index, wide);
  dim_id const counted = b.dim_like(groups);
  value_id const own = cast(b, elementwise(b, function::equal, wanted, iota(b, counted, wide)), dtype::i32);
  value_id before = no_id;
  shape behind = dims;
  for (int i = 0; i < dims.count; ++i) {
    behind = without(behind, shape{}.add(dims.at[i]));
    value_id const totals = behind.count == 0 ? own : reduce(b, reduction::sum, own, behind);
    value_id const earlier = cumulative_sum(b, totals, static_cast<dim_id>(dims.at[i]), {.exclusive = true});
    before = before == no_id ? earlier : add(b, before, earlier);
  }
  if (before == no_id) return wanted;
  value_id const place = reduce(b, reduction::sum, multiply(b, own, before), shape{}.add(counted));
  value_id const fits = elementwise(b, function::less, place, constant(b, at_most, dtype::i32));
  return select(b, fits, wanted, constant(b, -1, wide));
}

/// The bound of a group's rows as an i32, because rows are counted in i32. A greater bound becomes the greatest i32. No
/// index has more rows than that (S19). A negative bound becomes 0, which `bind` refuses, too (S11).
constexpr number bound_in_i32(number const& at_most) {
  constexpr std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
  if (at_most.count != 1 || at_most.items[0].kind != number::item::literal)
    return maximum(minimum(at_most, greatest), 0);
  double const known = at_most.items[0].value.real;
  return known > greatest ? number(greatest) : known < 0 ? number(0) : at_most;
}

constexpr name label_of_rows(name const& groups, std::string_view what) {
  char text[name::capacity] = {};
  std::size_t n = 0;
  for (; n < groups.size() && n + what.size() < name::capacity; ++n) text[n] = groups[n];
  for (char c : what) text[n++] = c;
  return name::of({text, n});
}
/// The dim of the ranks that hold rows, and the dim of the rows for which each rank has room.
template <dim_type Groups>
struct holders_of
    : dim<label_of_rows(Groups::dim_name, "/holders"), extent_rule(extent_rule::holders, 0, Groups::dim_name, {})> {};
template <dim_type Groups>
struct rows_of
    : dim<label_of_rows(Groups::dim_name, "/rows"), extent_rule(extent_rule::rows, 0, Groups::dim_name, {})> {};

constexpr shape sent_rule(shape const& x, shape const& index, shape const& held) {
  return united(held, without(x, index));
}
constexpr shape returned_rule(shape const& rows, shape const& index, shape const& held) {
  return united(index, without(rows, held));
}

}  // namespace detail

// ---- public functions ----

/// Rows on the ranks that hold their groups: the result of `all_to_all_rows`, which `return_rows` needs.
template <class Rows, class Number, class Index, class Counts, class Groups>
struct exchanged_rows {
  Rows rows;      // [holders, rows, …], with zeros after the last one
  Number group;   // [holders, rows], i64: the group of each row, and -1 after the last one
  Index index;    // the index of the rows that were sent, and -1 for the others
  Counts counts;  // the number of rows that each rank has for each group
  number_id at_most;
  using groups = Groups;
  static constexpr detail::holders_of<Groups> holder{};  // the two dims, for results: to(sent.holder, sent.row, d_ff)
  static constexpr detail::rows_of<Groups> row{};
};

namespace detail {
template <handle X, handle Index, dim_type D>
consteval auto exchange_finding() {
  if constexpr (!of_integer<Index>) return refusal<"T02 all_to_all_rows: the index is not an integer", Index>{};
  else if constexpr (!lacks_dim<Index, D>)
    return refusal<"T03 all_to_all_rows: the index has the dim of the groups: rename it", Index, D>{};
  else if constexpr (!lacks_dim<X, D>)
    return refusal<"T03 all_to_all_rows: the operand has the dim of the groups: rename it", X, D>{};
  else return no_error{};
}
/// The line of a call of `all_to_all_rows`. It refuses the call if the types show an error.
template <class X, class Index, class D>
using exchange_line = checked_line<decltype(exchange_finding<X, Index, D>())>;
template <handle Rows, class Groups>
consteval auto return_finding() {
  if constexpr (has_dim<Rows, holders_of<Groups>> && has_dim<Rows, rows_of<Groups>>) return no_error{};
  else return refusal<"T01 return_rows: the operand is not of rows exchanged by this dim", Rows, Groups>{};
}

template <handle X, handle Index, dim_type D, class Line>
constexpr auto exchange_by(X const& x, Index const& index, D, number const* at_most, Line const& where) {
  recording r(owner_of(x, index), where);
  builder& b = r.b;
  using held = dims<holders_of<D>, rows_of<D>>;
  constexpr dtype wide = Index::type == dtype::i64 ? dtype::i64 : dtype::i32;
  value_id sent = index.id, counts = index.id, rows = x.id, group = index.id;
  number_id most = no_id;
  if constexpr (is_refused<Line>) {
    b.give_up();
  } else {
    shape const all = shape_of(b, dims<D, holders_of<D>, rows_of<D>>{});
    all_to_all_rows_attributes a{dim_id{all.at[0]}, dim_id{all.at[1]}, dim_id{all.at[2]},
                                 b.dim_like(dim_id{all.at[0]})};
    if (at_most == nullptr) {
      sent = cast(b, index.id, wide);
    } else {
      number const bound = bound_in_i32(*at_most);
      sent = first_of_each(b, index.id, a.groups, bound);
      most = a.at_most = add_number_of_call(b, bound);
    }
    counts = all_to_all_rows_rule::add_step(b, row_step::count, {sent}, a);
    group = all_to_all_rows_rule::add_step(b, row_step::number, {counts}, a);
    rows = all_to_all_rows_rule::add_step(b, row_step::send, {rows, sent, counts}, a);
  }
  using result = result_dims_t<sent_rule, typename X::dim_list, typename Index::dim_list, held>;
  using rows_t = handle_t<X::type, result>;
  using index_t = handle_t<wide, typename Index::dim_list>;
  return exchanged_rows<rows_t, handle_t<dtype::i64, held>, index_t, any_tensor<dtype::i32>, D>{
      {&b, rows}, {&b, group}, {&b, sent}, {&b, counts}, most};
}
}  // namespace detail

/// Sends each row to the rank that holds its group, for example each token to its expert: `auto const sent =
/// all_to_all_rows(x, expert, experts)`. In the place of the index's dims, `sent.rows` has two dims of the
/// library's own: the ranks that hold rows, and the rows of each rank. `sent.group` is the group of each row, or -1 if
/// there is none.
/// `grouped_einsum`, `gather` and `scatter_add` take it. Between here and `return_rows`, compute row by row:
///
///     auto const sent = all_to_all_rows(x, expert, experts);
///     auto const made = tanh(grouped_einsum(sent.rows, up, sent.group, experts, to(sent.holder, sent.row, d_model)));
///     auto const y = return_rows(made, sent);
///
/// A row is sent once for each index that names a group. With `at_most`, a group takes its first rows in the order of
/// the index, and the other rows are not sent. The choice does not depend on the mesh. Each rank has room for all rows
/// that may come: those of all ranks, or `at_most` for each of its groups.
///
/// dims    the two, then those of `x` that the index lacks
/// layout  if one axis shards the dims of the index and the groups, ranks first exchange how many rows each has for
///         each group. Then they exchange the rows, each of which goes only to the holder of its group. Over other
///         axes, rows stay on their ranks
/// grad    return_rows of the cotangent
/// errors  T02 the index is not an integer; T03 the index or `x` has the dim of the groups; S05 the axes of two
///         exchanges by one dim differ; S11 `at_most` is set at run time, or less than 1
template <handle X, handle Index, dim_type D>
constexpr auto all_to_all_rows(X const& x, Index const& index, D groups,
                               detail::exchange_line<X, Index, D> const& where = {}) {
  return detail::exchange_by(x, index, groups, nullptr, where);
}
template <handle X, handle Index, dim_type D>
constexpr auto all_to_all_rows(X const& x, Index const& index, D groups, number const& at_most,
                               detail::exchange_line<X, Index, D> const& where = {}) {
  return detail::exchange_by(x, index, groups, &at_most, where);
}

/// Sends the results for exchanged rows back: `return_rows(made, sent)`. The result is zero where the index names no
/// group, or where a group did not take the row.
///
/// dims    those of the index, then those of a row
/// layout  as that of the exchange. A partial sum stays partial
/// grad    all_to_all_rows of the cotangent
/// errors  T01 the operand is not of exchanged rows; T03 its rows have a dim of the index
template <handle Rows, class Sent>
constexpr auto return_rows(
    Rows const& rows, Sent const& sent,
    checked_line<decltype(detail::return_finding<Rows, typename Sent::groups>())> const& where = {}) {
  using groups = typename Sent::groups;
  using held = dims<detail::holders_of<groups>, detail::rows_of<groups>>;
  using index_dims = typename decltype(sent.index)::dim_list;
  detail::recording r(detail::owner_of(rows, sent.index), where);
  value_id const index = sent.index.id, counts = sent.counts.id;
  value_id made = rows.id;
  if constexpr (!nothing_found<decltype(detail::return_finding<Rows, groups>())>) {
    r.b.give_up();
  } else {
    shape const all = detail::shape_of(r.b, dims<groups, detail::holders_of<groups>, detail::rows_of<groups>>{});
    all_to_all_rows_attributes a{dim_id{all.at[0]}, dim_id{all.at[1]}, dim_id{all.at[2]},
                                 r.b.dim_like(dim_id{all.at[0]}), sent.at_most};
    made = all_to_all_rows_rule::add_step(r.b, row_step::back, {made, index, counts}, a);
  }
  return detail::wrap<Rows::type, result_dims_t<detail::returned_rule, typename Rows::dim_list, index_dims, held>>(
      r.b, made);
}

}  // namespace meshtensor
