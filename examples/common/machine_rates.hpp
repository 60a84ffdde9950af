// SPDX-License-Identifier: Apache-2.0
// Reads the rates of a machine from a command line, so that the page of a plan can show times.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <meshtensor/device/default.hpp>
#include <meshtensor/emit/page_rates.hpp>
#include <meshtensor/mesh/mesh.hpp>

namespace examples {

/// The rates of a rank and of each mesh axis. A rate is 0 if it is not given.
struct machine_rates {
  double flops = 0, memory = 0, network = 0, latency = 0;
};

/// Reads `flops=2e14,memory=2e12,network=25e9,latency=5e-6` or some of these. Returns false for any other text.
inline bool read_rates(std::string_view text, machine_rates& into) {
  constexpr std::array<std::string_view, 4> names{"flops", "memory", "network", "latency"};
  double* const places[] = {&into.flops, &into.memory, &into.network, &into.latency};
  into = {};
  do {
    std::string_view const part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    auto const equals = part.find('=');
    if (equals == part.npos) return false;
    std::string_view const number = part.substr(equals + 1);
    std::size_t which = 0;
    while (which < names.size() && names[which] != part.substr(0, equals)) ++which;
    if (which == names.size() || *places[which] != 0) return false;
    auto const [end, problem] = std::from_chars(number.begin(), number.end(), *places[which]);
    if (problem != std::errc{} || end != number.end() || !(*places[which] > 0) || std::isinf(*places[which]))
      return false;
  } while (!text.empty());
  return into.latency == 0 || into.network != 0;
}

/// The given rates. Those of the network hold for each axis of the mesh.
inline meshtensor::page_rates given_rates(std::string_view text, meshtensor::mesh_shape const& mesh) {
  machine_rates given;
  read_rates(text, given);
  meshtensor::page_rates all{{given.flops, given.memory}, {}, "given"};
  for (int a = 0; a < mesh.count && given.network != 0; ++a)
    all.links.push_back({mesh.axes[a].label, given.latency, given.network});
  return all;
}

/// The rates of arithmetic and of memory that a device of this process measures.
template <class Device>
meshtensor::page_rates measured_here() {
  if constexpr (requires(Device d) { d.best_rates(); }) return {Device().best_rates(), {}, "measured"};
  else return {};
}

}  // namespace examples
