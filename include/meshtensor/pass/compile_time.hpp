// SPDX-License-Identifier: Apache-2.0
// Makes the compiler compute the result of each step once and share it. Each result is a constant of its own.
// Therefore the compiler's limits of constant evaluation apply to each step alone. Moreover, uses with the same
// template arguments share a result: for example, a set of programs is traced once for all meshes, layouts and devices.
#pragma once

#include <array>
#include <cstdint>

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/fingerprint.hpp"
#include "meshtensor/pass/passes.hpp"

namespace meshtensor {
namespace detail {

template <class Programs>
// One compiler reports a program that it cannot trace by showing this line:
inline constexpr module traced = try_trace<Programs>();  // program_error<not constexpr, or past -fconstexpr-steps>

/// The hash of a trace. Every type that is made from the trace has it as a template argument, because two source files
/// may each have a `struct step`. Without the hash, the linker would confuse the instantiations of the two.
template <class Programs>
inline constexpr std::uint64_t fingerprint_of = fingerprint(traced<Programs>);

/// The input of a pass as a type. Mesh, layout or device is void if the pass does not depend on it.
template <class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct request_of {
  using programs = Programs;
  static constexpr lowering_request value{entry_name<Entry>(), Mesh::shape, Layout::sharding_rules,
                                          capabilities_of<Device>};
};
template <class Programs, class Entry, std::uint64_t Fingerprint>
struct request_of<Programs, Entry, void, void, void, Fingerprint> {
  using programs = Programs;
  static constexpr mesh_shape mesh{};
  static constexpr layout_rules rules{};
  static constexpr lowering_request value{entry_name<Entry>(), mesh, rules, {}};
};

template <pass_input Input, class Programs, class Entry, class Mesh, class Layout, class Device,
          std::uint64_t Fingerprint>
struct request_for {
  using type = request_of<Programs, Entry, Mesh, Layout, Device, Fingerprint>;
};
template <class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct request_for<pass_input::layout, Programs, Entry, Mesh, Layout, Device, Fingerprint> {
  using type = request_of<Programs, Entry, Mesh, Layout, void, Fingerprint>;
};
template <class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct request_for<pass_input::program, Programs, Entry, Mesh, Layout, Device, Fingerprint> {
  using type = request_of<Programs, Entry, void, void, void, Fingerprint>;
};

/// A request for all passes, reduced to the input that pass `Row` depends on.
template <int Row, class Request>
struct narrowed;
template <int Row, class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
struct narrowed<Row, request_of<Programs, Entry, Mesh, Layout, Device, Fingerprint>>
    : request_for<passes<>[Row].depends_on, Programs, Entry, Mesh, Layout, Device, Fingerprint> {};

/// The module after pass `Row`. Requests share it if they agree in the inputs that the pass depends on.
template <int Row, class Request>
constexpr module const& module_after();

template <int Row, class Request>
constexpr module run_row() {
  if constexpr (Row == 0) return passes<>[0].run(traced<typename Request::programs>, Request::value);
  else return passes<>[Row].run(module_after<Row - 1, typename narrowed<Row - 1, Request>::type>(), Request::value);
}

inline constexpr int last_of_program = passes_of(pass_input::program) - 1;
inline constexpr int last_of_layout = passes_of(pass_input::layout) - 1;
inline constexpr int last_of_device = passes_of(pass_input::device) - 1;

template <int Row, class Request>
struct pass_result {
  static constexpr module value = run_row<Row, Request>();
};
template <class Request>
struct whole_program {
  static constexpr module whole = run_row<last_of_program, Request>();
};
template <class Request>
struct partitioned_program {
  static constexpr module partitioned = run_row<last_of_layout, Request>();
};
template <class Request>
struct program_of_rank {
  static constexpr module graph = run_row<last_of_device, Request>();
};

template <int Row, class Request>
constexpr module const& module_after() {
  if constexpr (Row == last_of_program) return whole_program<Request>::whole;
  else if constexpr (Row == last_of_layout) return partitioned_program<Request>::partitioned;
  else if constexpr (Row == last_of_device) return program_of_rank<Request>::graph;
  else return pass_result<Row, Request>::value;
}

template <int Row, class Programs, class Entry, class Mesh, class Layout, class Device, std::uint64_t Fingerprint>
using request_of_row =
    typename narrowed<Row, request_of<Programs, Entry, Mesh, Layout, capable_device<Device>, Fingerprint>>::type;

/// The result of row `Row` of `plan_steps`. `Request` has the input of all passes.
template <int Row, class Request>
struct plan_result;

/// The input of row `Row` of `plan_steps`.
template <int Row, class Request>
constexpr planning planning_before() {
  meshtensor::module const& graph = module_after<pass_count - 1, typename narrowed<pass_count - 1, Request>::type>();
  planning s{graph, find_entry(graph, Request::value.label), Request::value.mesh};
  constexpr int binds = plan_step_giving<binding>(), plans = plan_step_giving<plan>();
  if constexpr (Row > binds) s.bound = &plan_result<binds, Request>::value;
  if constexpr (Row > plans) s.planned = &plan_result<plans, Request>::value;
  return s;
}

template <int Row, class Request>
struct plan_result {
  using type = result_of_step<Row>;
  static constexpr type value = plan_step_at<Row>().run(planning_before<Row, Request>());
};
template <class Result, class Request>
inline constexpr Result const& planned_result = plan_result<plan_step_giving<Result>(), Request>::value;

/// The instructions of an entry as an array.
template <class Request>
inline constexpr auto listed_instructions = [] {
  constexpr instruction_list const& list = planned_result<instruction_list, Request>;
  std::array<instruction, list.count()> all{};
  std::size_t n = 0;
  list.each([&](instruction const& i) { all[n++] = i; });
  return all;
}();

/// True, or else an error of the compiler with the first fault that one of the steps of planning found. The steps are
/// those that depend on no more than `Input`. The steps after the fault do not run.
template <pass_input Input, class Request, int Row = 0>
constexpr bool raise_first_fault() {
  if constexpr (Row == plan_steps_of<Input>()) {
    return true;
  } else {
    if constexpr (has_report<result_of_step<Row>>)
      if constexpr (!plan_result<Row, Request>::value.report.empty())
        return raise_at_compile_time<plan_result<Row, Request>::value>();
    return raise_first_fault<Input, Request, Row + 1>();
  }
}

}  // namespace detail
}  // namespace meshtensor
