// SPDX-License-Identifier: Apache-2.0
// gather: copies the rows that an index tensor names, a whole row at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "meshtensor/device/cpu/lookup.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/gather.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Copies the rows that an index names, or writes zeros if there is no such row.
inline void gather_rows(row_lookup const& rows, view const& table, view const& index, view const& y,
                        thread_team& team) {
  auto const bytes = static_cast<std::int64_t>(bytes_of(y.type));
  team.parallel_for(rows.number(), std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, rows.width())),
                    [&](std::int64_t first, std::int64_t last) {
                      rows.each(index, first, last,
                                [&](bool here, std::int64_t from, std::int64_t to, std::int64_t count) {
                                  std::byte* const out = y.as<std::byte>() + to * bytes;
                                  auto const size = static_cast<std::size_t>(count * rows.width() * bytes);
                                  if (here) std::memcpy(out, table.as<std::byte>() + from * bytes, size);
                                  else std::memset(out, 0, size);
                                });
                    });
}

class gather_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<gather_kernel>(s); }
  explicit gather_kernel(node_setup const& s)
      : rows_(s.operands[0], s.operands[1], s.result, lookup_attributes::of(s.n).dim) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    gather_rows(rows_, e.operands[0], e.operands[1], e.results[0], team);
  }

 private:
  row_lookup rows_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
