// SPDX-License-Identifier: Apache-2.0
// Loads a checkpoint into a store of any mesh and layout: the newest complete checkpoint of a run, or a given one.
#pragma once

#include <filesystem>

#include "meshtensor/io/loaded.hpp"

namespace meshtensor {

/// Loads values, step and seed into a store. If `folder` is a run's folder, it loads the newest complete checkpoint. If
/// it is a checkpoint's own folder, it loads this checkpoint. Values that the store does not have yet wait until an
/// executable names them, so executables may be made before or after. Each rank reads its own part, bit for bit, for
/// any mesh and layout from which the checkpoint was saved. All processes call it. After an error the store is
/// unchanged. For example:
///
///     auto const start = mt::load(weights, "run");
///     auto batch = start.get<std::int64_t>("batch");
///
/// errors  C06 there is none; C07 a value is missing; C08 a value has another dtype or other dims. C02 to C05 and C09 a
///         given checkpoint is damaged. In a run's folder this is only a warning, and the checkpoint before is loaded
template <class = lazy>
loaded load(store& weights, std::filesystem::path const& folder, load_options const& how = {});

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED_IO
#  include "meshtensor/io/checkpoint/loading.hpp"
#endif
