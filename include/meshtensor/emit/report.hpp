// SPDX-License-Identifier: Apache-2.0
// Prints a plan as text before anything runs: what every rank stores, exchanges and computes, and what fills its
// memory.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/emit/table.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {
namespace detail {

/// The live values when the arena is fullest.
inline std::vector<value_id> held_at_fullest(module const& m, plan const& p) {
  auto const again = on_heap([&] { return plan{}; });
  again->numbers = p.numbers, again->steps = p.steps;
  std::unique_ptr<planner> const plan_again(new planner(m, *again));
  int entry = 0;
  while (m.regions[entry].kind != region_kind::entry || m.regions[entry].removed) ++entry;
  plan_again->run(entry);
  int time = 0;
  while (time < max_nodes - 1 && plan_again->event_node[time] != p.fullest) ++time;
  liveness const& life = plan_again->life;
  std::vector<value_id> all;
  for (int v = 0; v < m.value_count; ++v)
    if (p.root[v] == v && is_in_arena(p.where[v]) && life.begin[v] <= time && time <= life.end[v])
      all.push_back(static_cast<value_id>(v));
  return all;
}

class reporter : speller {
 public:
  reporter(module const& m, plan const& p, mesh_shape const& mesh) : speller(m), p_(p), mesh_(mesh) {}

  std::string text() {
    heading();
    variables("parameters", true);
    variables("state", false);
    communication();
    computation();
    memory();
    return std::move(text_);
  }

 private:
  /// `1.03`
  static std::string ratio(double x) {
    auto const hundredths = static_cast<std::int64_t>(x * 100 + 0.5);
    return std::to_string(hundredths / 100) + "." + std::to_string(100 + hundredths % 100).substr(1);
  }
  static std::string bytes(std::int64_t n) { return rounded(n) + "B"; }
  static std::string quantity(std::int64_t n, char const* of) {
    std::string const r = rounded(n);
    return r + (r.back() == ' ' ? "" : " ") + of;
  }
  static std::string right(std::string const& s) { return " " + s; }
  static std::string times(std::int64_t n) { return n == 1 ? "" : " x" + std::to_string(n); }
  binding const& numbers() const { return p_.numbers; }
  /// The indices of lines: those with most bytes first, equal ones in their order.
  template <class Lines>
  static auto largest_first(Lines const& all) {
    std::vector<std::pair<std::int64_t, std::size_t>> order;  // sort key, index
    for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(-all[i].bytes, i);
    std::sort(order.begin(), order.end());
    return order;
  }

  void heading() {
    for (int r = 0; r < m_.region_count; ++r)
      if (m_.regions[r].kind == region_kind::entry && !m_.regions[r].removed)
        text_ += "program  " + label(m_.regions[r].label) + "\n";
    text_ += "mesh     ";
    for (int a = 0; a < mesh_.count; ++a)
      text_ += (a == 0 ? "" : ", ") + mesh_.axes[a].label.text() + " = " + std::to_string(mesh_.axes[a].extent);
    text_ += (mesh_.count == 0 ? "" : ": ") + std::to_string(mesh_.size()) +
             (mesh_.size() == 1 ? " processor\n" : " processors\n");
    text_ += "dims     ";
    bool first = true;
    std::vector<bool> used(max_dims);
    for (int v = 0; v < m_.value_count; ++v)
      for (int i = 0; i < m_.values[v].dims.count; ++i) used[m_.values[v].dims.at[i]] = true;
    std::string made;  // by the partition, and by operations for themselves
    for (int d = 0; d < m_.dim_count; ++d) {
      if (!used[static_cast<std::size_t>(d)]) continue;
      dim_row const& row = m_.dims[d];
      std::string const extent = dim(d) + " = " + std::to_string(numbers().extent[d]);
      if (row.kind == dim_row::blocks) {
        made += "         " + extent + ": the parts of " + dim(row.first) + " over " +
                axes(static_cast<unsigned>(row.value)) + "\n";
      } else if (row.kind == dim_row::holders) {
        made += "         " + extent + ": the ranks that hold rows for " + dim(row.first) + "\n";
      } else if (row.kind == dim_row::rows) {
        made += "         " + extent + ": at most, the rows that a rank gets for its part of " + dim(row.first) + "\n";
      } else if (row.kind == dim_row::sent) {
        made += "         " + extent + ": at most, those that a rank sends of " + dim(row.first) + "\n";
      } else if (row.kind == dim_row::in_block) {
        made += "         " + extent + ": the elements of the largest of them\n";
      } else if (row.kind == dim_row::cover) {
        made += "         " + extent + ": at most, of " + dim(row.first) + ", what windows reach from a part of " +
                dim(row.second) + "\n";
      } else if (written(d) != d) {
        made += "         " + extent + ": a second name of " + dim(row.first) + "\n";
      } else {
        text_ += (first ? "" : ", ") + extent;
        first = false;
      }
    }
    text_ += "\n" + made;
    for (int a = 0; a < m_.axis_count; ++a)
      if (mesh_.axes[a].extent > 1 && !spreads(a))
        text_ += "note     nothing is spread over the axis '" + axis(a) + "': its processors all do the same\n";
    uneven_dims();
  }
  /// The parts of a dim that the program names, over a list of axes.
  struct cut_dim {
    dim_id dim;
    std::vector<int> axes;  // the major one first

    bool operator==(cut_dim const&) const = default;
  };
  /// The dim as the program names it; the partition and some operations make others of it.
  dim_id written(int d) const {
    dim_row const& row = m_.dims[d];
    bool const is_made = row.kind == dim_row::blocks || row.kind == dim_row::in_block || row.kind == dim_row::cover ||
                         row.kind == dim_row::holders || row.kind == dim_row::rows || row.kind == dim_row::sent ||
                         (row.kind == dim_row::same && dim(d).find("/again") != std::string::npos);
    return is_made ? written(row.first) : static_cast<dim_id>(d);
  }
  /// How the dim at a position of a value is cut; of the elements of a part, how the dim of all parts is.
  cut_dim cut_of(value const& v, int position) const {
    int const d = v.dims.at[position];
    int const at = numbers().block_of[d].whole == 0 ? position : v.dims.find(numbers().block_of[d].blocks - 1);
    cut_dim c{written(d), {}};
    for (int o = 0, a = 0; at >= 0 && (a = v.layout.axis_at(at, o)) >= 0; ++o)
      if (numbers().axis[a] > 1) c.axes.push_back(a);
    return c;
  }
  bool has(value const& v, cut_dim const& c) const {
    for (int i = 0; i < v.dims.count; ++i)
      if (cut_of(v, i) == c) return true;
    return false;
  }
  /// `16 | 15`
  std::string parts_text(value const& v, int position) const {
    constexpr std::size_t most = 12;
    std::vector<interval> parts;
    for (std::int64_t rank = 0; rank < mesh_.size(); ++rank)
      parts.push_back(numbers().part(v, position, [&](int a) { return mesh_.coordinate(rank, a); }));
    std::ranges::sort(parts, {}, [](interval const& p) { return std::pair(p.begin, -p.count); });
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    std::string text;
    for (std::size_t k = 0; k < std::min(parts.size(), most); ++k)
      text += (k == 0 ? "" : " | ") + std::to_string(parts[k].count);
    return parts.size() <= most ? text : text + " | ...";
  }
  /// The operations of a step, and the bytes of parameters and state, of a rank with the largest part, of tensors that
  /// are cut so.
  std::pair<double, double> work_and_bytes(cut_dim const& c) const {
    double flops = 0, bytes = 0;
    run_counts const runs = run_counts_of(m_, numbers());
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      bool concerned = false;
      for (int k = 0; k < n.operands.count && !concerned; ++k) concerned = has(m_.operand_value(n, k), c);
      for (int k = 0; k < n.results.count && !concerned; ++k) concerned = has(m_.values[m_.result(n, k)], c);
      if (concerned) flops += static_cast<double>(runs.of[n.region] * flops_of(m_, numbers(), n));
    }
    for (int i = 0; i < m_.variable_count; ++i) {
      value like{};
      like.type = m_.variables[i].type, like.dims = m_.variables[i].dims, like.layout = m_.variables[i].layout;
      if (has(like, c)) bytes += static_cast<double>(numbers().local_bytes(like));
    }
    return {flops, bytes};
  }
  /// The dims whose parts differ, and what the largest part costs: once for each dim and list of axes.
  void uneven_dims() {
    std::vector<cut_dim> told;
    for (int v = 0; v < m_.value_count; ++v)
      for (int i = 0; i < m_.values[v].dims.count; ++i) {
        value const& x = m_.values[v];
        int const d = x.dims.at[i];
        if (numbers().is_even(x, i) || numbers().block_of[d].whole != 0 || numbers().cover_of[d].whole != 0) continue;
        cut_dim const c = cut_of(x, i);
        if (std::ranges::find(told, c) != told.end()) continue;
        told.push_back(c), is_uneven_ = true;
        std::string over;
        for (int a : c.axes) over += (over.empty() ? "" : ", ") + axis(a) + " = " + std::to_string(numbers().axis[a]);
        auto const largest = static_cast<double>(numbers().local(x, i));
        double const mean = static_cast<double>(numbers().extent[d]) / static_cast<double>(numbers().parts(x, i));
        text_ += "note     '" + dim(c.dim) + "' (" + std::to_string(numbers().extent[d]) + ") over " + over +
                 " lies as " + parts_text(x, i) + "\n         the largest part is " +
                 std::to_string(numbers().local(x, i)) + ", the mean " + ratio(mean) + ": " + ratio(largest / mean) +
                 " times";
        auto const more = [&](double all) { return static_cast<std::int64_t>(all * (largest - mean) / largest + 0.5); };
        auto const [flops, stored] = work_and_bytes(c);
        std::string costs;
        if (more(flops) > 0) costs = "computes " + quantity(more(flops), "flop");
        if (more(stored) > 0) costs += (costs.empty() ? "stores " : " and stores ") + bytes(more(stored));
        text_ += costs.empty() ? "; nothing is computed or stored along it\n"
                               : "; its rank " + costs + " more than the mean\n";
      }
  }
  bool spreads(int a) const {
    for (int v = 0; v < m_.value_count; ++v)
      if (m_.values[v].layout.shards(a)) return true;
    return false;
  }

  void variables(char const* what, bool trainable) {
    table t;
    std::int64_t local = 0, whole = 0, count = 0;
    std::string names, type_of_last;  // neighbours of one type and path share a line: an optimizer's slots
    std::int64_t together = 0;
    value_id last = no_id;
    auto const put = [&] {
      if (last != no_id) t.add({right(bytes(together)), names, type_of_last});
    };
    std::vector<bool> used(max_variables);
    for (int i = 0; i < m_.node_count; ++i)
      if (m_.nodes[i].kind == primitive::read || m_.nodes[i].kind == primitive::write)
        used[variable_of(m_.nodes[i])] = true;
    for (int i = 0; i < m_.variable_count; ++i) {
      variable const& v = m_.variables[i];
      if (v.trainable != trainable || !used[static_cast<std::size_t>(i)]) continue;
      value like{};
      like.type = v.type, like.dims = v.dims, like.layout = v.layout;
      std::int64_t const mine = numbers().local_bytes(like);
      std::string const type_text = std::string(text_of(v.type)) + "[" + dims(v.dims, v.layout) + "]";
      if (last != no_id && m_.variables[last].type == v.type && type_text == type_of_last && v.path != no_id &&
          m_.paths[v.path].parent == m_.paths[m_.variables[last].path].parent) {
        names += ", " + label(m_.paths[v.path].label), together += mine;
      } else {
        put();
        names = path(v.path), together = mine;
      }
      last = static_cast<value_id>(i), type_of_last = type_text;
      local += mine, count += numbers().size(v.dims);
      whole += numbers().size(v.dims) * static_cast<std::int64_t>(bytes_of(v.type));
    }
    if (count == 0) return;
    put();
    text_ += "\n" + std::string(what) + ": " + quantity(count, "elements") + ", " + bytes(whole) + "; " + bytes(local) +
             " a processor\n" + t.text();
    for (int i = 0; i < m_.variable_count; ++i)
      if (variable const& v = m_.variables[i]; v.trainable == trainable && v.again != 0)
        text_ += "'" + path(v.path) + "' is declared " + std::to_string(v.again + 1) +
                 " times by one program: one parameter, shared\n";
  }

  struct line_of_exchange {
    std::string kind, over, where;
    std::int64_t runs, bytes;
  };

  void communication() {
    std::vector<line_of_exchange> lines;
    run_counts const runs = run_counts_of(m_, numbers());
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (!is_collective(n.kind) || runs.of[n.region] == 0) continue;
      planned_exchange const e = exchange_of(m_, numbers(), n);
      if (e.members < 2) continue;
      std::string kind = text_of(n.kind);
      if (n.kind == primitive::all_reduce || n.kind == primitive::reduce_scatter)
        kind += std::string(" ") + text_of(static_cast<reduction>(n.function));
      line_of_exchange const one{kind, axes(axes_of_collective(n)), origin(n), runs.of[n.region],
                                 bytes_in_step(m_, numbers(), n, runs.of[n.region])};
      auto const same = std::find_if(lines.begin(), lines.end(), [&](auto const& l) {
        return l.kind == one.kind && l.over == one.over && l.where == one.where;
      });
      if (same == lines.end()) lines.push_back(one);
      else same->runs += one.runs, same->bytes += one.bytes;
    }
    exchanged const all = traffic_of(m_, p_);
    text_ += "\ncommunication: a processor receives " + bytes(all.bytes) + " in " + std::to_string(all.collectives()) +
             " collectives a step";
    if (all.exchanges != all.collectives()) text_ += ", small ones together: " + std::to_string(all.exchanges);
    text_ += "\n";
    table t;
    for (auto const& [_, place] : largest_first(lines)) {
      line_of_exchange const& l = lines[place];
      t.add({right(bytes(l.bytes)), l.kind, "over " + l.over, right(times(l.runs)), l.where});
    }
    text_ += t.text();
  }

  void computation() {
    computed const c = work_of(m_, numbers());
    text_ += "\ncomputation: a processor does " + rounded(c.products + c.others) + "flop a step, " +
             rounded(c.products) + "flop of them in products\n";
    if (!is_uneven_) return;
    double all = 0;
    for (std::int64_t rank = 0; rank < mesh_.size(); ++rank) {
      computed const one = work_of(m_, numbers(), held_by{numbers(), mesh_, rank});
      all += static_cast<double>(one.products + one.others);
    }
    double const mean = all / static_cast<double>(mesh_.size()), most = static_cast<double>(c.products + c.others);
    if (most > mean * 1.005)
      text_ +=
          "that is the busiest one: it does " + ratio(most / mean) + " times the mean, for which the others wait\n";
  }

  void memory() {
    text_ += "\nmemory: " + bytes(p_.arena_bytes + p_.variable_bytes + p_.input_bytes) +
             " a processor: " + bytes(p_.arena_bytes) + " for what a step makes, " + bytes(p_.variable_bytes) +
             " for parameters and state, " + bytes(p_.input_bytes) + " for inputs\n";
    if (p_.arena_bytes == 0) return;
    text_ += "fullest at " + doing(m_.nodes[p_.fullest]) + ":\n";
    struct held {
      std::string what;
      std::int64_t bytes, count;
    };
    std::vector<held> all;
    for (value_id v : held_at_fullest(m_, p_)) {
      std::string const what = type(v) + "  " + maker(v);
      auto const same = std::find_if(all.begin(), all.end(), [&](held const& h) { return h.what == what; });
      std::int64_t const size = numbers().local_bytes(m_.values[v]) * (p_.where[v] == place::turns ? 2 : 1);
      if (same == all.end()) all.push_back({what, size, 1});
      else same->bytes += size, ++same->count;
    }
    table t;
    std::int64_t rest = 0;
    std::size_t lines = 0;
    for (auto const& [_, place] : largest_first(all)) {
      held const& h = all[place];
      if (lines++ < shown) t.add({right(bytes(h.bytes)), h.what + times(h.count)});
      else rest += h.bytes;
    }
    if (all.size() > shown) t.add({right(bytes(rest)), "in " + std::to_string(all.size() - shown) + " smaller groups"});
    text_ += t.text();
  }

  std::string doing(node const& n) const {
    std::string const what = n.kind == primitive::composite  ? label(name_of(n))
                             : n.kind == primitive::argument ? "carry"
                                                             : text_of(n);
    return what + ", " + origin(n);
  }
  /// The operation that computes a value; for a result of a loop or kernel, the node inside it.
  std::string maker(value_id v) const {
    node const* n = &m_.nodes[m_.values[v].node];
    while (n->kind == primitive::repeat || n->kind == primitive::kernel) {
      v = m_.link(m_.regions[m_.region_of(*n, 0)].results, m_.values[v].index);
      n = &m_.nodes[m_.values[v].node];
    }
    return doing(*n);
  }

  static constexpr std::size_t shown = 16;
  plan const& p_;
  mesh_shape const& mesh_;
  std::string text_;
  bool is_uneven_ = false;
};

}  // namespace detail

/// The plan of one rank as text: the mesh; every parameter with its layout and bytes; each collective with its axes,
/// how often it runs in a step, the bytes that a rank receives by it and the user's line that caused it, the costliest
/// first; operations; memory, and the values in it when it is fullest. Nothing runs, and no memory of the plan's size
/// is needed.
template <class = lazy>
std::string report(module const& graph, plan const& planned, mesh_shape const& mesh) {
  return detail::reporter(graph, planned, mesh).text();
}

#if MESHTENSOR_COMPILED
extern template std::string report<lazy>(module const&, plan const&, mesh_shape const&);
#endif

}  // namespace meshtensor
