// SPDX-License-Identifier: Apache-2.0
// Imports values of a store from a safetensors file, for example one that PyTorch wrote.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "meshtensor/io/loaded.hpp"
#include "meshtensor/io/tensor_names.hpp"

namespace meshtensor {

/// Options of `import_safetensors`: which values it reads, and under which names.
struct import_options {
  /// Other names for values, and other orders of their dims. A name is ignored if the file lacks its tensor and the
  /// value may be missing or is not selected.
  tensor_names names = {};
  /// If true, values that the file lacks keep their contents, or get their initializers. Otherwise they are an error.
  bool begin_missing = false;
  /// Selects the store's values to read, by name. If it is empty, all are read. For example, it is needed if the file
  /// has no optimizer state.
  std::function<bool(std::string const&)> only = {};
  bool nan = false;  ///< elements may be NaN
};

/// Imports values from a safetensors file into a store of any mesh and layout. Each rank reads its own part. Nothing is
/// converted, so dtypes must be the same. Dims are matched by name if this library exported the file or if names are
/// given. Otherwise they are matched by position. Step and seed are unchanged. Values that the store does not have yet
/// wait until an executable names them. All processes call it. After an error the store is unchanged. For example:
///
///     mt::import_safetensors(weights, "model.safetensors",
///                            {.names = {{"decoder/out/weight", "lm_head.weight", {"vocab", "d_model"}}}});
///
/// errors  C02 it cannot be read; C03 it is not such a file; C07 a value or a tensor is missing; C08 it has another
///         dtype or other dims; C09 NaN
template <class = lazy>
loaded import_safetensors(store& weights, std::filesystem::path const& file, import_options const& how = {});

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED_IO
#  include "meshtensor/io/importing.hpp"
#endif
