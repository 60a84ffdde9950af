// Groups what is computed element by element into kernels: each group reads and writes memory once.
// before: partitioned, composites inlined.  after: every elementwise node and every reduction is in the region of a
// kernel. why: structure only, so equal layers become equal kernels whatever the extents.
//
// A group walks one space of dims, the last of which is its vector; all its values have the same local part of a dim.
// The scan goes backwards, so that a node meets its users first: it may join the earliest of them, because all others
// still come later. Constants, positions and broadcasts cost nothing and are made again in every group that uses them.
#pragma once

#include "meshtensor/pass/rebuild.hpp"

namespace meshtensor {

/// The space of a kernel, its vector dim last, is kept in the attributes of its node.
constexpr attributes packed(shape const& space) {
  attributes a{};
  for (int i = 0; i < space.count; ++i) a.at[i / 2] = static_cast<id>(a.at[i / 2] | (space.at[i] + 1) << (i % 2 * 8));
  return a;
}
constexpr shape kernel_space(node const& kernel) {
  shape s{};
  for (int i = 0; i < shape::capacity; ++i)
    if (int const d = kernel.attribute[i / 2] >> (i % 2 * 8) & 0xff; d != 0) s.add(d - 1);
  return s;
}

inline constexpr int max_kernel_steps = 32, max_kernel_operands = 16, max_kernel_results = 8, max_kernel_numbers = 16,
                     max_kernel_phases = 7;

/// Nodes that are made again by whoever uses them: they only say how something else is read.
constexpr bool is_way_to_read(module const& m, node const& n) {
  if (n.kind == primitive::broadcast) return true;
  if (n.kind != primitive::transpose) return false;
  shape const &x = m.operand_value(n, 0).dims, &y = m.result_value(n).dims;
  return x.at[x.count - 1] == y.at[y.count - 1];  // else a copy that turns blocks is faster
}

namespace detail {

/// Whether a function is computed sooner than its result is read back from memory.
constexpr bool is_cheap(node const& n) {
  auto const f = static_cast<function>(n.function);
  return n.kind == primitive::elementwise && (f < function::exp || f == function::relu || f >= function::logical_not) &&
         f != function::power && f != function::divide && f != function::modulo;
}

struct fused_group {
  id place;  // it stands where this node stood
  id region;
  shape space;
  std::uint8_t sharded[max_axes], order[max_axes];  // the dim that an axis shards, plus 1
  std::uint8_t steps, operands, results, numbers;
  std::uint8_t along;    // reductions along the vector
  std::uint8_t leaving;  // what the other reductions reduce, as a mask of places in `space`; their results leave
  bool mixed;            // they reduce different dims
  std::uint8_t common;   // what all other results span, as a mask
  id merged;             // into another group, plus 1
};

struct fuser {
  static constexpr int max_groups = max_nodes / 2;
  static constexpr id nobody = 0;
  module const& from;
  int group_count;
  fused_group groups[max_groups];
  id group_of[max_nodes];        // plus 1
  id user[max_values];           // the group that is the earliest user of a value, plus 1
  id place_of_user[max_values];  // plus 1
  bool shared[max_values];       // used by several
  id counted_by[max_values];     // the last group that counted the value as its operand, plus 1

  constexpr explicit fuser(module const& source)
      : from(source), group_count(0), groups{}, group_of{}, user{}, place_of_user{}, shared{}, counted_by{} {
    for (int r = 0; r < from.region_count; ++r)
      for (int i = 0; i < from.regions[r].results.count; ++i)
        use_alone(from.link(from.regions[r].results, i), no_id - 1);
    for (int i = from.node_count; i-- > 0;) place(static_cast<id>(i));
    merge_siblings();
  }

  constexpr fused_group& group(id i) { return groups[find(i)]; }
  constexpr id find(id g) const {
    while (groups[g].merged != nobody) g = static_cast<id>(groups[g].merged - 1);
    return g;
  }
  constexpr node const& maker(id v) const { return from.nodes[from.values[v].node]; }

  // ---- who uses a value ----

  constexpr void use_alone(id v, int at) {
    if (place_of_user[v] != 0) shared[v] = true;
    if (place_of_user[v] == 0 || at < place_of_user[v] - 1)
      user[v] = nobody, place_of_user[v] = static_cast<id>(at + 1);
  }
  /// What a group reads when it reads `v`.
  constexpr id source_of(id v) const {
    while (is_way_to_read(from, maker(v))) v = from.operand(maker(v), 0);
    return v;
  }
  constexpr void use_in(id v, id g) {
    fused_group& own = groups[g];
    v = source_of(v);
    if (maker(v).kind == primitive::constant) {
      ++own.numbers;
      return;
    }
    if (maker(v).kind == primitive::iota) {
      ++own.steps;
      return;
    }
    if (counted_by[v] != g + 1) counted_by[v] = static_cast<id>(g + 1), ++own.operands;
    if (place_of_user[v] != 0 && user[v] != g + 1) shared[v] = true;
    if (place_of_user[v] == 0 || own.place < place_of_user[v] - 1)
      user[v] = static_cast<id>(g + 1), place_of_user[v] = static_cast<id>(own.place + 1);
  }

  // ---- the scan ----

  constexpr void place(id i) {
    node const& n = from.nodes[i];
    switch (n.kind) {
      case primitive::argument:
      case primitive::input:
      case primitive::read:
      case primitive::constant:
      case primitive::iota: return;
      case primitive::elementwise:
      case primitive::random:
      case primitive::reduce:
        if (place_of_user[from.result(n)] == 0) return;  // all its users make it again, or it is dead
        if (join(i, n) || begin(i, n)) return;
        break;
      case primitive::broadcast:
        if (place_of_user[from.result(n)] == 0 || begin(i, n)) return;
        break;
      case primitive::transpose:
        if (place_of_user[from.result(n)] == 0) return;
        break;
      default: break;
    }
    for (int k = 0; k < n.operands.count; ++k) use_alone(from.operand(n, k), i);
  }

  static constexpr unsigned mask_of(shape const& space, shape const& dims) {
    unsigned mask = 0;
    for (int k = 0; k < dims.count; ++k) mask |= 1u << space.find(dims.at[k]);
    return mask;
  }

  /// Whether the dims that the value shares with the group's space lie as they do there.
  constexpr bool lies_alike(fused_group const& g, value const& v) const {
    for (int a = 0; a < from.axis_count; ++a) {
      if (v.layout.dim[a] != 0) {
        if (g.sharded[a] != v.dims.at[v.layout.dim[a] - 1] + 1 || g.order[a] != v.layout.order[a]) return false;
      } else if (g.sharded[a] != 0 && v.dims.has(g.sharded[a] - 1)) {
        return false;
      }
    }
    return true;
  }
  constexpr void span(fused_group& g, value const& v) const {
    g.space = v.dims;
    for (int a = 0; a < from.axis_count; ++a) {
      g.sharded[a] =
          v.layout.dim[a] == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>(v.dims.at[v.layout.dim[a] - 1] + 1);
      g.order[a] = v.layout.order[a];
    }
  }

  constexpr bool begin(id i, node const& n) {
    auto const f = static_cast<function>(n.function);
    if (n.kind == primitive::elementwise && f == function::stop_gradient) return false;  // another name, no work
    require(group_count < max_groups, "G02: the program is too large: raise MESHTENSOR_MAX_NODES");
    id const made = static_cast<id>(group_count++);
    fused_group& g = groups[made];
    g.place = i, g.region = n.region, g.results = 1, g.common = 0xff;
    g.steps = n.kind != primitive::broadcast;
    value const& x = n.kind == primitive::reduce ? from.operand_value(n, 0) : from.result_value(n);
    span(g, x);
    if (n.kind == primitive::reduce) {
      unsigned const kept = mask_of(g.space, from.result_value(n).dims), all = (1u << g.space.count) - 1;
      if (g.space.count > 1 && (all & ~kept) == 1u << (g.space.count - 1))
        g.along = 1, g.common = static_cast<std::uint8_t>(kept);
      else g.leaving = static_cast<std::uint8_t>(all & ~kept);
    }
    adopt(i, n, made);
    return true;
  }
  constexpr void adopt(id i, node const& n, id g) {
    group_of[i] = static_cast<id>(g + 1);
    for (int k = 0; k < n.operands.count; ++k) use_in(from.operand(n, k), g);
  }

  /// Into the group of its earliest user, if that is one and has room.
  constexpr bool join(id i, node const& n) {
    id const v = from.result(n);
    if (user[v] == nobody) return false;
    id const at = static_cast<id>(user[v] - 1);
    fused_group& g = groups[at];
    int steps = 1, numbers = 0, operands = 0;
    for (int k = 0; k < n.operands.count; ++k) {
      primitive const kind = maker(source_of(from.operand(n, k))).kind;
      ++(kind == primitive::iota ? steps : kind == primitive::constant ? numbers : operands);
    }
    if (g.steps + steps > max_kernel_steps || g.numbers + numbers > max_kernel_numbers ||
        g.operands - 1 + operands > max_kernel_operands || (shared[v] && g.results == max_kernel_results))
      return false;
    if (!(n.kind == primitive::reduce ? takes_reduction(g, n) : takes(g, n))) return false;
    if (shared[v]) ++g.results, g.common = static_cast<std::uint8_t>(g.common & mask_of(g.space, from.values[v].dims));
    ++g.steps, --g.operands;
    adopt(i, n, at);
    return true;
  }
  constexpr bool takes(fused_group const& g, node const& n) const {
    value const& v = from.result_value(n);
    if (!lies_alike(g, v)) return false;
    unsigned const spanned = mask_of(g.space, v.dims), all = (1u << g.space.count) - 1;
    unsigned const rows = g.space.count == 0 ? 0 : all & ~(1u << (g.space.count - 1));
    if ((spanned & rows) == rows) return n.kind != primitive::random || spanned == all;
    return !shared[from.result(n)] && (spanned == 0 || is_cheap(n)) && n.kind != primitive::random;
  }
  /// A reduction whose result the group uses goes along the vector, which it may bring with it.
  constexpr bool takes_reduction(fused_group& g, node const& n) const {
    value const &x = from.operand_value(n, 0), &y = from.result_value(n);
    int const last = x.dims.count - 1;
    if (y.dims.count != last || y.dims.has(x.dims.at[last]) || g.along == max_kernel_phases - 1) return false;
    if (g.space == x.dims) {
      if (!lies_alike(g, x)) return false;
      ++g.along;
      return true;
    }
    if (!(g.space == y.dims) || last == 0 || g.along != 0 || g.mixed || !lies_alike(g, y)) return false;
    unsigned const rows = (1u << last) - 1;
    if ((g.common & rows) != rows) return false;
    span(g, x);
    g.along = 1;
    return true;
  }

  // ---- groups that read the same ----

  /// Groups that read the same block, or one what the other makes, become one where nothing stands between them.
  constexpr void merge_siblings() {
    id operands[max_groups][max_kernel_operands] = {};
    std::uint8_t count[max_groups] = {};
    id last_user[max_values] = {};  // group, plus 1
    for (int i = 0; i < from.node_count; ++i) {
      if (group_of[i] == 0) continue;
      id const g = static_cast<id>(group_of[i] - 1);
      node const& n = from.nodes[i];
      for (int k = 0; k < n.operands.count; ++k) {
        id const v = source_of(from.operand(n, k));
        if (group_of[from.values[v].node] == g + 1 || is_free(maker(v))) continue;
        int at = 0;
        while (at < count[g] && operands[g][at] != v) ++at;
        if (at == count[g]) operands[g][count[g]++] = v;
      }
    }
    for (int b = group_count; b-- > 0;) {  // from the first to the last
      for (int k = 0; k < count[b]; ++k) {
        id const v = operands[b][k], made_by = group_of[from.values[v].node];
        id const other = made_by != 0 ? made_by : last_user[v];
        if (other == 0 || find(static_cast<id>(other - 1)) == b || !(from.values[v].dims == groups[b].space)) continue;
        id const a = find(static_cast<id>(other - 1));
        if (!may_merge(a, static_cast<id>(b), operands, count)) continue;
        merge(a, static_cast<id>(b), operands, count);
        break;
      }
      id const now = find(static_cast<id>(b));
      for (int k = 0; k < count[b]; ++k) last_user[operands[b][k]] = static_cast<id>(now + 1);
    }
  }
  static constexpr bool is_free(node const& n) { return n.kind == primitive::constant || n.kind == primitive::iota; }

  constexpr bool may_merge(id a, id b, id const (&operands)[max_groups][max_kernel_operands],
                           std::uint8_t const* count) const {
    fused_group const &ga = groups[a], &gb = groups[b];
    if (ga.region != gb.region || !(ga.space == gb.space) || ga.steps + gb.steps > max_kernel_steps ||
        ga.numbers + gb.numbers > max_kernel_numbers || ga.results + gb.results > max_kernel_results ||
        ga.along + gb.along > max_kernel_phases - 1)
      return false;
    for (int x = 0; x < from.axis_count; ++x)
      if (ga.sharded[x] != gb.sharded[x] || ga.order[x] != gb.order[x]) return false;
    unsigned const vector = ga.space.count == 0 ? 0u : 1u << (ga.space.count - 1);
    unsigned const over_a = ga.leaving & ~vector, over_b = gb.leaving & ~vector;
    if (over_a != 0 && over_b != 0 && over_a != over_b) return false;
    int together = count[a];
    for (int k = 0; k < count[b]; ++k) {
      id const v = operands[b][k], unit = from.values[v].node;
      if (group_of[unit] == 0 ? unit >= ga.place : false) return false;
      if (group_of[unit] != 0) {
        id const g = find(static_cast<id>(group_of[unit] - 1));
        if (g != a && groups[g].place >= ga.place) return false;
        if (g == a) {
          if (maker(v).kind == primitive::reduce && !goes_along(ga, maker(v))) return false;
          continue;
        }
      }
      int at = 0;
      while (at < count[a] && operands[a][at] != v) ++at;
      together += at == count[a];
    }
    return together <= max_kernel_operands;
  }
  constexpr bool goes_along(fused_group const& g, node const& n) const {
    shape const& y = from.result_value(n).dims;
    return g.space.count > 1 && y.count == g.space.count - 1 && !y.has(g.space.at[g.space.count - 1]);
  }

  constexpr void merge(id a, id b, id (&operands)[max_groups][max_kernel_operands], std::uint8_t* count) {
    fused_group &ga = groups[a], &gb = groups[b];
    for (int k = 0; k < count[b]; ++k) {
      id const v = operands[b][k], unit = group_of[from.values[v].node];
      if (unit != 0 && find(static_cast<id>(unit - 1)) == a) continue;
      int at = 0;
      while (at < count[a] && operands[a][at] != v) ++at;
      if (at == count[a]) operands[a][count[a]++] = v;
    }
    ga.mixed = ga.mixed || gb.mixed || (ga.leaving != 0 && gb.leaving != 0 && ga.leaving != gb.leaving);
    ga.steps = static_cast<std::uint8_t>(ga.steps + gb.steps),
    ga.numbers = static_cast<std::uint8_t>(ga.numbers + gb.numbers);
    ga.results = static_cast<std::uint8_t>(ga.results + gb.results),
    ga.along = static_cast<std::uint8_t>(ga.along + gb.along);
    ga.leaving = static_cast<std::uint8_t>(ga.leaving | gb.leaving),
    ga.common = static_cast<std::uint8_t>(ga.common & gb.common);
    gb.merged = static_cast<id>(a + 1);
  }
};

/// Writes the module of a grouping.
struct kernel_writer {
  module const& from;
  fuser& f;
  rebuild w;
  id first[fuser::max_groups], next[max_nodes];  // members of a group, plus 1
  id inside[max_values], inside_of[max_values];  // a value as the kernel that is being written calls it; which kernel
  bool leaves[max_values];                       // used outside of its group
  id_list<max_kernel_operands> operands, arguments;
  id now;

  constexpr kernel_writer(module const& source, module& target, fuser& grouping)
      : from(source),
        f(grouping),
        w(source, target),
        first{},
        next{},
        inside{},
        inside_of{},
        leaves{},
        operands{},
        arguments{},
        now(0) {
    for (int i = from.node_count; i-- > 0;) {
      if (f.group_of[i] == 0) continue;
      id const g = f.find(static_cast<id>(f.group_of[i] - 1));
      f.group_of[i] = static_cast<id>(g + 1);
      next[i] = first[g], first[g] = static_cast<id>(i + 1);
    }
    find_what_leaves();
    for (int i = 0; i < from.node_count && w.m.report.empty(); ++i) {
      node const& n = from.nodes[i];
      id const g = f.group_of[i];
      if (g != 0) {
        if (f.groups[g - 1].place == i) kernel(static_cast<id>(g - 1));
      } else if (!makes_nothing(n)) {
        w.copy(n);
      }
    }
  }

 private:
  constexpr bool makes_nothing(node const& n) const {
    bool const made_again = n.kind == primitive::constant || n.kind == primitive::iota ||
                            n.kind == primitive::broadcast || n.kind == primitive::transpose ||
                            n.kind == primitive::elementwise || n.kind == primitive::random ||
                            n.kind == primitive::reduce;
    return made_again && f.place_of_user[from.result(n)] == 0;
  }

  constexpr void kernel(id g) {
    node const& root = from.nodes[f.groups[g].place];
    w.enter(root);
    builder& b = w.b;
    id const around = b.region;
    now = static_cast<id>(g + 1);
    operands.count = arguments.count = 0;
    id const r = b.begin_region(region_kind::kernel, no_id);
    id_list<2 * max_kernel_results> results{}, old{};
    for (id i = first[g]; i != 0; i = next[i - 1]) {
      node const& n = from.nodes[i - 1];
      id const v = from.result(n), made = copy(n);
      keep(v, made);
      if (leaves[v]) results.add(made), old.add(v);
    }
    w.m.regions[r].arguments = b.add_links(arguments);
    w.m.regions[r].results = b.add_links(results);
    b.region = around, b.path = root.path, b.site = root.site, b.copy = root.copy;
    id const k = b.add_node(primitive::kernel, 0, operands, packed(f.groups[g].space));
    for (int i = 0; i < results.count; ++i) {
      value const& v = from.values[old.at[i]];
      id const made = b.add_result(k, v.type, v.dims);
      w.m.values[made].layout = v.layout;
      w.replace(old.at[i], made);
    }
    w.m.nodes[k].regions = b.add_links(ids(&r, 1));
  }
  constexpr void keep(id old, id made) { inside[old] = made, inside_of[old] = now; }

  constexpr void find_what_leaves() {
    for (int r = 0; r < from.region_count; ++r)
      for (int i = 0; i < from.regions[r].results.count; ++i) leaves[from.link(from.regions[r].results, i)] = true;
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      id const g = f.group_of[i];
      if (g == 0 && makes_nothing(n)) continue;
      for (int k = 0; k < n.operands.count; ++k) {
        id const v = g == 0 ? from.operand(n, k) : f.source_of(from.operand(n, k));
        if (g == 0 || f.group_of[from.values[v].node] != g) leaves[v] = true;
      }
    }
  }

  constexpr id copy(node const& n) {
    id given[3] = {};
    for (int k = 0; k < n.operands.count; ++k) given[k] = inner(from.operand(n, k));
    builder& b = w.b;
    b.path = n.path, b.site = n.site, b.copy = n.copy;
    value const& v = from.result_value(n);
    id const made = b.add_node(n.kind, n.function, ids(given, n.operands.count),
                               {{n.attribute[0], n.attribute[1], n.attribute[2], n.attribute[3]}});
    w.m.nodes[made].ordinal = n.ordinal;
    id const result = b.add_result(made, v.type, v.dims);
    w.m.values[result].layout = v.layout;
    return result;
  }

  /// The value as the kernel calls it: a member's, one made again, or an argument.
  constexpr id inner(id v) {
    if (inside_of[v] == now) return inside[v];
    node const& n = f.maker(v);
    bool const again = n.kind == primitive::constant || n.kind == primitive::iota || is_way_to_read(from, n);
    id const made = again ? copy(n) : argument(v);
    keep(v, made);
    return made;
  }
  constexpr id argument(id v) {
    value const& x = from.values[v];
    id const made = w.b.add_argument(x, x.dims);
    w.m.values[made].layout = x.layout;
    w.m.nodes[w.m.values[made].node].attribute[0] = static_cast<id>(arguments.count);
    arguments.add(made);
    operands.add(w[v]);
    return made;
  }
};

}  // namespace detail

/// The module with kernels. A composite that is left stays as it is.
constexpr module fuse(module const& from) {
  module m{};
  detail::fuser grouping(from);
  detail::kernel_writer const written(from, m, grouping);
  return m;
}

}  // namespace meshtensor
