// SPDX-License-Identifier: Apache-2.0
// The names of devices on a command line.
#pragma once

#include <string_view>

namespace examples {

/// Whether the command line may name it: `cpu`, `reference`, `cuda`, `pjrt`, `pjrt:PATH` or `list`.
inline bool is_device_name(std::string_view name) {
  for (std::string_view const known : {"cpu", "reference", "cuda", "pjrt", "list"})
    if (name == known) return true;
  return name.starts_with("pjrt:") && name.size() > 5;
}

}  // namespace examples
