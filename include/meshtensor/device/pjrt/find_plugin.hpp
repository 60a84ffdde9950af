// SPDX-License-Identifier: Apache-2.0
// Finds PJRT plugins: the plugin that MESHTENSOR_PJRT names, and the plugins of installed Python packages.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor::pjrt {

/// The folders of installed Python packages: of the active virtual environment, beside each `python3` on the path, and
/// of the user. It does not run Python. `named` reads a variable of the environment.
template <class Named>
std::vector<std::string> package_folders(Named const& named) {
  namespace fs = std::filesystem;
  std::vector<std::string> all;
  auto const add = [&](fs::path const& prefix, std::vector<std::string> const& kinds) {
    std::error_code none;
    std::vector<fs::path> versions;
    for (fs::directory_iterator i(prefix / "lib", none), end; !none && i != end; i.increment(none))
      if (i->path().filename().string().starts_with("python3")) versions.push_back(i->path());
    std::sort(versions.rbegin(), versions.rend());
    for (fs::path const& version : versions)
      for (std::string const& kind : kinds)
        if (std::string const folder = (version / kind).string();
            fs::is_directory(folder, none) && std::find(all.begin(), all.end(), folder) == all.end())
          all.push_back(folder);
  };
  std::vector<std::string> const kinds{"site-packages", "dist-packages"};
  if (std::string const own = named("VIRTUAL_ENV"); !own.empty()) add(own, kinds);
  std::string const path = named("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    std::string_view const folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    std::error_code none;
    if (!folder.empty() && fs::exists(fs::path(folder) / "python3", none)) add(fs::path(folder).parent_path(), kinds);
  }
  if (std::string const home = named("HOME"); !home.empty()) add(fs::path(home) / ".local", kinds);
  return all;
}

/// The plugins in a folder of packages, in the order GPUs, TPUs, other hardware, CPUs.
inline std::vector<std::string> plugins_of(std::string const& packages) {
  namespace fs = std::filesystem;
  std::vector<std::string> found[4];
  std::error_code none;
  if (fs::path const tpu = fs::path(packages) / "libtpu/libtpu.so"; fs::exists(tpu, none)) found[1].push_back(tpu);
  for (char const* const parent : {"jax_plugins", "xla_plugins"})
    for (fs::recursive_directory_iterator i(fs::path(packages) / parent, none), end; !none && i != end;
         i.increment(none)) {
      std::string const file = i->path().filename().string();
      if (!file.ends_with(".so") || (file.find("plugin") == file.npos && file.find("pjrt") == file.npos)) continue;
      bool const gpu = file.find("cuda") != file.npos || file.find("rocm") != file.npos;
      found[gpu ? 0 : file.find("cpu") != file.npos ? 3 : 2].push_back(i->path());
    }
  std::vector<std::string> all;
  for (auto& kind : found) {
    std::sort(kind.rbegin(), kind.rend());
    all.insert(all.end(), kind.begin(), kind.end());
  }
  return all;
}

/// Whether this machine may have the hardware of a plugin. We check this first, because libtpu waits for minutes if
/// there is no TPU.
inline bool may_have_devices_for(std::string_view plugin) {
  auto const there = [](char const* path) {
    std::error_code none;
    return std::filesystem::exists(path, none);
  };
  if (plugin.ends_with("libtpu.so")) return there("/dev/accel0") || there("/dev/vfio/0");
  if (plugin.find("cuda") != plugin.npos) return there("/dev/nvidiactl") || there("/dev/dxg");
  if (plugin.find("rocm") != plugin.npos) return there("/dev/kfd");
  return true;
}

/// The plugins that can be found, the preferred one first: the plugin that the environment names, or else all plugins
/// of packages whose hardware is on this machine.
inline std::vector<std::string> found_plugins() {
  auto const named = [](char const* variable) {
    char const* const value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string const own = named("MESHTENSOR_PJRT"); !own.empty()) return {own};
  std::vector<std::string> all;
  for (std::string const& folder : package_folders(named))
    for (std::string const& plugin : plugins_of(folder))
      if (may_have_devices_for(plugin)) all.push_back(plugin);
  return all;
}
/// errors  R70 no plugin is named or found
inline std::string plugin_to_use() {
  std::vector<std::string> const all = found_plugins();
  if (all.empty())
    throw error(
        "R70",
        "no PJRT plugin is named, and no installed Python package has one for this machine: set MESHTENSOR_PJRT "
        "to its file, such as libtpu.so, or install jax-cuda13-pjrt, libtpu or xla-cpu-pjrt with pip");
  return all.front();
}

}  // namespace meshtensor::pjrt
