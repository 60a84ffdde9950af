// SPDX-License-Identifier: Apache-2.0
// What is the same for all programs, compiled once: the passes, reports, jobs, and the reference device's engine.
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/inspect/trace_events.hpp>

namespace meshtensor {

template std::unique_ptr<lowering> lower<when_used>(module const&, name const&, mesh_shape const&, layout_rules const&,
                                                    std::span<dim_extent const>, device_wishes const&);
template std::unique_ptr<plan> plan_at_start<when_used>(module const&, int, mesh_shape const&,
                                                        std::span<dim_extent const>);
template std::string report<when_used>(module const&, plan const&, mesh_shape const&);
template std::string graphviz<when_used>(module const&);
template std::string profile<when_used>(module const&, binding const&, timeline const&, rates);
namespace detail {
template void warn_idle<when_used>(job const&, module const&);
template void warn_unused<when_used>(job const&, module const&, layout_rules const&, std::uint64_t);
template std::unique_ptr<job> started_job<with_mpi>();
template std::vector<double> spans_of_all<when_used>(job&, std::vector<int> const&,
                                                     std::vector<timeline const*> const&);
template std::string text_of_spans<when_used>(module const&, std::vector<double> const&);
}  // namespace detail

template void require_alike<when_used>(job&, facts const*, std::exception_ptr);
template void evaluate<primitives::all()>(evaluation const&);
template class engine<reference_device>;
template class session<reference_device>;

}  // namespace meshtensor
