// SPDX-License-Identifier: Apache-2.0
// Checks the names of devices on a command line.
#pragma once

#include <string>
#include <string_view>

namespace examples {

/// Whether a command line may give this name: `cpu`, `reference`, `cuda`, `pjrt`, `pjrt:PATH` or `list`.
inline bool is_device_name(std::string_view name) {
  for (std::string_view const known : {"cpu", "reference", "cuda", "pjrt", "list"})
    if (name == known) return true;
  return name.starts_with("pjrt:") && name.size() > 5;
}
/// The sentence that refuses a name, or an empty text if the name is allowed.
inline std::string refused_device_name(std::string const& name) {
  return is_device_name(name) ? "" : "'" + name + "' is none of cpu, reference, cuda, pjrt, pjrt:PATH and list";
}

/// Whether the device runs programs whole, so that single operations cannot be observed.
inline bool runs_programs_whole(std::string_view name) { return name == "pjrt" || name.starts_with("pjrt:"); }

}  // namespace examples
