// SPDX-License-Identifier: Apache-2.0
// Computes the cost of a step for one rank, in bytes exchanged and operations, from the graph and its numbers.
// before: partitioned and bound.  after: counts, bytes and operations. They are constants if the program is static.
// why: a layout is chosen by its communication, so a test or a static_assert can state it.
#pragma once

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/base/saturating.hpp"
#include "meshtensor/op/detail/exchange_rows_rule.hpp"
#include "meshtensor/pass/bind/known_number.hpp"
#include "meshtensor/pass/lower.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A device's peak rates per second: floating-point operations of a large f32 matmul, and bytes read from and written
/// to memory beyond the caches. A rate of 0 is not known.
struct rates {
  double flops = 0, bytes = 0;
  double cache = 0;  // bytes of the largest cache
};

/// How often the nodes of each region run in one step. A loop multiplies this number by its trip count, or by its limit
/// if it may end early. These counts, and all costs, saturate at 2^63 - 1. Both branches of a cond count, although only
/// one of them runs.
struct run_counts {
  std::int64_t of[max_regions];
  bool at_most[max_regions];  // whether the region may run less often
};

constexpr run_counts run_counts_of(module const& m, binding const& numbers) {
  run_counts r{};
  for (int g = 0; g < m.region_count; ++g) r.of[g] = m.regions[g].kind == region_kind::entry ? 1 : 0;
  for (int i = m.node_count; i-- > 0;) {  // backwards, because a region's nodes come before its owner
    node const& n = m.nodes[i];
    bool const repeats = n.kind == primitive::repeat;
    for (int k = 0; k < n.regions.count; ++k) {
      if (n.kind == primitive::composite && k == 1) continue;  // unused unless a gradient was taken
      r.of[m.region_of(n, k)] = saturated_product(r.of[n.region], repeats ? numbers.extent[loop::of(n).dim] : 1);
      r.at_most[m.region_of(n, k)] = r.at_most[n.region] || (repeats && loop::of(n).ends_early);
    }
  }
  return r;
}

/// One collective as planned, if it is sent on its own: its number of ranks, and the most bytes that one of them
/// receives. A collective over one rank moves nothing.
struct planned_exchange {
  std::int64_t members, bytes;
};

namespace detail {
/// The number of elements that the rank with the most traffic receives: its result without its own part. Parts have one
/// of two lengths, and the longer parts come first. Therefore it is enough to ask three ranks: the first, the last, and
/// the last rank with a longer part to take.
constexpr std::int64_t most_received(module const& m, binding const& numbers, node const& n, std::int64_t p) {
  collective_attributes const how = collective_attributes::of(n);
  value const &x = m.operand_value(n, 0), &y = m.result_value(n);
  int const join = x.dims.find(how.join), split = n.kind == primitive::all_to_all ? x.dims.find(how.split) : -1;
  std::int64_t const joined = numbers.local(y, join), grain = numbers.grain[how.join];
  std::int64_t const taken = split < 0 ? 1 : numbers.local(x, split);
  std::int64_t const split_grain = split < 0 ? 1 : numbers.grain[how.split];
  std::int64_t const rest = numbers.local_size(x) / (taken * numbers.local(x, join));
  std::int64_t most = 0;
  for (std::int64_t rank : {std::int64_t{0}, taken / split_grain % p - 1, p - 1}) {
    if (rank < 0) continue;
    std::int64_t const mine = split < 0 ? 1 : part_of(taken, p, rank, split_grain).count;
    std::int64_t const received = mine * (joined - part_of(joined, p, rank, grain).count) * rest;
    most = received > most ? received : most;
  }
  return most;
}
/// The coordinate of a group's member along a mesh axis. It is 0 along axes that the group does not span.
constexpr std::int64_t place_of_member(binding const& numbers, unsigned axes, std::int64_t member, int axis) {
  if ((axes >> axis & 1u) == 0) return 0;
  for (int b = max_axes; --b > axis;)
    if ((axes >> b & 1u) != 0) member /= numbers.axis[b];
  return member % numbers.axis[axis];
}
/// The same for a move: the elements of the result that come from other ranks. If the numbers by which it shifts are
/// not known yet, all elements count.
constexpr std::int64_t most_moved(module const& m, binding const& numbers, node const& n, std::int64_t p) {
  move_attributes const a = move_attributes::of(n);
  value const &x = m.operand_value(n, 0), &y = m.result_value(n);
  int const along = a.first == no_id ? -1 : x.dims.find(a.from);
  std::optional<positions> const at =
      a.first == no_id ? std::optional<positions>(positions{}) : known_positions(m, numbers, a.first, a.step);
  std::int64_t most = 0;
  for (std::int64_t member = 0; member < p; ++member) {
    auto const place = [&](int axis) { return place_of_member(numbers, a.axes, member, axis); };
    std::int64_t own = at ? 1 : 0, all = 1;
    for (int d = 0; d < x.dims.count; ++d) {
      interval const s = numbers.part(x, d, place), t = numbers.part(y, d, place);
      if (d != along || !at) {
        std::int64_t const begin = s.begin > t.begin ? s.begin : t.begin;
        std::int64_t const end = s.begin + s.count < t.begin + t.count ? s.begin + s.count : t.begin + t.count;
        own *= end > begin ? end - begin : 0, all *= t.count;
        continue;
      }
      std::int64_t const extent = numbers.extent[a.from];
      own *= count_shifted(a.how, *at, extent, s, t), all *= count_shifted(a.how, *at, extent, {0, extent}, t);
    }
    most = all - own > most ? all - own : most;
  }
  return most;
}
/// The same for rows that go to the holders of their groups or back, if no row stays where it is. On the way there, a
/// rank receives the rows of all other ranks, as many as it has room for. On the way back, it receives all of its own
/// rows.
constexpr std::int64_t most_rows(module const& m, binding const& numbers, node const& n) {
  move_rows_attributes const a = move_rows_attributes::of(n);
  value const& x = m.operand_value(n, 0);
  std::int64_t const of_row = numbers.local_size(x) / numbers.local(x, x.dims.find(a.from));
  std::int64_t most = numbers.extent[a.to];
  for (int i = 0; i < m.node_count && !a.back; ++i) {
    node const& counts = m.nodes[i];
    if (counts.kind != primitive::exchange_rows || exchange_rows_rule::step_of(counts) != row_step::count) continue;
    if (exchange_rows_attributes::of(counts).rows != a.to) continue;
    value const& index = m.operand_value(counts, 0);
    std::int64_t all = 0, least = 0;
    for (std::int64_t member = 0; member < numbers.members(a.axes); ++member) {
      std::int64_t own = 1;
      for (int d = 0; d < index.dims.count; ++d)
        own *= numbers.part(index, d, [&](int axis) { return place_of_member(numbers, a.axes, member, axis); }).count;
      all += own, least = member == 0 || own < least ? own : least;
    }
    most = all - least < most ? all - least : most;
  }
  return most * of_row;
}
}  // namespace detail

/// The ranks and bytes of one collective. The bytes are those that its messages bring.
///
/// source  comm/mpi_algorithm.hpp: the messages that carry each collective
constexpr planned_exchange exchange_of(module const& m, binding const& numbers, node const& n) {
  value const& v = m.operand_value(n, 0);
  std::int64_t const p = numbers.members(axes_of_collective(n)), elements = numbers.local_size(v);
  auto const each = static_cast<std::int64_t>(bytes_of(v.type));
  if (p < 2) return {p, 0};
  switch (n.kind) {
    case primitive::all_reduce:
      return {p, all_reduce_bytes(elements, v.type, static_cast<int>(p), 0, goes_in_steps(elements * each))};
    case primitive::reduce_scatter:
      if (collective_attributes::of_slices(m, n) != no_id)
        return {p, reduce_bytes(elements, v.type, static_cast<int>(p), 0, true)};
      return {p, (p - 1) * numbers.local_size(m.result_value(n)) * each};
    case primitive::move: return {p, detail::most_moved(m, numbers, n, p) * each};
    case primitive::move_rows: return {p, detail::most_rows(m, numbers, n) * each};
    case primitive::all_gather:
      if (collective_attributes::of_slices(m, n) != no_id) return {p, elements * each};
      [[fallthrough]];
    default: return {p, detail::most_received(m, numbers, n, p) * each};
  }
}

/// The bytes that one node brings in a step, if it runs `times` times, for the rank that receives most. Of a loop's
/// slices, a gather brings a rank only the slices that it does not hold. A reduction leaves it only the sums of its own
/// slices, and it sends the other sums away.
constexpr std::int64_t bytes_in_step(module const& m, binding const& numbers, node const& n, std::int64_t times) {
  planned_exchange const e = exchange_of(m, numbers, n);
  dim_id const along = collective_attributes::of_slices(m, n);
  if (along == no_id || e.members < 2) return saturated_product(times, e.bytes);
  bool const gathers = n.kind == primitive::all_gather;
  placement const& layout = gathers ? m.operand_value(n, 0).layout : m.result_value(n).layout;
  std::int64_t const loops = times / numbers.extent[along];
  if (gathers) {
    std::int64_t const least = numbers.slices_held(along, layout, [&](int a) { return numbers.axis[a] - 1; }).count;
    return saturated_product(loops, saturated_product(numbers.extent[along] - least, e.bytes));
  }
  value const& v = m.operand_value(n, 0);
  std::int64_t const most = numbers.slices_held(along, layout, [](int) { return 0; }).count;
  std::int64_t const elsewhere = reduce_bytes(numbers.local_size(v), v.type, static_cast<int>(e.members), 0, false);
  std::int64_t const of_own = saturated_product(most, e.bytes);
  std::int64_t const of_others = saturated_product(numbers.extent[along] - most, elsewhere);
  return saturated_product(loops, saturated_sum(of_own, of_others));
}

/// The collectives of one step over more than one rank, and the bytes that one rank receives from others. `exchanges`
/// counts joined collectives as one.
struct exchanged {
  std::int64_t all_reduces, reduce_scatters, all_gathers, all_to_alls, moves;
  std::int64_t exchanges, bytes;

  constexpr std::int64_t collectives() const {
    return saturated_sum(saturated_sum(saturated_sum(all_reduces, reduce_scatters), all_gathers),
                         saturated_sum(all_to_alls, moves));
  }
};

/// The collectives and bytes of one step of a lowered module, under its plan. See `mt::traffic`.
constexpr exchanged traffic_of(module const& m, plan const& p) {
  exchanged t{};
  run_counts const runs = run_counts_of(m, p.numbers);
  std::int64_t together[max_nodes] = {};  // of the last collective of a joint message: the elements of all of them
  for (int i = 0; i < m.node_count; ++i)
    if (p.joined[i] != 0) together[p.joined[i] - 1] += p.numbers.local_size(m.operand_value(m.nodes[i], 0));
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (!is_collective(n.kind)) continue;
    planned_exchange const e = exchange_of(m, p.numbers, n);
    if (e.members < 2) continue;
    std::int64_t const times = runs.of[n.region];
    auto const add = [](std::int64_t& all, std::int64_t more) { all = saturated_sum(all, more); };
    switch (n.kind) {
      case primitive::all_reduce: add(t.all_reduces, times); break;
      case primitive::reduce_scatter: add(t.reduce_scatters, times); break;
      case primitive::all_gather: add(t.all_gathers, times); break;
      case primitive::all_to_all: add(t.all_to_alls, times); break;
      default: add(t.moves, times); break;
    }
    if (goes_with_another(p, i)) continue;
    dtype const type = m.operand_value(n, 0).type;
    bool const in_steps = goes_in_steps(together[i] * static_cast<std::int64_t>(bytes_of(type)));
    add(t.exchanges, times);
    add(t.bytes,
        p.joined[i] == 0
            ? bytes_in_step(m, p.numbers, n, times)
            : saturated_product(times, all_reduce_bytes(together[i], type, static_cast<int>(e.members), 0, in_steps)));
  }
  return t;
}

/// Floating-point operations of one rank for one run of a node. An einsum of k tensors does k operations for every
/// point of its dims. Any other arithmetic does one for every element. Copies and lookups count as 0.
constexpr std::int64_t flops_of(module const& m, auto const& numbers, node const& n) {
  return with_rule(n.kind, [&]<class R>() -> std::int64_t {
    if constexpr (requires { R::flops(m, n, numbers); }) return R::flops(m, n, numbers);
    else return 0;
  });
}

/// The same for a kernel or a composite: the operations in its region.
constexpr std::int64_t flops_within(module const& m, auto const& numbers, node const& n) {
  std::int64_t sum = flops_of(m, numbers, n);
  if (n.regions.count == 0 || sum != 0) return sum;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].region == m.region_of(n, 0)) sum = saturated_sum(sum, flops_within(m, numbers, m.nodes[i]));
  return sum;
}

/// The bytes that a node reads and writes at least.
constexpr std::int64_t bytes_touched(module const& m, binding const& numbers, node const& n) {
  std::int64_t sum = 0;
  for (int k = 0; k < n.operands.count; ++k) sum += numbers.local_bytes(m.operand_value(n, k));
  for (int k = 0; k < n.results.count; ++k) sum += numbers.local_bytes(m.values[m.result(n, k)]);
  return sum;
}

/// The operations of one step on one rank: those of einsums and other products, and those of all other nodes.
struct computed {
  std::int64_t products, others;

  constexpr std::int64_t all() const { return saturated_sum(products, others); }
};

/// The operations of one step. `held` says how much a rank holds: `binding` itself gives the largest parts, and
/// `held_by` the parts of one rank.
constexpr computed work_of(module const& m, binding const& numbers, auto const& held) {
  computed c{};
  run_counts const runs = run_counts_of(m, numbers);
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    std::int64_t& all = declared(m, n).work == work_kind::product ? c.products : c.others;
    all = saturated_sum(all, saturated_product(runs.of[n.region], flops_of(m, held, n)));
  }
  return c;
}
constexpr computed work_of(module const& m, binding const& numbers) { return work_of(m, numbers, numbers); }

/// The elements of all trainable variables that a program reads or writes, on all ranks together.
constexpr std::int64_t parameter_count(module const& m, binding const& numbers) {
  bool used[max_variables] = {};
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == primitive::read || m.nodes[i].kind == primitive::write) used[variable_of(m.nodes[i])] = true;
  std::int64_t sum = 0;
  for (int v = 0; v < m.variable_count; ++v)
    if (used[v] && m.variables[v].trainable) sum = saturated_sum(sum, numbers.size(m.variables[v].dims));
  return sum;
}

namespace detail {
template <class... Args>
struct stages_of;
template <class Program, class Mesh, class Layout>
struct stages_of<Program, Mesh, Layout> : lowered<Program, Program, Mesh, Layout> {};
template <class Programs, class Entry, class Mesh, class Layout>
struct stages_of<Programs, Entry, Mesh, Layout> : lowered<Programs, Entry, Mesh, Layout> {};
}  // namespace detail

/// The communication of one step of a static program, as a constant. For example,
/// `static_assert(traffic<train_step, mesh, layout>.all_reduces == 14)` documents a layout. It takes the arguments of
/// `executable`, without the device.
template <class... Args>
inline constexpr exchanged traffic = [] {
  using stages = detail::stages_of<Args...>;
  static_assert(is_valid<stages::partitioned> && is_valid<stages::bound>);
  return traffic_of(stages::graph, stages::planned);
}();

/// The plan of a program at given extents, as a constant, even if its dims are dynamic:
/// `plan_at<train_step, mesh, layout, batch(16), length(128)>.arena_bytes`. Every axis of the mesh needs a size.
template <class Program, mesh_type Mesh, layout_type Layout, dim_extent... Extents>
inline constexpr plan const& plan_at = []() -> plan const& {
  using program = sized<Program, Extents...>;
  using stages = lowered<program, program, Mesh, Layout>;
  static_assert(is_valid<stages::partitioned> && is_valid<stages::bound>);
  return stages::planned;
}();

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
