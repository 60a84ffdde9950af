// SPDX-License-Identifier: Apache-2.0
// Copies operands and results of single nodes from a device's memory to the host, for tools that observe nodes (check,
// numerics). The copies overlap and alias as the originals do.
#pragma once

#include <span>
#include <vector>

#include "meshtensor/device/queued_command.hpp"
#include "meshtensor/job/rank_context.hpp"

namespace meshtensor {

template <class Machine>
class host_copies {
 public:
  host_copies(Machine& d, module const& m, plan const& p, std::span<rank_context const> ranks)
      : machine_(d), m_(m), p_(p) {
    for (rank_context const& r : ranks) copies_.emplace_back(m, p, r.mesh(), r.rank());
  }

  /// Adds a block of the device's memory that may hold values.
  void add(std::byte const* at, std::size_t bytes) {
    for (block const& b : blocks_)
      if (b.at.begin == at && b.at.end >= at + bytes) return;
    byte_range const here = bytes_at(at, static_cast<std::int64_t>(bytes));
    std::erase_if(blocks_, [&](block const& b) { return b.at.meets(here); });
    blocks_.push_back({here, std::vector<double>((bytes + 7) / 8)});
  }
  /// The ranks with the current operands and results of a node, in memory of the host.
  std::span<rank_context const> of(node const& n, std::span<rank_context const> ranks) {
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      copies_[k].context = ranks[k].context;
      for (int v = 0; v < m_.value_count; ++v) copies_[k].set_base(p_.root[v], copy_of(ranks[k].base(p_.root[v])));
      for (int i = 0; i < n.operands.count; ++i) fetch(ranks[k].at(m_.operand(n, i)));
      for (int i = 0; i < n.results.count; ++i) fetch(ranks[k].at(m_.result(n, i)));
    }
    machine_.wait();
    return copies_;
  }

 private:
  struct block {
    byte_range at;  // on the device
    std::vector<double> memory;
  };
  std::byte* copy_of(std::byte const* p) {
    for (block& b : blocks_)
      if (b.at.begin <= p && p < b.at.end) return reinterpret_cast<std::byte*>(b.memory.data()) + (p - b.at.begin);
    return nullptr;
  }
  void fetch(view const& v) {
    byte_range const r = bytes_of_view(v);
    if (std::byte* const to = r.empty() ? nullptr : copy_of(r.begin))
      machine_.download(to, v.as<std::byte>(), static_cast<std::size_t>(r.end - r.begin));
  }

  Machine& machine_;
  meshtensor::module const& m_;
  plan const& p_;
  std::vector<rank_context> copies_;
  std::vector<block> blocks_;
};

}  // namespace meshtensor
