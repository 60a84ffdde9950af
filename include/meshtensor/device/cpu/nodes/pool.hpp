// SPDX-License-Identifier: Apache-2.0
// pool: computes registers of neighbouring results, along the innermost dims or along a row, and their lines in
// parallel.
#pragma once

#include <span>

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/device/cpu/nodes/pool_terms.hpp"
#include "meshtensor/device/cpu/unrolled.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Operands and result are dense and have their dims in one order. Terms are added in the order of `evaluate`.
template <class = lazy>
class pool_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const& s) {
    return std::make_unique<pool_kernel>(picks_greatest(s.m, s.n));
  }
  explicit pool_kernel(bool greatest) : greatest_(greatest) {}

  void run(evaluation const& e, std::byte*, thread_team& team) override {
    auto const p = pool_rule::problem::of(e);
    if (e.results[0].size() == 0) return;
    with_element(e.operands[0].type, [&]<class E>() {
      switch (p.step) {
        case pool_step::sum:
        case pool_step::spread: return run_as<E, loop::sum>(e, p, team);
        case pool_step::position: return run_as<E, loop::position>(e, p, team);
        case pool_step::pick:
          return greatest_ ? run_as<E, loop::greatest>(e, p, team) : run_as<E, loop::pick>(e, p, team);
        case pool_step::unpool: return run_as<E, loop::unpool>(e, p, team);
      }
    });
  }

 private:
  enum class loop : std::uint8_t { sum, position, greatest, pick, unpool };
  static constexpr bool compares(loop l) { return l == loop::position || l == loop::greatest; }

  /// Whether a node picks at the positions of the greatest elements of its own operand. If so, it finds these elements
  /// again, because this reads less memory.
  static bool picks_greatest(module const& m, node const& n) {
    if (pool_rule::step_of(n) != pool_step::pick) return false;
    node const& from = m.nodes[m.values[m.operand(n, 1)].node];
    return from.kind == primitive::pool && pool_rule::step_of(from) == pool_step::position &&
           m.operand(from, 0) == m.operand(n, 0) && from.attribute[0] == n.attribute[0] &&
           from.attribute[1] == n.attribute[1];
  }

  /// Sums of integers wrap, so they may be computed in lanes of 32 bits.
  template <class E>
  using lane_t = std::conditional_t<sizeof(E) == 1, std::int32_t, arithmetic_t<E>>;
  template <class E>
  using index_t = std::conditional_t<sizeof(lane_t<E>) == 8, std::int64_t, std::int32_t>;

  template <class E, loop Loop>
  static void run_as(evaluation const& e, pool_rule::problem const& p, thread_team& team) {
    view const &x = e.operands[0], &y = e.results[0];
    pool_terms const all(x, y, p);
    std::int64_t const work = 16384 / p.elements;
    if (all.inner() > 1) {
      std::int64_t const length = all.length(), grain = std::max<std::int64_t>(1, work / all.inner());
      team.parallel_for(all.lines() * length, grain, [&](std::int64_t begin, std::int64_t end) {
        pool_terms terms(x, y, p);
        for (std::int64_t i = begin; i < end; ++i) {
          // The positions were found just before, from the first line to the last. So the cache has the last lines.
          std::int64_t const line = Loop == loop::greatest ? terms.lines() - 1 - i / length : i / length;
          if (i == begin || i % length == 0) terms.begin_line(line);
          std::int64_t shift = 0;
          auto const& here = terms.at_place(i % length, shift);
          at_place<E, Loop>(e, here, shift, (line * length + i % length) * terms.inner(), terms.inner());
        }
      });
    } else {
      std::int64_t const blocks = (all.count(0) + block - 1) / block;
      std::int64_t const grain = std::max<std::int64_t>(1, work / std::min(block, all.length()));
      team.parallel_for(all.lines() * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
        pool_terms terms(x, y, p);
        std::vector<pool_term> some;
        for (std::int64_t i = begin; i < end; ++i) {
          if (i == begin || i % blocks == 0) terms.begin_line(i / blocks);
          for (std::int64_t phase = 0; phase < terms.every(); ++phase)
            along_row<E, Loop>(e, terms, phase, i / blocks * terms.length(), i % blocks * block, some);
        }
      });
    }
  }

  /// Computes the results at one place of a line, which are adjacent in both tensors.
  template <class E, loop Loop>
  static void at_place(evaluation const& e, std::span<pool_term const> terms, std::int64_t shift, std::int64_t to,
                       std::int64_t count) {
    constexpr std::int64_t width = vec<lane_t<E>>::width;
    std::int64_t i = 0;
    for (; i + 4 * width <= count; i += 4 * width) registers<E, Loop, 4>(e, terms, shift + i, to + i);
    for (; i + width <= count; i += width) registers<E, Loop, 1>(e, terms, shift + i, to + i);
    if (i < count) registers<E, Loop, 1>(e, terms, shift + i, to + i, 1, 1, static_cast<int>(count - i));
  }

  static constexpr std::int64_t block = 4096;  // results of a long row that one thread computes

  /// Computes results phase + i · every of a row at `to`, along which a window moves, for i in the block from `begin`
  /// on.
  template <class E, loop Loop>
  static void along_row(evaluation const& e, pool_terms& all, std::int64_t phase, std::int64_t to, std::int64_t begin,
                        std::vector<pool_term>& some) {
    constexpr std::int64_t width = vec<lane_t<E>>::width;
    std::int64_t const count = all.count(phase), end = std::min(count, begin + block);
    std::int64_t const every = all.every(), step = all.step();
    std::vector<pool_term> const& terms = all.at_phase(phase, count);
    std::int64_t first = begin, last = end;  // results in [first, last) have all terms
    for (pool_term const& t : terms) first = std::max(first, t.first), last = std::min(last, t.end);
    first = std::min(first, end), last = std::max(last, first);
    to += phase;
    auto const one = [&](std::int64_t i) {
      some.clear();
      for (pool_term const& t : terms)
        if (t.first <= i && i < t.end) some.push_back(t);
      registers<E, Loop, 1>(e, some, i * step, to + i * every, 1, 1, 1);
    };
    std::int64_t i = begin;
    for (; i < first; ++i) one(i);
    if (every == 1 && step == 1)
      for (; i + 4 * width <= last; i += 4 * width) registers<E, Loop, 4>(e, terms, i, to + i);
    for (; i < last; i += width) {
      int const n = static_cast<int>(std::min(width, last - i));
      registers<E, Loop, 1>(e, terms, i * step, to + i * every, step, every, n);
    }
    for (i = last; i < end; ++i) one(i);
  }

  /// Computes N registers of results, or the first n lanes of one register, from the terms that start at `shift`. The
  /// results are stored from `to` on.
  template <class E, loop Loop, int N>
  [[gnu::always_inline]] static void registers(evaluation const& e, std::span<pool_term const> terms,
                                               std::int64_t shift, std::int64_t to, std::int64_t step = 1,
                                               std::int64_t every = 1, int n = vec<lane_t<E>>::width) {
    using lane = lane_t<E>;
    using index = index_t<E>;
    constexpr int width = vec<lane>::width;
    E const* const x = e.operands[0].as<E>() + shift;
    constexpr auto each = [](auto const& f) __attribute__((always_inline)) { detail::unrolled<N>(f); };
    vec<lane> y[N];
    vec<index> at[N];
    each([&](auto k) __attribute__((always_inline)) { y[k] = vec<lane>(0); });
    if constexpr (compares(Loop)) {
      each([&](auto k) __attribute__((always_inline)) {
        if (!terms.empty()) y[k] = lanes_of<lane>(x + terms[0].from + k * width, step, n);
        at[k] = vec<index>(terms.empty() ? pool_rule::nowhere : terms[0].position);
      });
      for (pool_term const& t : terms.subspan(terms.empty() ? 0 : 1))
        each([&](auto k) __attribute__((always_inline)) {
          vec<lane> const element = lanes_of<lane>(x + t.from + k * width, step, n);
          auto better = !(element <= y[k]);
          if constexpr (std::is_floating_point_v<lane>) better = better && y[k] == y[k];  // NaN is greater than numbers
          y[k] = select(better, element, y[k]);
          if constexpr (Loop == loop::position) at[k] = select(mask_as<index>(better), vec<index>(t.position), at[k]);
        });
      each([&](auto k) __attribute__((always_inline)) {
        if constexpr (Loop == loop::greatest) put(y[k], e.results[0].as<E>() + to + k * width, every, n);
        else put(at[k], e.results[0].as<std::int32_t>() + to + k * width, every, n);
      });
    } else {
      std::int32_t const* const positions = Loop != loop::sum ? e.operands[1].as<std::int32_t>() : nullptr;
      if constexpr (Loop == loop::pick)
        each([&](auto k)
                 __attribute__((always_inline)) { at[k] = lanes_of<index>(positions + to + k * width, every, n); });
      // Sums of many terms are computed in runs of sum_fan_in terms, and the sums of many runs in runs again.
      vec<lane> upper[N], top[N];
      each([&](auto k) __attribute__((always_inline)) { upper[k] = top[k] = vec<lane>(0); });
      std::int64_t runs = 0;
      for (std::span<pool_term const> rest = terms; !rest.empty(); ++runs) {
        auto const some = Loop == loop::pick ? rest : rest.first(std::min<std::size_t>(rest.size(), sum_fan_in));
        rest = rest.subspan(some.size());
        if (Loop != loop::pick && runs != 0)
          each([&](auto k) __attribute__((always_inline)) {
            bool const carries = runs % sum_fan_in == 0;
            upper[k] = upper[k] + y[k];
            if (carries) top[k] = top[k] + upper[k], upper[k] = vec<lane>(0);
            y[k] = vec<lane>(0);
          });
        for (pool_term const& t : some)
          each([&](auto k) __attribute__((always_inline)) {
            vec<lane> const element = lanes_of<lane>(x + t.from + k * width, step, n);
            if constexpr (Loop == loop::unpool)
              at[k] = lanes_of<index>(positions + shift + t.from + k * width, step, n);
            if constexpr (Loop == loop::sum) {
              y[k] = y[k] + element;
            } else {
              auto const named = mask_as<lane>(at[k] == vec<index>(t.position));
              y[k] = select(named, Loop == loop::pick ? element : y[k] + element, y[k]);
            }
          });
      }
      if (Loop != loop::pick && runs > 1)
        each([&](auto k) __attribute__((always_inline)) { y[k] = y[k] + upper[k] + top[k]; });
      each([&](auto k) __attribute__((always_inline)) { put(y[k], e.results[0].as<E>() + to + k * width, every, n); });
    }
  }

  template <class T, class E>
  [[gnu::always_inline]] static vec<T> lanes_of(E const* p, std::int64_t step, int n) {
    if (step != 1) return n == vec<T>::width && step == 2 ? load_even<T>(p) : load_strided<T>(p, step, n);
    return n == vec<T>::width ? load<T>(p) : load<T>(p, n);
  }
  template <class T, class E>
  [[gnu::always_inline]] static void put(vec<T> v, E* p, std::int64_t step, int n) {
    if (step != 1) store_strided(v, p, step, n);
    else if (n == vec<T>::width) store(v, p);
    else store(v, p, n);
  }

  bool greatest_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
