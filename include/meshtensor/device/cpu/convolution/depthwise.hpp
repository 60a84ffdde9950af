// SPDX-License-Identifier: Apache-2.0
// Computes depthwise convolutions by our own loops, with neighbouring channels in one register. Every element is one
// sum, and the number of threads does not change its order.
#pragma once

#include <span>
#include <vector>

#include "meshtensor/device/cpu/convolution/gather.hpp"
#include "meshtensor/device/cpu/sum_of_blocks.hpp"
#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/device/cpu/unrolled.hpp"

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
      units_ += lines(w) * ((w.dim[2].positions + segment - 1) / segment);
      elements_ += w.tap_count() * channels_;
    }
    if (!weights_) return;
    chunks_ = std::clamp<std::int64_t>(p.images * p.output_positions() / 512, 1, 32);
    // The runs of a chunk are added as a tree. If lines are short, several of them form one run.
    window_sum const& w = sums_[0].w;
    std::int64_t const length = std::max<std::int64_t>(1, w.dim[2].positions),
                       runs = (length + in_a_row - 1) / in_a_row;
    lines_of_run_ = std::max<std::int64_t>(1, in_a_row / length);
    levels_ = levels_of_sum((lines(w) / chunks_ + 1) * runs / lines_of_run_ + 1);
    elements_ *= chunks_ * levels_;
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
  static constexpr int most = sizeof(lanes<float>) >= 64 ? 2 : 1;  // registers of channels, while nine taps are summed
  static constexpr std::int64_t segment = 128;                     // positions of a line in one unit of work
  static constexpr std::int64_t in_a_row = 128;                    // positions whose products are added one by one
  struct sum {
    window_sum w;
    std::int64_t first_unit, packed;
  };
  /// One tap of a line. `from` is the source element that the line's first position reads through the tap, and [first,
  /// end) are the positions that the tap reaches.
  struct term {
    std::int64_t from, tap, first, end;
  };

  static std::int64_t lines(window_sum const& w) { return w.images * w.dim[0].positions * w.dim[1].positions; }

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
    if (weights_) return run_weights(source, other, to, room, team);
    for (sum const& s : sums_)
      for (std::int64_t t = 0; t < s.w.tap_count(); ++t)
        detail::copy_elements(other + s.w.taps.first + s.w.tap_offset(t), s.w.taps.group,
                              room + s.packed + t * channels_, s.w.groups);
    in_parallel(units_, team, [&](std::int64_t first, std::int64_t end) {
      std::vector<term> terms, some;
      std::size_t at = 0;
      for (std::int64_t i = first; i < end; ++i) {
        while (at + 1 < sums_.size() && sums_[at + 1].first_unit <= i) ++at;
        line_segment(sums_[at], i - sums_[at].first_unit, source, room, to, terms, some);
      }
    });
  }

  /// Lists the taps of a line in their order.
  static void list(window_sum const& w, std::int64_t line, std::vector<term>& terms) {
    window_dim const &d0 = w.dim[0], &d1 = w.dim[1], &d2 = w.dim[2];
    std::int64_t const q1 = line % d1.positions, q0 = line / d1.positions % d0.positions;
    std::int64_t const image = line / d1.positions / d0.positions * w.source.image + w.source.first;
    terms.clear();
    for (std::int64_t t0 = 0; t0 < d0.taps; ++t0)
      for (std::int64_t t1 = 0; t1 < d1.taps; ++t1) {
        std::int64_t const s0 = d0.step * q0 + d0.tap_step * t0 + d0.start;
        std::int64_t const s1 = d1.step * q1 + d1.tap_step * t1 + d1.start;
        if (s0 < 0 || s0 >= d0.extent || s1 < 0 || s1 >= d1.extent) continue;
        for (std::int64_t t2 = 0; t2 < d2.taps; ++t2) {
          auto const [first, end] = d2.inside(t2);
          std::int64_t const from = image + s0 * w.source.spatial[0] + s1 * w.source.spatial[1] +
                                    (d2.tap_step * t2 + d2.start) * w.source.spatial[2];
          terms.push_back({from, (t0 * d1.taps + t1) * d2.taps + t2, first, end});
        }
      }
  }
  /// The positions of [begin, end) that all terms reach.
  static std::pair<std::int64_t, std::int64_t> common(std::span<term const> terms, std::int64_t begin,
                                                      std::int64_t end) {
    for (term const& t : terms) begin = std::max(begin, t.first), end = std::min(end, t.end);
    return {begin, std::max(begin, end)};
  }

  // ---- results at positions ----

  template <class Sum, class E>
  void line_segment(sum const& s, std::int64_t unit, E const* source, Sum const* room, E* to, std::vector<term>& terms,
                    std::vector<term>& some) const {
    window_sum const& w = s.w;
    std::int64_t const length = w.dim[2].positions, segments = (length + segment - 1) / segment;
    std::int64_t const begin = unit % segments * segment, end = std::min(length, begin + segment);
    std::int64_t const across = w.dim[2].step * w.source.spatial[2];
    list(w, unit / segments, terms);
    E* const row = to + w.positions.first + w.position_offset(w.positions, unit / segments * length);
    auto const [first, last] = common(terms, begin, end);
    std::int64_t const along = w.positions.spatial[2];
    for (std::int64_t q = begin; q < end; ++q) {
      bool const whole = q >= first && q < last;
      some.clear();
      for (term const& t : terms)
        if (!whole && q >= t.first && q < t.end) some.push_back(t);
      bool const two = whole && q + 1 < last;
      E const* const from = source + q * across;
      if (two) places<2>(terms, from, across, room + s.packed, row + q * along, along, w.groups);
      else places<1>(whole ? terms : some, from, across, room + s.packed, row + q * along, along, w.groups);
      q += two;
    }
  }

  template <int Places, class Sum, class E>
  void places(std::span<term const> terms, E const* source, std::int64_t across, Sum const* taps, E* to,
              std::int64_t along, std::int64_t count) const {
    constexpr std::int64_t width = vec<Sum>::width;
    auto const channels = [&]<int N>(std::int64_t c, int n) __attribute__((always_inline)) {
      vec<Sum> sums[Places][N];
      auto const each = [&](auto const& f) __attribute__((always_inline)) {
        detail::unrolled<N>([&](auto k) __attribute__((always_inline)) {
          detail::unrolled<Places>([&](auto p) __attribute__((always_inline)) { f(p, k); });
        });
      };
      each([&](auto p, auto k) __attribute__((always_inline)) { sums[p][k] = vec<Sum>(Sum(0)); });
      for (term const& t : terms) {
        Sum const* const factors = taps + t.tap * channels_ + c;
        E const* const from = source + t.from + c;
        each([&](auto p, auto k) __attribute__((always_inline)) {
          vec<Sum> const element = lanes_of<Sum>(from + p * across + k * width, n);
          sums[p][k] = fma(element, load<Sum>(factors + k * width), sums[p][k]);
        });
      }
      each([&](auto p, auto k) __attribute__((always_inline)) { put(sums[p][k], to + p * along + c + k * width, n); });
    };
    std::int64_t c = 0;
    for (; c + 4 * width <= count; c += 4 * width) channels.template operator()<4>(c, width);
    for (; c < count; c += width) channels.template operator()<1>(c, static_cast<int>(std::min(width, count - c)));
  }

  template <class Sum, class E>
  [[gnu::always_inline]] static vec<Sum> lanes_of(E const* p, int n) {
    return n == vec<Sum>::width ? load<Sum>(p) : load<Sum>(p, n);
  }
  template <class Sum, class E>
  [[gnu::always_inline]] static void put(vec<Sum> v, E* p, int n) {
    if (n == vec<Sum>::width) store(v, p);
    else store(v, p, n);
  }

  // ---- results at taps ----

  template <class Sum, class E>
  void run_weights(E const* source, E const* factors, E* result, Sum* room, thread_team* team) const {
    window_sum const& w = sums_[0].w;
    std::int64_t const taps = w.tap_count(), wide = most * vec<Sum>::width;
    std::int64_t const block = 8 * wide, blocks = (w.groups + block - 1) / block;
    in_parallel(chunks_ * blocks, team, [&](std::int64_t first, std::int64_t end) {
      std::vector<term> terms, some;
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
          list(w, line, terms);
          E const* const row = factors + w.positions.first + w.position_offset(w.positions, line * w.dim[2].positions);
          for (std::int64_t from = 0; from < w.dim[2].positions; from += in_a_row) {
            if ((line - first_line) % lines_of_run_ == 0) {
              bool adds = true;
              for (level_sums<Sum>& l : levels) adds = l.next();
              if (!adds) clear();
            }
            some = terms;
            for (term& t : some) t.first = std::max(t.first, from), t.end = std::min(t.end, from + in_a_row);
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
    in_parallel(taps, team, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t t = first; t < end; ++t) {
        Sum* const total = room + t * channels_;
        std::int64_t const apart = levels_ * taps * channels_;
        for (std::int64_t step = 1; step < chunks_; step *= 2)  // in pairs
          for (std::int64_t k = 0; k + step < chunks_; k += 2 * step)
            merge_numbers<Sum>(total + k * apart, total + (k + step) * apart, w.groups);
        E* const to = result + w.taps.first + w.tap_offset(t);
        for (std::int64_t c = 0; c < w.groups; ++c) to[c * w.taps.group] = detail::element_of<E>(total[c]);
      }
    });
  }

  /// Adds a line to the sums of all taps. It adds nine taps at once, then three, then single ones.
  template <int N, class Sum, class E>
  void add_line(window_sum const& w, std::span<term const> terms, E const* source, E const* factors, Sum* sums,
                int n) const {
    std::int64_t const across = w.dim[2].step * w.source.spatial[2], along = w.positions.spatial[2];
    auto const add = [&]<int Taps>(std::span<term const> some, std::int64_t begin, std::int64_t end) {
      if (begin < end) add_places<N, Taps>(some, source, across, factors, along, begin, end, sums, n);
    };
    auto const together = [&]<int Taps>() {
      for (; terms.size() >= Taps; terms = terms.subspan(Taps)) {
        auto const some = terms.first(Taps);
        auto const [first, last] = common(some, 0, w.dim[2].positions);
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
  [[gnu::always_inline]] void add_places(std::span<term const> terms, E const* source, std::int64_t across,
                                         E const* factors, std::int64_t along, std::int64_t begin, std::int64_t end,
                                         Sum* to, int n) const {
    constexpr int width = vec<Sum>::width;
    vec<Sum> sums[Taps][N];
    E const* from[Taps];
    detail::unrolled<Taps>([&](auto t) __attribute__((always_inline)) {
      from[t] = source + terms[t].from;
      detail::unrolled<N>([&](auto k) __attribute__((always_inline)) { sums[t][k] = vec<Sum>(Sum(0)); });
    });
    for (std::int64_t q = begin; q < end; ++q) {
      vec<Sum> factor[N];
      detail::unrolled<N>([&](auto k) __attribute__((always_inline)) {
        factor[k] = lanes_of<Sum>(factors + q * along + k * width, n);
      });
      detail::unrolled<Taps>([&](auto t) __attribute__((always_inline)) {
        detail::unrolled<N>([&](auto k) __attribute__((always_inline)) {
          sums[t][k] = fma(lanes_of<Sum>(from[t] + q * across + k * width, n), factor[k], sums[t][k]);
        });
      });
    }
    detail::unrolled<Taps>([&](auto t) __attribute__((always_inline)) {
      detail::unrolled<N>([&](auto k) __attribute__((always_inline)) {
        Sum* const total = to + terms[t].tap * channels_ + k * width;
        store(load<Sum>(static_cast<Sum const*>(total)) + sums[t][k], total);
      });
    });
  }

  bool weights_;
  int threads_;
  dtype type_;
  std::int64_t channels_;  // rounded up to whole registers
  std::int64_t units_ = 0, elements_ = 0, chunks_ = 1, levels_ = 1, lines_of_run_ = 1;
  std::vector<sum> sums_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
