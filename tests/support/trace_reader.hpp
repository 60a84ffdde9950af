// SPDX-License-Identifier: Apache-2.0
// Reads a trace in Chrome's format and checks what a viewer relies on: bars that lie in each other or apart, arrows
// that begin and end in bars of different ranks, and a name for each row.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/json.hpp"

namespace meshtensor_test {

struct trace_event {
  std::string phase, name, category, binding, argument_name, from;
  long process = -1, thread = -1, id = -1;
  std::int64_t begin = -1, duration = -1;  // nanoseconds
  std::int64_t end() const { return begin + duration; }
};

/// All events of a trace. What is no JSON, or has other members, is an exception. `warning` gets that of the trace.
inline std::vector<trace_event> events_of(std::string const& text, std::string* warning = nullptr) {
  namespace io = meshtensor::io;
  std::string const what = "the trace";
  io::json_reader in(text, "T00", what);
  std::vector<trace_event> all;
  auto const nanoseconds = [&] { return std::llround(in.real() * 1000); };
  auto const arguments = [&](trace_event& e) {
    in.object([&](std::string const& name) {
      if (name == "sort_index") in.count();
      else if (name == "name") e.argument_name = in.string();
      else if (name == "from") e.from = in.string();
      else if (name == "result" || name == "operations") CHECK(!in.string().empty());
      else in.refuse("an unknown argument " + name);
    });
  };
  in.object([&](std::string const& member) {
    if (member == "displayTimeUnit") {
      CHECK(in.string() == "ms");
      return;
    }
    if (member == "otherData" && warning != nullptr) {
      in.object([&](std::string const& name) {
        CHECK(name == "warning");
        *warning = in.string();
      });
      return;
    }
    CHECK(member == "traceEvents");
    in.array([&] {
      trace_event e;
      in.object([&](std::string const& name) {
        if (name == "ph") e.phase = in.string();
        else if (name == "name") e.name = in.string();
        else if (name == "cat") e.category = in.string();
        else if (name == "bp") e.binding = in.string();
        else if (name == "pid") e.process = static_cast<long>(in.count());
        else if (name == "tid") e.thread = static_cast<long>(in.count());
        else if (name == "id") e.id = static_cast<long>(in.count());
        else if (name == "ts") e.begin = nanoseconds();
        else if (name == "dur") e.duration = nanoseconds();
        else if (name == "args") arguments(e);
        else in.refuse("an unknown member " + name);
      });
      all.push_back(e);
    });
  });
  in.end();
  return all;
}

struct checked_trace {
  std::map<long, std::vector<trace_event>> bars;  // by rank
  std::map<long, std::string> names;              // of ranks
  std::map<long, long> process;                   // by rank
  std::map<long, std::string> process_names;      // by number
  std::vector<std::pair<trace_event, trace_event>> arrows;
  std::string warning;  // that it does not have all steps
};

inline checked_trace checked(std::string const& text) {
  checked_trace t;
  std::map<long, trace_event> begins, ends;
  for (trace_event const& e : events_of(text, &t.warning)) {
    CHECK(e.process >= 1);
    CHECK(e.thread >= 1);
    long const rank = e.thread - 1;
    if (e.phase == "X") {
      CHECK(e.begin >= 0);
      CHECK(e.duration >= 0);
      CHECK(!e.name.empty());
      t.bars[rank].push_back(e);
      CHECK(t.process.try_emplace(rank, e.process).first->second == e.process);
    } else if (e.phase == "M") {
      if (e.name == "thread_name") CHECK(t.names.emplace(rank, e.argument_name).second);
      if (e.name == "process_name") CHECK(t.process_names.emplace(e.process, e.argument_name).second);
    } else if (e.phase == "s") {
      CHECK(begins.emplace(e.id, e).second);
    } else {
      CHECK(e.phase == "f");
      CHECK(e.binding == "e");
      CHECK(ends.emplace(e.id, e).second);
    }
  }
  for (auto& [rank, bars] : t.bars) {
    CHECK(t.names.contains(rank));
    CHECK(t.process_names.contains(t.process[rank]));
    std::vector<trace_event> sorted = bars;
    std::ranges::sort(sorted, [](auto const& a, auto const& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.duration > b.duration;
    });
    std::vector<std::int64_t> open;  // the ends of the bars around
    for (trace_event const& e : sorted) {
      while (!open.empty() && open.back() <= e.begin) open.pop_back();
      if (!open.empty() && e.end() > open.back()) FAIL_CHECK("bars of rank " << rank << " overlap: " << e.name);
      open.push_back(e.end());
    }
  }
  CHECK(begins.size() == ends.size());
  auto const bar_around = [&](trace_event const& e) {
    auto const& bars = t.bars[e.thread - 1];
    auto const found = std::ranges::find_if(bars, [&](trace_event const& b) {
      return b.process == e.process && b.begin <= e.begin && e.begin <= b.end() &&
             (b.category == "wait" || b.category == e.name);
    });
    REQUIRE(found != bars.end());
    return *found;
  };
  for (auto const& [id, begin] : begins) {
    REQUIRE(ends.contains(id));
    trace_event const& end = ends.at(id);
    CHECK(begin.thread != end.thread);
    CHECK(begin.name == end.name);
    CHECK(begin.category == end.category);
    CHECK(bar_around(end).end() >= bar_around(begin).begin);  // nobody waits for what came later; on one machine
    t.arrows.emplace_back(begin, end);
  }
  return t;
}

}  // namespace meshtensor_test
