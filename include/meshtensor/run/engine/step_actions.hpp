// SPDX-License-Identifier: Apache-2.0
// Executes single instructions of a step for one rank, with one function for each kind. Two callers share these
// functions: the engine that reads a list, and steps for which the compiler generates code.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/kept_copies.hpp"
#include "meshtensor/device/device.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/op/detail/accumulate.hpp"
#include "meshtensor/pass/list_instructions.hpp"

namespace meshtensor {

/// The addresses of one rank's buffers outside its arena during a step.
struct external_buffers {
  dynamic_array<std::byte*> variables;  // by variable id
  dynamic_array<std::byte*> fed;        // by node id of the input
  dynamic_array<std::byte*> given;      // by node id of the output: the destination of its copy, if that is dense
  dynamic_array<view const*> strided;   // likewise, if it is not dense
  unchanged_blocks unchanged;           // variables that the program reads and never writes
};

/// An instruction of a list that is read in each step. `known_instruction`, an instruction that the compiler knows, has
/// the same members.
struct read_instruction {
  instruction const& i;

  node_id node() const { return i.node; }
  id from() const { return i.from; }
  id to() const { return i.to; }
  std::int64_t bytes() const { return i.bytes; }
  std::byte* from_pointer(rank_context const& p) const { return p.pointer(i.from_value()); }
  std::byte* to_pointer(rank_context const& p) const { return p.pointer(i.to_value()); }
  std::int64_t from_bytes(rank_context const& p) const { return p.bytes(i.from_value()); }
  std::int64_t to_bytes(rank_context const& p) const { return p.bytes(i.to_value()); }
  void bind(rank_context& p, std::byte* where) const { p.set_pointer(i.to_value(), where); }
  std::byte* turn(rank_context const& p) const { return p.turn(i.to_value(), p.context.index, i.bytes); }
};

namespace detail {

/// Copies bytes, unless source and destination are the same. For example, a slice in a stack that a loop both reads and
/// writes is already in place. If the device has several threads, it makes large copies.
template <class Device>
void copy_by([[maybe_unused]] Device& device, std::byte* to, std::byte const* from, std::int64_t bytes) {
  if (to == from) return;
  if constexpr (requires { device.copy_bytes(to, from, bytes); }) device.copy_bytes(to, from, bytes);
  else copy_bytes(to, from, bytes);
}
/// The address of the iteration's slice, or null if another rank holds it.
inline std::byte* slice_of(rank_context const& p, view const& stack, std::byte* first, std::int64_t bytes) {
  std::int64_t const index = p.context.index - stack.origin[0];
  return index < 0 || index >= stack.extent[0] ? nullptr : first + index * bytes;
}
/// The address at which a strided view of a node's operand begins.
inline std::byte* window_of(module const& m, node const& n, rank_context const& p) {
  view const x = p.at(m.operand(n, 0)), y = p.at(m.result(n));
  std::int64_t const first = start_of_window({m, n, &x, &y, p.context});
  return x.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(x.type));
}
/// The offset in `x` of a rank's part `y`, in elements.
inline std::int64_t begin_of_part(node const& n, view const& x, view const& y) {
  int const along = x.find(collective_attributes::of(n).split);
  return (y.origin[along] - x.origin[along]) * x.stride[along];
}

/// A number that the program computes.
inline std::int64_t read_number(rank_context const& p, value_id v) {
  std::int64_t number = 0;
  std::memcpy(&number, p.pointer(v), sizeof number);
  return number;
}

}  // namespace detail

/// Executes an instruction that neither launches a kernel nor is part of a collective or a loop.
template <instruction_kind Kind, class Device, class Instruction>
void act(Instruction const i, [[maybe_unused]] module const& m, [[maybe_unused]] Device& device, rank_context& p,
         [[maybe_unused]] external_buffers& o) {
  using enum instruction_kind;
  [[maybe_unused]] auto const value = [](id v) { return static_cast<value_id>(v); };
  if constexpr (Kind == bind_input) {
    i.bind(p, o.fed[i.node()]);
  } else if constexpr (Kind == bind_variable) {
    i.bind(p, o.variables[i.from()]);
  } else if constexpr (Kind == bind_slice) {
    i.bind(p, detail::slice_of(p, p.windows()[i.from()], i.from_pointer(p), i.to_bytes(p)));
  } else if constexpr (Kind == bind_buffer) {
    i.bind(p, i.turn(p));
  } else if constexpr (Kind == bind_window) {
    i.bind(p, detail::window_of(m, m.nodes[i.node()], p));
  } else if constexpr (Kind == copy) {
    detail::copy_by(device, i.to_pointer(p), i.from_pointer(p), i.from_bytes(p));
  } else if constexpr (Kind == copy_to_slice) {
    if (std::byte* const to = detail::slice_of(p, p.windows()[i.to()], i.to_pointer(p), i.from_bytes(p)))
      detail::copy_by(device, to, i.from_pointer(p), i.from_bytes(p));
  } else if constexpr (Kind == copy_to_store) {
    detail::copy_by(device, o.variables[i.to()], i.from_pointer(p), i.from_bytes(p));
  } else if constexpr (Kind == copy_to_output) {
    if (o.given[i.node()] != nullptr) {
      detail::copy_by(device, o.given[i.node()], i.from_pointer(p), i.from_bytes(p));
    } else if (view const* const to = o.strided[i.node()]; to != nullptr) {
      view const x = p.at(value(i.from()));
      detail::copy_by_name(x, 0, *to, 0, no_id, no_id, x.extent);
    }
  } else if constexpr (Kind == copy_part) {
    view const x = p.at(value(i.from())), y = p.at(value(i.to()));
    detail::copy_by_name(x, detail::begin_of_part(m.nodes[i.node()], x, y), y, 0, no_id, no_id, y.extent);
  } else if constexpr (Kind == zero) {
    clear_bytes(i.to_pointer(p), i.to_bytes(p));
  } else {
    static_assert(Kind == accumulate);
    view const total = p.at(value(i.to())), term = p.at(value(i.from()));
    if constexpr (requires { device.accumulate(total, term); }) device.accumulate(total, term);
    else meshtensor::accumulate(total, term, 0, total.size());
  }
}

/// Calls `body` for each iteration of a loop whose index is less than `known()`. A loop asks `known()` before each
/// iteration, but a reversed loop asks only once, before its first iteration.
template <class Known, class Body>
void each_known_iteration(std::span<rank_context> ranks, std::int64_t trips, bool reversed, Known known, Body body) {
  run_context const before = ranks[0].context;
  std::int64_t t = reversed ? trips - std::clamp(known(), std::int64_t{0}, trips) : 0;
  for (; t < trips && (reversed || t < known()); ++t) {
    std::int64_t const index = reversed ? trips - 1 - t : t;
    for (rank_context& p : ranks) {
      p.context.index = index;
      p.context.iteration = before.iteration * static_cast<std::uint64_t>(trips) + static_cast<std::uint64_t>(index);
    }
    body();
  }
  for (rank_context& p : ranks) p.context.iteration = before.iteration, p.context.index = before.index;
}
/// Calls `body` for each iteration of a loop. If the value `runs` exists, it limits the number of iterations. All ranks
/// have the same number.
template <class Body>
void each_iteration(std::span<rank_context> ranks, std::int64_t trips, bool reversed, id runs, Body body) {
  auto const known = [&] {
    return runs == id{no_id} ? trips : detail::read_number(ranks[0], static_cast<value_id>(runs));
  };
  each_known_iteration(ranks, trips, reversed, known, body);
}

/// Calls `body` for a coming iteration if there is one: the first iteration of a loop, or the next one.
template <class Body>
void one_ahead(std::span<rank_context> ranks, bool first, std::int64_t trips, bool reversed, Body body) {
  std::int64_t const before = ranks[0].context.index;
  std::int64_t const index = first ? (reversed ? trips - 1 : 0) : reversed ? before - 1 : before + 1;
  if (index < 0 || index >= trips) return;
  for (rank_context& p : ranks) p.context.index = index;
  body();
  for (rank_context& p : ranks) p.context.index = before;
}

}  // namespace meshtensor
