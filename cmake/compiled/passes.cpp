// SPDX-License-Identifier: Apache-2.0
// The passes from a traced program to a plan, compiled once for all programs that run them at start-up.
#include <meshtensor/meshtensor.hpp>

namespace meshtensor {

template std::unique_ptr<lowering> lower<lazy>(module const&, name const&, mesh_shape const&, layout_rules const&,
                                               std::span<dim_extent const>, device_capabilities const&, pass_observer*);
template std::unique_ptr<plan> plan_at_start<lazy>(module const&, int, mesh_shape const&, std::span<dim_extent const>);
template dynamic_array<instruction> instructions_of<lazy>(instruction_list const&);
template std::unique_ptr<module> run_passes<lazy>(module const&, lowering_request const&, int, int, pass_observer*);

}  // namespace meshtensor
