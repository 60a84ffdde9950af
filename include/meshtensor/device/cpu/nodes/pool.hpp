// SPDX-License-Identifier: Apache-2.0
// pool: blocks of neighbouring results at once, channels or places along a row; rows in parallel.
#pragma once

#include <vector>

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/op/pool.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Operands and result are dense, with their dims in one order. A row of the result is what lies behind its last dim
/// over which a window moves or, if that is the last dim of all, this dim. Terms are added in the order of `evaluate`.
class pool_kernel final : public node_kernel {
 public:
  static constexpr bool takes(module const&, node const&) { return true; }
  static std::unique_ptr<node_kernel> prepare(node_setup const&) { return std::make_unique<pool_kernel>(); }

  void run(evaluation const& e, std::byte*, thread_team& team) override {
    auto const p = pool_rule::problem::of(e);
    with_element(e.operands[0].type, [&]<class E>() {
      switch (p.step) {
        case pool_step::sum:
        case pool_step::spread: return run_as<E, pool_step::sum>(e, p, team);
        case pool_step::position: return run_as<E, pool_step::position>(e, p, team);
        case pool_step::pick: return run_as<E, pool_step::pick>(e, p, team);
        case pool_step::unpool: return run_as<E, pool_step::unpool>(e, p, team);
      }
    });
  }

 private:
  static constexpr int width = 32;  // results of one block

  /// An element of the windows, and the results of a row that it relates with elements of operand 0: result
  /// first + k * every with element from + k * step, k in [0, count).
  struct related {
    std::int64_t from, first, count, every, step;
    std::int32_t position;
  };

  /// Rows of the result, and the dims around them.
  struct rows {
    int outer = 0;   // dims around a row
    int along = -1;  // the window that moves along a row; -1: none
    std::int64_t length = 1, number = 1;

    rows(view const& y, pool_rule::problem const& p) {
      int last = y.count;
      while (last > 0 && !p.is_windowed(last - 1)) length *= y.extent[--last];
      if (last == y.count && last > 0) along = p.window_at(--last), length = y.extent[last];
      outer = last;
      for (int i = 0; i < outer; ++i) number *= y.extent[i];
    }
  };

  template <class E, pool_step Step>
  static void run_as(evaluation const& e, pool_rule::problem const& p, thread_team& team) {
    rows const r(e.results[0], p);
    if (r.number == 0 || r.length == 0) return;
    std::int64_t const grain = std::max<std::int64_t>(1, 16384 / (r.length * p.elements));
    team.parallel_for(r.number, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<related> terms(static_cast<std::size_t>(p.elements));
      for (std::int64_t row = begin; row < end; ++row) {
        bool whole = has_exact_positions(p);  // each term has an element for each result, side by side
        std::size_t const count = find_terms(e, p, r, row, terms.data(), whole);
        std::span<related const> const found(terms.data(), count);
        if (whole) {
          std::int64_t i = 0;
          if constexpr (sizeof(E) > 1 || Step != pool_step::position)
            for (; i + width <= r.length; i += width) block<E, Step, width>(e, found, row * r.length, i);
          for (; i < r.length; ++i) single<E, Step>(e, found, row * r.length, i);
        } else {
          for (std::int64_t i = 0; i < r.length; ++i) single<E, Step>(e, found, row * r.length, i);
        }
      }
    });
  }

  /// A block has positions in lanes of the elements' type, f32 too, in which they are exact.
  static constexpr bool has_exact_positions(pool_rule::problem const& p) { return p.elements <= 1 << 24; }

  static std::size_t find_terms(evaluation const& e, pool_rule::problem const& p, rows const& r, std::int64_t row,
                                related* terms, bool& whole) {
    view const &x = e.operands[0], &y = e.results[0];
    std::int64_t index[max_dims_of_one] = {};
    for (int i = r.outer; i-- > 0; row /= y.extent[i]) index[i] = row % y.extent[i];
    std::size_t count = 0;
    for (std::int64_t position = 0; position < p.elements; ++position) {
      related term{0, 0, r.length, 1, 1, static_cast<std::int32_t>(position)};
      bool reaches = true;
      for (int i = 0; i < r.outer && reaches; ++i) {
        int const k = p.window_at(i);
        std::int64_t const at = k < 0 ? index[i] : p.windows[k].related(index[i], p.element(position, k));
        reaches = at >= 0;
        term.from += at * x.stride[i];
      }
      if (reaches && r.along >= 0)
        reaches = find_range(p.windows[r.along], p.element(position, r.along), r.length, term);
      if (!reaches) continue;
      whole = whole && term.first == 0 && term.count == r.length && term.every == 1 && term.step == 1;
      terms[count++] = term;
    }
    return count;
  }

  /// The results along a row that element w of its window relates with elements of operand 0; false: none.
  static bool find_range(pool_rule::window_in_memory const& along, std::int64_t w, std::int64_t length, related& term) {
    std::int64_t const every = along.back ? along.window.stride : 1;
    std::int64_t first = 0;
    while (first < length && along.related(first, w) < 0) ++first;
    if (first == length) return false;
    std::int64_t const from = along.related(first, w), step = along.back ? 1 : along.window.stride;
    std::int64_t const left = (length - 1 - first) / every, elements_left = (along.from - 1 - from) / step;
    term.from += from, term.first = first, term.every = every, term.step = step;
    term.count = 1 + std::min(left, elements_left);
    return true;
  }

  /// Results [i, i + N) of a row of which each term has all elements.
  template <class E, pool_step Step, int N>
  static void block(evaluation const& e, std::span<related const> terms, std::int64_t row, std::int64_t i) {
    E const* const x = e.operands[0].as<E>();
    if constexpr (Step == pool_step::position) {
      using vector = vec<arithmetic_t<E>>;
      static_assert(N % vector::width == 0);
      std::int32_t* const y = e.results[0].as<std::int32_t>() + row + i;
      for (int k = 0; k < N; k += vector::width) {
        E const* const from = x + i + k;
        vector best(0), found(static_cast<arithmetic_t<E>>(pool_rule::nowhere));
        if (!terms.empty())
          best = load<arithmetic_t<E>>(from + terms[0].from),
          found = vector(static_cast<arithmetic_t<E>>(terms[0].position));
        for (related const& t : terms) {
          vector const element = load<arithmetic_t<E>>(from + t.from);
          auto const better = !(element <= best) && best == best;  // NaN is greater than numbers
          best = select(better, element, best);
          found = select(better, vector(static_cast<arithmetic_t<E>>(t.position)), found);
        }
        auto const all = found.lane_array();
        for (int j = 0; j < vector::width; ++j) y[k + j] = static_cast<std::int32_t>(all.at[j]);
      }
    } else if constexpr (Step == pool_step::pick) {
      std::int32_t const* const positions = e.operands[1].as<std::int32_t>() + row + i;
      E picked[N], read[N], *const y = e.results[0].as<E>() + row + i;
      for (int k = 0; k < N; ++k) picked[k] = E{};
      for (related const& t : terms) {
        E const* const from = x + t.from + i;
        for (int k = 0; k < N; ++k) read[k] = from[k];
        for (int k = 0; k < N; ++k) picked[k] = positions[k] == t.position ? read[k] : picked[k];
      }
      for (int k = 0; k < N; ++k) y[k] = picked[k];
    } else {
      sum_t<E> sums[N] = {};
      for (related const& t : terms) {
        E const* const from = x + t.from + i;
        if constexpr (Step == pool_step::unpool) {
          std::int32_t const* const positions = e.operands[1].as<std::int32_t>() + t.from + i;
          sum_t<E> read[N];
          for (int k = 0; k < N; ++k) read[k] = static_cast<sum_t<E>>(from[k]);
          for (int k = 0; k < N; ++k) sums[k] += positions[k] == t.position ? read[k] : sum_t<E>{0};
        } else {
          for (int k = 0; k < N; ++k) sums[k] += static_cast<sum_t<E>>(from[k]);
        }
      }
      E* const y = e.results[0].as<E>() + row + i;
      for (int k = 0; k < N; ++k) y[k] = static_cast<E>(sums[k]);
    }
  }

  /// Result i of a row.
  template <class E, pool_step Step>
  static void single(evaluation const& e, std::span<related const> terms, std::int64_t row, std::int64_t i) {
    E const* const x = e.operands[0].as<E>();
    sum_t<E> sum = 0;
    E best{};
    std::int32_t found = pool_rule::nowhere;
    for (related const& t : terms) {
      std::int64_t const k = i - t.first;
      if (k < 0 || k % t.every != 0 || k / t.every >= t.count) continue;
      std::int64_t const from = t.from + k / t.every * t.step;
      if constexpr (Step == pool_step::position) {
        if (found == pool_rule::nowhere || is_greater<arithmetic_t<E>>(x[from], best))
          found = t.position, best = x[from];
      } else if constexpr (Step == pool_step::pick) {
        if (e.operands[1].as<std::int32_t>()[row + i] == t.position) best = x[from];
      } else {
        if (Step == pool_step::sum || e.operands[1].as<std::int32_t>()[from] == t.position)
          sum += static_cast<sum_t<E>>(x[from]);
      }
    }
    if constexpr (Step == pool_step::position) e.results[0].as<std::int32_t>()[row + i] = found;
    else e.results[0].as<E>()[row + i] = Step == pool_step::pick ? best : static_cast<E>(sum);
  }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
