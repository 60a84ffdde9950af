// SPDX-License-Identifier: Apache-2.0
// The instructions of a static program as constants of the compiler: kinds, order, addresses in the arena and byte
// counts.
#pragma once

#include <array>

#include "meshtensor/run/engine/step_actions.hpp"

namespace meshtensor {
namespace detail {

/// An operand or result of a kernel whose address differs between steps or iterations. `place` is its index in the
/// kernel's views, and `root` is the value that has the address.
struct moving_view {
  int place;
  value_id root;
};

}  // namespace detail

/// The instructions of an entry that the compiler has planned. `Stages` is `lowered<…>`.
template <class Stages, class Entry>
struct unrolled_code {
  static constexpr module const& graph = Stages::graph;
  static constexpr plan const& planned = Stages::planned;
  static constexpr auto const& list = Stages::instructions();

  /// The launched nodes, in order.
  static constexpr auto launched = [] {
    constexpr auto launches = std::count_if(list.begin(), list.end(),
                                            [](instruction const& i) { return i.kind == instruction_kind::launch; });
    std::array<node_id, static_cast<std::size_t>(launches)> all{};
    for (instruction const& i : list)
      if (i.kind == instruction_kind::launch) all[i.to] = i.node;
    return all;
  }();
  /// For each launch, the number of operands and results of the launches before it.
  static constexpr auto first_view = [] {
    std::array<int, launched.size() + 1> all{};
    for (std::size_t k = 0; k < launched.size(); ++k)
      all[k + 1] = all[k] + graph.nodes[launched[k]].operands.count + graph.nodes[launched[k]].results.count;
    return all;
  }();
  /// Whether any collective goes to another rank.
  static constexpr bool communicates = std::any_of(list.begin(), list.end(), [](instruction const& i) {
    return i.kind == instruction_kind::start || i.kind == instruction_kind::collective;
  });

  /// For each value, whether the instructions set its address while the step runs.
  static constexpr auto bound = [] {
    std::array<bool, static_cast<std::size_t>(graph.value_count)> all{};
    for (instruction const& i : list)
      if (i.kind <= instruction_kind::bind_window) all[planned.root[i.to_value()]] = true;
    return all;
  }();
  /// Whether a value has the same address in the arena in all steps.
  static constexpr bool stays(value_id v) {
    value_id const root = planned.root[v];
    return planned.where[root] == place::arena && !bound[root];
  }
  /// Bytes of a value if all ranks hold the same number, and otherwise -1.
  static constexpr std::int64_t bytes_of_all(value_id v) {
    value const& x = graph.values[v];
    for (int i = 0; i < x.dims.count; ++i)
      if (!planned.numbers.is_even(x, i)) return -1;
    return planned.numbers.local_bytes(x);
  }

 private:
  static constexpr std::size_t length_of(auto each) {
    std::size_t n = 0;
    each([&](auto) { ++n; });
    return n;
  }
  static constexpr void each_in_body(int begin, auto add) {
    int depth = 0;
    for (int i = begin + 1; i < static_cast<int>(list.size()) && depth >= 0; ++i) {
      instruction_kind const kind = list[static_cast<std::size_t>(i)].kind;
      if (kind == instruction_kind::end) --depth;
      else if (depth == 0) add(i);
      if (begins(kind)) ++depth;
    }
  }
  static constexpr void each_moving(int at, auto add) {
    node const& n = graph.nodes[list[static_cast<std::size_t>(at)].node];
    for (int i = 0; i < n.operands.count + n.results.count; ++i) {
      value_id const v = i < n.operands.count ? graph.operand(n, i) : graph.result(n, i - n.operands.count);
      if (!stays(v)) add(detail::moving_view{i, planned.root[v]});
    }
  }

 public:
  /// The instructions in the body of an instruction, without those in nested bodies. If `Begin` is -1, it is the body
  /// of the step.
  template <int Begin>
  static constexpr auto body_of = [] {
    std::array<int, length_of([](auto add) { each_in_body(Begin, add); })> all{};
    std::size_t n = 0;
    each_in_body(Begin, [&](int i) { all[n++] = i; });
    return all;
  }();

  /// The views of a kernel that move, operands first.
  template <int At>
  static constexpr auto moving = [] {
    std::array<detail::moving_view, length_of([](auto add) { each_moving(At, add); })> all{};
    std::size_t n = 0;
    each_moving(At, [&](detail::moving_view v) { all[n++] = v; });
    return all;
  }();
};

/// An instruction that the compiler knows. See read_instruction.
template <class Code, int At>
struct known_instruction {
  static constexpr instruction i = Code::list[At];

  static constexpr node_id node() { return i.node; }
  static constexpr id from() { return i.from; }
  static constexpr id to() { return i.to; }
  static constexpr std::int64_t bytes() { return i.bytes; }
  static std::byte* from_pointer(rank_context const& p) { return pointer<i.from_value()>(p); }
  static std::byte* to_pointer(rank_context const& p) { return pointer<i.to_value()>(p); }
  static std::int64_t from_bytes(rank_context const& p) { return bytes_of<i.from_value()>(p); }
  static std::int64_t to_bytes(rank_context const& p) { return bytes_of<i.to_value()>(p); }
  static void bind(rank_context& p, std::byte* where) {
    constexpr value_id root = Code::planned.root[i.to_value()];
    p.set_base(root, where);
  }
  static std::byte* turn(rank_context const& p) {
    constexpr std::int64_t offset = Code::planned.offset[Code::planned.root[i.to_value()]];
    return p.arena() + offset + p.context.index % 2 * i.bytes;
  }

 private:
  template <value_id V>
  static std::byte* pointer(rank_context const& p) {
    constexpr value_id root = Code::planned.root[V];
    constexpr std::int64_t offset = Code::planned.offset[root];
    if constexpr (Code::stays(V)) return p.arena() + offset;
    else return p.base(root);
  }
  template <value_id V>
  static std::int64_t bytes_of(rank_context const& p) {
    constexpr std::int64_t all = Code::bytes_of_all(V);
    if constexpr (all >= 0) return all;
    else return p.bytes(V);
  }
};

}  // namespace meshtensor
