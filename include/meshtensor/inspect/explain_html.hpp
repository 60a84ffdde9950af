// SPDX-License-Identifier: Apache-2.0
// Writes the plans of executables as one page for a browser.
#pragma once

#include <string>

#include "meshtensor/emit/page.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/trace_events.hpp"

namespace meshtensor {

/// An executable or a draft on a page, with a title and the rates of the machine that is to run it.
template <class Planned>
plan_on_page on_page(std::string title, Planned const& step, page_rates machine = {}) {
  return {std::move(title), step.graph(), step.planned(), step.bound_mesh(), std::move(machine)};
}

/// Writes the plan of an executable as a page that needs no other file. The page shows which rank holds which elements,
/// memory during a step, collectives with the user's lines, and the longest chain of operations. The process that
/// prints for the job writes it. Returns whether it was written, because a failure is only a warning.
///
///     mt::explain_html(step, "plan.html");
///     mt::explain_html(job, "both.html", {mt::on_page("data", by_data), mt::on_page("model", by_model)});
///
/// errors  warnings: R17 the file cannot be written
inline bool explain_html(job const& j, std::string const& path, std::vector<plan_on_page> const& plans) {
  return detail::write_once(j.get(), page(plans), path);
}
template <class... Args>
bool explain_html(executable<Args...> const& step, std::string const& path) {
  return detail::write_once(
      step.runner(), page({on_page(std::string(entry_name<typename executable<Args...>::entry>().text()), step)}),
      path);
}

}  // namespace meshtensor
