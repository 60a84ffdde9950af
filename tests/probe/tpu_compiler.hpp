// SPDX-License-Identifier: Apache-2.0
// The compiler of TPUs, without a TPU: what it tells of a program for four devices.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "meshtensor/device/pjrt/device.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/lower.hpp"

namespace tpu {

namespace mt = meshtensor;
namespace pjrt = mt::pjrt;

/// libtpu.so of an installed package, or what MESHTENSOR_LIBTPU names; no hardware is asked for.
inline std::string libtpu() {
  auto const named = [](char const* variable) {
    char const* const value = std::getenv(variable);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string const own = named("MESHTENSOR_LIBTPU"); !own.empty()) return own;
  for (std::string const& folder : pjrt::package_folders(named))
    if (std::filesystem::exists(folder + "/libtpu/libtpu.so")) return folder + "/libtpu/libtpu.so";
  return "";
}
inline pjrt::plugin const& loaded(std::string const& path) {
  // The first two let it load where no TPU is, in several processes; the others keep it silent.
  for (auto const& [name, value] : {std::pair{"TPU_SKIP_MDS_QUERY", "1"},
                                    {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
                                    {"TPU_ACCELERATOR_TYPE", "v5litepod-4"},
                                    {"TPU_WORKER_HOSTNAMES", "localhost"},
                                    {"TPU_STDERR_LOG_LEVEL", "3"},
                                    {"TPU_MIN_LOG_LEVEL", "3"},
                                    {"TPU_LOG_DIR", "disabled"}})
    setenv(name, value, 1);
  return pjrt::plugin::of_file(path);
}

struct told {
  pjrt::executable_memory_arguments memory;
  double flops;
};
/// What the compiler tells of a program for four replicas, without optimizations that take minutes.
inline told compiled(pjrt::plugin const& plugin, std::string text) {
  std::string const name = "v5e:2x2", format = "mlir";
  pjrt::zeroed<pjrt::topology_arguments> four;
  four->name = name.data(), four->name_length = name.size();
  plugin.call(pjrt::slot::topology_create, four);
  using mt::detail::message;
  constexpr int no_optimization = 9;
  std::string const options =
      message().inner(3, message().integer(4, 4).integer(5, 1).integer(24, no_optimization)).bytes();
  pjrt::zeroed<pjrt::program> source;
  source->code = text.data(), source->length = text.size();
  source->format = format.data(), source->format_length = format.size();
  pjrt::zeroed<pjrt::compile_for_topology_arguments> a;
  a->which = four->made, a->source = &*source, a->options = options.data(), a->options_length = options.size();
  plugin.call(pjrt::slot::compile_for_topology, a);
  pjrt::zeroed<pjrt::executable_memory_arguments> memory;
  memory->which = a->made;
  plugin.call(pjrt::slot::executable_memory, memory);
  pjrt::zeroed<pjrt::cost_arguments> cost;
  cost->which = a->made;
  plugin.call(pjrt::slot::executable_cost, cost);
  double flops = 0;
  for (std::size_t i = 0; i < cost->count; ++i)
    if (std::string(cost->all[i].name, cost->all[i].name_length) == "flops")
      flops = static_cast<double>(cost->all[i].content.real);
  told const r{*memory, flops};
  pjrt::zeroed<pjrt::executable_arguments> ends;
  ends->which = a->made;
  plugin.release(pjrt::slot::executable_destroy, ends);
  pjrt::zeroed<pjrt::topology_destroy_arguments> end;
  end->which = four->made;
  plugin.release(pjrt::slot::topology_destroy, end);
  return r;
}

/// Compiles a lowered program: its results take the memory of all variables, its arguments exceed those that were
/// planned, and its work `flops`, by these shares at most. The compiler rounds small tensors up to its tiles.
struct shares_above {
  double bytes, work;
};
inline void has_what_was_planned(pjrt::plugin const& plugin, mt::lowering const& l, mt::mesh_shape const& mesh,
                                 double flops, shares_above most) {
  auto const whole = mt::stablehlo(l.graph, l.entry, l.planned.numbers, mesh);
  std::int64_t arguments = 0, variables = 0;
  for (mt::stablehlo_port const& p : whole.arguments) {
    std::int64_t const bytes = p.value == mt::no_id ? 8 : l.planned.numbers.local_bytes(l.graph.values[p.value]);
    arguments += bytes;
    if (p.kind == mt::stablehlo_port::variable) variables += bytes;
  }
  told const t = compiled(plugin, whole.text);
  std::int64_t const ours = l.planned.arena_bytes + l.planned.variable_bytes + l.planned.input_bytes;
  std::printf(
      "arguments %lld of %lld bytes, aliased %lld of %lld, work %.4g of %.4g flops, peak %lld beside our %lld\n",
      static_cast<long long>(t.memory.arguments), static_cast<long long>(arguments),
      static_cast<long long>(t.memory.aliased), static_cast<long long>(variables), t.flops, flops,
      static_cast<long long>(t.memory.peak), static_cast<long long>(ours));
  auto const beside = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
  CHECK(beside(t.memory.arguments, arguments) >= 1);
  CHECK(beside(t.memory.arguments, arguments) <= 1 + most.bytes);
  // What is aliased is rounded up as arguments are: all of them, but for the inputs.
  std::int64_t const inputs = t.memory.arguments - t.memory.aliased;
  CHECK(t.memory.aliased >= variables);
  CHECK(beside(t.memory.aliased, variables) <= 1 + most.bytes);
  CHECK(inputs >= arguments - variables);
  CHECK(t.flops / flops >= 1);
  CHECK(t.flops / flops <= 1 + most.work);
  CHECK(t.memory.peak > variables);
}

}  // namespace tpu
