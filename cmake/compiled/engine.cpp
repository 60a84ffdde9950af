// SPDX-License-Identifier: Apache-2.0
// The reference device's engine, jobs and options, compiled once for all programs.
#include <meshtensor/inspect/environment.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/job/command_line.hpp>
#include <meshtensor/job/same_on_all_ranks.hpp>
#include <meshtensor/job/started_runner.hpp>
#include <meshtensor/meshtensor.hpp>

namespace meshtensor {

namespace detail {
template std::string full_name_in<lazy>(std::string_view);
template bool write_once<lazy>(job_runner&, std::string const&, std::string const&);
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
}  // namespace detail

template void require_same_on_all_ranks<lazy>(job_runner&, start_record const*, std::exception_ptr const&);
template void evaluate<primitives::all()>(evaluation const&);
template void fed_inputs::offer_at<lazy>(std::size_t, view const&, offer_kind);
template void fed_inputs::take_at<lazy>(std::size_t);
template void fed_inputs::refuse<lazy>(std::string_view, std::string const&) const;
template class engine<reference_device>;
template class session<reference_device>;

template <int MostNodes, class InstructionSet>
int compiled_for<MostNodes, InstructionSet>::check() {
  return 1;
}
template struct compiled_for<max_nodes, void>;
#if MESHTENSOR_COMPILED_CPU
template struct compiled_for<max_nodes, cpu::instruction_set>;
#endif

}  // namespace meshtensor
