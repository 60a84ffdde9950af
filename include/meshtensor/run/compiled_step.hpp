// SPDX-License-Identifier: Apache-2.0
// Declares an executable for whose step the compiler generates code, and the costs of its step as constants.
#pragma once

#include "meshtensor/pass/cost.hpp"
#include "meshtensor/run/executable.hpp"
#include "meshtensor/run/unrolled/engine.hpp"

namespace meshtensor {
namespace detail {

template <class... Args>
struct compiled_arguments {
  using type = executable<Args...>;  // reports the error
};
template <class Program, mesh_type Mesh, layout_type Layout, class... Device>
struct compiled_arguments<Program, Mesh, Layout, Device...> {
  using type = executable<Program, Mesh, Layout, unrolled<typename nth<0, Device..., default_device>::type>>;
};
template <class Programs, class Entry, mesh_type Mesh, layout_type Layout, class... Device>
struct compiled_arguments<Programs, Entry, Mesh, Layout, Device...> {
  using type = executable<Programs, Entry, Mesh, Layout, unrolled<typename nth<0, Device..., default_device>::type>>;
};

}  // namespace detail

/// An executable of a static program, of which the compiler knows every extent and axis. Its step calls one function
/// for each instruction, in order, and the addresses and byte counts are constants in these functions. Loops remain
/// loops. It is declared, called and queried like `executable`, and gives the same bits. However, it takes longer to
/// compile. With MESHTENSOR_EARLY=0 it is an `executable` that is planned at start-up.
///
/// errors  T15 an extent or an axis is open
template <class... Args>
using compiled_step = typename detail::compiled_arguments<Args...>::type;

/// Upper bounds on the costs of one step for each rank.
struct step_constants {
  std::int64_t launches;  // of kernels
  std::int64_t messages;  // collectives over more than one rank, where joined ones count as one
  std::int64_t bytes;     // received from other ranks
  std::int64_t peak;      // bytes of the arena, parameters, state and inputs
};

constexpr step_constants step_constants_of(module const& m, plan const& p, std::span<instruction const> instructions) {
  step_traffic const sent = traffic_of(m, p);
  step_constants all{0, sent.messages, sent.bytes, p.arena_bytes + p.variable_bytes + p.input_bytes};
  run_counts const runs = run_counts_of(m, p.numbers);
  for (instruction const& i : instructions)
    if (i.kind == instruction_kind::launch) all.launches = saturated_sum(all.launches, runs.of[m.nodes[i.node].region]);
  return all;
}

/// The costs of a static executable, for `static_assert`.
template <class Executable>
inline constexpr step_constants constants_of = [] {
  using stages = typename Executable::stages;
  return step_constants_of(stages::graph, stages::planned, stages::instructions());
}();

}  // namespace meshtensor
