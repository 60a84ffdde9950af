// SPDX-License-Identifier: Apache-2.0
// A plugin of an interface that is too old, or that lacks functions which every program needs, is refused by its name.
// passes: start-up
// sanitize: no
// part: pjrt
#include <doctest/doctest.h>

#include "meshtensor/device/pjrt/plugin.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

#ifndef MESHTENSOR_WRAPPED_PLUGIN
#  define MESHTENSOR_WRAPPED_PLUGIN ""
#endif

namespace pjrt = meshtensor::pjrt;

namespace {

/// What is said of the plugin for processors where a variable of the wrapped one has this value.
std::string refusal(std::string const& real, char const* variable, char const* value) {
  meshtensor_test::own_folder const folder;
  std::string const copy = folder / "plugin.so";  // another file is another plugin to the system
  std::filesystem::copy_file(MESHTENSOR_WRAPPED_PLUGIN, copy);
  setenv("MESHTENSOR_WRAPPED", real.c_str(), 1);
  setenv(variable, value, 1);
  std::string said = meshtensor_test::sentence([&] { pjrt::plugin::of_file(copy); });
  unsetenv(variable);
  if (auto const at = said.find(copy); at != said.npos) said.replace(at, copy.size(), "FILE");
  return said;
}

}  // namespace

TEST_CASE("plugins that are too old") {
  std::string const real = meshtensor_test::pjrt_plugin();
  if (real.empty()) return;
  CHECK(refusal(real, "MESHTENSOR_WRAPPED_MINOR", "56") ==
        "meshtensor R71: the PJRT plugin 'FILE' has version 0.56 of the interface, but meshtensor knows 0.57 and later "
        "ones of 0");
  CHECK(refusal(real, "MESHTENSOR_WRAPPED_MINOR", "57") == "");
  int const initialize = static_cast<int>(pjrt::slot::plugin_initialize);
  std::string const lacks = "meshtensor R71: the PJRT plugin 'FILE' lacks function " + std::to_string(initialize) +
                            " of the interface: take a newer plugin";
  CHECK(refusal(real, "MESHTENSOR_WRAPPED_FUNCTIONS", std::to_string(initialize).c_str()) == lacks);
  CHECK(refusal(real, "MESHTENSOR_WRAPPED_FUNCTIONS", std::to_string(initialize + 1).c_str()) == "");
}
