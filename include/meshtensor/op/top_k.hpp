// SPDX-License-Identifier: Apache-2.0
// top_k: the greatest elements along a dim, and their positions.
#pragma once

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "meshtensor/op/call.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/reshape.hpp"

namespace meshtensor {

namespace detail {
/// Positions along D of the greatest elements, in descending order. Ties are in the order of positions. A nan is
/// greater than any number.
template <class D, class Best>
struct top_positions {
  static constexpr auto whole = to_dims<D>{};
  static constexpr auto gives = to_dims<Best>{};
  static constexpr auto type = i32;
  static constexpr auto library = library_call::top_positions;

  template <class T>
  static void run(std::span<T const> x, std::span<std::int32_t> best) {
    if (best.size() > x.size())
      throw error("R59", {"top_k: there are no ", best.size(), " greatest of the ", x.size(), " elements along '",
                          D::dim_name, "'"});
    auto const before = [&](std::int32_t a, std::int32_t b) {
      return is_greater(number(x[static_cast<std::size_t>(a)]), number(x[static_cast<std::size_t>(b)]));
    };
    std::size_t count = 0;
    for (std::size_t block = 0; block < x.size(); block += step) {
      if (count == best.size() && block + step <= x.size() && !any_beats(&x[block], least(x, best))) continue;
      for (std::size_t i = block; i < std::min(block + step, x.size()); ++i) {
        auto const here = static_cast<std::int32_t>(i);
        if (count == best.size() && !before(here, best.back())) continue;
        std::size_t at = count < best.size() ? count++ : count - 1;
        for (; at > 0 && before(here, best[at - 1]); --at) best[at] = best[at - 1];
        best[at] = here;
      }
    }
  }

 private:
  template <class T>
  static auto least(std::span<T const> x, std::span<std::int32_t const> best) {
    return number(x[static_cast<std::size_t>(best.back())]);
  }
  static constexpr std::size_t step = 64;  // elements skipped at once if none is among the best, the usual case
  /// Whether one of the next `step` elements may be greater than `q`. A nan counts as one that may.
  template <class T, class Q>
  static bool any_beats(T const* x, Q q) {
    if constexpr (std::is_same_v<T, Q> && std::is_floating_point_v<T>) {
      constexpr std::size_t width = 16 / sizeof(T);
      using pack [[gnu::vector_size(16)]] = T;
      auto none = pack{} <= pack{};
      for (std::size_t i = 0; i < step; i += width) {
        pack some;
        std::memcpy(&some, x + i, sizeof some);
        none &= some <= pack{} + q;
      }
      std::uint64_t words[sizeof none / 8], all = ~std::uint64_t{0};
      std::memcpy(words, &none, sizeof none);
      for (std::uint64_t w : words) all &= w;
      return ~all != 0;
    } else {
      return std::any_of(x, x + step, [&](T each) { return !(number(each) <= q); });
    }
  }
  template <class T>
  static auto number(T v) {
    if constexpr (std::is_same_v<T, bf16_t>) return float{v};
    else return v;
  }
};

template <class Part, class Best>
struct candidates_t : dim<"candidates", Part{} * Best{}> {};

template <handle X, dim_type D>
consteval auto top_k_finding() {
  if constexpr (has_dim<X, D>) return no_error{};
  else return refusal<"T01 top_k: the operand lacks the dim", X, D>{};
}
}  // namespace detail

/// The greatest elements along a dim and their positions, as many as the extent of `best`: `auto [likely, word] =
/// top_k(scores, vocab, best)`. They are in descending order, and ties are in the order of positions. A nan is greater
/// than any number.
///
/// dims    those of `x` without `along`, then `best`. Positions are i32
/// layout  `along` must not be sharded. If it is, it is gathered first (see the form below)
/// grad    of the elements: added at their positions. Positions have none
/// errors  T01 `x` lacks the dim; R59 `best` is longer than `along`
template <handle X, dim_type D, dim_type Best>
constexpr auto top_k(X const& x, D along, Best,
                     checked_line<decltype(detail::top_k_finding<X, D>())> const& where = {}) {
  if constexpr (!nothing_found<decltype(detail::top_k_finding<X, D>())>) {
    return std::tuple(detail::given_up(x), detail::given_up<dtype::i32, typename X::dim_list>(x));
  } else {
    auto const position = call<detail::top_positions<D, Best>>(x, where);
    auto const values = detail::record<gather_rule, D>(
        where,
        [&](builder& b) {  // the positions count along the whole dim
          return gather(b, x.id, position.id, detail::dim_of(b, along), {}, looks_into::whole_table);
        },
        x, position);
    return std::tuple(values, position);
  }
}

/// `top_k` of a long sharded dim, without gathering it. `along` is split into parts of `rest` elements, and the
/// greatest elements of each part compete. For example, in `top_k(scores, vocab, best, part, rest)` the layout shards
/// `part` over the axis of `vocab`, so only part × best elements are gathered.
///
/// errors  S03 `part` times `rest` is not `along`; R59 `best` is longer than `rest`
template <handle X, dim_type D, dim_type Best, dim_type Part, dim_type Rest>
constexpr auto top_k(X const& x, D along, Best best, Part part, Rest rest,
                     checked_line<decltype(detail::top_k_finding<X, D>())> const& where = {}) {
  if constexpr (!nothing_found<decltype(detail::top_k_finding<X, D>())>) {
    return std::tuple(detail::given_up(x), detail::given_up<dtype::i32, typename X::dim_list>(x));
  } else {
    constexpr detail::candidates_t<Part, Best> candidates{};
    auto const found = top_k(split(x, along, to_dims<Part, Rest>{}, where), rest, best, where);
    detail::recording r(x.owner, where);
    tensor<dtype::i32, Part> const at(&r.b, iota(r.b, detail::dim_of(r.b, part), dtype::i32));
    // Counts from the end of `along`. Its extent is then a number of the program, so it is refused if it does not fit
    // i32.
    auto const before = (at - extent(part)) * extent(rest) + extent(along);
    auto const everywhere = merge(std::get<1>(found) + before, to_dims<Part, Best>{}, candidates, where);
    auto const values = merge(std::get<0>(found), to_dims<Part, Best>{}, candidates, where);
    auto const best_of_all = top_k(values, candidates, best, where);
    return std::tuple(std::get<0>(best_of_all), gather(everywhere, std::get<1>(best_of_all), candidates, where));
  }
}

}  // namespace meshtensor
