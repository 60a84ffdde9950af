// SPDX-License-Identifier: Apache-2.0
// Calls the user's function of a `call` for every point of the dims that the function does not own, with spans of its
// operands.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include "meshtensor/graph/rule.hpp"

namespace meshtensor {

/// The extents of a call's dims, for functions that take them: `extent(time)`.
class call_extents {
 public:
  explicit call_extents(evaluation const& e) : e_(e) {}
  template <dim_type D>
  std::int64_t operator()(D) const {
    for (int k = -1; k < e_.n.operands.count; ++k) {
      view const& v = k < 0 ? e_.results[0] : e_.operands[k];
      for (int i = 0; i < v.count; ++i)
        if (e_.m.dim_name(v.dim[i]) == D::dim_name) return v.total[i];
    }
    throw error("R12",
                {"the operation '", e_.m.names[e_.m.calls[call_of(e_.n)].label], "' has no dim '", D::dim_name, "'"});
  }

 private:
  evaluation const& e_;
};

namespace detail {

/// The iteration of a call: the dims that the function does not own, and the length of a span.
struct call_walk {
  static constexpr std::int64_t block = 4096;  // elements of a span, for a function without dims of its own
  shape outer;
  std::int64_t points;  // the number of points of the outer dims

  explicit call_walk(evaluation const& e) : outer{}, points(1) {
    call_row const& c = e.m.calls[call_of(e.n)];
    view const& y = e.results[0];
    for (int i = 0; i < y.count; ++i)
      if (!c.gives.has(y.dim[i])) outer.add(y.dim[i]), points *= y.extent[i];
  }
  /// The offset in a view of the element for a point.
  std::int64_t offset(view const& v, view const& y, std::int64_t point) const {
    std::int64_t at = 0;
    for (int i = outer.count; i-- > 0;) {
      std::int64_t const extent = y.extent[y.find(outer.at[i])];
      if (int const p = v.find(outer.at[i]); p >= 0) at += point % extent * v.stride[p];
      point /= extent;
    }
    return at;
  }
};

/// One operand's elements as a span. It is in place if they are contiguous, and otherwise a copy.
template <class E>
class call_operand {
 public:
  /// The elements along the dims `inner`, in their order, from `first` on.
  std::span<E const> along(view const& v, shape const& inner, std::int64_t first) {
    walk<1> w;
    for (int i = 0; i < inner.count; ++i)
      if (int const p = v.find(inner.at[i]); p >= 0)
        w.extent[w.count] = v.extent[p], w.stride[0][w.count++] = v.stride[p];
    std::int64_t n = 1;
    bool dense = true;
    for (int i = w.count; i-- > 0;) dense = dense && (w.extent[i] == 1 || w.stride[0][i] == n), n *= w.extent[i];
    E const* const from = v.as<E const>() + first;
    if (dense) return {from, static_cast<std::size_t>(n)};
    copy_.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < copy_.size(); ++i, w.next()) copy_[i] = from[w.offset[0]];
    return copy_.span();
  }
  /// The elements of the points [first, last).
  std::span<E const> at_points(call_walk const& points, view const& v, view const& y, std::int64_t first,
                               std::int64_t last) {
    bool same = v.count == y.count;
    for (int i = 0; same && i < v.count; ++i) same = v.dim[i] == y.dim[i] && v.stride[i] == y.stride[i];
    auto const n = static_cast<std::size_t>(last - first);
    if (same) return {v.as<E const>() + first, n};
    copy_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      copy_[i] = v.as<E const>()[points.offset(v, y, first + static_cast<std::int64_t>(i))];
    return copy_.span();
  }

 private:
  struct buffer {
    std::unique_ptr<E[]> memory;  // std::vector would pack bools
    std::size_t room = 0, used = 0;
    buffer() = default;
    buffer(buffer&& o) noexcept : memory(std::move(o.memory)), room(std::exchange(o.room, 0)), used(o.used) {}
    buffer& operator=(buffer&& o) noexcept {
      memory = std::move(o.memory), room = std::exchange(o.room, 0), used = o.used;
      return *this;
    }
    void resize(std::size_t n) {
      if (n > room) memory = std::make_unique<E[]>(room = n);
      used = n;
    }
    std::size_t size() const { return used; }
    E& operator[](std::size_t i) { return memory[i]; }
    std::span<E const> span() const { return {memory.get(), used}; }
  };
  buffer copy_;
};

/// Whether a function has dims of its own. If so, each call of it gets one point of the other dims.
inline bool has_own_dims(call_row const& c) { return c.whole.count != 0 || c.gives.count != 0; }

inline std::int64_t parts_of_call(evaluation const& e) {
  call_walk const w(e);
  if (has_own_dims(e.m.calls[call_of(e.n)])) return w.points;
  return (w.points + call_walk::block - 1) / call_walk::block;
}

template <class Operation, dtype R, dtype... T>
void run_call(evaluation const& e, std::int64_t first, std::int64_t last) {
  call_row const& c = e.m.calls[call_of(e.n)];
  view const& y = e.results[0];
  call_walk const walk(e);
  call_extents const extent(e);
  // Moved out of the thread's storage while in use, because a function that waits may begin another part on this
  // thread.
  thread_local std::tuple<call_operand<element_t<T>>...> kept;
  auto operands = std::move(kept);
  std::int64_t size = 1;  // the number of elements of one result
  for (int i = 0; i < y.count; ++i)
    if (c.gives.has(y.dim[i])) size *= y.extent[i];
  for (std::int64_t part = first; part < last; ++part) {
    std::int64_t const begin = has_own_dims(c) ? part : part * call_walk::block;
    std::int64_t const end = has_own_dims(c) ? part + 1 : std::min(walk.points, begin + call_walk::block);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::tuple const given{[&] {
        auto& operand = std::get<I>(operands);
        view const& x = e.operands[I];
        return has_own_dims(c) ? operand.along(x, c.whole, walk.offset(x, y, part))
                               : operand.at_points(walk, x, y, begin, end);
      }()...};
      std::span const result(y.as<element_t<R>>() + begin * size, static_cast<std::size_t>((end - begin) * size));
      if constexpr (requires { Operation::run(extent, std::get<I>(given)..., result); })
        Operation::run(extent, std::get<I>(given)..., result);
      else Operation::run(std::get<I>(given)..., result);
    }(std::make_index_sequence<sizeof...(T)>{});
  }
  kept = std::move(operands);
}

}  // namespace detail
}  // namespace meshtensor
