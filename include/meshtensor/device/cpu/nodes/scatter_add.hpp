// SPDX-License-Identifier: Apache-2.0
// scatter_add: adds rows into zeros, at the positions that an index tensor names. Any number of threads adds the rows
// in their order.
#pragma once

#include <algorithm>
#include <memory>

#include "meshtensor/base/sum.hpp"
#include "meshtensor/device/cpu/lookup.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/scatter_add.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class scatter_add_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) { return std::make_unique<scatter_add_kernel>(s); }
  explicit scatter_add_kernel(node_setup const& s)
      : rows_(s.result, s.operands[1], s.operands[0], lookup_attributes::of(s.n).dim),
        bytes_(bytes_of_sums(s.result, s.threads)) {}
  std::int64_t workspace_bytes() const override { return bytes_; }
  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    scatter_add(e.operands[0], e.operands[1], e.results[0], workspace, team);
  }

 private:
  /// Adds the rows in their order for any number of threads, because each thread adds some columns of every row. A
  /// thread adds them in sums of its own, which are rounded once. `sums` has bytes_of_sums(table, threads) bytes.
  void scatter_add(view const& x, view const& index, view const& table, std::byte* sums, thread_team& team) const {
    std::int64_t const strip = width_of_strip(), strips = (rows_.width() + strip - 1) / strip;
    std::int64_t const rows = rows_.width() == 0 ? 0 : table.size() / rows_.width();
    with_element(table.type, [&]<class E>() {
      auto const some = [&](std::int64_t first, std::int64_t last, std::byte* room) {
        auto* const own = reinterpret_cast<wide_sum<E>*>(room);
        for (std::int64_t s = first; s < last; ++s) {
          std::int64_t const begin = s * strip, end = std::min(rows_.width(), begin + strip), width = end - begin;
          std::uninitialized_fill_n(own, rows * width, wide_sum<E>());
          rows_.each_part(index, 0, rows_.number(), begin, end,
                          [&](std::int64_t to, std::int64_t from, std::int64_t count) {
                            wide_sum<E>* const here = own + (to - begin) / rows_.width() * width;
                            for (std::int64_t i = 0; i < count; ++i) here[i].add(x.as<E>()[from + i]);
                          });
          for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t i = 0; i < width; ++i)
              table.as<E>()[r * rows_.width() + begin + i] = own[r * width + i].value();
        }
      };
      if (strips == 1 || (rows_.number() * rows_.width() < 32768 && rows * rows_.width() < 32768))
        return some(0, strips, sums);
      team.parallel_for(strips, 1, [&](std::int64_t first, std::int64_t last) {
        some(first, last, sums + team.here() * bytes_of_strip(table));
      });
    });
  }
  std::int64_t bytes_of_sums(view const& table, int threads) const {
    return (rows_.width() <= width_of_strip() ? 1 : threads) * bytes_of_strip(table);  // any thread may take a strip
  }
  std::int64_t width_of_strip() const { return std::max<std::int64_t>(1, std::min<std::int64_t>(rows_.width(), 64)); }
  std::int64_t bytes_of_strip(view const& table) const {
    std::int64_t const rows = rows_.width() == 0 ? 0 : table.size() / rows_.width();
    return (rows * width_of_strip() * (table.type == dtype::f64 ? 16 : 8) + 63) / 64 * 64;
  }

  row_lookup rows_;
  std::int64_t bytes_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
