// SPDX-License-Identifier: Apache-2.0
// Prints where the time of a step went: a table of the slowest operations, with the rate that each reached.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/emit/table.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/run/executable.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

namespace detail {

/// Describes a node in a few words.
class node_words : public speller {
 public:
  using speller::speller;

  std::string doing(node const& n) const {
    if (n.kind == primitive::kernel) return "kernel " + steps_of(n);
    if (n.kind == primitive::wait) return "wait for " + std::string(text_of(awaited(m_, n).kind));
    std::string const result = n.results.count == 0 ? "" : " " + type(m_.result(n));
    return (n.kind == primitive::composite ? label(name_of(n)) : std::string(text_of(n))) + result;
  }

 private:
  /// The operations of a kernel, in order: `multiply, add, sum`.
  std::string steps_of(node const& n) const {
    std::string all;
    int count = 0;
    for (int i = 0; i < m_.node_count; ++i) {
      if (m_.nodes[i].region != m_.region_of(n, 0) || !is_computed(m_.nodes[i].kind)) continue;
      fusion_role const role = declared(m_, m_.nodes[i]).fusion;
      if (role == fusion_role::broadcast || role == fusion_role::number) continue;
      if (++count <= steps_shown) all += (count == 1 ? "" : ", ") + std::string(text_of(m_.nodes[i]));
    }
    if (count > steps_shown) all += ", … " + std::to_string(count) + " in all";
    return all + ": " + type(m_.result(n));
  }
  static constexpr int steps_shown = 6;
};

class profiler : node_words {
 public:
  profiler(module const& m, binding const& numbers, timeline const& t, rates best)
      : node_words(m),
        numbers_(numbers),
        t_(t),
        best_(best),
        steps_(static_cast<double>(std::max<std::int64_t>(1, t.steps()))) {}

  std::string text() {
    double const step = static_cast<double>(t_.step_time()) / steps_;
    std::vector<line> lines = gather();
    double known = 0;
    for (line const& l : lines) known += l.time;
    std::sort(lines.begin(), lines.end(), [](line const& a, line const& b) { return a.time > b.time; });
    std::string all = "profile: " + milliseconds(step) + " ms a step, mean of " + std::to_string(t_.steps()) +
                      " steps on one processor";
    if (best_.flops > 0)
      all += "; at best " + rounded(static_cast<std::int64_t>(best_.flops)) + "flop/s in products, " +
             rounded(static_cast<std::int64_t>(best_.bytes)) + "B/s from and to memory";
    table t;
    t.add({"     ms", " share", " calls", "  rate", " of best", "what", "where"});
    double rest = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      line const& l = lines[i];
      if (i < shown)
        t.add({" " + milliseconds(l.time), " " + percent(l.time / step),
               " " + std::to_string(l.calls / std::max<std::int64_t>(1, t_.steps())), " " + rate(l),
               " " + share_of_best(l), l.what, l.where});
      else rest += l.time;
    }
    if (lines.size() > shown)
      t.add({" " + milliseconds(rest), " " + percent(rest / step), "", "", "",
             std::to_string(lines.size() - shown) + " smaller lines", ""});
    t.add({" " + milliseconds(step - known), " " + percent((step - known) / step), "", "", "", "between nodes", ""});
    return all + "\n" + t.text();
  }

 private:
  struct line {
    std::string what, where;
    double time = 0, flops = 0, bytes = 0;  // for one step; times in nanoseconds
    std::int64_t calls = 0;
    bool product = false;
  };

  std::vector<line> gather() {
    std::vector<line> all;
    for (int i = 0; i < m_.node_count; ++i) {
      timeline::total const& t = t_.totals()[static_cast<std::size_t>(i)];
      if (t.calls == 0 || t.own == 0) continue;
      node const& n = m_.nodes[i];
      line l{doing(n), origin(n)};
      auto same =
          std::find_if(all.begin(), all.end(), [&](line const& o) { return o.what == l.what && o.where == l.where; });
      if (same == all.end()) same = all.insert(all.end(), l);
      double const calls = static_cast<double>(t.calls) / steps_;
      same->calls += t.calls, same->time += static_cast<double>(t.own) / steps_;
      // A product with its epilogue has the rate of the product.
      epilogue_form const joined = epilogue_form_of(m_, n);
      node const& works = joined.found ? m_.nodes[joined.product] : n;
      same->product = declared(m_, works).work == work_kind::product;
      same->flops += calls * static_cast<double>(flops_of(m_, numbers_, works));
      same->bytes += calls * bytes_of_node(n);
    }
    return all;
  }
  /// The bytes that a node must at least read and write; for a collective, those that a processor receives.
  double bytes_of_node(node const& n) const {
    if (is_collective(n.kind)) return static_cast<double>(exchange_of(m_, numbers_, n).bytes);
    if (n.regions.count != 0 && n.kind != primitive::kernel) return 0;
    return static_cast<double>(bytes_touched(m_, numbers_, n));
  }

  static std::string milliseconds(double nanoseconds) { return fixed(nanoseconds * 1e-6, 2); }
  static std::string percent(double share) { return fixed(share * 100, 1) + " %"; }
  static std::string fixed(double x, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, x);
    return buffer;
  }
  static std::string rate(line const& l) {
    double const amount = l.product ? l.flops : l.bytes;
    if (amount == 0 || l.time == 0) return "";
    return rounded(static_cast<std::int64_t>(amount / (l.time * 1e-9))) + (l.product ? "flop/s" : "B/s");
  }
  std::string share_of_best(line const& l) const {
    double const best = l.product ? best_.flops : best_.bytes, amount = l.product ? l.flops : l.bytes;
    if (best == 0 || amount == 0 || l.time == 0) return "";
    return percent(amount / (l.time * 1e-9) / best);
  }

  static constexpr std::size_t shown = 40;
  binding const& numbers_;
  timeline const& t_;
  rates best_;
  double steps_;
};

}  // namespace detail

/// Mean seconds of a recorded step in which a processor only communicated: it started collectives or waited for them.
inline double exposed_communication(module const& graph, timeline const& recorded) {
  std::int64_t sum = 0;
  for (int i = 0; i < graph.node_count; ++i)
    if (is_collective(graph.nodes[i].kind) || graph.nodes[i].kind == primitive::wait)
      sum += recorded.totals()[static_cast<std::size_t>(i)].own;
  return static_cast<double>(sum) * 1e-9 / static_cast<double>(std::max<std::int64_t>(1, recorded.steps()));
}

/// Where one processor's recorded steps spent their time, the slowest operations first: matrix products with flop/s,
/// other operations with the bytes that they must read and write, collectives with the bytes received. Each has its
/// share of the device's peak rate.
template <class = lazy>
std::string profile(module const& graph, binding const& numbers, timeline const& recorded, rates best = {}) {
  return detail::profiler(graph, numbers, recorded, best).text();
}

/// The same for an executable that records, for the first processor that this process holds: `step.record();` some
/// steps, then `mt::print(job, "{}", mt::profile(step));`. Measuring the device's peak rates takes a tenth of a second.
///
/// errors  R16 it does not record
template <class... Args>
std::string profile(executable<Args...> const& e) {
  auto const recorded = e.recorded();
  if (recorded.empty() || recorded[0]->steps() == 0)
    throw error("R16", "nothing was recorded: call record() on the executable, then run some steps");
  return profile(e.graph(), e.planned().numbers, *recorded[0], e.best_rates());
}

#if MESHTENSOR_COMPILED
extern template std::string profile<lazy>(module const&, binding const&, timeline const&, rates);
#endif

}  // namespace meshtensor
