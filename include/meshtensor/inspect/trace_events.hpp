// SPDX-License-Identifier: Apache-2.0
// Writes the recorded steps of all ranks on one time axis, in the format of chrome://tracing and Perfetto.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "meshtensor/base/json_text.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/job/agree.hpp"

namespace meshtensor {

namespace detail {

/// Concatenates the numbers of all processes on every process. Collective: each brings the same number of them.
inline std::vector<double> all_numbers(job_runner& j, std::vector<double> const& mine) {
  std::vector<double> everything(mine.size() * static_cast<std::size_t>(std::max(1, j.size())));
  on_all_ranks(j, collective::all_gather, f64, std::ssize(mine), "recorded times")(mine.data(), everything.data());
  return everything;
}

/// The spans of all ranks: rank, node, begin and end, in nanoseconds since the ranks met.
template <class = lazy>
std::vector<double> spans_of_all(job_runner& j, std::vector<int> const& ranks,
                                 std::vector<timeline const*> const& held) {
  agreement greatest(j);
  greatest(0);  // a barrier: clocks differ between machines, so all times count from here
  auto const met = static_cast<double>(timeline::now());
  std::vector<double> mine;
  for (std::size_t k = 0; k < held.size(); ++k)
    for (timeline::span const& s : held[k]->spans())
      for (double x : {static_cast<double>(ranks[k]), static_cast<double>(s.node), static_cast<double>(s.begin) - met,
                       static_cast<double>(s.end) - met})
        mine.push_back(x);
  mine.resize(static_cast<std::size_t>(greatest(static_cast<double>(mine.size()))), -1);  // rank -1: padding
  return all_numbers(j, mine);
}

/// Spans as four numbers each: rank, node, begin, end.
template <class = lazy>
std::string text_of_spans(module const& graph, std::vector<double> const& all) {
  double first = 0;
  for (std::size_t i = 0; i < all.size(); i += 4)
    if (all[i] >= 0 && all[i + 2] < first) first = all[i + 2];
  node_words const words(graph);
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [";
  char numbers[160];
  for (std::size_t i = 0; i < all.size(); i += 4) {
    if (all[i] < 0) continue;
    node const& n = graph.nodes[static_cast<int>(all[i + 1])];
    std::snprintf(numbers, sizeof numbers, "\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f",
                  static_cast<int>(all[i]), (all[i + 2] - first) * 1e-3, (all[i + 3] - all[i + 2]) * 1e-3);
    text += std::string(i == 0 ? "\n" : ",\n") + "{\"name\": " + json_text(words.named(n).text()) +
            ", \"cat\": " + json_text(text_of(n.kind)) + ", " + numbers +
            ", \"args\": {\"from\": " + json_text(words.origin(n)) + "}}";
  }
  return text + "\n]}\n";
}

/// Writes a text to the file `path`, on the process that prints for the job alone. Returns whether it was written.
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

#if MESHTENSOR_COMPILED
extern template bool write_once<lazy>(job_runner&, std::string const&, std::string const&);
extern template std::vector<double> spans_of_all<lazy>(job_runner&, std::vector<int> const&,
                                                       std::vector<timeline const*> const&);
extern template std::string text_of_spans<lazy>(module const&, std::vector<double> const&);
#endif

}  // namespace detail

/// The recorded steps as JSON text, the same on every process; all processes must call this. Each rank has a line, with
/// a bar for every node and the user's line that it comes from. Time counts from the first bar.
///
/// errors  R16 nothing was recorded
template <class... Args>
std::string trace_events(executable<Args...> const& e) {
  auto const held = e.recorded();
  if (held.empty() || held[0]->steps() == 0)
    throw error("R16", "nothing was recorded: call record() on the executable, then run some steps");
  return detail::text_of_spans(e.graph(), detail::spans_of_all(e.runner(), e.ranks(), held));
}

/// Writes the same to a file, on the process that prints for the job. Returns whether it was written: a failure is a
/// warning, for the training should go on.
///
/// errors  R16 nothing was recorded. Warnings: R17 the file cannot be written
template <class... Args>
bool write_trace(executable<Args...> const& e, std::string const& path) {
  return detail::write_once(e.runner(), trace_events(e), path);
}

}  // namespace meshtensor
