// SPDX-License-Identifier: Apache-2.0
// put: copies a tensor, unless the result has its buffer already, and then overwrites a slice or rows of it.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/lookup.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/put.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Puts one slice at a position that is a number.
class put_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s);
  explicit put_kernel(node_setup const& s)
      : all_(copy_by_name(s.operands[0], s.result, no_id, no_id, s.result.extent)),
        part_(of_part(s.operands[1], s.result, put_attributes::of(s.n).dim)) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    view const& y = e.results[0];
    if (y.data != e.operands[0].data) all_.run(e.operands[0].data, y.data, &team);
    std::int64_t const first = put_rule::start_of(e);  // -1 if the slice is in another shard
    if (first < 0) return;
    part_.run(e.operands[1].data, y.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(y.type)), &team);
  }

 private:
  static strided_copy of_part(view const& part, view y, int dim) {
    y.extent[y.find(dim)] = 1;
    return copy_by_name(part, y, no_id, no_id, y.extent);
  }
  strided_copy all_, part_;
};

/// Puts rows at the positions in an index tensor.
class put_rows_kernel final : public node_kernel {
 public:
  explicit put_rows_kernel(node_setup const& s)
      : all_(copy_by_name(s.operands[0], s.result, no_id, no_id, s.result.extent)),
        rows_(s.result, s.operands[2], s.operands[1], put_attributes::of(s.n).dim) {}
  void run(evaluation const& e, std::byte*, thread_team& team) override {
    if (e.results[0].data != e.operands[0].data) all_.run(e.operands[0].data, e.results[0].data, &team);
    put(e.operands[1], e.operands[2], e.results[0], team);
  }

 private:
  /// If several rows are put at one position, the last one wins. Therefore each thread takes a part of every row if
  /// that may happen.
  void put(view const& x, view const& index, view const& table, thread_team& team) const {
    auto const bytes = static_cast<std::int64_t>(bytes_of(table.type));
    auto const some = [&](std::int64_t row, std::int64_t end, std::int64_t first, std::int64_t last) {
      rows_.each_part(index, row, end, first, last, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        std::memcpy(table.as<std::byte>() + to * bytes, x.as<std::byte>() + from * bytes,
                    static_cast<std::size_t>(count * bytes));
      });
    };
    if (rows_.may_meet())
      team.parallel_for(rows_.width(), std::max<std::int64_t>(64, 16384 / std::max<std::int64_t>(1, rows_.number())),
                        [&](auto first, auto last) { some(0, rows_.number(), first, last); });
    else
      team.parallel_for(rows_.number(), std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, rows_.width())),
                        [&](auto first, auto last) { some(first, last, 0, rows_.width()); });
  }

  strided_copy all_;
  row_lookup rows_;
};

inline std::unique_ptr<node_kernel> put_kernel::prepare(node_setup const& s) {
  if (put_rule::at_index(s.n)) return std::make_unique<put_rows_kernel>(s);
  return std::make_unique<put_kernel>(s);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
