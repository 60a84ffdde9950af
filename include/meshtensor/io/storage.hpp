// SPDX-License-Identifier: Apache-2.0
// Element types of tensors in safetensors files.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "meshtensor/base/dtype.hpp"

namespace meshtensor::io {

/// An element type in files, and the corresponding dtype of this library.
struct storage {
  char const* label;
  std::int64_t bytes;
  std::optional<dtype> type;  // nothing if a file may have such a tensor, but a store may not
};
inline constexpr storage storages[] = {{"F64", 8, dtype::f64},
                                       {"F32", 4, dtype::f32},
                                       {"BF16", 2, dtype::bf16},
                                       {"I32", 4, dtype::i32},
                                       {"I64", 8, dtype::i64},
                                       {"U8", 1, dtype::u8},
                                       {"BOOL", 1, dtype::boolean},
                                       {"F16", 2, {}},
                                       {"I16", 2, {}},
                                       {"U16", 2, {}},
                                       {"U32", 4, {}},
                                       {"U64", 8, {}},
                                       {"I8", 1, {}},
                                       {"F8_E4M3", 1, {}},
                                       {"F8_E5M2", 1, {}},
                                       {"F8_E8M0", 1, {}},
                                       {"C64", 8, {}}};

constexpr storage const* storage_of(std::string_view label) {
  for (storage const& s : storages)
    if (s.label == label) return &s;
  return nullptr;
}
constexpr storage const* storage_of(dtype type) {
  for (storage const& s : storages)
    if (s.type == type) return &s;
  return nullptr;
}

}  // namespace meshtensor::io
