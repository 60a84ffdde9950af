// SPDX-License-Identifier: Apache-2.0
// The training on devices that are compiled only where they are asked for; see MESHTENSOR_EXAMPLE_DEVICES.
#pragma once

#include <meshtensor/data/text.hpp>
#include <meshtensor/job/job.hpp>

#include "command_line.hpp"

namespace transformer {

int run_on_reference(meshtensor::job const&, options const&, meshtensor::text_windows const&);
int run_on_cuda(meshtensor::job const&, options const&, meshtensor::text_windows const&);
int run_on_pjrt(meshtensor::job const&, options const&, meshtensor::text_windows const&);

}  // namespace transformer
