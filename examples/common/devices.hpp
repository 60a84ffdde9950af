// SPDX-License-Identifier: Apache-2.0
// Reads the name of a device from a command line, and lists what this machine has.
#pragma once

#include <string>
#include <vector>

namespace examples {

/// The devices and plugins of this machine, a line each, with their memory; `built` are the names of those that the
/// example can use.
std::string list_of_devices(std::vector<std::string> const& built);
/// Where the name is not one of `built`, throws; of `pjrt:PATH`, names the plugin for this process.
///
/// errors  R76 the example was not built for the device
std::string require_built(std::string const& name, std::vector<std::string> const& built);

/// The command line of an example whose only option is `--device NAME`.
struct device_words {
  std::string device;               // empty: none is named
  std::vector<std::string> others;  // the words beside it
};
/// Reads it; at least and at most so many other words may be there. Returns what to say of a mistake, else nothing.
std::string read_device_words(std::vector<std::string> const& arguments, std::size_t least, std::size_t most,
                              device_words& into);

}  // namespace examples
