// SPDX-License-Identifier: Apache-2.0
// Tiles a kernel for its extents: it merges loops that all operands traverse alike, cuts long vectors into segments,
// and cuts sums over many rows into chunks. The tiling depends only on extents, so the number of threads changes no
// bit.
#pragma once

#include "meshtensor/device/cpu/fused.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Tiles a kernel's space, once its extents are known.
struct kernel_cutter {
  static constexpr std::int64_t segment = 4096;       // elements of a segment of a long vector that need not be whole
  static constexpr std::int64_t enough_work = 32768;  // elements, below which one thread does all the work
  meshtensor::module const& m;
  fused_kernel& k;
  descriptor const& d;
  bool along = false, over = false, total = false;
  int kept_loops = 0;

  kernel_cutter(module const& source, fused_kernel& target) : m(source), k(target), d(target.reading.key) {
    for (int i = 0; i < d.step_count; ++i) {
      along = along || goes_along(d.step(i).kind);
      over = over || goes_over(d.step(i).kind);
      total = total || is_total(d.step(i).kind);
    }
  }

  /// `operands` and `results` are those of the kernel. `inside` has the views of the values in the kernel, by their
  /// ids.
  void cut(view const* operands, view const* results, view const* inside, int threads) {
    kernel_reading const& r = k.reading;
    for (int i = 0; i < r.rows.count; ++i) k.extent[i] = extent_of(r.rows.at[i], operands, results, inside);
    k.width = r.vector < 0 ? 1 : extent_of(r.vector, operands, results, inside);
    k.loops = r.rows.count, kept_loops = r.kept;
    auto const add = [this](int stream) { k.streams[k.stream_count++] = static_cast<std::uint8_t>(stream); };
    for (int i = 0; i < d.operand_count; ++i) follow(i, operands[i]), add(i);
    for (int i = 0; i < d.result_count; ++i) follow(first_result_stream + i, results[i]), add(first_result_stream + i);
    for (int i = 0; i < d.step_count; ++i) {
      step_kind const kind = d.step(i).kind;
      if (kind == step_kind::position || is_random(kind))
        follow_index(first_step_stream + i, inside[m.result(m.nodes[r.makers[i]])]), add(first_step_stream + i);
    }
    drop_single_loops();
    merge_loops();
    cut_segments();
    k.reduced_loops = k.loops - kept_loops;
    for (int i = 0; i < k.loops; ++i) (i < kept_loops ? k.kept : k.reduced) *= k.extent[i];
    std::int64_t const work = k.row_count() * k.width;
    if (over || total) {
      std::int64_t const most = std::max<std::int64_t>(1, 16 / std::max<std::int64_t>(1, k.kept));
      k.chunks =
          std::clamp<std::int64_t>(k.reduced * k.width / 8192, 1, std::min(most, std::max<std::int64_t>(1, k.reduced)));
    }
    place_totals();
    std::int64_t const pieces = over || total ? k.kept * k.chunks : k.row_count();
    k.workers = work < enough_work ? 1 : static_cast<int>(std::min<std::int64_t>(threads, pieces));
  }

 private:
  std::int64_t extent_of(int dim, view const* operands, view const* results, view const* inside) const {
    for (int i = 0; i < d.result_count; ++i)
      if (int const p = results[i].find(dim); p >= 0) return results[i].extent[p];
    for (int i = 0; i < d.operand_count; ++i)
      if (int const p = operands[i].find(dim); p >= 0) return operands[i].extent[p];
    for (int i = k.reading.first_node; i < k.reading.end_node; ++i) {  // a dim that only broadcasts in the kernel have
      view const& v = inside[m.result(m.nodes[i])];
      if (int const p = v.find(dim); p >= 0) return v.extent[p];
    }
    throw error("R31", "none of a kernel's values has one of its dims");
  }
  void follow(int s, view const& v) {
    for (int i = 0; i < k.loops; ++i) {
      int const p = v.find(k.reading.rows.at[i]);
      k.stride[s][i] = p < 0 ? 0 : v.stride[p];
    }
    int const p = k.reading.vector < 0 ? -1 : v.find(k.reading.vector);
    k.across[s] = p < 0 ? 0 : v.stride[p];
  }
  /// A position counts along its dim. The index of a random number counts over the whole tensor in row-major order.
  void follow_index(int s, view v) {
    std::int64_t whole = 1;
    for (int i = v.count; i-- > 0;) {
      v.stride[i] = whole;
      k.base[s] += whole * v.origin[i];
      whole *= v.total[i];
    }
    follow(s, v);
  }

  template <class F>
  bool each_stream(F f) const {
    for (int s = 0; s < max_streams; ++s) {
      bool const used = s < first_result_stream ? s < d.operand_count
                        : s < first_step_stream ? s - first_result_stream < d.result_count
                                                : s - first_step_stream < d.step_count;
      if (used && !f(s)) return false;
    }
    return true;
  }
  void remove_loop(int i) {
    for (int j = i; j + 1 < k.loops; ++j) {
      k.extent[j] = k.extent[j + 1];
      for (int s = 0; s < max_streams; ++s) k.stride[s][j] = k.stride[s][j + 1];
    }
    kept_loops -= i < kept_loops;
    --k.loops;
  }
  void drop_single_loops() {
    for (int i = k.loops; i-- > 0;)
      if (k.extent[i] == 1) remove_loop(i);
  }
  void merge_loops() {
    for (int i = k.loops - 1; i-- > 0;) {
      if (i + 1 == kept_loops) continue;
      if (!each_stream([&](int s) { return k.stride[s][i] == k.stride[s][i + 1] * k.extent[i + 1]; })) continue;
      k.extent[i + 1] *= k.extent[i];
      remove_loop(i);
    }
    // The innermost loop joins the vector if both are kept or both are reduced.
    bool const may = k.loops > 0 && !along && (k.loops > kept_loops ? total && !over : !total);
    if (may && each_stream([&](int s) { return k.stride[s][k.loops - 1] == k.across[s] * k.width; })) {
      k.width *= k.extent[k.loops - 1];
      remove_loop(k.loops - 1);
    }
  }
  /// Splits a long vector into segments, which adds a loop, so that threads can share it and its blocks stay in the
  /// cache.
  void cut_segments() {
    k.last_width = k.width;
    if (along || k.width < 2 * segment) return;
    int const at = over || !total ? kept_loops : k.loops;
    for (int i = k.loops; i > at; --i) {
      k.extent[i] = k.extent[i - 1];
      for (int s = 0; s < max_streams; ++s) k.stride[s][i] = k.stride[s][i - 1];
    }
    k.extent[at] = (k.width + segment - 1) / segment;
    each_stream([&](int s) { return k.stride[s][at] = segment * k.across[s], true; });
    ++k.loops, kept_loops += at == kept_loops && (over || !total);
    k.segment_loop = at;
    k.last_width = k.width - (k.extent[at] - 1) * segment;
    k.width = segment;
  }
  void place_totals() {
    for (int i = 0; i < d.step_count; ++i) {
      kernel_step const s = d.step(i);
      if (!goes_over(s.kind) && !is_total(s.kind)) continue;
      k.total_at[i] = k.total_bytes;
      std::int64_t const count = goes_over(s.kind) && s.level == extent_class::vector ? k.width : 1;
      bool const rounds = reduction_of(s.kind) == reduction::sum && is_float(s.type);
      k.level_bytes[i] = (count * 8 + 63) / 64 * 64;
      k.total_bytes += k.level_bytes[i] * (rounds ? levels_of_sum((k.reduced + k.chunks - 1) / k.chunks) : 1);
    }
  }
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
