// SPDX-License-Identifier: Apache-2.0
// Partitions a program on whole tensors into the program of one rank, and inserts the collectives.
// before: differentiated.  after: every value has a placement; every change of placement is a node with its user's
// line.
// why: a value's dims and path imply its placement; sums stay partial until a user needs them reduced.
#pragma once

#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/place.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor {
namespace detail {

struct partitioner : placement_rules {
  node_id owner[max_regions];  // node of `from` that owns a region

  constexpr partitioner(module const& source, module& target, layout_rules const& rules, diagnostic& findings)
      : placement_rules(source, target, rules, findings), owner{} {}

  constexpr void run() {
    for (int i = 0; i < from.node_count; ++i)
      for (int k = 0; k < from.nodes[i].regions.count; ++k)
        owner[from.region_of(from.nodes[i], k)] = static_cast<node_id>(i);
    find_uses();
    for (int v = 0; v < m.variable_count && report.empty(); ++v) {
      m.variables[v].layout = settle(m.variables[v].dims, m.variables[v].path, shape{}, nullptr);
    }
    for (int i = 0; i < from.node_count && report.empty(); ++i) step(from.nodes[i]);
  }

  // A value that some user needs reduced is reduced once, for all users.
  constexpr void find_uses() {
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      sharding const rule = n.results.count == 1 && n.operands.count != 0 ? sharding_of(from, n) : sharding{};
      for (int k = 0; k < n.operands.count; ++k) {
        value_id const v = from.operand(n, k);
        bool twice = false;
        for (int j = 0; j < k; ++j) twice = twice || from.operand(n, j) == v;
        bool const passes = n.results.count == 1 && n.regions.count == 0 && !twice && rule.may_stay_partial(k);
        if (!passes) reduced_early[v] = true;
      }
    }
  }

  constexpr void step(node const& n) {
    b.region = n.region, b.path = n.path, b.site = n.site, b.copy = n.copy;
    if (is_part_of_state(n)) return refuse_rows(n);
    switch (n.kind) {
      case primitive::input: give(make(n, {}), from.result(n), implied(from.result(n), n)); break;
      case primitive::read: give(make(n, {}), from.result(n), m.variables[variable_of(n)].layout); break;
      case primitive::write: effect(n, m.variables[variable_of(n)].layout); break;
      case primitive::output: effect(n, shown(n)); break;
      case primitive::argument: argument(n); break;
      case primitive::repeat: repeat(n); break;
      case primitive::composite: composite(n); break;
      case primitive::cond:
      case primitive::while_loop:
        report << "S21 " << text_of(n.kind)
               << " cannot be spread over a mesh yet: choose with select, or run this program in an eager scope";
        at_line(n);
        break;
      default:
        if (declared(n.kind).attributes[0].kind == attribute_kind::request) requested_placement(n);
        else operation(n);
    }
  }
  /// Whether the extents of a node's rows would be seen outside of the step, or in random numbers: they depend on the
  /// mesh.
  constexpr bool is_part_of_state(node const& n) const {
    bool const gives = n.kind == primitive::input || n.kind == primitive::read || n.kind == primitive::random ||
                       n.kind == primitive::iota;
    bool const takes = n.kind == primitive::output || n.kind == primitive::write;
    return (gives && is_of_exchange(from, from.result_value(n).dims)) ||
           (takes && is_of_exchange(from, from.operand_value(n, 0).dims));
  }
  constexpr void refuse_rows(node const& n) {
    report << "S21 " << text_of(n.kind)
           << " of exchanged rows would depend on the mesh: make it before exchange_rows, or behind return_rows";
    at_line(n);
  }
  constexpr void effect(node const& n, placement const& p) {
    value_id v = copy_at(from.operand(n, 0), p);
    // A value in another variable's memory is copied, so that variables may swap values.
    node const& maker = m.nodes[m.values[owner_of_memory(v)].node];
    if (n.kind == primitive::write && maker.kind == primitive::read && variable_of(maker) != variable_of(n))
      v = copied(v);
    id_list<> operands{};
    operands.add(v);
    make(n, operands);
  }

  /// The value whose memory `v` shares.
  constexpr value_id owner_of_memory(value_id v) const {
    while (shares_memory(m.nodes[m.values[v].node])) v = m.operand(m.nodes[m.values[v].node], 0);
    return v;
  }
  constexpr bool is_argument(value_id v) const {
    return m.nodes[m.values[owner_of_memory(v)].node].kind == primitive::argument;
  }
  constexpr value_id copied(value_id v) {
    region_id const here = b.region;
    b.region = m.values[v].region;
    value_id const made = b.add(primitive::elementwise, static_cast<std::uint8_t>(function::copy), ids(&v, 1),
                                m.values[v].type, m.values[v].dims);
    m.values[made].layout = m.values[v].layout;
    b.region = here;
    return made;
  }

  // The implied placement, except for the dims that the node names.
  constexpr void requested_placement(node const& n) {
    value_id const old = from.operand(n, 0);
    shape const& dims = from.values[old].dims;
    shape named{};
    reshard_attributes const wanted = reshard_attributes::of(n);
    for (int r = 0; r < wanted.count; ++r) named.add(m.asked[wanted.first + r].dim);
    placement to = implied(old, n, named);
    for (int r = 0; r < wanted.count && report.empty(); ++r) {
      asked_row const& row = m.asked[wanted.first + r];
      for (int k = 0; k < row.count; ++k) {
        int axis = -1;
        for (int a = 0; a < m.axis_count; ++a)
          if (m.axes[a].label == row.axes[k]) axis = a;
        if (axis < 0) {
          report << "S04 reshard names the axis '" << m.names[row.axes[k]] << "', which the mesh does not have";
          return at_line(n);
        }
        if (!to.shards(axis)) {
          to.shard(dims.find(row.dim), axis);
        } else if (m.axes[axis].extent != 1) {
          diagnostic d{};
          d << "S05 reshard shards '" << m.dim_name(row.dim) << "' over the axis '" << m.names[row.axes[k]]
            << "', which shards '" << m.dim_name(dims.at[to.sharded_at(axis)]) << "' already: add replicate<"
            << m.dim_name(dims.at[to.sharded_at(axis)]) << "> to it";
          at_line(d, n);
          conflict(axis, d);
        }
      }
    }
    if (!report.empty()) return;
    id_list<> operands{};
    operands.add(copy_at(old, to));
    give(make(n, operands), from.result(n), to);
  }

  /// The placement of an output. A tensor that is watched in a loop has the loop's dim besides: where that and another
  /// dim claim one axis, the first rule holds.
  constexpr placement shown(node const& n) {
    value_id const x = from.operand(n, 0);
    return output_attributes::of(n).with_path ? layout.settled(from.values[x].dims, n.path, {}) : implied(x, n);
  }

  // The operand was computed before the argument: it is resharded where it was computed.
  constexpr void argument(node const& n) {
    node const& o = from.nodes[owner[n.region]];
    int const place = place_of(n);
    value_id const passed = operand_form(o, place);
    placement p = m.values[passed].layout;
    if (is_stacked(o, place)) p = tail(p);
    give(make(n, {}), from.result(n), p);
  }
  constexpr bool is_stacked(node const& o, int place) const {
    loop const l = loop::of(o);
    return o.kind == primitive::repeat && place >= l.carries && place < l.carries + l.stacked;
  }
  constexpr value_id operand_form(node const& o, int place) {
    value_id const old = from.operand(o, place);
    path_id const path = b.path;
    site_id const site = b.site;
    b.path = o.path, b.site = o.site;
    placement to;
    if (o.kind == primitive::repeat && place < loop::of(o).carries) {
      to = implied(old, o);
    } else {
      value_id const f = reduced_copy(old);
      shape whole{};  // each iteration has a slice, without the dim of the loop
      if (is_stacked(o, place)) whole.add(from.values[old].dims.at[0]);
      to = m.values[f].layout.has_partial() ? implied(old, o, whole) : m.values[f].layout;
      if (is_stacked(o, place))
        for (int a = 0; a < max_axes; ++a)
          if (to.sharded_at(a) == 0) to.unshard(a);
    }
    value_id const made = copy_at(old, to);
    b.path = path, b.site = site;
    return made;
  }
  /// The placement of a stacked value's slice; and of the stack of a slice.
  static constexpr placement tail(placement p) {
    for (int a = 0; a < max_axes; ++a)
      if (p.shards(a)) p.shard(p.sharded_at(a) - 1, a, p.order(a));
    return p;
  }
  static constexpr placement led(placement p) {
    for (int a = 0; a < max_axes; ++a)
      if (p.shards(a)) p.shard(p.sharded_at(a) + 1, a, p.order(a));
    return p;
  }

  constexpr void close(region_id r, id_list<> const& results) {
    id_list<> arguments{};
    for (int i = 0; i < from.regions[r].arguments.count; ++i)
      arguments.add(called[from.link(from.regions[r].arguments, i)]);
    m.regions[r].arguments = b.add_links(arguments);
    m.regions[r].results = b.add_links(results);
  }

  constexpr void repeat(node const& n) {
    loop const l = loop::of(n);
    region_id const r = from.region_of(n, 0);
    region const& body = from.regions[r];
    id_list<> operands{}, results{};
    for (int i = 0; i < n.operands.count; ++i) operands.add(operand_form(n, i));
    for (int i = 0; i < body.results.count; ++i) {
      value_id const old = from.link(body.results, i);
      if (i < l.carries) results.add(next_carry(old, called[from.link(body.arguments, i)]));
      else if (i < l.carries + l.sums) results.add(term_of_sum(old));
      else results.add(reduced_copy(old));
    }
    close(r, results);
    node_id const made = make(n, operands);
    id_list<2, region_id> owned{};
    owned.add(r);
    for (int i = 0; i < n.results.count; ++i) {
      placement const p = m.values[results.at[i]].layout;
      give(made, from.result(n, i), i < l.carries + l.sums ? p : led(p));
    }
    m.nodes[made].regions = b.add_links(owned);
  }

  /// A carry has its argument's placement. A carry that is another argument is copied, so that carries may swap values.
  constexpr value_id next_carry(value_id old, value_id argument_now) {
    value_id const next = copy_at(old, m.values[argument_now].layout);
    return owner_of_memory(next) == argument_now || !is_argument(next) ? next : copied(next);
  }

  /// A term of a sum over iterations may stay a partial sum, but no other partial reduction.
  constexpr value_id term_of_sum(value_id old) {
    placement p = m.values[called[old]].layout;
    for (int a = 0; a < max_axes; ++a)
      if (p.part(a) != reduction::sum) p.set_part(a, reduction::none);
    return copy_at(old, p);
  }

  constexpr void composite(node const& n) {
    region_id const r = from.region_of(n, 0);
    region const& body = from.regions[r];
    id_list<> operands{}, results{};
    for (int i = 0; i < n.operands.count; ++i) operands.add(operand_form(n, i));
    for (int i = 0; i < body.results.count; ++i) {
      value_id const v = reduced_copy(from.link(body.results, i));
      results.add(is_argument(v) ? copied(v) : v);  // a composite's result has its own memory
    }
    close(r, results);
    node_id const made = make(n, operands);
    id_list<2, region_id> owned{};
    owned.add(r);
    for (int i = 0; i < n.results.count; ++i) give(made, from.result(n, i), m.values[results.at[i]].layout);
    m.nodes[made].regions = b.add_links(owned);
  }
};

}  // namespace detail

/// The program of one rank of a mesh under a layout.
///
/// errors  S04 an axis that the mesh does not have; S05 one axis shards two dims that meet; S21 a node that cannot be
/// partitioned
///
/// source  Mesh-TensorFlow, arXiv:1811.02084, section 3; partial sums as in GSPMD, arXiv:2105.04663
constexpr module partition(module const& from, mesh_shape const& mesh, layout_rules const& rules) {
  meshtensor::module m{};
  copy_tables(m, from);
  m.region_count = from.region_count;
  for (int i = 0; i < m.region_count; ++i) m.regions[i] = from.regions[i];
  builder b(m);
  for (int a = 0; a < mesh.count; ++a) m.axes[m.axis_count++] = {b.intern(mesh.axes[a].label), mesh.axes[a].extent, {}};
  detail::partitioner p(from, m, rules, m.report);
  if (m.report.empty()) p.run();
  return m;
}

}  // namespace meshtensor
