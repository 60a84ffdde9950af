// SPDX-License-Identifier: Apache-2.0
// Compares the memory that a step needs with the free memory of the devices, before the first step.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/base/process.hpp"
#include "meshtensor/base/quantity.hpp"
#include "meshtensor/device/pjrt/loaded_program.hpp"
#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::pjrt {

/// The dim of the batch: the dim that is open in the program and that all inputs have, or no_id if there is none.
inline dim_id batch_dim(module const& m, std::vector<stablehlo_port> const& arguments) {
  shape common{};
  bool first = true;
  for (stablehlo_port const& p : arguments) {
    if (p.kind != stablehlo_port::input) continue;
    shape const& dims = m.values[p.value].dims;
    if (first) common = dims;
    shape both{};
    for (int i = 0; i < common.count; ++i)
      if (dims.has(common.at[i])) both.at[both.count++] = common.at[i];
    common = both, first = false;
  }
  for (int i = 0; i < common.count; ++i)
    if (m.dims[common.at[i]].kind == dim_row::dynamic) return dim_id(common.at[i]);
  return dim_id{no_id};
}

/// A device as text, for example `node3 cuda:1 (NVIDIA H100)`: the machine, the device's number among those of all
/// processes, and its kind.
inline std::string device_text(device_client const& c, std::size_t k) {
  return std::string(this_process().host) + " " + c.platform() + ":" + std::to_string(c.id(k)) + " (" + c.kind(k) + ")";
}

/// The bytes of the inputs, parameters and state of a step on each device.
inline std::int64_t bytes_of_arguments(module const& m, plan const& p, std::vector<stablehlo_port> const& arguments) {
  std::int64_t bytes = 0;
  for (stablehlo_port const& a : arguments)
    if (a.value != no_id) bytes += p.numbers.local_bytes(m.values[a.value]);
  return bytes;
}
/// Throws if arguments of `bytes` bytes do not fit on a device that has `all` bytes.
///
/// errors  M11
inline void require_room_for_arguments(std::int64_t bytes, std::int64_t all, std::string const& device) {
  if (bytes > all)
    throw error("M11",
                {"the inputs, parameters and state of a step alone need ", bytes_text(bytes), " of each device, but ",
                 device, " has ", bytes_text(all), ": take a smaller batch, or shard more dims"});
}
/// Throws before a program is compiled, if its arguments alone are larger than the memory of a device.
///
/// errors  M11
inline void require_room_for_arguments(device_client const& c, std::size_t replicas, module const& m, plan const& p,
                                       std::vector<stablehlo_port> const& arguments) {
  std::int64_t const bytes = bytes_of_arguments(m, p, arguments);
  for (std::size_t k = 0; k < std::min(replicas, c.devices().size()); ++k)
    if (auto const all = c.all_bytes(k)) require_room_for_arguments(bytes, *all, device_text(c, k));
}

/// Throws if a step needs more memory than a device has free. `held` has the bytes of the arguments that are already on
/// each device. If the plugin does not tell its memory, nothing is checked here, and the plugin itself fails if memory
/// runs out.
///
/// errors  M11 too little is free; with the batch that would fit, if parameters and gradients leave room for one
inline void require_room(loaded_program const& program, module const& m, plan const& p,
                         std::vector<stablehlo_port> const& arguments, std::int64_t held) {
  device_client const& c = program.client();
  std::int64_t const needs = program.peak_bytes().value_or(p.arena_bytes + p.variable_bytes + p.input_bytes) - held;
  std::int64_t fixed = 0;  // parameters and state, which do not grow with the batch
  for (stablehlo_port const& a : arguments)
    if (a.kind == stablehlo_port::variable) fixed += p.numbers.local_bytes(m.values[a.value]);
  for (std::size_t k = 0; k < program.replicas(); ++k) {
    auto const free = c.free_bytes(k);
    if (!free || needs <= *free) continue;
    std::string fits;
    std::int64_t const kept = fixed + fixed / 3;  // gradients, a third of parameters and two moments
    if (dim_id const d = batch_dim(m, arguments); d != id{no_id} && needs + held > kept && *free + held > kept) {
      std::int64_t const now = p.numbers.extent[d];
      auto const most = static_cast<std::int64_t>(static_cast<double>(now) * static_cast<double>(*free + held - kept) /
                                                  static_cast<double>(needs + held - kept));
      if (most > 0)
        fits = ": about " + std::to_string(most) + " of '" + m.dim_name(d).text() + "' would fit instead of " +
               std::to_string(now);
    }
    throw error("M11", {"a step needs ", bytes_text(needs), " of each device, but ",
                        bytes_text(std::max<std::int64_t>(0, *free)), " are free on ", device_text(c, k), fits,
                        fits.empty() ? ": " : "; else ", "shard more dims, or take a smaller model"});
  }
}

}  // namespace meshtensor::pjrt
