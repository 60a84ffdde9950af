// SPDX-License-Identifier: Apache-2.0
// Reports, pictures, profiles and checks of plans and steps, compiled once for all programs.
#include <meshtensor/emit/printer.hpp>
#include <meshtensor/inspect/checker.hpp>
#include <meshtensor/inspect/environment.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/inspect/measured_rates.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/meshtensor.hpp>

namespace meshtensor {

template std::string report<lazy>(module const&, plan const&, mesh_shape const&);
template std::string pictures<lazy>(module const&, plan const&, mesh_shape const&);
template std::string drawing<lazy>(module const&, plan const&, mesh_shape const&);
template std::string graphviz<lazy>(module const&, graph_detail, binding const*);
template std::string page<lazy>(std::vector<plan_on_page> const&);
template std::string text_of<lazy>(module const&);
template std::string profile<lazy>(module const&, binding const&, timeline const&, rates);
namespace detail {
template check_result compare_steps<lazy>(checked_program const&, store&, step_maker);
template std::string text_of_instructions<lazy>(module const&, plan const&);
template std::vector<link> measured_links<lazy>(job_runner&, mesh_shape const&);
template std::string text_of_trace<lazy>(module const&, plan const&, mesh_shape const&, trace_of_job const&);
template bool write_recorded<lazy>(job_runner&, module const&, plan const&, mesh_shape const&, std::vector<int> const&,
                                   std::vector<timeline const*> const&, std::string const&);
}  // namespace detail

}  // namespace meshtensor
