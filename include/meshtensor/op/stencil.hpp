// SPDX-License-Identifier: Apache-2.0
// stencil: a function of the elements around each element. Along sharded dims, ranks exchange the elements that it
// reaches.
#pragma once

#include "meshtensor/op/shift.hpp"

namespace meshtensor {

/// The elements beyond the ends of a dim: zeros, or those at its other end.
enum class beyond : std::uint8_t { zero, other_end };

namespace detail {

template <handle H>
struct neighbours {
  H const& x;
  beyond outside;
  line const& where;

  /// For each element of `x`, the element at these distances from it: `at(rows(-1), cols(2))`.
  template <std::same_as<dim_extent>... D>
  constexpr auto operator()(D const&... distances) const {
    recording const r(owner_of(x), where);
    value_id v = x.id;
    shape const dims = r.b.m.values[v].dims;
    (require(r.b, dims, distances.label), ...);
    // In the order of the dims, so that elements at equal distances along the first ones are exchanged once.
    for (int i = 0; i < dims.count; ++i) {
      std::int64_t distance = 0;
      ((distance += r.b.m.dim_name(dims.at[i]) == distances.label ? distances.extent : 0), ...);
      if (distance == 0) continue;
      auto const how = outside == beyond::zero ? shift_kind::cut : shift_kind::wrap;
      number_id const first = r.b.literal(static_cast<double>(distance));
      v = meshtensor::shift(r.b, v, how, {static_cast<dim_id>(dims.at[i]), first, r.b.literal(0)});
    }
    return wrap<H::type, typename H::dim_list>(r.b, v);
  }
  template <class... D,
            class Reason = typename refusal_of<
                "T39 stencil: `at` takes distances along dims, at(rows(-1), cols(2)), or nothing, not", H, D...>::type>
  requires(!(std::same_as<D, dim_extent> && ...))
  MESHTENSOR_REFUSES constexpr auto operator()(D const&...) const {
    static_assert(is_said<Reason>, "meshtensor refuses this call");
    return given_up(x);
  }

 private:
  static constexpr void require(builder& b, shape const& dims, name const& dim) {
    for (int i = 0; i < dims.count; ++i)
      if (b.m.dim_name(dims.at[i]) == dim) return;
    diagnostic wrong{};
    b.note(wrong << "T01 stencil: the tensor lacks the dim '" << dim << "'");
  }
};

}  // namespace detail

/// The result of `f`, which computes from the elements around each element of `x`. For example, `at(rows(-1), cols(1))`
/// is the element a row before it and a column after it, and `at()` is the element itself:
///
///     auto curvature = mt::stencil(u, [](auto at) { return at(x(-1)) - 2 * at() + at(x(1)); });
///
/// With `mt::beyond::other_end` a dim is a ring, so the element before the first one is the last one.
///
/// dims    those of the result of `f`
/// layout  along a sharded dim, ranks exchange as many elements as each distance is long
/// grad    that of `f`, moved back
/// errors  T01 `x` lacks a dim
template <handle H, class F>
requires(!dim_type<F>)
constexpr auto stencil(H const& x, F const& f, beyond outside = beyond::zero, line const& where = {}) {
  return f(detail::neighbours<H>{x, outside, where});
}

/// Rejects a call that names the dims, or gives something else in the place of what is beyond the ends.
template <handle H, detail::argument F = detail::none_given, detail::argument Outside = detail::none_given,
          detail::argument More = detail::none_given>
requires(dim_type<F> || std::same_as<F, detail::none_given> || !detail::is_given_as<Outside, beyond> ||
         !std::same_as<More, detail::none_given>)
constexpr auto stencil(
    H const& x, F const& = {}, Outside const& = {}, More const& = {},
    detail::refused_call<
        "T37 stencil takes a tensor and a function, which names the dims: mt::stencil(x, [](auto at) { "
        "return at(rows(-1)) + at(rows(1)); }), perhaps with mt::beyond::other_end, not",
        H, F, Outside, More> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
