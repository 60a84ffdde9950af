// SPDX-License-Identifier: Apache-2.0
// What is the same for all programs, compiled once: the passes, reports, jobs, and the reference device's engine.
#include <meshtensor/emit/printer.hpp>
#include <meshtensor/inspect/checker.hpp>
#include <meshtensor/inspect/environment.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/inspect/measured_rates.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/job/command_line.hpp>
#include <meshtensor/job/same_on_all_ranks.hpp>
#include <meshtensor/job/started_runner.hpp>
#include <meshtensor/meshtensor.hpp>

namespace meshtensor {

template std::unique_ptr<lowering> lower<lazy>(module const&, name const&, mesh_shape const&, layout_rules const&,
                                               std::span<dim_extent const>, device_capabilities const&, pass_observer*);
template std::unique_ptr<plan> plan_at_start<lazy>(module const&, int, mesh_shape const&, std::span<dim_extent const>);
template dynamic_array<instruction> instructions_of<lazy>(instruction_list const&);
template std::string report<lazy>(module const&, plan const&, mesh_shape const&);
template std::string pictures<lazy>(module const&, plan const&, mesh_shape const&);
template std::string drawing<lazy>(module const&, plan const&, mesh_shape const&);
template std::string graphviz<lazy>(module const&, graph_detail, binding const*);
template std::string page<lazy>(std::vector<plan_on_page> const&);
template std::string text_of<lazy>(module const&);
template std::unique_ptr<module> run_passes<lazy>(module const&, lowering_request const&, int, int, pass_observer*);
template std::string profile<lazy>(module const&, binding const&, timeline const&, rates);
namespace detail {
template check_result compare_steps<lazy>(checked_program const&, store&, step_maker);
template std::string full_name_in<lazy>(std::string_view);
template bool write_once<lazy>(job_runner&, std::string const&, std::string const&);
template std::string text_of_instructions<lazy>(module const&, plan const&);
template std::vector<link> measured_links<lazy>(job_runner&, mesh_shape const&);
template void bind_axes_of_environment<lazy>(mesh_shape&);
template command_line read_command_line<lazy>(int, char**, std::string_view, bool);
template char const* tool_in_environment<lazy>();
template void begin_registered_tools<lazy>(step_under_tools&);
template void end_registered_tools<lazy>(step_under_tools&) noexcept;
template void warn_alone<lazy>(job_runner const&, module const&);
template void warn_idle<lazy>(job_runner const&, module const&);
template void warn_unused<lazy>(job_runner const&, module const&, layout_rules const&, std::uint64_t);
template std::unique_ptr<job_runner> started_runner<with_mpi>();
#if MESHTENSOR_WITH_MPI
template std::unique_ptr<job_runner> runner_of_ranks<lazy>(MPI_Comm);
#endif
template std::unique_ptr<job_runner> runner_of_threads<lazy>();
template std::unique_ptr<job_runner> runner_in_lockstep<lazy>(collective_timing);
template trace_of_job trace_of_all<lazy>(job_runner&, std::vector<int> const&, std::vector<timeline const*> const&);
template std::string text_of_trace<lazy>(module const&, plan const&, mesh_shape const&, trace_of_job const&);
}  // namespace detail

template void require_same_on_all_ranks<lazy>(job_runner&, start_record const*, std::exception_ptr const&);
template void evaluate<primitives::all()>(evaluation const&);
template void fed_inputs::feed<lazy>(std::string_view, view const&);
template void fed_inputs::refuse<lazy>(std::string_view, std::string const&) const;
template class engine<reference_device>;
template class session<reference_device>;

}  // namespace meshtensor
