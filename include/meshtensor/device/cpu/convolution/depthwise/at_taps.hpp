// SPDX-License-Identifier: Apache-2.0
// Computes the results of a depthwise sum at its taps, which are the gradient of the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "meshtensor/device/cpu/convolution/depthwise/edge_lanes.hpp"
#include "meshtensor/device/cpu/convolution/depthwise/line_terms.hpp"
#include "meshtensor/device/cpu/convolution/problem.hpp"
#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/sum_of_blocks.hpp"
#include "meshtensor/device/cpu/unrolled.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// Cuts the lines into chunks. Their sums are added in a fixed order, so that the number of threads changes no bit.
class depthwise_taps {
 public:
  depthwise_taps() = default;
  /// `channels` is the distance from one tap's sums to the next one's, in whole registers.
  depthwise_taps(convolution_problem const& p, window_sum const& w, std::int64_t channels) : channels_(channels) {
    chunks_ = std::clamp<std::int64_t>(p.images * p.output_positions() / 512, 1, 32);
    // The runs of a chunk are added as a tree. If lines are short, several of them form one run.
    std::int64_t const length = std::max<std::int64_t>(1, w.dim[2].positions),
                       runs = (length + in_a_row - 1) / in_a_row;
    lines_of_run_ = std::max<std::int64_t>(1, in_a_row / length);
    levels_ = levels_of_sum((lines(w) / chunks_ + 1) * runs / lines_of_run_ + 1);
  }

  /// The blocks of sums that a run needs. A block has room for all taps.
  std::int64_t blocks() const { return chunks_ * levels_; }

  /// `in_parallel` calls its second argument with ranges that together are [0, its first argument).
  template <class Sum, class E, class F>
  void run(window_sum const& w, E const* source, E const* factors, E* result, Sum* room, F const& in_parallel) const {
    std::int64_t const taps = w.tap_count(), wide = most * vec<Sum>::width;
    std::int64_t const block = 8 * wide, blocks = (w.groups + block - 1) / block;
    in_parallel(chunks_ * blocks, [&](std::int64_t first, std::int64_t end) {
      std::vector<line_term> terms, some;
      for (std::int64_t i = first; i < end; ++i) {
        std::int64_t const chunk = i / blocks, begin = i % blocks * block, last = std::min(w.groups, begin + block);
        std::int64_t const all = w.position_count() == 0 ? 0 : lines(w);
        std::int64_t const size = taps * channels_, wide_end = std::min(channels_, begin + block);
        Sum* const sums = room + chunk * levels_ * size;
        auto const clear = [&] {
          for (std::int64_t t = 0; t < taps; ++t)
            std::fill(sums + t * channels_ + begin, sums + t * channels_ + wide_end, Sum(0));
        };
        std::vector<level_sums<Sum>> levels;
        for (std::int64_t t = 0; t < taps; ++t) {
          Sum* const own = sums + t * channels_ + begin;
          levels.emplace_back(own, own + size, size, wide_end - begin);
        }
        clear();
        std::int64_t const first_line = all * chunk / chunks_;
        for (std::int64_t line = first_line; line < all * (chunk + 1) / chunks_; ++line) {
          list_terms(w, line, terms);
          E const* const row = factors + w.positions.first + w.position_offset(w.positions, line * w.dim[2].positions);
          for (std::int64_t from = 0; from < w.dim[2].positions; from += in_a_row) {
            if ((line - first_line) % lines_of_run_ == 0) {
              bool adds = true;
              for (level_sums<Sum>& l : levels) adds = l.next();
              if (!adds) clear();
            }
            some = terms;
            for (line_term& t : some) t.first = std::max(t.first, from), t.end = std::min(t.end, from + in_a_row);
            std::int64_t c = begin;
            for (; c + wide <= last; c += wide) add_line<most>(w, some, source + c, row + c, sums + c, vec<Sum>::width);
            for (; c < last; c += vec<Sum>::width)
              add_line<1>(w, some, source + c, row + c, sums + c,
                          static_cast<int>(std::min<std::int64_t>(vec<Sum>::width, last - c)));
          }
        }
        for (level_sums<Sum>& l : levels) l.end();
      }
    });
    in_parallel(taps, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t t = first; t < end; ++t) {
        Sum* const total = room + t * channels_;
        std::int64_t const apart = levels_ * taps * channels_;
        for (std::int64_t step = 1; step < chunks_; step *= 2)  // in pairs
          for (std::int64_t k = 0; k + step < chunks_; k += 2 * step)
            merge_numbers<Sum>(total + k * apart, total + (k + step) * apart, w.groups);
        E* const to = result + w.taps.first + w.tap_offset(t);
        for (std::int64_t c = 0; c < w.groups; ++c) to[c * w.taps.group] = element_of<E>(total[c]);
      }
    });
  }

 private:
  static constexpr int most = sizeof(lanes<float>) >= 64 ? 2 : 1;  // registers of channels, while nine taps are summed
  static constexpr std::int64_t in_a_row = 128;                    // positions whose products are added one by one

  /// Adds a line to the sums of all taps. It adds nine taps at once, then three, then single ones.
  template <int N, class Sum, class E>
  void add_line(window_sum const& w, std::span<line_term const> terms, E const* source, E const* factors, Sum* sums,
                int n) const {
    std::int64_t const across = w.dim[2].step * w.source.spatial[2], along = w.positions.spatial[2];
    auto const add = [&]<int Taps>(std::span<line_term const> some, std::int64_t begin, std::int64_t end) {
      if (begin < end) add_places<N, Taps>(some, source, across, factors, along, begin, end, sums, n);
    };
    auto const together = [&]<int Taps>() {
      for (; terms.size() >= Taps; terms = terms.subspan(Taps)) {
        auto const some = terms.first(Taps);
        auto const [first, last] = common_positions(some, 0, w.dim[2].positions);
        for (std::size_t i = 0; i < Taps; ++i)
          add.template operator()<1>(some.subspan(i, 1), some[i].first, std::min(first, some[i].end));
        add.template operator()<Taps>(some, first, last);
        for (std::size_t i = 0; i < Taps; ++i)
          add.template operator()<1>(some.subspan(i, 1), std::max(last, some[i].first), some[i].end);
      }
    };
    together.template operator()<9>();
    together.template operator()<3>();
    together.template operator()<1>();
  }

  template <int N, int Taps, class Sum, class E>
  [[gnu::always_inline]] void add_places(std::span<line_term const> terms, E const* source, std::int64_t across,
                                         E const* factors, std::int64_t along, std::int64_t begin, std::int64_t end,
                                         Sum* to, int n) const {
    constexpr int width = vec<Sum>::width;
    vec<Sum> sums[Taps][N];
    E const* from[Taps];
    unrolled<Taps>([&](auto t) __attribute__((always_inline)) {
      from[t] = source + terms[t].from;
      unrolled<N>([&](auto k) __attribute__((always_inline)) { sums[t][k] = vec<Sum>(Sum(0)); });
    });
    for (std::int64_t q = begin; q < end; ++q) {
      vec<Sum> factor[N];
      unrolled<N>([&](auto k) __attribute__((always_inline)) {
        factor[k] = lanes_of<Sum>(factors + q * along + k * width, n);
      });
      unrolled<Taps>([&](auto t) __attribute__((always_inline)) {
        unrolled<N>([&](auto k) __attribute__((always_inline)) {
          sums[t][k] = fma(lanes_of<Sum>(from[t] + q * across + k * width, n), factor[k], sums[t][k]);
        });
      });
    }
    unrolled<Taps>([&](auto t) __attribute__((always_inline)) {
      unrolled<N>([&](auto k) __attribute__((always_inline)) {
        Sum* const total = to + terms[t].tap * channels_ + k * width;
        store(load<Sum>(static_cast<Sum const*>(total)) + sums[t][k], total);
      });
    });
  }

  std::int64_t channels_ = 0, chunks_ = 1, levels_ = 1, lines_of_run_ = 1;
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
