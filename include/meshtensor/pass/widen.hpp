// SPDX-License-Identifier: Apache-2.0
// Makes the nodes of `each` compute all indices at once.
// before: nodes between hide and show nodes are written for one index.  after: no hide or show is left. Every value
// that differs from index to index has the dim, in front of its own dims.
// why: no later pass, device or file knows of `each`. Its dim is a dim like any other.
#pragma once

#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/rebuild.hpp"
#include "meshtensor/pass/widen/hidden_dims.hpp"

namespace meshtensor {
namespace detail {

struct widener : rebuild {
  hidden_dims const hidden;
  id owner[max_regions];    // by old region: the node that owns it, plus 1
  id operands[max_values];  // by old argument: its operand with the hidden dims of the argument, plus 1

  constexpr widener(meshtensor::module const& source, meshtensor::module& target)
      : rebuild(source, target), hidden(source), owner{}, operands{} {
    for (int i = 0; i < from.node_count; ++i)
      for (int k = 0; k < from.nodes[i].regions.count; ++k)
        owner[from.region_of(from.nodes[i], k)] = static_cast<id>(i + 1);
  }

  constexpr void run() {
    b.expect(hidden.dims.count <= hidden_dims::most, "G42 a program has more than 16 dims of each and map");
    for (int i = 0; i < from.node_count && m.report.empty(); ++i) widen(from.nodes[i]);
  }

 private:
  constexpr void widen(node const& n) {
    enter(n);
    if (!allows(n)) return;
    switch (n.kind) {
      case primitive::hide:
      case primitive::show: return replace(from.result(n), laid_out((*this)[from.operand(n, 0)], from.result(n)));
      case primitive::argument: return argument(n);
      case primitive::repeat:
      case primitive::composite: return region_owner(n);
      case primitive::gradient: return gradient(n);
      default: return operation(n);
    }
  }

  // The new value with exactly these dims: broadcast along those that it lacks, in this order.
  constexpr value_id with_dims(value_id v, shape const& dims) {
    if (m.values[v].dims == dims) return v;
    return m.values[v].dims.count == dims.count ? transpose(b, v, dims) : broadcast(b, v, dims);
  }
  constexpr value_id laid_out(value_id v, value_id old) { return with_dims(v, hidden.wide(old)); }

  constexpr void argument(node const& n) {
    node const& at = from.nodes[owner[n.region] - 1];
    value_id const old = from.result(n);
    int const place = place_of(n);
    if (place < at.operands.count && n.region == from.region_of(at, 0)) {
      enter(at);
      shape dims = hidden.wide(old);
      if (loop const l = loop::of(at);
          at.kind == primitive::repeat && place >= l.carries && place < l.carries + l.stacked)
        dims = led_by(l.dim, dims);
      operands[old] = static_cast<id>(with_dims((*this)[from.operand(at, place)], dims) + 1);
    }
    copy(n);
    m.values[(*this)[old]].dims = hidden.wide(old);
  }

  constexpr void region_owner(node const& n) {
    bool const loops = n.kind == primitive::repeat;
    loop const l = loops ? loop::of(n) : loop{};
    id_list<> taken{};
    id_list<2, region_id> owned{};
    list const arguments = from.regions[from.region_of(n, 0)].arguments;
    for (int k = 0; k < n.regions.count; ++k) owned.add(close(n, k, l));
    enter(n);
    for (int i = 0; i < n.operands.count; ++i) taken.add(static_cast<value_id>(operands[from.link(arguments, i)] - 1));
    node_id const made = copy(n, taken);
    m.nodes[made].regions = b.add_links(owned);
    for (int i = 0; i < n.results.count; ++i) {
      value_id const old = from.result(n, i), now = (*this)[old];
      bool const stacks = loops && i >= l.carries + l.sums;
      m.values[now].dims = stacks ? led_by(l.dim, hidden.wide(old)) : hidden.wide(old);
    }
    for (int i = l.carries + l.sums; loops && i < n.results.count; ++i)
      replace(from.result(n, i), laid_out((*this)[from.result(n, i)], from.result(n, i)));
  }
  // Sets the lists of region `k` of a node. Its results get the dims that the owner wants.
  constexpr region_id close(node const& n, int k, loop const& l) {
    region const& was = from.regions[from.region_of(n, k)];
    region_id const r = region_of(from.region_of(n, k));
    b.region = r, b.path = n.path, b.site = n.site;
    id_list<> arguments{}, results{};
    for (int i = 0; i < was.arguments.count; ++i) arguments.add((*this)[from.link(was.arguments, i)]);
    for (int i = 0; i < was.results.count; ++i) {
      value_id const old = from.link(was.results, i);
      bool const like_argument = k == 1 || i < l.carries;  // a cotangent of an operand, or the next carry
      shape const dims = hidden.wide(like_argument ? from.link(was.arguments, i) : old);
      value_id v = (*this)[old];
      if (!dims.includes(m.values[v].dims)) v = reduce(b, reduction::sum, v, without(m.values[v].dims, dims));
      results.add(with_dims(v, dims));
    }
    m.regions[r].arguments = b.add_links(arguments), m.regions[r].results = b.add_links(results);
    return r;
  }

  constexpr void gradient(node const& n) {
    id_list<> by{};
    value_id const loss = (*this)[from.operand(n, 0)];
    by.add(m.values[loss].dims.count == 0 ? loss : reduce(b, reduction::sum, loss, m.values[loss].dims));
    for (int i = 1; i < n.operands.count; ++i) by.add((*this)[from.operand(n, i)]);
    copy(n, by);
    for (int i = 0; i < n.results.count; ++i) m.values[(*this)[from.result(n, i)]].dims = m.values[by.at[i + 1]].dims;
  }

  // The dims that are hidden in the result join those that the node asks for, and `infer` runs again. If the operation
  // cannot match the hidden dims of its operands, all operands get all of them.
  constexpr void operation(node const& n) {
    if (n.results.count == 0 || hidden.of[from.result(n)] == 0) {
      copy(n);
      return;
    }
    value_id const old = from.result(n);
    id_list<> taken{}, all{};
    for (int i = 0; i < n.operands.count; ++i) taken.add((*this)[from.operand(n, i)]);
    inference i = inferred(n, taken);
    if (!gives(i, old)) {
      for (int k = 0; k < n.operands.count; ++k)
        all.add(with_dims(taken.at[k], hidden.wide(hidden.of[old], from.operand_value(n, k).dims)));
      i = inferred(n, taken = all);
    }
    if (!gives(i, old)) {
      diagnostic d{};
      b.note(d << "G46 " << text_of(n.kind) << " does not take the further dim of an each");
      return;
    }
    copy(n, taken);
    m.values[(*this)[old]].dims = i.dims;
    replace(old, laid_out((*this)[old], old));
  }
  constexpr inference inferred(node const& n, ids taken) const {
    value const& y = from.result_value(n);
    inference i = inference_of(m, taken, n.function, n.attribute, y.type, hidden.wide(from.result(n)));
    bool const known = with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::infer(i); }) return R::infer(i), true;
      else return false;
    });
    i.expect(known && n.results.count == 1, "");
    return i;
  }
  constexpr bool gives(inference const& i, value_id old) const {
    shape const dims = hidden.wide(old);
    return i.fault == nullptr && i.dims.includes(dims) && dims.includes(i.dims);
  }

  // Whether a node may differ by index as it does. If not, reports why.
  constexpr bool allows(node const& n) {
    diagnostic d{};
    for (int k = 0; k < n.results.count && d.empty(); ++k)
      if (dim_id const dim = hidden.hidden_and_shown(from.result(n, k)); dim != no_id)
        d << "G44 a tensor differs by index of '" << from.dim_name(dim)
          << "' and has this dim, too: rename the dim of the tensor that is the same for all indices";
    bool const differs = n.operands.count != 0 && hidden.of[from.operand(n, 0)] != 0;
    if (differs && d.empty()) {
      name const& dim = from.dim_name(hidden.first(from.operand(n, 0)));
      if (n.kind == primitive::repeat && loop::of(n).ends_early)
        d << "G46 a condition differs by index of '" << dim
          << "': cond and while_loop in an each take a condition that is the same for all indices, such as "
             "any(across(c, dim), dim); select chooses by index";
      if (n.kind == primitive::write)
        d << "G47 the next value of a variable from outside differs by index of '" << dim
          << "': declare the variable in the each, or reduce over the dim, as in mean(across(x, dim), dim)";
      if (n.kind == primitive::output)
        d << "G47 an output of map differs by index of '" << dim
          << "': return the tensor from the body and give it out outside";
    }
    if (!d.empty()) b.note(d);
    return d.empty();
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
