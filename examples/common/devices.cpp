// SPDX-License-Identifier: Apache-2.0
// Lists the devices of this machine, and checks the device that a command line names.
#include "devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include <meshtensor/base/cores.hpp>
#include <meshtensor/device/pjrt/client.hpp>
#include <meshtensor/device/pjrt/find_plugin.hpp>
#include <meshtensor/device/pjrt/room.hpp>

#include "device_name.hpp"

namespace examples {

namespace mt = meshtensor;
namespace pjrt = mt::pjrt;

namespace {

bool has(std::vector<std::string> const& built, std::string const& name) {
  return std::find(built.begin(), built.end(), name) != built.end();
}
std::string build_with(std::string const& name) {
  return "configure with -DMESHTENSOR_EXAMPLE_DEVICES=" + name + " and build the example again";
}
std::string line(std::vector<std::string> const& built, std::string const& name, std::string const& what) {
  return fmt::format("{:<10} {}{}\n", name, what, has(built, name) ? "" : "; this program was not built for it");
}
/// Lists the devices of a plugin. If the plugin cannot be used, returns its error.
std::string of_plugin(std::string const& path) {
  try {
    auto const& client = pjrt::device_client::of_file(path);
    std::string all = fmt::format("           {}: {}\n", path, client.platform());
    for (std::size_t k = 0; k < client.devices().size(); ++k) {
      auto const bytes = client.all_bytes(k), free = client.free_bytes(k);
      all += fmt::format("             device {}: {}", client.id(k), client.kind(k));
      if (bytes && free) all += fmt::format(", {} of {} free", mt::bytes_text(*free), mt::bytes_text(*bytes));
      all += "\n";
    }
    return all;
  } catch (mt::error const& e) { return fmt::format("           {}\n", e.what()); }
}

}  // namespace

std::string list_of_devices(std::vector<std::string> const& built) {
  std::string all = line(built, "cpu", fmt::format("{} cores", mt::usable_cores().count()));
  all += line(built, "reference", "plain loops, to compare with");
  bool const has_gpu = pjrt::may_have_devices_for("cuda");
  all += line(built, "cuda", has_gpu ? "the first of the NVIDIA GPUs of this machine" : "no NVIDIA GPU is here");
  auto const plugins = pjrt::found_plugins();
  all += line(built, "pjrt", plugins.empty() ? "no plugin is here" : fmt::format("{} found:", plugins.size()));
  for (std::string const& path : plugins) all += of_plugin(path);
  return all;
}

std::string require_built(std::string const& name, std::vector<std::string> const& built) {
  std::string const kind = name.substr(0, name.find(':'));
  if (!has(built, kind))
    throw mt::error("R76", {"this program was not built for the device '", kind,
                            "': ", kind == "cpu" ? "install oneDNN, a CBLAS and oneTBB, and " : "", build_with(kind)});
  if (kind.size() < name.size()) setenv("MESHTENSOR_PJRT", name.c_str() + kind.size() + 1, 1);
  return kind;
}

std::string read_device_words(std::vector<std::string> const& arguments, std::size_t least, std::size_t most,
                              device_words& into) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string const& word = arguments[i];
    if (word == "--device" || word.starts_with("--device=")) {
      if (word.size() == 8 && ++i == arguments.size()) return "--device needs a name";
      into.device = word.size() == 8 ? arguments[i] : word.substr(9);
      if (auto const why = refused_device_name(into.device); !why.empty()) return "--device: " + why;
    } else if (word.starts_with("--") || into.others.size() == most) {
      return "'" + word + "' is not understood";
    } else {
      into.others.push_back(word);
    }
  }
  return into.others.size() < least && into.device != "list" ? "arguments are missing" : "";
}

}  // namespace examples
