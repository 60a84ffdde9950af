// SPDX-License-Identifier: Apache-2.0
// Chooses the device of a process among those of its machine, where several processes run there.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/comm/key_values.hpp"
#include "meshtensor/device/pjrt/create_options.hpp"

namespace meshtensor::pjrt {

/// The devices that NVIDIA's or AMD's driver shows this process; nothing, if a plugin drives something else.
inline std::optional<int> visible_gpus(std::string_view plugin) {
  auto const count = [](char const* library, char const* begins, char const* counts) -> std::optional<int> {
    void* const driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) return {};
    auto const begin = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, begins));
    auto const get = reinterpret_cast<int (*)(int*)>(dlsym(driver, counts));
    int all = 0;
    if (begin == nullptr || get == nullptr || begin(0) != 0 || get(&all) != 0) return {};
    return all;
  };
  std::string_view const file = plugin.substr(plugin.rfind('/') + 1);
  if (file.find("cuda") != file.npos) return count("libcuda.so.1", "cuInit", "cuDeviceGetCount");
  if (file.find("rocm") != file.npos) return count("libamdhip64.so", "hipInit", "hipGetDeviceCount");
  return {};
}

/// Lets a client have one device: that of `visible_devices`, or of all GPUs, which has the number that this rank has
/// among those of its machine. A plugin whose devices are not counted chooses by itself.
///
/// errors  R77 a machine has more ranks than devices
inline void choose_device(create_options& options, comm::key_values const& ranks, std::string const& plugin) {
  std::vector<std::int64_t> devices;
  if (auto const named = options.list("visible_devices")) {
    devices = *named;
  } else if (auto const count = visible_gpus(plugin)) {
    for (int k = 0; k < *count; ++k) devices.push_back(k);
  } else {
    return;
  }
  std::vector<int> const here = ranks.ranks_here();
  auto const place = static_cast<std::size_t>(std::find(here.begin(), here.end(), ranks.rank()) - here.begin());
  if (here.size() > devices.size())
    throw error("R77", {"this machine runs ", here.size(), " ranks, but the PJRT plugin '", plugin, "' may use ",
                        devices.size(), " devices here: start one rank for each device"});
  options.set("visible_devices=[" + std::to_string(devices[place]) + "]");
}

}  // namespace meshtensor::pjrt
