// SPDX-License-Identifier: Apache-2.0
// Writes the recorded steps of all ranks on one time axis, in the format of chrome://tracing and Perfetto.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "meshtensor/base/json_text.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/inspect/trace_of_job.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

namespace detail {

/// Writes a trace as events of Chrome's format. A process of the trace is a process of the job, counted from 1. A
/// thread is a rank, with the number rank + 1.
class trace_writer {
 public:
  trace_writer(module const& m, plan const& p, mesh_shape const& mesh, trace_of_job const& trace)
      : m_(m), p_(p), mesh_(mesh), trace_(trace), words_(m) {}

  std::string text() {
    text_ = "{\"displayTimeUnit\": \"ms\", ";
    if (!trace_.end.empty()) text_ += "\"otherData\": {\"warning\": " + json_text("this trace " + trace_.end) + "}, ";
    text_ += "\"traceEvents\": [";
    for (std::size_t k = 0; k < trace_.processes.size(); ++k) name_process(k);
    for (trace_bar const& b : trace_.bars) {
      node const& n = m_.nodes[b.node];
      std::string const operations = words_.operations_of(n);
      event("X", b.rank, b.begin,
            "\"dur\": " + microseconds(b.end - b.begin) + ", \"name\": " + json_text(words_.named(n).text()) +
                ", \"cat\": " + json_text(text_of(n.kind)) + ", \"args\": {\"from\": " + json_text(words_.origin(n)) +
                (n.results.count == 0 ? "" : ", \"result\": " + json_text(words_.type(m_.result(n)))) +
                (operations.empty() ? "" : ", \"operations\": " + json_text(operations)) + "}");
    }
    std::size_t number = 0;
    for (trace_arrow const& a : arrows_of_trace(m_, p_, mesh_, trace_.bars).all()) {
      std::string const rest = "\"id\": " + std::to_string(++number) +
                               ", \"cat\": \"waits\", \"name\": " + json_text(text_of(m_.nodes[a.from.node].kind));
      event("s", a.from.rank, a.from.middle(), rest);
      event("f", a.to.rank, a.to.middle(), "\"bp\": \"e\", " + rest);  // e means that it ends in the bar at that time
    }
    return text_ + "\n]}\n";
  }

 private:
  void name_process(std::size_t k) {
    trace_of_job::process const& p = trace_.processes[k];
    if (p.ranks.empty()) return;
    event("M", p.ranks[0], -1,
          "\"name\": \"process_name\", \"args\": {\"name\": " +
              json_text(p.host + ", process " + std::to_string(p.number)) + "}");
    event("M", p.ranks[0], -1,
          "\"name\": \"process_sort_index\", \"args\": {\"sort_index\": " + std::to_string(p.ranks[0]) + "}");
    for (int const rank : p.ranks) {
      if (trace_.in_lockstep && rank != p.ranks[0]) break;
      event("M", rank, -1, "\"name\": \"thread_name\", \"args\": {\"name\": " + json_text(name_of_rank(rank)) + "}");
      event("M", rank, -1, "\"name\": \"thread_sort_index\", \"args\": {\"sort_index\": " + std::to_string(rank) + "}");
    }
  }
  /// For example, `rank 3 · data 1, model 1`.
  std::string name_of_rank(int rank) const {
    if (trace_.in_lockstep) return "ranks 0 to " + std::to_string(mesh_.size() - 1) + " in lockstep";
    std::string all = "rank " + std::to_string(rank);
    for (int a = 0; a < mesh_.count; ++a)
      all += (a == 0 ? " · " : ", ") + mesh_.axes[a].label.text() + " " + std::to_string(mesh_.coordinate(rank, a));
    return all;
  }
  void event(char const* phase, int rank, double nanoseconds, std::string const& rest) {
    text_ += std::string(is_first_ ? "\n" : ",\n") + "{\"ph\": \"" + phase +
             "\", \"pid\": " + std::to_string(trace_.process_of(rank) + 1) + ", \"tid\": " + std::to_string(rank + 1) +
             (nanoseconds < 0 ? "" : ", \"ts\": " + microseconds(nanoseconds)) + ", " + rest + "}";
    is_first_ = false;
  }
  static std::string microseconds(double nanoseconds) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.3f", nanoseconds * 1e-3);
    return buffer;
  }

  meshtensor::module const& m_;
  plan const& p_;
  mesh_shape const& mesh_;
  trace_of_job const& trace_;
  node_words words_;
  std::string text_;
  bool is_first_ = true;
};

template <class = lazy>
std::string text_of_trace(module const& graph, plan const& planned, mesh_shape const& mesh, trace_of_job const& trace) {
  return trace_writer(graph, planned, mesh, trace).text();
}

/// Writes a text to the file `path`, only on the process that prints for the job. Returns false if it cannot be
/// written.
template <class = lazy>
bool write_once(job_runner& j, std::string const& text, std::string const& path) {
  if (!j.is_root()) return true;
  std::FILE* const file = std::fopen(path.c_str(), "w");
  bool good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  good = file != nullptr && std::fclose(file) == 0 && good;
  if (!good)
    warn(j, "R17: '" + path + "' cannot be written, " + std::strerror(errno) +
                ": name a file in a folder that exists and has room");
  return good;
}

/// Writes the steps that were recorded on `ranks` to the file `path`, and warns if it does not have all of them. All
/// processes call this.
template <class = lazy>
bool write_recorded(job_runner& j, module const& graph, plan const& planned, mesh_shape const& mesh,
                    std::vector<int> const& ranks, std::vector<timeline const*> const& held, std::string const& path) {
  trace_of_job const trace = trace_of_all(j, ranks, held);
  bool const good = write_once(j, text_of_trace(graph, planned, mesh, trace), path);
  if (good && !trace.end.empty()) warn(j, "R98: the trace '" + path + "' " + trace.end);
  return good;
}

#if MESHTENSOR_COMPILED
extern template bool write_once<lazy>(job_runner&, std::string const&, std::string const&);
extern template std::string text_of_trace<lazy>(module const&, plan const&, mesh_shape const&, trace_of_job const&);
extern template bool write_recorded<lazy>(job_runner&, module const&, plan const&, mesh_shape const&,
                                          std::vector<int> const&, std::vector<timeline const*> const&,
                                          std::string const&);
#endif

/// errors  R16 nothing was recorded
template <class... Args>
std::vector<timeline const*> recorded_of(executable<Args...> const& e) {
  auto const held = e.recorded();
  if (held.empty() || held[0]->steps() == 0)
    throw error("R16", "nothing was recorded: call record() on the executable, then run some steps");
  return held;
}

}  // namespace detail

/// The recorded steps as JSON text, which is the same on every process. All processes must call this. Each rank has a
/// row with its host and its coordinates on the mesh, and a bar for every node, with the user's line from which it
/// comes. For each collective and message, an arrow leads from the rank that came last to each rank that waited for it.
/// Time counts from the first bar. A trace has at most 1,048,576 bars of each rank. If a rank has run more nodes, then
/// the member `otherData` says in which step the trace ends.
///
/// errors  R16 nothing was recorded
template <class... Args>
std::string trace_events(executable<Args...> const& e) {
  return detail::text_of_trace(e.graph(), e.planned(), e.bound_mesh(),
                               detail::trace_of_all(e.runner(), e.ranks(), detail::recorded_of(e)));
}

/// Writes the same text to a file, on the process that prints for the job. Returns whether it was written. A failure is
/// only a warning, because the training should go on.
///
/// errors  R16 nothing was recorded. Warnings: R17 the file cannot be written; R98 it ends before the last step
template <class... Args>
bool write_trace(executable<Args...> const& e, std::string const& path) {
  return detail::write_recorded(e.runner(), e.graph(), e.planned(), e.bound_mesh(), e.ranks(), detail::recorded_of(e),
                                path);
}

}  // namespace meshtensor
