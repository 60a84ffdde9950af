// SPDX-License-Identifier: Apache-2.0
// Maps names and dims of a store's values to those of somebody else's file.
#pragma once

#include <string>
#include <vector>

namespace meshtensor {

/// `{"decoder/out/weight", "lm_head.weight", {"vocab", "d_model"}}`: the value, the tensor, and the names of the
/// value's dims as they stand in the file, if they do not stand as in the store.
struct tensor_name {
  std::string value, tensor;
  std::vector<std::string> dims = {};
};

/// Values that are not named are called in the file as in the store.
using tensor_names = std::vector<tensor_name>;

namespace io {
inline tensor_name const* find(tensor_names const& names, std::string const& value) {
  for (tensor_name const& n : names)
    if (n.value == value) return &n;
  return nullptr;
}
/// Under this key of a file's metadata stand the dims of a tensor, as `d_model,d_ff`.
inline std::string dims_key(std::string const& tensor) { return "dims:" + tensor; }
}  // namespace io

}  // namespace meshtensor
