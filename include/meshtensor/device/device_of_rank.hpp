// SPDX-License-Identifier: Apache-2.0
// Chooses the device of a rank if several ranks run on its machine: the rank with number k among them takes device k.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// The number of devices that a driver shows to this process, or nothing if the driver is missing or fails. `begins`
/// and `counts` name its functions that initialise it and count.
inline std::optional<int> visible_devices(char const* library, char const* begins, char const* counts) {
  void* const driver = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return {};
  auto const begin = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, begins));
  auto const get = reinterpret_cast<int (*)(int*)>(dlsym(driver, counts));
  int all = 0;
  if (begin == nullptr || get == nullptr || begin(0) != 0 || get(&all) != 0) return {};
  return all;
}
inline std::optional<int> visible_nvidia_gpus() {
  return visible_devices("libcuda.so.1", "cuInit", "cuDeviceGetCount");
}

/// The index of a rank's device among the `count` devices of its machine. `here` lists the ranks of this machine in
/// their order. The error has `owner` before the count, for example "mt::cuda_device has", and ends with `advice`.
///
/// errors  R77 a machine has more ranks than devices
inline std::size_t device_of_rank(std::vector<int> const& here, int rank, std::size_t count, std::string const& owner,
                                  std::string const& advice) {
  if (here.size() > count)
    throw error("R77", {"this machine runs ", here.size(), " ranks, but ", owner, " ", count,
                        count == 1 ? " device" : " devices", " here: ", advice});
  return static_cast<std::size_t>(std::find(here.begin(), here.end(), rank) - here.begin());
}

}  // namespace meshtensor
