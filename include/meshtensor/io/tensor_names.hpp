// SPDX-License-Identifier: Apache-2.0
// Maps names and dims of a store's values to those in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshtensor {

/// `{"decoder/out/weight", "lm_head.weight", {"vocab", "d_model"}}`: the value, the tensor, and the value's dims in the
/// file's order, if that is not the store's order. A value that a `repeat` has stacked is a tensor for each index of
/// `along` there, the number of which, from `first` on, stands for `{}`: `{"blocks/up/weight", "layer.{}.up.weight",
/// {"d_ff", "d_model"}, "layers"}`. Its dims lack `along`.
struct tensor_name {
  std::string value, tensor;
  std::vector<std::string> dims = {};
  std::string along = {};
  std::int64_t first = 0;
};

/// Values without an entry have the same name in the file as in the store.
using tensor_names = std::vector<tensor_name>;

namespace io {
inline tensor_name const* find(tensor_names const& names, std::string const& value) {
  for (tensor_name const& n : names)
    if (n.value == value) return &n;
  return nullptr;
}
/// The tensor of an index of `along`, or the only one.
inline std::string tensor_at(tensor_name const& n, std::int64_t index) {
  std::string label = n.tensor;
  if (auto const at = label.find("{}"); !n.along.empty() && at != label.npos)
    label.replace(at, 2, std::to_string(n.first + index));
  return label;
}
/// The key of a tensor's dims in a file's metadata; its value is as in `d_model,d_ff`.
inline std::string dims_key(std::string const& tensor) { return "dims:" + tensor; }
}  // namespace io

}  // namespace meshtensor
