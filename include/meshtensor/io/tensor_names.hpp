// SPDX-License-Identifier: Apache-2.0
// Maps names and dims of a store's values to those in a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshtensor {

/// Gives the name of a value, the name of its tensor, and the value's dims in the file's order if this is not the
/// store's order. An example is `{"decoder/out/weight", "lm_head.weight", {"vocab", "d_model"}}`. A value that a
/// `repeat` has stacked along the dim `along` is one tensor in the file for each index, and each of them lacks `along`.
/// The index, counted from `first`, replaces `{}` in the tensor's name. An example is `{"blocks/up/weight",
/// "layer.{}.up.weight", {"d_ff", "d_model"}, "layers"}`.
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
/// The tensor of an index of `along`, or the only tensor.
inline std::string tensor_at(tensor_name const& n, std::int64_t index) {
  std::string label = n.tensor;
  if (auto const at = label.find("{}"); !n.along.empty() && at != label.npos)
    label.replace(at, 2, std::to_string(n.first + index));
  return label;
}
/// The key of a tensor's dims in a file's metadata. The metadata's value has the form `d_model,d_ff`.
inline std::string dims_key(std::string const& tensor) { return "dims:" + tensor; }
}  // namespace io

}  // namespace meshtensor
