// SPDX-License-Identifier: Apache-2.0
// Prepares the nodes of a program for a device with memory of its own: the work of each launch of each rank, and the
// kernels of collectives.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "meshtensor/device/device.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/pass/list_instructions.hpp"

namespace meshtensor {

template <recording_device Device>
class prepared_nodes {
  using program = typename Device::recorded_program;

 public:
  /// `remote` says that collectives go to other processes, so that they need no kernels here.
  prepared_nodes(module const& m, std::span<instruction const> instructions, std::span<rank_context const> ranks,
                 program& kernels, bool remote)
      : m_(m) {
    for (rank_context const& r : ranks)
      for (instruction const& i : instructions)
        if (i.kind == instruction_kind::launch) {
          node const& n = m.nodes[i.node];
          node_views const v = views(r, n);
          launches_.push_back(kernels.prepare(n, {v.operands, v.results, v.inside}));
        }
    per_rank_ = launches_.size() / ranks.size();
    for (instruction const& i : instructions) {
      if (i.kind == instruction_kind::accumulate) kernels.prepare_sum(m.values[i.to].type);
      if (i.kind != instruction_kind::start && i.kind != instruction_kind::collective) continue;
      if (remote || m.nodes[i.node].kind == primitive::move_rows) continue;  // the host exchanges rows
      planned_collective const& c = ranks[0].collective_of(i.node);
      collectives_.emplace(i.node, kernels.prepare_collective(m.nodes[i.node], c.call, c.with.count));
    }
    kernels.load();
    if (remote) join(instructions, ranks[0], kernels);
  }

  /// Whether the device itself runs this collective together with the devices of other processes.
  static bool takes_remote_collective([[maybe_unused]] program const& kernels,
                                      [[maybe_unused]] planned_collective const& c) {
    if constexpr (requires { kernels.takes_remote_collective(c.call, 1); })
      return kernels.takes_remote_collective(c.call, c.with.count);
    else return false;
  }

  typename program::work const& launch(instruction const& i, std::size_t rank) const {
    return launches_[rank * per_rank_ + i.to];
  }
  typename program::device_collective& collective_at(node_id node) { return collectives_.at(node); }

  /// The current operands and results of a node on a rank. They are valid until the next call.
  node_views views(rank_context const& r, node const& n) {
    operands_.resize(std::max<std::size_t>(operands_.size(), n.operands.count));
    results_.resize(std::max<std::size_t>(results_.size(), n.results.count));
    for (int i = 0; i < n.operands.count; ++i) operands_[static_cast<std::size_t>(i)] = r.at(m_.operand(n, i));
    for (int i = 0; i < n.results.count; ++i) results_[static_cast<std::size_t>(i)] = r.at(m_.result(n, i));
    return {operands_.data(), results_.data(), r.windows()};
  }

 private:
  static void join(std::span<instruction const> instructions, rank_context const& mine, program& kernels) {
    if constexpr (requires { kernels.join_remote_groups({}); }) {
      std::vector<std::vector<int>> groups;
      for (instruction const& i : instructions)
        if (i.kind == instruction_kind::start || i.kind == instruction_kind::collective)
          if (planned_collective const& c = mine.collective_of(i.node); takes_remote_collective(kernels, c))
            groups.push_back(c.members);
      kernels.join_remote_groups(groups);
    }
  }

  meshtensor::module const& m_;
  std::vector<typename program::work> launches_;  // by rank, then in the order of launches
  std::size_t per_rank_ = 0;
  std::map<node_id, typename program::device_collective> collectives_;
  std::vector<view> operands_, results_;
};

}  // namespace meshtensor
