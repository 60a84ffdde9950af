// SPDX-License-Identifier: Apache-2.0
// Exports the values of a store to one safetensors file, for PyTorch and other libraries.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "meshtensor/io/tensor_names.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor {

/// Options of `export_safetensors`: which values it writes, and under which names.
struct export_options {
  /// Other names for values, and other orders of their dims.
  tensor_names names = {};
  /// Selects the values to write, by name. If it is empty, all are written.
  std::function<bool(std::string const&)> only = {};
  /// The file's metadata.
  std::map<std::string, std::string> metadata = {{"format", "pt"}};
  bool nan = false;  ///< elements may be NaN
};

/// Exports values to a safetensors file atomically: the complete file appears, or none. The process that prints for the
/// job writes one value after another, so that no process holds more than one whole value. All processes call it.
///
/// errors  C01 it cannot be written; C07 a name that the store does not have; C08 dims that a value does not have; C09
///         NaN; C13 a name that such a file cannot have; C14 two values with one name
template <class = lazy>
void export_safetensors(store& weights, std::filesystem::path const& file, export_options const& how = {});

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED_IO
#  include "meshtensor/io/exporting.hpp"
#endif
