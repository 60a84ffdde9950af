// SPDX-License-Identifier: Apache-2.0
// Chooses which device of its machine a rank takes, where several ranks run there: that of its number among them.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// The devices that a driver shows this process, asked by its functions of these names; nothing, if it is not there.
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

/// The place of a rank's device among `count`. `here`: the ranks of its machine, in their order. `owner` and `advice`:
/// what the sentence says of the devices, and what to do.
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
