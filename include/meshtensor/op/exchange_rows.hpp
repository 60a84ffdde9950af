// SPDX-License-Identifier: Apache-2.0
// exchange_rows: brings each row to the rank that holds the group which an index names, such as a token to its expert;
// return_rows brings what was made of it back.
#pragma once

#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/detail/row_places.hpp"
#include "meshtensor/op/lookup.hpp"

namespace meshtensor {

/// The steps of an exchange, as functions of one primitive.
enum class row_step : std::uint8_t {
  count,   // of the index: [holders, groups/again], how many rows each group gets
  number,  // of the counts: [holders, rows], the group of each row; -1 behind the last one
  send,    // of a tensor, the index and the counts: [holders, rows, …]; zeros behind the last one
  back,    // of such rows, the index and the counts: [dims of the index, …]; zeros where the index names no group
};

struct exchange_rows_attributes {
  dim_id groups, holders, rows;
  dim_id counted;             // stands for `groups` in the counts
  number_id at_most = no_id;  // the most rows of a group, a row of the table of numbers; no_id: all

  static constexpr exchange_rows_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1]), static_cast<dim_id>(slots[2]),
            static_cast<dim_id>(slots[3]), static_cast<number_id>(slots[4])};
  }
  static constexpr exchange_rows_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{groups, holders, rows, counted, at_most}}; }
};

/// On whole tensors there is one holder, and rows are sorted by group. On a mesh each rank sorts its own rows; where
/// axes shard the index and the groups, runs of rows then move to the holders of their groups. Rows of a group stand in
/// the order of the ranks that they come from, and in their own order.
struct exchange_rows_rule {
  static constexpr primitive kind = primitive::exchange_rows;
  static constexpr declaration declares{.operands = {1, 3},
                                        .attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::number, true}},
                                        .functions = 4,
                                        .text = "by {0}"};

  static constexpr row_step step_of(node const& n) { return static_cast<row_step>(n.function); }
  static constexpr void infer(inference& i) {
    auto const a = exchange_rows_attributes::of(i.attributes);
    auto const step = static_cast<row_step>(i.function);
    shape const held = shape{}.add(a.holders).add(a.rows);
    if (step == row_step::count) {
      i.expect(i.is_integer(0), "T02 exchange_rows: the index is not an integer", 1);
      i.expect(!i.dims_of(0).has(a.groups), "T03 exchange_rows: the index has the dim of the groups: rename it", 1, 1);
      return i.give(dtype::i32, shape{}.add(a.holders).add(a.counted));
    }
    if (step == row_step::number) return i.give(dtype::i64, held);
    i.expect(i.count == 3, "T01 exchange_rows: a step lacks an operand");
    if (i.count != 3) return;
    shape const x = i.dims_of(0), index = i.dims_of(1);
    if (step == row_step::back) {
      i.expect(x.includes(held), "T01 return_rows: the operand is not of exchanged rows", 1);
      i.expect(without(x, index) == x, "T03 return_rows: the rows have a dim of the index: rename it", 3);
      return i.give(i[0].type, united(index, without(x, held)));
    }
    i.expect(!x.has(a.groups), "T03 exchange_rows: the operand has the dim of the groups: rename it", 1, 1);
    i.expect(!x.has(a.holders) && !x.has(a.rows), "T03 exchange_rows: the operand is of rows exchanged by these groups",
             1, 1);
    i.give(i[0].type, united(held, without(x, index)));
  }
  static constexpr char const* verify(module const& m, node const& n) {
    int const wanted = step_of(n) == row_step::count || step_of(n) == row_step::number ? 1 : 3;
    if (n.operands.count != wanted) return "an exchange of rows has another number of operands";
    auto const a = exchange_rows_attributes::of(n);
    if (step_of(n) == row_step::count) return nullptr;
    value const& counts = m.operand_value(n, n.operands.count - 1);
    return counts.type == dtype::i32 && counts.dims == shape{}.add(a.holders).add(a.counted)
               ? nullptr
               : "an exchange of rows has no counts of them";
  }

  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return step_of(n) == row_step::send || step_of(n) == row_step::back
               ? meshtensor::sharding{}.passes_partial(linearity::alone, meshtensor::sharding::kind(reduction::sum), 1)
               : meshtensor::sharding{};
  }
  static constexpr bool partition(auto& p, node const& n) {
    switch (step_of(n)) {
      case row_step::count: count_on_mesh(p, n); break;
      case row_step::number: number_on_mesh(p, n); break;
      case row_step::send: send_on_mesh(p, n); break;
      case row_step::back: back_on_mesh(p, n); break;
    }
    return true;
  }
  /// What is wrong with the placements of a node over one axis; null: nothing.
  static constexpr char const* check_axis(module const& m, node const& n, int a) {
    auto const dims = exchange_rows_attributes::of(n);
    auto const of = row_holders::unpacked(m.dims[dims.holders].value);
    bool const holds = (of.axes >> a & 1u) != 0;
    auto const shards = [&](value const& v, int dim) {
      return v.layout.shards(a) && v.dims.at[v.layout.sharded_at(a)] == dim;
    };
    row_step const step = step_of(n);
    value const &x = m.operand_value(n, 0), &y = m.result_value(n);
    value const& held = step == row_step::back ? x : y;
    if (shards(held, dims.holders) != holds) return "rows do not lie on their holders";
    if (held.layout.shards(a) && shards(held, dims.rows)) return "rows of one holder are sharded";
    if (step == row_step::number) {
      int const wanted = of.exchange.shards(a) ? dims.counted : dims.holders;
      if (holds ? !shards(x, wanted) : !x.layout.is_replicated(a)) return "rows are numbered by other counts";
      return y.layout.is_partial(a) ? "a result is partial though no operand is" : nullptr;
    }
    value const& index = step == row_step::count ? x : m.operand_value(n, 1);
    if (index.layout.shards(a) != holds || index.layout.is_partial(a)) return "an index lies elsewhere than its rows";
    if (step == row_step::count)
      return shards(y, dims.counted) || y.layout.is_partial(a) ? "counts are not those of a rank" : nullptr;
    value const& counts = m.operand_value(n, 2);
    if (shards(counts, dims.holders) != holds || counts.layout.shards(a) != holds || counts.layout.is_partial(a))
      return "counts are not those of a rank";
    value const& tokens = step == row_step::back ? y : x;
    if (x.layout.part(a) != y.layout.part(a)) return "the result of a partial operand is not partial";
    if (holds) {
      int const dim = index.dims.at[index.layout.sharded_at(a)];
      bool const fits = tokens.dims.has(dim) ? shards(tokens, dim) && tokens.layout.order(a) == index.layout.order(a)
                                             : tokens.layout.is_replicated(a);
      return fits ? nullptr : "an operand lies elsewhere than its index";
    }
    int const in_tokens = tokens.layout.shards(a) ? tokens.dims.at[tokens.layout.sharded_at(a)] : -1;
    int const in_rows = held.layout.shards(a) ? held.dims.at[held.layout.sharded_at(a)] : -1;
    return in_tokens == in_rows ? nullptr : "a result's placement differs from its operands'";
  }

  static constexpr void gradient(differentiation& d, node const& n);

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    auto const a = exchange_rows_attributes::of(e.n);
    view const &x = e.operands[0], &y = e.results[0];
    switch (step_of(e.n)) {
      case row_step::count: return count_rows(x, y);
      case row_step::number: return number_rows(x, y, x.find(a.counted), x.find(a.holders));
      default: break;
    }
    view const& index = e.operands[1];
    bool const back = step_of(e.n) == row_step::back;
    detail::row_places places;
    places.find(index, e.operands[2]);
    detail::row_copies const copies(back ? y : x, index, back ? x : y, a.holders, a.rows);
    if (back) return copies.back(y.data, x.data, places, 0, index.size());
    copies.send(x.data, y.data, places, 0, index.size());
    copies.fill_behind(y, a.rows, places.count);
  }
  static void count_rows(view const& index, view const& counts) {
    auto* const n = counts.as<std::int32_t>();
    std::int64_t const groups = counts.size(), all = index.size();
    for (std::int64_t g = 0; g < groups; ++g) n[g] = 0;
    with_element(index.type, [&]<class I>() {
      for (std::int64_t i = 0; i < all; ++i)
        if (auto const g = static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[i]));
            g >= 0 && g < groups)
          ++n[g];
    });
  }
  /// `counts` of the groups that this rank holds, from all ranks that send to it.
  static void number_rows(view const& counts, view const& rows, int along_groups, int along_ranks) {
    auto* const to = rows.as<std::int64_t>();
    std::int64_t at = 0;
    for (std::int64_t g = 0; g < counts.extent[along_groups]; ++g)
      for (std::int64_t r = 0; r < counts.extent[along_ranks]; ++r)
        for (std::int64_t n =
                 counts.as<std::int32_t>()[r * counts.stride[along_ranks] + g * counts.stride[along_groups]];
             n > 0; --n)
          to[at++] = counts.origin[along_groups] + g;
    for (std::int64_t const all = rows.size(); at < all;) to[at++] = -1;
  }

 private:
  // ---- on a mesh ----

  static constexpr row_holders holders_of(auto& p, node const& n) {
    return row_holders::unpacked(p.m.dims[exchange_rows_attributes::of(n).holders].value);
  }
  /// The placement of [holders, …] of one rank's part: rows or counts.
  static constexpr placement on_holders(row_holders const& of) {
    placement at{};
    return of.shard(at, 0);
  }
  /// Rows lie over the axes that shard the index. They are exchanged along the major axes of the groups, as far as
  /// these are among them.
  static constexpr void count_on_mesh(auto& p, node const& n) {
    auto const a = exchange_rows_attributes::of(n);
    placement const at = p.implied_of(n, 0);
    row_holders of{};
    for (int axis = 0; axis < max_axes; ++axis)
      if (at.shards(axis)) of.axes |= 1u << axis;
    placement const groups = p.settle(shape{}.add(a.groups), n.path, shape{}, &n);
    for (int o = 0, axis = 0; (axis = groups.axis_at(0, o)) >= 0 && (of.axes >> axis & 1u) != 0; ++o)
      of.exchange.shard(0, axis);
    std::int64_t& known = p.m.dims[a.holders].value;
    if (known != 0 && known != of.packed()) return p.refuse_two_exchanges(n, a.groups);
    known = of.packed();
    value_id const index = p.placed_operand(n, 0, at);
    p.gives(n, p.placed(add_step(p.b, row_step::count, {index}, a), on_holders(of)));
  }
  /// The counts of all ranks that exchange rows with each other: one all_gather for all steps of an exchange.
  static constexpr value_id table_of(auto& p, node const& n, row_holders const& of) {
    placement all = on_holders(of);
    for (int axis = 0; axis < max_axes; ++axis)
      if (of.exchange.shards(axis)) all.unshard(axis);
    return p.placed_operand(n, n.operands.count - 1, all);
  }
  static constexpr void number_on_mesh(auto& p, node const& n) {
    row_holders const of = holders_of(p, n);
    value_id const table = table_of(p, n, of);
    placement mine = p.m.values[table].layout;
    for (int o = 0, axis = 0; (axis = of.exchange.axis_at(0, o)) >= 0; ++o) mine.shard(1, axis);
    value_id const counts = p.resharded(table, mine);
    p.gives(n, p.placed(add_step(p.b, row_step::number, {counts}, exchange_rows_attributes::of(n)), on_holders(of)));
  }
  /// The operand, and over each axis where it may stay a partial sum, as one.
  static constexpr value_id operand_on_mesh(auto& p, node const& n) {
    placement at = p.implied_of(n, 0);
    placement const index_at = p.implied_of(n, 1);
    shape const &dims = p.from.operand_value(n, 0).dims, &of_index = p.from.operand_value(n, 1).dims;
    for (int axis = 0; axis < max_axes; ++axis) {
      if (!index_at.shards(axis)) p.keep_partial_sum(n, 0, axis, at);
      if (!index_at.shards(axis) || step_of(n) == row_step::back) continue;
      int const dim = of_index.at[index_at.sharded_at(axis)];  // the axes of the index shard no dim of a row
      if (at.shards(axis) && dims.at[at.sharded_at(axis)] != dim) {
        p.meet(n, axis, dim, dims.at[at.sharded_at(axis)]);
        at.leave(axis);
      }
      if (dims.has(dim)) at.shard(dims.find(dim), axis, index_at.order(axis));
    }
    return p.placed_operand(n, 0, at);
  }
  static constexpr value_id moved(auto& p, node const& n, value_id x, dim_id from, dim_id to, bool back) {
    row_holders const of = holders_of(p, n);
    value_id const table = table_of(p, n, of);
    auto const a = exchange_rows_attributes::of(n);
    value const v = p.m.values[x];
    value_id const operands[] = {x, table};
    return p.placed(p.b.add(primitive::move_rows, back ? 1 : 0, operands, v.type, replaced(v.dims, from, to),
                            move_rows_attributes{of.exchange_mask(), from, to, a.counted, a.holders, back}.packed()),
                    v.layout);
  }
  /// The dims of a row, by the placements that they have in `from`, behind `count` other ones in `dims`.
  static constexpr placement with_rest(placement at, shape const& dims, value const& from, shape const& others) {
    for (int axis = 0; axis < max_axes; ++axis) {
      if (from.layout.is_partial(axis)) at.set_part(axis, from.layout.part(axis));
      if (!from.layout.shards(axis)) continue;
      int const dim = from.dims.at[from.layout.sharded_at(axis)];
      if (!others.has(dim)) at.shard(dims.find(dim), axis, from.layout.order(axis));
    }
    return at;
  }
  static constexpr void send_on_mesh(auto& p, node const& n) {
    row_holders const of = holders_of(p, n);
    auto a = exchange_rows_attributes::of(n);
    dim_id const room = a.rows;
    value_id const x = operand_on_mesh(p, n), index = p.placed_operand(n, 1, p.implied_of(n, 1)),
                   counts = p.placed_operand(n, 2, on_holders(of));
    if (of.exchange_mask() != 0) a.rows = p.dim_of_sent(room);
    value_id made = add_step(p.b, row_step::send, {x, index, counts}, a);
    p.placed(made, with_rest(on_holders(of), p.m.values[made].dims, p.m.values[x], p.m.values[index].dims));
    if (of.exchange_mask() != 0) made = moved(p, n, made, a.rows, room, false);
    p.gives(n, made);
  }
  static constexpr void back_on_mesh(auto& p, node const& n) {
    row_holders const of = holders_of(p, n);
    auto a = exchange_rows_attributes::of(n);
    dim_id const room = a.rows;
    value_id rows = operand_on_mesh(p, n);
    value_id const index = p.placed_operand(n, 1, p.implied_of(n, 1)), counts = p.placed_operand(n, 2, on_holders(of));
    if (of.exchange_mask() != 0) a.rows = p.dim_of_sent(room), rows = moved(p, n, rows, room, a.rows, true);
    value_id const made = add_step(p.b, row_step::back, {rows, index, counts}, a);
    shape const others = shape{}.add(a.holders).add(a.rows);
    p.gives(n, p.placed(made, with_rest(p.m.values[index].layout, p.m.values[made].dims, p.m.values[rows], others)));
  }

 public:
  static constexpr value_id add_step(builder& b, row_step step, std::initializer_list<value_id> operands,
                                     exchange_rows_attributes const& a) {
    return add_node<exchange_rows_rule>(b, operands, a.packed(), {}, static_cast<std::uint8_t>(step));
  }
};

/// Each is the other's gradient.
constexpr void exchange_rows_rule::gradient(differentiation& d, node const& n) {
  row_step const step = step_of(n);
  if (step == row_step::count || step == row_step::number) return;
  value_id const x = d.b.m.operand(n, 0);
  if (!d.differentiable(x)) return;
  value_id const dy = d.cotangent(d.b.m.result(n)), index = d.forward(d.b.m.operand(n, 1)),
                 counts = d.forward(d.b.m.operand(n, 2));
  bool const sends = step == row_step::send;
  value_id const term =
      add_step(d.b, sends ? row_step::back : row_step::send, {dy, index, counts}, exchange_rows_attributes::of(n));
  d.contribute(x, sends ? sum_to(d.b, term, d.b.m.values[x].dims) : term);
}

namespace detail {

/// The index of the first `at_most` rows of each group, in their order; -1 for the others. On a mesh the ranks exchange
/// the totals of their rows alone, and what is left does not depend on it.
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

constexpr name label_of_rows(name const& groups, std::string_view what) {
  char text[name::capacity] = {};
  std::size_t n = 0;
  for (; n < groups.size() && n + what.size() < name::capacity; ++n) text[n] = groups[n];
  for (char c : what) text[n++] = c;
  return name::of({text, n});
}
/// The ranks that hold rows, and the rows for which each has room.
template <dim_type Groups>
struct holders_of
    : dim<label_of_rows(Groups::label, "/holders"), extent_rule(extent_rule::holders, 0, Groups::label, {})> {};
template <dim_type Groups>
struct rows_of : dim<label_of_rows(Groups::label, "/rows"), extent_rule(extent_rule::rows, 0, Groups::label, {})> {};

constexpr shape sent_rule(shape const& x, shape const& index, shape const& held) {
  return united(held, without(x, index));
}
constexpr shape returned_rule(shape const& rows, shape const& index, shape const& held) {
  return united(index, without(rows, held));
}

}  // namespace detail

// ---- what users call ----

/// Rows where their groups are: what `exchange_rows` gives, and `return_rows` needs.
template <class Rows, class Number, class Index, class Counts, class Groups>
struct exchanged_rows {
  Rows rows;      // [holders, rows, …]; zeros behind the last one
  Number group;   // [holders, rows], i64: the group of each row, -1 behind the last one
  Index index;    // of the rows that were sent; -1: a row was not
  Counts counts;  // of the rows that each rank has for each group
  number_id at_most;
  using groups = Groups;
  static constexpr detail::holders_of<Groups> holder{};  // the two dims, for results: to(sent.holder, sent.row, d_ff)
  static constexpr detail::rows_of<Groups> row{};
};

namespace detail {
template <handle X, handle Index, dim_type D>
constexpr auto exchange_by(X const& x, Index const& index, D, number const* at_most, line const& where) {
  if constexpr (!of_integer<Index>)
    static_assert(is_valid<wrong<"T02 exchange_rows: the index is not an integer", Index>>);
  if constexpr (!lacks_dim<Index, D>)
    static_assert(is_valid<wrong<"T03 exchange_rows: the index has the dim of the groups: rename it", Index, D>>);
  if constexpr (!lacks_dim<X, D>)
    static_assert(is_valid<wrong<"T03 exchange_rows: the operand has the dim of the groups: rename it", X, D>>);
  recording r(owner_of(x, index), where);
  builder& b = r.b;
  using held = dims<holders_of<D>, rows_of<D>>;
  constexpr dtype wide = Index::type == dtype::i64 ? dtype::i64 : dtype::i32;
  value_id sent = index.id, counts = index.id, rows = x.id, group = index.id;
  number_id most = no_id;
  if constexpr (of_integer<Index> && lacks_dim<Index, D> && lacks_dim<X, D>) {
    shape const all = shape_of(b, dims<D, holders_of<D>, rows_of<D>>{});
    exchange_rows_attributes a{dim_id{all.at[0]}, dim_id{all.at[1]}, dim_id{all.at[2]}, b.dim_like(dim_id{all.at[0]})};
    sent = at_most == nullptr ? cast(b, index.id, wide) : first_of_each(b, index.id, a.groups, *at_most);
    if (at_most != nullptr) most = a.at_most = b.add_number(*at_most);
    counts = exchange_rows_rule::add_step(b, row_step::count, {sent}, a);
    group = exchange_rows_rule::add_step(b, row_step::number, {counts}, a);
    rows = exchange_rows_rule::add_step(b, row_step::send, {x.id, sent, counts}, a);
  }
  using result = result_dims_t<sent_rule, typename X::dim_list, typename Index::dim_list, held>;
  using rows_t = handle_t<X::type, result>;
  using index_t = handle_t<wide, typename Index::dim_list>;
  return exchanged_rows<rows_t, handle_t<dtype::i64, held>, index_t, any_tensor<dtype::i32>, D>{
      {&b, rows}, {&b, group}, {&b, sent}, {&b, counts}, most};
}
}  // namespace detail

/// Brings each row to the holder of its group, such as each token to its expert: `auto const sent = exchange_rows(x,
/// expert, experts)`. `sent.rows` has two dims of the library's own in the place of those of the index, the ranks that
/// hold rows and the rows of each; `sent.group` is the group of each row, -1 where there is none, as `grouped_einsum`,
/// `gather` and `scatter_add` take it. Between here and `return_rows`, compute row by row:
///
///   auto const sent = exchange_rows(x, expert, experts);
///   auto const made = tanh(grouped_einsum(sent.rows, up, sent.group, experts, to(sent.holder, sent.row, d_model)));
///   auto const y = return_rows(made, sent);
///
/// A row goes once for each index that names a group. With `at_most` a group takes its first rows, in the order of the
/// index, and the others are not sent: which these are does not depend on the mesh. Each rank has room for all rows
/// that may come: of all ranks, or `at_most` for each of its groups.
///
/// dims    the two, then those of `x` that the index lacks
/// layout  the dims of the index and the groups sharded over one axis: the ranks exchange how many rows each has for
///         each group, and then the rows, which go to the holders of their groups alone. Over other axes rows stay
///         where they are
/// grad    return_rows of the cotangent
/// errors  T02 the index is not an integer; T03 the index or `x` has the dim of the groups; S05 the axes of two
///         exchanges by one dim differ; S11 `at_most` is set at run time
template <handle X, handle Index, dim_type D>
constexpr auto exchange_rows(X const& x, Index const& index, D groups, line const& where = {}) {
  return detail::exchange_by<X, Index, D>(x, index, groups, nullptr, where);
}
template <handle X, handle Index, dim_type D>
constexpr auto exchange_rows(X const& x, Index const& index, D groups, number const& at_most, line const& where = {}) {
  return detail::exchange_by(x, index, groups, &at_most, where);
}

/// Brings what was made of exchanged rows back: `return_rows(made, sent)`. Where the index names no group, or a group
/// did not take the row, the result is zero.
///
/// dims    those of the index, then those of a row
/// layout  as that of the exchange; a partial sum stays partial
/// grad    exchange_rows of the cotangent
/// errors  T01 the operand is not of exchanged rows; T03 its rows have a dim of the index
template <handle Rows, class Sent>
constexpr auto return_rows(Rows const& rows, Sent const& sent, line const& where = {}) {
  using groups = typename Sent::groups;
  using held = dims<detail::holders_of<groups>, detail::rows_of<groups>>;
  using index_dims = typename decltype(sent.index)::dim_list;
  constexpr bool fits = has_dim<Rows, detail::holders_of<groups>> && has_dim<Rows, detail::rows_of<groups>>;
  if constexpr (!fits)
    static_assert(
        is_valid<detail::wrong<"T01 return_rows: the operand is not of rows exchanged by this dim", Rows, groups>>);
  detail::recording r(detail::owner_of(rows, sent.index), where);
  value_id made = rows.id;
  if constexpr (fits) {
    shape const all = detail::shape_of(r.b, dims<groups, detail::holders_of<groups>, detail::rows_of<groups>>{});
    made = exchange_rows_rule::add_step(
        r.b, row_step::back, {rows.id, sent.index.id, sent.counts.id},
        {dim_id{all.at[0]}, dim_id{all.at[1]}, dim_id{all.at[2]}, r.b.dim_like(dim_id{all.at[0]}), sent.at_most});
  }
  return detail::wrap<Rows::type, result_dims_t<detail::returned_rule, typename Rows::dim_list, index_dims, held>>(
      r.b, made);
}

}  // namespace meshtensor
