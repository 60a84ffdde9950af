// SPDX-License-Identifier: Apache-2.0
// Binds a fused kernel to extents: its iteration space is cut into tiles, which threads share. A function pointer runs
// tiles with the interpreter or an instantiated loop. Both give the same bits on any number of threads, because the
// tiling depends only on extents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/sum.hpp"
#include "meshtensor/device/cpu/fused/block_reduction.hpp"
#include "meshtensor/device/cpu/fused/blocks.hpp"
#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/pass/fuse/read_kernel.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Streams advance with the tiles, through memory or through an index. Operands come first, then results, and then
/// steps that give positions or random numbers.
inline constexpr int first_result_stream = max_kernel_operands;
inline constexpr int first_step_stream = max_kernel_operands + max_kernel_results;
inline constexpr int max_streams = first_step_stream + max_kernel_steps;

/// The arguments of one launch.
struct launch_arguments {
  std::byte* memory[first_step_stream];
  number_value numbers[max_kernel_numbers];
  random_stream random[max_kernel_steps];
};

/// Adjacent rows. `offset` is the offset of the first row, in elements for memory, or as an index for a step.
struct tile {
  std::int64_t offset[max_streams];
  std::int64_t row_stride[max_streams];
  std::int64_t rows, width;
  std::int64_t row;   // the number of the first row in its unit of work
  bool first;         // the first tile of the kernel
  std::byte* totals;  // of reductions over rows, at offsets `total_at`
};

struct block_program;

/// A kernel and its extents.
class fused_kernel {
 public:
  using task_function = void (*)(fused_kernel const&, launch_arguments const&, std::int64_t first_row,
                                 std::int64_t last_row, std::byte* totals, std::byte* scratch);

  fused_kernel() = default;

  descriptor const& key() const { return reading.key; }
  std::int64_t row_count() const { return kept * reduced; }

  kernel_reading reading{};
  int stream_count = 0;
  std::uint8_t streams[max_streams] = {};
  // The loops over rows, outermost first. The last `reduced_loops` of them are reduced.
  int loops = 0, reduced_loops = 0;
  std::int64_t extent[max_dims_of_one + 1] = {};
  std::int64_t stride[max_streams][max_dims_of_one + 1] = {};
  std::int64_t base[max_streams] = {};    // first index of a position or a random number
  std::int64_t across[max_streams] = {};  // along the vector
  std::int64_t width = 1;                 // of the vector, or of its segments
  std::int64_t last_width = 1;            // of the last segment
  int segment_loop = -1;
  std::int64_t kept = 1, reduced = 1;            // rows
  std::int64_t chunks = 1;                       // chunks of the sum over reduced rows, for each kept row
  std::int64_t total_at[max_kernel_steps] = {};  // offset of a step's totals, which are levels of a sum
  std::int64_t level_bytes[max_kernel_steps] = {};
  std::int64_t total_bytes = 0;    // of one unit of work
  std::int64_t block = 0;          // elements that are computed at once, so that narrower rows share a tile
  std::int64_t scratch_bytes = 0;  // per worker
  int workers = 1;
  task_function task = nullptr;
  block_reduction const* reductions[max_kernel_steps] = {};  // block functions of each reduction step
  std::shared_ptr<block_program const> program;              // for the interpreter

  std::int64_t workspace_bytes() const { return workers * (total_bytes + scratch_bytes) + units() * total_bytes; }
  std::int64_t units() const { return chunks == 1 ? 0 : kept * chunks; }
};

namespace detail {

/// Calls body(tile) for rows [first, last), tile by tile.
inline void walk_rows(fused_kernel const& k, std::int64_t first, std::int64_t last, std::byte* totals,
                      function_ref<void(tile const&)> body) {
  if (first >= last) return;
  tile t;
  t.totals = totals;
  t.width = k.width;
  std::int64_t index[max_dims_of_one + 1] = {};
  std::int64_t rest = first;
  for (int i = k.loops; i-- > 0; rest /= k.extent[i]) index[i] = rest % k.extent[i];
  int const inner = k.loops - 1;
  for (int c = 0; c < k.stream_count; ++c) {
    int const s = k.streams[c];
    t.offset[s] = k.base[s];
    t.row_stride[s] = k.loops == 0 ? 0 : k.stride[s][inner];
    for (int i = 0; i < k.loops; ++i) t.offset[s] += index[i] * k.stride[s][i];
  }
  std::int64_t const at_once = k.width == 0 ? 1 : std::max<std::int64_t>(1, k.block / k.width);
  for (std::int64_t row = first; row < last;) {
    t.first = row == 0;
    t.row = row - first;
    t.rows = k.loops == 0 ? 1 : std::min({at_once, last - row, k.extent[inner] - index[inner]});
    t.width = k.segment_loop >= 0 && index[k.segment_loop] == k.extent[k.segment_loop] - 1 ? k.last_width : k.width;
    body(t);
    row += t.rows;
    if (row >= last) break;
    index[inner] += t.rows;
    for (int c = 0; c < k.stream_count; ++c) t.offset[k.streams[c]] += t.rows * t.row_stride[k.streams[c]];
    for (int i = inner; i > 0 && index[i] == k.extent[i]; --i) {
      index[i] = 0, ++index[i - 1];
      for (int c = 0; c < k.stream_count; ++c)
        t.offset[k.streams[c]] += k.stride[k.streams[c]][i - 1] - k.extent[i] * k.stride[k.streams[c]][i];
    }
  }
}

/// Calls f(step, elements) for the steps that have totals.
inline void each_total(fused_kernel const& k, function_ref<void(int, std::int64_t)> f) {
  descriptor const& d = k.key();
  for (int i = 0; i < d.step_count; ++i) {
    kernel_step const s = d.step(i);
    if (!goes_over(s.kind) && !is_total(s.kind)) continue;
    bool const wide = goes_over(s.kind) && s.level == extent_class::vector;
    f(i, wide ? k.width : 1);
  }
}
/// Initializes the totals of one unit. Upper levels need no start, because they count from their first carry on.
inline void start_totals(fused_kernel const& k, std::byte* totals) {
  each_total(k, [&](int i, std::int64_t n) { k.reductions[i]->start(totals + k.total_at[i], n); });
}
inline void merge_totals(fused_kernel const& k, std::byte* totals, std::byte const* others) {
  each_total(k,
             [&](int i, std::int64_t n) { k.reductions[i]->merge(totals + k.total_at[i], others + k.total_at[i], n); });
}
/// Call this before row number `row` of a unit is added to elements [at, at + n) of a step's totals. After each
/// sum_fan_in rows, it carries the totals one level up. After as many carries, it carries that level up, too.
inline void carry_totals(fused_kernel const& k, int step, std::byte* totals, std::int64_t row, std::int64_t at,
                         std::int64_t n) {
  block_reduction const& reduction = *k.reductions[step];
  if (row == 0 || row % sum_fan_in != 0 || !reduction.rounds) return;
  std::byte* from = totals + k.total_at[step] + at * reduction.bytes;
  for (std::int64_t below = sum_fan_in;; below *= sum_fan_in) {
    std::byte* const to = from + k.level_bytes[step];
    if (row == below) copy_bytes(to, from, n * reduction.bytes);
    else reduction.merge(to, from, n);
    reduction.start(from, n);
    if (row / below % sum_fan_in != 0) return;
    from = to;
  }
}
[[gnu::noinline]] inline void carry_all_totals(fused_kernel const& k, std::byte* totals, std::int64_t row) {
  each_total(k, [&](int i, std::int64_t n) { carry_totals(k, i, totals, row, 0, n); });
}
/// Adds the upper levels of a unit of `rows` rows to its totals.
inline void end_totals(fused_kernel const& k, std::byte* totals, std::int64_t rows) {
  each_total(k, [&](int i, std::int64_t n) {
    std::byte* const all = totals + k.total_at[i];
    std::int64_t level = 1;
    for (std::int64_t below = sum_fan_in; k.reductions[i]->rounds && rows > below; below *= sum_fan_in, ++level)
      k.reductions[i]->merge(all, all + level * k.level_bytes[i], n);
  });
}
/// Writes the totals of one kept row to the results.
inline void store_totals(fused_kernel const& k, launch_arguments const& a, std::int64_t kept_row,
                         std::byte const* totals) {
  descriptor const& d = k.key();
  int const kept_loops = k.loops - k.reduced_loops;
  std::int64_t index[max_dims_of_one + 1] = {};
  for (int i = kept_loops; i-- > 0; kept_row /= k.extent[i]) index[i] = kept_row % k.extent[i];
  bool const last_segment =
      k.segment_loop >= 0 && k.segment_loop < kept_loops && index[k.segment_loop] == k.extent[k.segment_loop] - 1;
  std::int64_t const width = last_segment ? k.last_width : k.width;
  for (int i = 0; i < d.result_count; ++i) {
    source const from = d.result(i);
    if (!from.is_step()) continue;
    kernel_step const s = d.step(from.index());
    if (!goes_over(s.kind) && !is_total(s.kind)) continue;
    int const stream = first_result_stream + i;
    std::int64_t offset = 0;
    for (int l = 0; l < kept_loops; ++l) offset += index[l] * k.stride[stream][l];
    std::int64_t const count = goes_over(s.kind) && s.level == extent_class::vector ? width : 1;
    block_reduction const& reduction = *k.reductions[from.index()];
    std::byte* to = a.memory[stream] + offset * static_cast<std::int64_t>(bytes_of(s.type));
    alignas(64) std::byte settled[256 * 8];
    for (std::int64_t at = 0; at < count; at += 256) {
      std::int64_t const n = std::min<std::int64_t>(256, count - at);
      reduction.settle(settled, totals + k.total_at[from.index()] + at * reduction.bytes, n);
      store_block(s.type, settled, to + at * k.across[stream] * static_cast<std::int64_t>(bytes_of(s.type)),
                  k.across[stream], n);
    }
  }
}

}  // namespace detail

/// Runs a kernel. `workspace` has workspace_bytes() bytes and starts at a multiple of 64.
inline void launch(fused_kernel const& k, launch_arguments const& a, std::byte* workspace, thread_team& team) {
  std::byte* const units = workspace + k.workers * (k.total_bytes + k.scratch_bytes);
  std::int64_t const tasks = k.total_bytes == 0 ? k.row_count() : k.kept * k.chunks;
  auto const work = [&](std::int64_t worker) {
    std::byte* const own = workspace + worker * (k.total_bytes + k.scratch_bytes);
    std::byte* const scratch = own + k.total_bytes;
    std::int64_t const first = tasks * worker / k.workers, last = tasks * (worker + 1) / k.workers;
    if (k.total_bytes == 0) return k.task(k, a, first, last, nullptr, scratch);
    for (std::int64_t unit = first; unit < last; ++unit) {
      std::int64_t const row = unit / k.chunks, chunk = unit % k.chunks;
      std::byte* const totals = k.chunks == 1 ? own : units + unit * k.total_bytes;
      std::int64_t const begin = k.reduced * chunk / k.chunks, end = k.reduced * (chunk + 1) / k.chunks;
      detail::start_totals(k, totals);
      k.task(k, a, row * k.reduced + begin, row * k.reduced + end, totals, scratch);
      detail::end_totals(k, totals, end - begin);
      if (k.chunks == 1) detail::store_totals(k, a, row, totals);
    }
  };
  if (k.workers == 1) {
    work(0);
  } else {
    team.parallel_for(k.workers, 1, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t w = first; w < last; ++w) work(w);
    });
  }
  if (k.chunks == 1) return;
  for (std::int64_t row = 0; row < k.kept; ++row) {
    std::byte* const totals = units + row * k.chunks * k.total_bytes;
    for (std::int64_t step = 1; step < k.chunks; step *= 2)  // in pairs
      for (std::int64_t c = 0; c + step < k.chunks; c += 2 * step)
        detail::merge_totals(k, totals + c * k.total_bytes, totals + (c + step) * k.total_bytes);
    detail::store_totals(k, a, row, totals);
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
