// SPDX-License-Identifier: Apache-2.0
// Registers the tools that environment variables request, at each executable of a program:
//
//   MESHTENSOR_EXPLAIN=plan        prints the plan (`pictures` and `instructions` print other views of it)
//   MESHTENSOR_EXPLAIN=plan.html   writes the plan as a page for a browser, as `html` does
//   MESHTENSOR_PICTURE=plan.svg    draws which rank holds which elements
//   MESHTENSOR_PROFILE=1           prints where the steps spent their time, when the executable is destroyed
//   MESHTENSOR_TRACE=steps.json    writes the timeline of the steps, for Perfetto or chrome://tracing
//
// Profile and timeline leave out the first step, because it warms up, if there is another one.
//
// All text goes to standard error. The second executable writes to plan-2.svg, and so on. meshtensor::compiled contains
// this header. If a program uses only headers, one of its files includes it.
#pragma once

#include <map>
#include <mutex>
#include <string_view>
#include <typeindex>
#include <utility>

#include "meshtensor/emit/page.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/measured_rates.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/inspect/trace_events.hpp"
#include "meshtensor/run/environment_tools.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

inline void tell(job_runner const& j, std::string const& text) {
  if (j.is_root()) std::fwrite(text.data(), 1, text.size(), stderr);
}
/// Returns `plan.svg` for the first executable, and `plan-2.svg` for the second.
inline std::string path_number(std::string_view path, int number) {
  if (number == 1) return std::string(path);
  std::size_t const dot = path.rfind('.');
  bool const has_dot = dot != path.npos && path.find('/', dot) == path.npos;
  std::string_view const stem = path.substr(0, has_dot ? dot : path.size());
  return std::string(stem) + "-" + std::to_string(number) + std::string(path.substr(stem.size()));
}

/// The rates of the machine, which are measured once for equal executables, for example for the buckets of a
/// translator. The network between processes is not measured, because other processes may not have the variable, and
/// this process would wait for them.
inline page_rates rates_of_machine(step_under_tools& step) {
  static std::mutex one_at_a_time;
  static std::map<std::pair<std::type_index, std::int64_t>, page_rates> known;
  std::lock_guard const lock(one_at_a_time);
  auto const [at, is_new] = known.try_emplace({typeid(step), step.mesh().size()});
  if (is_new && step.runner().processes() == nullptr)
    at->second = rates_of_job(step.runner(), step.mesh(), step.best_rates());
  else if (is_new) at->second = {step.best_rates(), {}, "measured"};
  return at->second;
}
/// Writes the page of an executable, and says where it is.
inline void write_page(step_under_tools& step, std::string const& path) {
  job_runner& j = step.runner();
  if (!j.is_root()) return;
  auto const& m = step.graph();
  int entry = 0;
  while (m.regions[entry].kind != region_kind::entry || m.regions[entry].removed) ++entry;
  std::string const title = speller(m).label(m.regions[entry].label);
  if (write_once(j, page({{title, m, step.planned(), step.mesh(), rates_of_machine(step)}}), path))
    tell(j, "the plan of " + title + " is in " + path + "\n");
}

inline void begin_tools(step_under_tools& step) {
  job_runner& j = step.runner();
  if (std::string_view const what = asked_by("MESHTENSOR_EXPLAIN"); !what.empty()) {
    if (what == "plan" || what == "1") tell(j, report(step.graph(), step.planned(), step.mesh()));
    else if (what == "pictures") tell(j, pictures(step.graph(), step.planned(), step.mesh()));
    else if (what == "instructions") tell(j, text_of_instructions(step.graph(), step.planned()));
    else if (static std::atomic<int> pages = 0; what == "html" || what.ends_with(".html"))
      write_page(step, path_number(what == "html" ? "plan.html" : what, ++pages));
    else
      warn(j, "R86: MESHTENSOR_EXPLAIN or --explain has '" + std::string(what) +
                  "': it prints plan, pictures or instructions, or writes FILE.html");
  }
  static std::atomic<int> drawn = 0;
  if (std::string_view const path = asked_by("MESHTENSOR_PICTURE"); !path.empty())
    write_once(j, meshtensor::drawing(step.graph(), step.planned(), step.mesh()), path_number(path, ++drawn));
  if (!asked_by("MESHTENSOR_PROFILE").empty() || !asked_by("MESHTENSOR_TRACE").empty()) try {
      step.record();
    } catch (error const& e) { warn(j, std::string("R86: ") + e.what()); }
}

inline void end_tools(step_under_tools& step) {
  job_runner& j = step.runner();
  std::vector<timeline const*> held;
  step.each_recorded([&](timeline const& t) { held.push_back(&t); });
  if (held.empty() || held[0]->steps() == 0) return;
  if (!asked_by("MESHTENSOR_PROFILE").empty())
    tell(j, profile(step.graph(), step.planned().numbers, *held[0], step.best_rates()));
  static std::atomic<int> written = 0;
  if (std::string_view const path = asked_by("MESHTENSOR_TRACE"); !path.empty())
    write_recorded(j, step.graph(), step.planned(), step.mesh(), j.held(static_cast<int>(step.mesh().size())), held,
                   path_number(path, ++written));
}

inline constexpr environment_tools all_tools{begin_tools, end_tools};
inline bool const tools_are_registered = [] { return registered_tools = &all_tools, true; }();

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
