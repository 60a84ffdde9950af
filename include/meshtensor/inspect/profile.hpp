// SPDX-License-Identifier: Apache-2.0
// Prints where the time of a step went, as a table of the slowest operations with the rate that each reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/emit/table.hpp"
#include "meshtensor/inspect/exposed_communication.hpp"
#include "meshtensor/inspect/profile/profile_line.hpp"
#include "meshtensor/inspect/profile/profile_measurer.hpp"
#include "meshtensor/run/executable.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

namespace detail {

class profiler : profile_measurer {
 public:
  profiler(module const& m, binding const& numbers, timeline const& t, rates best)
      : profile_measurer(m, numbers, t, best), lines_(gather()) {}

  std::string text() {
    double const step = static_cast<double>(t_.step_time()) / steps_;
    double known = 0, rest = 0;
    for (profile_line const& l : lines_) known += l.time;
    std::ranges::sort(lines_, std::ranges::greater(), &profile_line::time);
    std::string const head = heading(step);  // before the table, because it finds the best rates
    std::vector<std::vector<std::string>> rows{{"     ms", " share", " calls", "  rate", " of best"}};
    auto const add = [&](double time, std::string const& calls = "", std::string const& rate = "",
                         std::string const& share = "") {
      rows.push_back({" " + milliseconds(time), " " + percent(time / step), " " + calls, " " + rate, " " + share});
    };
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      profile_line const& l = lines_[i];
      if (i < shown)
        add(l.time, std::to_string(l.calls / std::max<std::int64_t>(1, t_.steps())), rate(l), share_of_best(l));
      else rest += l.time;
    }
    if (lines_.size() > shown) add(rest);
    add(step - known);
    add_words(rows);
    table t;
    for (auto const& row : rows) t.add(row);
    return head + t.text();
  }

 private:
  /// Adds the columns of words to those of numbers, so that a row has at most 120 columns.
  void add_words(std::vector<std::vector<std::string>>& rows) const {
    std::size_t room = columns - 1, what = 0, line = 0;
    for (auto& row : rows)
      if (!has_best()) row.pop_back();
    for (std::size_t c = 0; c < rows[0].size(); ++c) {
      std::size_t widest = 0;
      for (auto const& row : rows) widest = std::max(widest, characters_of(row[c]));
      room -= std::min(room, widest + 2);  // a blank on both sides
    }
    std::size_t const count = std::min(shown, lines_.size());
    for (std::size_t i = 0; i < count; ++i) {
      what = std::max(what, characters_of(lines_[i].text(std::string::npos)));
      line = std::max(line, characters_of(lines_[i].line));
    }
    line = std::min<std::size_t>(line, 24);
    what = std::min(what, room - std::min(room, line + 4));
    std::size_t const type = room - std::min(room, what + line + 6);
    rows[0].insert(rows[0].end(), {"what", "line"});
    if (type >= narrowest_type) rows[0].push_back("result");
    for (std::size_t i = 0; i < count; ++i) {
      profile_line const& l = lines_[i];
      rows[i + 1].insert(rows[i + 1].end(), {l.text(what), shortened(l.line, line)});
      if (type >= narrowest_type) rows[i + 1].push_back(shortened(l.type, type));
    }
    if (lines_.size() > shown) rows[count + 1].push_back(std::to_string(lines_.size() - shown) + " smaller lines");
    rows.back().push_back("between nodes");
  }

  /// Explains the numbers, and with which rate `of best` compares: the greatest rate known, so that no share is above
  /// it.
  std::string heading(double step) {
    std::string all = "profile: " + milliseconds(step) + " ms a step, mean of " + std::to_string(t_.steps()) +
                      (t_.steps() == 1 ? " step" : " steps") + " on one rank";
    if (t_.forgotten() == 1) all += "; the first step is left out, because it warms up";
    if (t_.forgotten() > 1)
      all += "; the first " + std::to_string(t_.forgotten()) + " steps are left out: they warm up";
    if (t_.is_warm_up()) all += "; it is the first one, which also warms up: run more steps";
    all += "\n";
    if (!has_best()) return all;
    all +=
        "best: " + best_of("flop/s in f32 products", best_.flops, &profile_line::flops, &profile_line::is_f32_product);
    if (best_.bytes > 0)
      all +=
          ", " + best_of("B/s from and to memory", best_.bytes, &profile_line::bytes, &profile_line::is_beyond_caches);
    if (best_.bytes > 0 && best_.cache > 0)
      all += ";\n      no share for other products, and where the " +
             bytes_text(static_cast<std::int64_t>(best_.cache)) + " of the caches may hold the data";
    return all + "\n";
  }
  std::string best_of(char const* unit, double& best, double profile_line::* amount,
                      bool profile_line::* compares) const {
    double const measured = best;
    for (profile_line const& l : lines_)
      if (l.*compares && l.time > 0) best = std::max(best, l.*amount / (l.time * 1e-9));
    return rounded(static_cast<std::int64_t>(best)) + unit +
           (best > measured ? " (in a step; a loop: " + rounded(static_cast<std::int64_t>(measured)) + ")" : "");
  }

  bool has_best() const { return best_.flops > 0; }
  static std::string milliseconds(double nanoseconds) { return fixed(nanoseconds * 1e-6, 2); }
  static std::string percent(double share) { return fixed(share * 100, 1) + " %"; }
  static std::string fixed(double x, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, x);
    return buffer;
  }
  /// The operations a second of a product, or the bytes a second of another node. A collective goes on while other
  /// nodes run, so it has no rate, and this is the number of its bytes.
  static std::string rate(profile_line const& l) {
    double const amount = l.flops > 0 ? l.flops : l.bytes;
    if (amount == 0 || l.time == 0) return "";
    if (l.is_collective) return bytes_text(static_cast<std::int64_t>(amount));
    return rounded(static_cast<std::int64_t>(amount / (l.time * 1e-9))) + (l.flops > 0 ? "flop/s" : "B/s");
  }
  std::string share_of_best(profile_line const& l) const {
    if (l.is_collective || l.time == 0) return "";
    double const best = l.flops > 0 ? (l.is_f32_product ? best_.flops : 0) : l.is_beyond_caches ? best_.bytes : 0;
    return best == 0 ? "" : percent((l.flops > 0 ? l.flops : l.bytes) / (l.time * 1e-9) / best);
  }

  static constexpr std::size_t shown = 40, columns = 120, narrowest_type = 10;
  std::vector<profile_line> lines_;
};

}  // namespace detail

/// line names the operation, its scope, and whether it belongs to the forward pass, the backward pass or the optimizer.
/// For example, a line reads `gelu of decoder/mlp, backward`. Layers whose scopes differ only in numbers share a line.
/// Matrix products have their flop/s, other operations the bytes a second that they must read and write, and
/// collectives the bytes received. Only some lines compare with the best rate, namely f32 products, and operations on
/// more data than caches hold.
template <class = lazy>
std::string profile(module const& graph, binding const& numbers, timeline const& recorded, rates best = {}) {
  return detail::profiler(graph, numbers, recorded, best).text();
}

/// Profiles an executable that records, for the first rank that this process holds: call `step.record();`, run some
/// steps, and then `mt::print(job, "{}", mt::profile(step));`. Measuring the device's peak rates takes a tenth of a
/// second.
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
