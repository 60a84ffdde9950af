// SPDX-License-Identifier: Apache-2.0
// Top-k compression: the values of a tensor that are largest in magnitude, and their positions.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/regime/compressor.hpp"

namespace meshtensor {
namespace detail {

/// The compressor that keeps all values.
struct all_values {
  template <scope S, dtype T>
  static constexpr auto encode(S const&, any_tensor<T> const& x, path_id, shape const&) {
    return message_of(x);
  }
  template <dtype T, class Message>
  static constexpr any_tensor<T> decode(builder&, Message const& message, shape const&, shape const&) {
    return std::get<0>(message.sent);
  }
};

}  // namespace detail

/// Keeps the values of a tensor that are largest in magnitude, `Kept` of each `Of`, rounded up: `mt::top_k_values<1,
/// 100>`. The others count as zero. A message has the kept values and their positions, as i32. Of equal magnitudes,
/// the first positions are kept. A mean of messages keeps three times as many values. If these would be more than a
/// half, so that their positions make the message longer than all values of f32, it keeps all values.
///
/// layout  if a model axis shards the tensor, it is gathered first
/// errors  S23 no values are kept, or more than there are; T02 the last position does not fit i32
/// source  Aji and Heafield 2017, arXiv:1704.05021; Stich et al. 2018, arXiv:1809.07599, definition 2.2
template <int Kept, int Of>
struct top_k_values {
  static_assert(0 < Kept && Kept <= Of,
                "meshtensor S23: top_k_values<kept, of> keeps at least one value, and at most all");
  static constexpr bool is_linear = false;
  /// Replicas keep values at different positions, so their mean keeps three times as many.
  using of_means = std::conditional_t<(6 * Kept > Of), detail::all_values, top_k_values<3 * Kept, Of>>;
  static constexpr double consensus_step = static_cast<double>(Kept) / Of;

  template <scope S, dtype T>
  static constexpr auto encode(S const& s, any_tensor<T> const& x, path_id, shape const& dims) {
    builder& b = s.graph_builder();
    dim_id const all = detail::flat_dim(b, dims), part = detail::part_dim<Kept, Of>(b, all);
    value_id const flat = detail::flattened(b, x.id, dims);
    value_id const order = argsort(b, elementwise(b, function::abs, flat), all, sort_order::descending);
    value_id const positions = gather(b, order, iota(b, part, dtype::i64), all, {}, looks_into::whole_table);
    value_id const values = gather(b, flat, positions, all, {}, looks_into::whole_table);
    return detail::message_of(any_tensor<T>(&b, values), any_tensor<dtype::i32>(&b, in_i32(b, positions, all)));
  }
  template <dtype T, class Message>
  static constexpr any_tensor<T> decode(builder& b, Message const& message, shape const& dims, shape const& outer) {
    auto const& [values, positions] = message.sent;
    dim_id const all = detail::flat_dim(b, dims);
    shape like = outer;
    value_id const flat = scatter_add(b, values.id, positions.id, all, like.add(all));
    return {&b, detail::unflattened(b, flat, dims)};
  }

 private:
  /// Positions along `all` as i32. The last position is a constant of i32, so `bind` refuses one that is no i32.
  static constexpr value_id in_i32(builder& b, value_id positions, dim_id all) {
    number const last = number::of_row(&b, b.add_number(extent_row(all))) - 1;
    return elementwise(b, function::minimum, cast(b, positions, dtype::i32), constant(b, last, dtype::i32));
  }
};

}  // namespace meshtensor
