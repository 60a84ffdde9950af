// SPDX-License-Identifier: Apache-2.0
// put: copies a tensor, unless the result has its buffer already, and then overwrites a slice or rows of it.
#pragma once

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
    rows_.put(e.operands[1], e.operands[2], e.results[0], team);
  }

 private:
  strided_copy all_;
  row_lookup rows_;
};

inline std::unique_ptr<node_kernel> put_kernel::prepare(node_setup const& s) {
  if (put_rule::at_index(s.n)) return std::make_unique<put_rows_kernel>(s);
  return std::make_unique<put_kernel>(s);
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
