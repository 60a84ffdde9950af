// SPDX-License-Identifier: Apache-2.0
// PJRT plugins are found in the folders of installed Python packages, without Python.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "meshtensor/device/pjrt/find_plugin.hpp"
#include "support/folder.hpp"

namespace fs = std::filesystem;
namespace pjrt = meshtensor::pjrt;
using meshtensor_test::sentence;

namespace {

void file(std::string const& path) {
  fs::create_directories(fs::path(path).parent_path());
  meshtensor_test::set_content(path, "");
}
auto variables(std::map<std::string, std::string> const& all) {
  return [all](char const* name) {
    auto const found = all.find(name);
    return found == all.end() ? std::string() : found->second;
  };
}

}  // namespace

TEST_CASE("folders of packages are those of the environment, of each python3 on the path, and of the user") {
  meshtensor_test::own_folder const root;
  for (char const* folder : {"env/lib/python3.12/site-packages", "usr/lib/python3/dist-packages",
                             "usr/lib/python3.11/site-packages", "usr/lib/python2.7/site-packages",
                             "home/.local/lib/python3.11/site-packages", "none/lib/python3.9/site-packages"})
    fs::create_directories(root / folder);
  file(root / "usr/bin/python3"), file(root / "none/bin/perl");
  auto const found =
      pjrt::package_folders(variables({{"VIRTUAL_ENV", root / "env"},
                                       {"PATH", (root / "none/bin") + "::" + (root / "usr/bin") + ":/absent"},
                                       {"HOME", root / "home"}}));
  CHECK(found == std::vector<std::string>{
                     root / "env/lib/python3.12/site-packages", root / "usr/lib/python3.11/site-packages",
                     root / "usr/lib/python3/dist-packages", root / "home/.local/lib/python3.11/site-packages"});
  CHECK(pjrt::package_folders(variables({})).empty());
}

TEST_CASE("plugins of a folder, those for GPUs first and those for processors last") {
  meshtensor_test::own_folder const root;
  for (char const* name : {"libtpu/libtpu.so", "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                           "jax_plugins/xla_cuda13/__init__.py", "jax_plugins/other/pjrt_plugin_other.so",
                           "jax_plugins/other/helper.so", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"})
    file(root / name);
  CHECK(pjrt::plugins_of(root.path()) == std::vector<std::string>{root / "jax_plugins/xla_cuda13/xla_cuda_plugin.so",
                                                                  root / "libtpu/libtpu.so",
                                                                  root / "jax_plugins/other/pjrt_plugin_other.so",
                                                                  root / "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"});
  CHECK(pjrt::plugins_of(root / "absent").empty());
}

TEST_CASE("a plugin is taken only where its hardware may be; the one that is named always") {
  CHECK(pjrt::may_have_devices_for("/p/xla_cpu_pjrt.so"));
  CHECK(pjrt::may_have_devices_for("/p/libtpu.so") == (fs::exists("/dev/accel0") || fs::exists("/dev/vfio/0")));
  CHECK(pjrt::may_have_devices_for("/p/xla_cuda_plugin.so") ==
        (fs::exists("/dev/nvidiactl") || fs::exists("/dev/dxg")));
  meshtensor_test::own_folder const root;
  file(root / "lib/python3.11/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");
  file(root / "lib/python3.11/site-packages/jax_plugins/of_none/xla_rocm_plugin.so");
  for (auto const& [name, value] : {std::pair{"PATH", "/absent"}, {"HOME", "/absent"}, {"MESHTENSOR_PJRT", ""}})
    setenv(name, value, 1);
  setenv("VIRTUAL_ENV", root.path().c_str(), 1);
  if (!fs::exists("/dev/kfd"))
    CHECK(pjrt::plugin_to_use() == root / "lib/python3.11/site-packages/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so");
  setenv("MESHTENSOR_PJRT", "/my/own.so", 1);
  CHECK(pjrt::plugin_to_use() == "/my/own.so");
  setenv("MESHTENSOR_PJRT", "", 1), setenv("VIRTUAL_ENV", "/absent", 1);
  CHECK(
      sentence([] { pjrt::plugin_to_use(); }).starts_with("meshtensor R70: no PJRT plugin is named, and no installed"));
}
