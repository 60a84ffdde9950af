// SPDX-License-Identifier: Apache-2.0
// Loads a checkpoint into a store of any mesh and layout: the newest complete one of a run, or a given one.
#pragma once

#include <filesystem>

#include "meshtensor/io/loaded.hpp"

namespace meshtensor {

/// Loads values, step and seed into a store: from a run's folder the newest complete checkpoint, or from a checkpoint's
/// own folder that one. Values that the store does not have yet wait until an executable names them, so executables may
/// be made before or after. Each processor reads its own part, bit for bit, whatever mesh and layout the checkpoint was
/// saved from. All processes call it. After an error the store is as it was.
///
///     auto const start = mt::load(weights, "run");
///     auto batch = start.get<std::int64_t>("batch");
///
/// errors  C06 there is none; C07 a value is missing; C08 a value has another dtype or other dims. C02 to C05 and C09 a
///         given checkpoint is damaged; in a run's folder that is a warning, and the one before is loaded
template <class = lazy>
loaded load(store& weights, std::filesystem::path const& folder, load_options const& how = {});

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED_IO
#  include "meshtensor/io/checkpoint/loading.hpp"
#endif
