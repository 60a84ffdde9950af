// SPDX-License-Identifier: Apache-2.0
// Makes the nodes of `each` compute all indices at once.
// before: nodes between hide and show nodes are written for one index.  after: no hide or show is left. Every value
// that differs from index to index has the dim, in front of its own dims.
// why: no later pass, device or file knows of `each`. Its dim is a dim like any other.
#pragma once

#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/widen/taking_part.hpp"

namespace meshtensor {
namespace detail {

struct widener : taking_part {
  id operands[max_values];  // by old argument: its operand with the hidden dims of the argument, plus 1
  id of_all[max_values];    // by old argument of a decided body: the new one, with all indices, plus 1

  constexpr widener(meshtensor::module const& source, meshtensor::module& target)
      : taking_part(source, target), operands{}, of_all{} {}

  constexpr void run() {
    b.expect(hidden.dims.count <= hidden_dims::most, "G42 a program has more than 16 dims of each and map");
    for (int i = 0; i < from.node_count && m.report.empty(); ++i) widen(from.nodes[i]);
  }

 private:
  constexpr void widen(node const& n) {
    enter(n);
    if (diagnostic const finding = refused_difference(hidden, n); !finding.empty()) return b.note(finding);
    switch (n.kind) {
      case primitive::hide: return hide(n);
      case primitive::watch: return watch(n);
      case primitive::show: return show(n);
      case primitive::argument: return argument(n);
      case primitive::repeat:
      case primitive::composite: return region_owner(n);
      case primitive::gradient: return gradient(n);
      default: return operation(n);
    }
  }

  constexpr void show(node const& n) {
    value_id const old = from.result(n);
    give(old, with_dims(given(n, 0), hidden.wide(hidden.of_computed(n, 0), from.values[old].dims)));
  }

  constexpr void argument(node const& n) {
    node const& at = from.nodes[hidden.owner[n.region] - 1];
    value_id const old = from.result(n);
    int const place = place_of(n);
    unsigned const differs = hidden.of_decision(at);
    if (place < at.operands.count && n.region == from.region_of(at, 0)) {
      enter(at);
      shape dims = wide_without_copies(old);
      if (loop const l = loop::of(at);
          at.kind == primitive::repeat && place >= l.carries && place < l.carries + l.stacked)
        dims = led_by(l.dim, dims);
      value_id from_outside = with_dims(given(at, place), dims);
      if (differs != 0 && place == 0) {
        decision const* const around = chooses[n.region] ? decision_in(at.region) : nullptr;
        if (around != nullptr)  // an index that does not run the body around this one runs no iteration
          from_outside = with_dims(select(b, around->takes_part, from_outside, constant(b, 0, dtype::i64)), dims);
        decision& d = decided.add(b, n.region);
        d.is_within = around != nullptr;
        d.start = reduce(b, reduction::max, from_outside, hidden.dims_of(differs));
        enter(n);
        d.iterations = b.add(primitive::argument, {}, dtype::i64, shape{});
      }
      operands[old] = static_cast<id>(from_outside + 1);
    }
    copy(n);
    value_id const made = (*this)[old];
    m.values[made].dims = wide_without_copies(old);
    if (differs == 0) return give(old, made);
    decision& d = decided.at(n.region);
    if (place == 0) d.begin(b, made, hidden.dims_of(differs), from.regions[n.region].kind == region_kind::branch);
    of_all[old] = static_cast<id>(made + 1);
    bool const stands_in = (hidden.without_copies[old] & differs) != 0;
    give(old, stands_in ? with_dims(d.stand_in(b, made), wide_without_copies(old)) : made);
  }

  constexpr void region_owner(node const& n) {
    bool const loops = n.kind == primitive::repeat;
    loop const l = loops ? loop::of(n) : loop{};
    id_list<> taken{};
    id_list<2, region_id> owned{};
    list const of_body = from.regions[from.region_of(n, 0)].arguments;
    bool const differs = hidden.of_decision(n) != 0;
    for (int k = 0; k < n.regions.count; ++k) owned.add(differs ? close_decided(n, l) : close(n, k));
    enter(n);
    decision const* const d = decided.find(from.region_of(n, 0));
    if (differs) taken.add(d->start);
    for (int i = 0; i < n.operands.count; ++i) taken.add(static_cast<value_id>(operands[from.link(of_body, i)] - 1));
    if (d != nullptr && d->is_passed_on) taken.add(d->start), taken.add(d->iterations);
    node_id made{};
    if (differs) {
      made = b.add_node(primitive::repeat, 0, taken);
      loop{l.dim, l.carries + 1, l.stacked, l.sums, l.reversed, true}.store(m.nodes[made]);
      b.add_result(made, dtype::i64, shape{});
      for (int i = 0; i < n.results.count; ++i)
        replace(from.result(n, i), b.add_result(made, from.result_value(n, i).type, shape{}));
    } else {
      made = copy(n, taken);
    }
    m.nodes[made].regions = b.add_links(owned);
    for (int i = 0; i < n.results.count; ++i) {
      value_id const old = from.result(n, i), now = (*this)[old];
      bool const stacks = loops && i >= l.carries + l.sums;
      shape const dims = hidden.wide(hidden.of_computed(n, i), from.values[old].dims);
      m.values[now].dims = stacks ? led_by(l.dim, dims) : dims;
    }
    // An index that does not run the body around the loop goes on with the results of one that does.
    decision const* const around = differs && d->is_within ? decision_in(n.region) : nullptr;
    for (int i = 0; i < n.results.count; ++i) {
      value_id const now = (*this)[from.result(n, i)];
      shape const dims = m.values[now].dims;
      give(from.result(n, i), around != nullptr ? with_dims(around->stand_in(b, now), dims) : now);
    }
  }
  // Sets the lists of the body of a loop whose number of iterations differs by index. An index that takes no part keeps
  // its carries, and adds nothing to sums and stacks.
  constexpr region_id close_decided(node const& n, loop const& l) {
    region const& was = from.regions[from.region_of(n, 0)];
    region_id const r = region_of(from.region_of(n, 0));
    b.region = r, b.path = n.path, b.site = n.site;
    decision const& d = decided.at(from.region_of(n, 0));
    auto const whole = [&](int i) { return static_cast<value_id>(of_all[from.link(was.arguments, i)] - 1); };
    id_list<> taken{}, results{};
    taken.add(d.iterations);
    for (int i = 0; i < was.arguments.count; ++i) taken.add(whole(i));
    for (int i = 0; i < was.results.count; ++i) {
      value_id const old = from.link(was.results, i);
      shape const dims = hidden.wide(hidden.of_computed(n, i), from.values[old].dims);
      value_id const otherwise = i < l.carries ? whole(i) : constant(b, 0, from.values[old].type);
      value_id const next = with_dims(select(b, d.takes_part, without_copies(old), otherwise), dims);
      bool const is_known = i == 0 && old == from.link(was.arguments, 0);  // so it must be if the loop runs backwards
      if (i == 0) results.add(is_known ? d.iterations : reduce(b, reduction::max, next, dims));
      results.add(is_known ? whole(0) : next);
    }
    for (int i = 0; i < taken.count; ++i) set_place(m.nodes[m.values[taken.at[i]].node], i);
    m.regions[r].arguments = b.add_links(taken), m.regions[r].results = b.add_links(results);
    return r;
  }
  // Sets the lists of region `k` of a node. Its results get the dims that the owner wants.
  constexpr region_id close(node const& n, int k) {
    region const& was = from.regions[from.region_of(n, k)];
    region_id const r = region_of(from.region_of(n, k));
    b.region = r, b.path = n.path, b.site = n.site;
    id_list<> arguments{}, results{};
    for (int i = 0; i < was.arguments.count; ++i) arguments.add(without_copies(from.link(was.arguments, i)));
    if (decision const* const d = decided.find(from.region_of(n, k)); d != nullptr && d->is_passed_on)
      for (value_id v : {d->takes_part, d->first}) {
        set_place(m.nodes[m.values[v].node], arguments.count);
        arguments.add(v);
      }
    for (int i = 0; i < was.results.count; ++i) {
      value_id const old = from.link(was.results, i);
      shape const dims = k == 1 ? hidden.wide(from.link(was.arguments, i))  // of a cotangent of an operand
                                : hidden.wide(hidden.of_computed(n, i), from.values[old].dims);
      value_id v = without_copies(old);
      if (!dims.includes(m.values[v].dims)) v = reduce(b, reduction::sum, v, without(m.values[v].dims, dims));
      results.add(with_dims(v, dims));
    }
    m.regions[r].arguments = b.add_links(arguments), m.regions[r].results = b.add_links(results);
    return r;
  }

  constexpr void gradient(node const& n) {
    value_id const loss = (*this)[from.operand(n, 0)];
    id_list<> by{};
    by.add(m.values[loss].dims.count == 0 ? loss : reduce(b, reduction::sum, loss, m.values[loss].dims));
    for (int i = 1; i < n.operands.count; ++i) by.add((*this)[from.operand(n, i)]);
    copy(n, by);
    for (int i = 0; i < n.results.count; ++i) {
      m.values[(*this)[from.result(n, i)]].dims = m.values[by.at[i + 1]].dims;
      give(from.result(n, i), (*this)[from.result(n, i)]);
    }
  }

  constexpr void operation(node const& n) {
    id_list<> taken{};
    for (int k = 0; k < n.operands.count; ++k) taken.add(given(n, k));
    enter(n);
    if (n.results.count == 0) return void(copy(n, taken));
    value_id const old = from.result(n);
    widen_operation(n, taken, hidden.wide(hidden.of_computed(n, 0), from.values[old].dims));
    if (m.report.empty()) give(old, (*this)[old]);
  }
};

}  // namespace detail

/// Replaces the bodies of `each` and `map` by nodes for all indices.
///
/// errors  G42 too many dims; G44 a tensor differs along a dim that it shows; G46 a decision or an operation that
///         cannot differ by index; G47 an outer variable gets a next value that differs
constexpr module widen(module const& m) {
  bool any = false;
  for (int i = 0; i < m.node_count; ++i)
    any = any || m.nodes[i].kind == primitive::hide || m.nodes[i].kind == primitive::show;
  if (!any || !m.report.empty()) return m;
  meshtensor::module result{};
  detail::widener w(m, result);
  w.run();
  return result;
}

}  // namespace meshtensor
