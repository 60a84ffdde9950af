// SPDX-License-Identifier: Apache-2.0
// Computes depthwise convolutions by our own loops, with neighbouring channels in one register. Every element is one
// sum, and the number of threads does not change its order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/device/cpu/convolution/depthwise/at_positions.hpp"
#include "meshtensor/device/cpu/convolution/depthwise/at_taps.hpp"
#include "meshtensor/device/cpu/convolution/depthwise/line_terms.hpp"
#include "meshtensor/device/cpu/convolution/gather.hpp"
#include "meshtensor/device/cpu/convolution/problem.hpp"
#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

class depthwise_loops {
 public:
  /// Takes problems whose groups have one channel, if channels are innermost in both activations.
  static bool takes(convolution_problem const& p) {
    return p.groups > 1 && p.input_channels == 1 && p.output_channels == 1 && p.input.group == 1 && p.output.group == 1;
  }

  depthwise_loops(convolution_problem const& p, int threads)
      : weights_(p.direction == convolution_direction::weights),
        threads_(p.products() < 1 << 16 ? 1 : threads),  // the work takes a few microseconds
        type_(p.type),
        channels_((p.groups + 15) / 16 * 16) {
    for (window_sum const& w : window_sums_of(p)) {
      if (!weights_ && w.position_count() == 0) continue;
      sums_.push_back({w, units_, elements_});
      units_ += detail::lines(w) * ((w.dim[2].positions + detail::segment_length - 1) / detail::segment_length);
      elements_ += w.tap_count() * channels_;
    }
    if (!weights_) return;
    taps_ = detail::depthwise_taps(p, sums_[0].w, channels_);
    elements_ *= taps_.blocks();
  }

  std::size_t workspace_bytes() const { return static_cast<std::size_t>(elements_) * (type_ == dtype::f64 ? 8 : 4); }

  /// The operands of the direction, in the order of convolution_plan.
  template <class = lazy>
  void execute(void const* a, void const* b, void* result, void* workspace, thread_team* team) const {
    if (type_ == dtype::f64) run<double, double>(a, b, result, workspace, team);
    else if (type_ == dtype::f32) run<float, float>(a, b, result, workspace, team);
    else run<float, bf16_t>(a, b, result, workspace, team);
  }

 private:
  struct sum {
    window_sum w;
    std::int64_t first_unit, packed;
  };

  template <class F>
  void in_parallel(std::int64_t count, thread_team* team, F const& f) const {
    if (team == nullptr || threads_ == 1) return f(0, count);
    team->parallel_for(count, 1, f);
  }

  template <class Sum, class E>
  void run(void const* a, void const* b, void* result, void* workspace, thread_team* team) const {
    if (sums_.empty()) return;
    E const *const source = static_cast<E const*>(a), *const other = static_cast<E const*>(b);
    Sum* const room = static_cast<Sum*>(workspace);
    E* const to = static_cast<E*>(result);
    if (weights_)
      return taps_.run(sums_[0].w, source, other, to, room,
                       [&](std::int64_t count, auto const& f) { in_parallel(count, team, f); });
    for (sum const& s : sums_)
      for (std::int64_t t = 0; t < s.w.tap_count(); ++t)
        detail::copy_elements(other + s.w.taps.first + s.w.tap_offset(t), s.w.taps.group,
                              room + s.packed + t * channels_, s.w.groups);
    in_parallel(units_, team, [&](std::int64_t first, std::int64_t end) {
      std::vector<detail::line_term> terms, some;
      std::size_t at = 0;
      for (std::int64_t i = first; i < end; ++i) {
        while (at + 1 < sums_.size() && sums_[at + 1].first_unit <= i) ++at;
        detail::line_segment(sums_[at].w, i - sums_[at].first_unit, source, room + sums_[at].packed, channels_, to,
                             terms, some);
      }
    });
  }

  bool weights_;
  int threads_;
  dtype type_;
  std::int64_t channels_;  // rounded up to whole registers
  std::int64_t units_ = 0, elements_ = 0;
  std::vector<sum> sums_;
  detail::depthwise_taps taps_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
