// SPDX-License-Identifier: Apache-2.0
// Exchanges rows among ranks that share a machine. Between two parts of a step the host reads how many rows go to which
// rank, and requests the copies from the machine.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "meshtensor/comm/moved_subbox.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/run/recorded/commands.hpp"

namespace meshtensor {

template <recording_device Device>
class recorded_rows {
  using host_block = typename Device::recorded_program::host_block;

 public:
  /// Records the exchange of all groups. `ranks` have addresses of the device, and later steps use the same objects.
  void record(recorded_commands<Device>& commands, node_id which, value_id from, value_id to,
              std::span<rank_context> ranks) {
    std::vector<of_group> all;
    for (rank_context& first : ranks) {
      planned_collective const& c = first.collective_before_counts(which);
      if (c.with.index != 0) continue;
      of_group g{&first, first.at(c.counts), {}, {}};
      std::byte* const counts = block_for(which, first.rank(), first.bytes(c.counts));
      commands.download(counts, g.counts.template as<std::byte>(), first.bytes(c.counts));
      g.counts.data = counts;
      for (int k = 0; k < c.with.count; ++k) {
        rank_context const& member = ranks[static_cast<std::size_t>(c.with.members[k])];
        g.in.push_back(member.pointer(from)), g.out.push_back(member.pointer(to));
      }
      all.push_back(std::move(g));
    }
    commands.cut(true, [which, all = std::move(all)] {
      for (of_group const& g : all) copy_rows(which, g);
      Device::machine().wait();
    });
  }

 private:
  struct of_group {
    rank_context* first;
    view counts;  // on the host
    std::vector<std::byte*> in, out;
  };

  std::byte* block_for(node_id which, std::int64_t rank, std::int64_t bytes) {
    auto const [at, is_new] = counts_.try_emplace({which, rank});
    if (is_new) at->second = host_block(Device::machine(), static_cast<std::size_t>(bytes));
    return at->second.at();
  }
  static void copy_rows(node_id which, of_group const& g) {
    g.first->set_runs(which, g.counts);
    collective_call const& call = g.first->collective_of(which).call;
    movement const& moves = *call.moves;
    auto const bytes = static_cast<std::int64_t>(bytes_of(call.type));
    auto const count = static_cast<int>(g.in.size());
    auto const copy = [](std::byte* to, std::byte const* from, std::int64_t n) {
      Device::machine().copy(to, const_cast<std::byte*>(from), static_cast<std::size_t>(n));
    };
    auto const clear = [](std::byte* at, std::int64_t n) { Device::machine().clear(at, static_cast<std::size_t>(n)); };
    for (int r = 0; r < count; ++r) {
      std::byte* const out = g.out[static_cast<std::size_t>(r)];
      comm::clear_rows_without_source(clear, moves, r, bytes, out);
      for (int s = 0; s < count; ++s)
        comm::each_subbox(moves, call.at, s, r, [&](comm::moved_subbox const& p) {
          comm::copy_subbox_by(copy, moves, p, bytes, r, out, s, g.in[static_cast<std::size_t>(s)]);
        });
    }
  }

  std::map<std::pair<node_id, std::int64_t>, host_block> counts_;  // by node and the first rank of a group
};

}  // namespace meshtensor
