// SPDX-License-Identifier: Apache-2.0
// Chooses by name among the devices that an example was built for, and lists what this machine has.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <meshtensor/device/default.hpp>

namespace examples {

/// `cpu`, or `reference` where the libraries of the cpu device were not there.
inline char const* const default_device_name =
    std::is_same_v<meshtensor::default_device, meshtensor::reference_device> ? "reference" : "cpu";

/// What each device runs, by its name; the first one is taken if none is named.
template <class Run>
using devices = std::vector<std::pair<std::string, Run>>;

/// The devices and plugins of this machine, a line each, with their memory; `built` are the names of those that the
/// example can use.
std::string list_of_devices(std::vector<std::string> const& built);
/// Where the name is not one of `built`, throws; of `pjrt:PATH`, names the plugin for this process.
///
/// errors  R76 the example was not built for the device
std::string require_built(std::string const& name, std::vector<std::string> const& built);

template <class Run>
std::vector<std::string> names_of(devices<Run> const& all) {
  std::vector<std::string> names;
  for (auto const& [name, run] : all) names.push_back(name);
  return names;
}
/// What the named device runs; of an empty name, what the first one does.
template <class Run>
Run chosen(std::string const& name, devices<Run> const& all) {
  std::string const kind = name.empty() ? all.front().first : require_built(name, names_of(all));
  for (auto const& [known, run] : all)
    if (known == kind) return run;
  return all.front().second;
}

}  // namespace examples
