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
#include "meshtensor/pass/lower.hpp"
#include "probe/compiled_products.hpp"
#include "probe/tpu_figures.hpp"

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
  double flops, products;  // all operations, and those of products alone
  double bytes, seconds;   // read and written, and the time that the compiler expects at best
};
/// The program that was made, in XLA's own form.
inline std::string made_program(pjrt::plugin const& plugin, pjrt::executable* which) {
  pjrt::zeroed<pjrt::program> made;
  pjrt::zeroed<pjrt::executable_program_arguments> a;
  a->which = which, a->made = &*made;
  plugin.call(pjrt::slot::executable_program, a);
  std::string code(made->length, '\0');
  made->code = code.data();
  plugin.call(pjrt::slot::executable_program, a);
  REQUIRE(std::string(made->format, made->format_length) == "hlo_with_config");
  return code;
}
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
  auto const cost_of = [&](std::string_view what) {
    double sum = 0;
    for (std::size_t i = 0; i < cost->count; ++i)
      if (std::string(cost->all[i].name, cost->all[i].name_length) == what)
        sum = static_cast<double>(cost->all[i].content.real);
    return sum;
  };
  told const r{*memory, cost_of("flops"), operations_of_products(made_program(plugin, a->made)),
               cost_of("bytes accessed"), cost_of("optimal_seconds")};
  pjrt::zeroed<pjrt::executable_arguments> ends;
  ends->which = a->made;
  plugin.release(pjrt::slot::executable_destroy, ends);
  pjrt::zeroed<pjrt::topology_destroy_arguments> end;
  end->which = four->made;
  plugin.release(pjrt::slot::topology_destroy, end);
  return r;
}

/// Compiles a lowered program: its arguments have the bytes of all tensors in the tiles of a TPU, its results take the
/// memory of all variables, its products have between 1 and 1.02 times the operations of ours, all its operations
/// between 1 and 1.02 times all of ours, and at most `over_products` times those of our products.
inline void has_what_was_planned(pjrt::plugin const& plugin, mt::lowering const& l, mt::mesh_shape const& mesh,
                                 planned_work const& work, double over_products) {
  auto const whole = mt::stablehlo(l.graph, l.entry, l.planned.numbers, mesh, {.has_f64 = false});
  std::int64_t arguments = 0, variables = 0, dense = 0;
  for (mt::stablehlo_port const& p : whole.arguments) {
    arguments += bytes_in_tiles(l, p);
    if (p.kind == mt::stablehlo_port::variable) variables += bytes_in_tiles(l, p);
    dense += p.value == mt::no_id ? 8 : l.planned.numbers.local_bytes(l.graph.values[p.value]);
  }
  told const t = compiled(plugin, whole.text);
  std::int64_t const ours = l.planned.arena_bytes + l.planned.variable_bytes + l.planned.input_bytes;
  auto const shown = [](std::int64_t n) { return static_cast<long long>(n); };
  std::printf(
      "arguments %lld of %lld bytes, %lld without tiles; aliased %lld of %lld; products %.15g of %.15g flops, all %.6g "
      "of %.6g; bytes accessed %.6g, seconds at best %.4g; peak %lld beside our %lld\n",
      shown(t.memory.arguments), shown(arguments), shown(dense), shown(t.memory.aliased), shown(variables), t.products,
      work.products, t.flops, work.all(), t.bytes, t.seconds, shown(t.memory.peak), shown(ours));
  auto const beside = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
  CHECK(beside(t.memory.arguments, arguments) == doctest::Approx(1).epsilon(1e-3));
  CHECK(t.memory.aliased == variables);
  CHECK(t.products / work.products >= 1);
  CHECK(t.products / work.products <= 1.02);
  CHECK(t.flops / work.all() >= 1);
  CHECK(t.flops / work.all() <= 1.02);
  CHECK(t.flops / work.products <= over_products);
  CHECK(t.memory.peak > variables);
}

}  // namespace tpu
