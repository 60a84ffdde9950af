// SPDX-License-Identifier: Apache-2.0
// Quantization: each value as an integer of a few bits, and one scale for all.
#pragma once

#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/regime/compressor.hpp"

namespace meshtensor {

/// Rounds each value of a tensor to the nearest of 2^Bits - 1 multiples of a scale, `Bits` being 8 or 4. The scale is
/// the largest magnitude, divided by 127 or 7, in the dtype of the tensor. Codes are computed in f32 or more. A message
/// has a byte for each value or, with 4 bits, for two values, and
/// the scale.
///
/// layout  with 8 bits, that of the tensor. Only the dim along which a mean cuts it is gathered first, if a model axis
///         shards it. With 4 bits, the tensor is gathered first if a model axis shards it
/// source  Alistarh et al. 2017, arXiv:1610.02132, section 3.1, rounded to nearest instead of at random; error feedback
///         corrects the bias
template <int Bits>
struct quantized {
  static_assert(Bits == 4 || Bits == 8, "meshtensor S23: quantized<bits> has 8 or 4 bits for each value");
  static constexpr bool is_linear = false;
  static constexpr bool keeps_layout = Bits == 8;
  static constexpr double consensus_step = Bits == 8 ? 1 : 0.5;

  template <scope S, dtype T>
  static constexpr auto encode(S const& s, any_tensor<T> const& x, path_id, shape const& dims) {
    builder& b = s.graph_builder();
    auto const literal = [&](double n) { return constant(b, n, accumulator_of(T)); };
    auto const widened = [&](value_id v) { return cast(b, v, accumulator_of(T)); };
    value_id const most = reduce(b, reduction::max, elementwise(b, function::abs, x.id), dims);
    value_id const sent_scale = cast(b, divide(b, widened(most), literal(half_range)), T), scale = widened(sent_scale);
    value_id const is_usable = elementwise(b, function::less, literal(0), scale);
    value_id const divisor = select(b, is_usable, scale, literal(1));
    value_id const steps = divide(b, widened(x.id), divisor);
    value_id const nearest = elementwise(b, function::floor, add(b, steps, literal(0.5)));
    // A scale that was rounded down gives the largest values more steps than a code has.
    value_id const upper = elementwise(b, function::minimum, nearest, literal(half_range));
    value_id const inside = elementwise(b, function::maximum, upper, literal(-half_range));
    value_id codes = add(b, inside, literal(half_range + 1));
    if constexpr (Bits == 4) codes = packed(b, detail::flattened(b, codes, dims), detail::flat_dim(b, dims));
    return detail::message_of(any_tensor<dtype::u8>(&b, cast(b, codes, dtype::u8)), any_tensor<T>(&b, sent_scale));
  }
  template <dtype T, class Message>
  static constexpr any_tensor<T> decode(builder& b, Message const& message, shape const& dims, shape const& outer) {
    auto const& [sent, scale] = message.sent;
    value_id codes = cast(b, sent.id, T);
    if constexpr (Bits == 4) codes = detail::unflattened(b, unpacked(b, codes, detail::flat_dim(b, dims), outer), dims);
    return {&b, multiply(b, subtract(b, codes, constant(b, half_range + 1, T)), scale.id)};
  }

 private:
  static constexpr int half_range = (1 << (Bits - 1)) - 1;

  /// Element i of the first half, plus 16 times element i of the second half, which may lack its last element.
  static constexpr value_id packed(builder& b, value_id codes, dim_id all) {
    dim_id const half = detail::part_dim<1, 2>(b, all);
    value_id const first = iota(b, half, dtype::i64), second = add(b, first, detail::extent_of(b, half, dtype::i64));
    return add(b, gather(b, codes, first, all),
               multiply(b, gather(b, codes, second, all), constant(b, 16, b.m.values[codes].type)));
  }
  static constexpr value_id unpacked(builder& b, value_id bytes, dim_id all, shape const& outer) {
    dim_id const half = detail::part_dim<1, 2>(b, all);
    value_id const sixteen = constant(b, 16, b.m.values[bytes].type);
    value_id const high = elementwise(b, function::floor, divide(b, bytes, sixteen));
    value_id const low = subtract(b, bytes, multiply(b, high, sixteen));
    value_id const first = iota(b, all, dtype::i64);
    value_id const second = subtract(b, first, detail::extent_of(b, half, dtype::i64));
    shape order = outer;
    order.add(all);  // an index out of range gives zero
    return add(b, gather(b, low, first, half, order), gather(b, high, second, half, order));
  }
};

}  // namespace meshtensor
