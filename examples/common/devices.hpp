// SPDX-License-Identifier: Apache-2.0
// Reads the name of a device from a command line, and lists the devices of this machine.
#pragma once

#include <string>
#include <vector>

namespace examples {

/// Lists the devices and plugins of this machine with their memory, one in each line. `built` names the devices that
/// the example was built for.
std::string list_of_devices(std::vector<std::string> const& built);
/// Returns the kind of a device, for example `pjrt` for `pjrt:PATH`. Throws if it is not in `built`. A PATH is set as
/// the plugin of this process.
///
/// errors  R76 the example was not built for the device
std::string require_built(std::string const& name, std::vector<std::string> const& built);

/// The command line of an example whose only option is `--device NAME`.
struct device_words {
  std::string device;               // empty if none is named
  std::vector<std::string> others;  // the other words
};
/// Reads such a command line, which may have `least` to `most` other words. Returns a sentence about a mistake, or an
/// empty text.
std::string read_device_words(std::vector<std::string> const& arguments, std::size_t least, std::size_t most,
                              device_words& into);

}  // namespace examples
