// SPDX-License-Identifier: Apache-2.0
// Emits random numbers as operations on integers, so that every compiler computes the bits of base/philox.hpp.
#pragma once

#include <array>

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/random.hpp"

namespace meshtensor::hlo {

namespace detail {

inline value word(writer& w, type const& t, std::uint64_t bits) { return constant(w, t, std::to_string(bits)); }
inline value shifted(writer& w, value const& x, int right) {
  return binary(w, "shift_right_logical", {x, like(w, x, right)});
}
inline value low(writer& w, value const& x) { return convert(w, x, "ui32"); }
inline value high(writer& w, value const& x) { return low(w, shifted(w, x, 32)); }

using words = std::array<value, 4>;

/// Philox4x32 with 10 rounds, element by element.
inline words philox(writer& w, words c, value k0, value k1) {
  type const single = c[0].type, wide{"ui64", single.shape};
  value const m0 = word(w, wide, 0xD2511F53u), m1 = word(w, wide, 0xCD9E8D57u);
  value const w0 = word(w, single, 0x9E3779B9u), w1 = word(w, single, 0xBB67AE85u);
  for (int round = 0; round < 10; ++round) {
    value const first = binary(w, "multiply", {convert(w, c[0], "ui64"), m0});
    value const second = binary(w, "multiply", {convert(w, c[2], "ui64"), m1});
    c = {binary(w, "xor", {binary(w, "xor", {high(w, second), c[1]}), k0}), low(w, second),
         binary(w, "xor", {binary(w, "xor", {high(w, first), c[3]}), k1}), low(w, first)};
    if (round < 9) k0 = binary(w, "add", {k0, w0}), k1 = binary(w, "add", {k1, w1});
  }
  return c;
}

/// The random words of one tensor in one iteration, as in random_stream.
class stream {
 public:
  stream(emission& e, node const& n, extents const& shape) : w_(e.w), shape_(shape) {
    type const scalar{"ui64", {}};
    value const identity = word(w_, scalar, identity_of(e.m, n));
    value const k0 = low(w_, e.seed), k1 = high(w_, e.seed);
    words const counter{low(w_, identity), high(w_, identity), low(w_, e.step), high(w_, e.step)};
    words const derived = philox(w_, counter, k0, k1);
    key_[0] = fill(w_, derived[0], shape_), key_[1] = fill(w_, derived[1], shape_);
    iteration_ = fill(w_, e.iteration.name.empty() ? word(w_, scalar, 0) : e.iteration, shape_);
  }
  /// The four words of a counter. With `second`, they are four other words.
  words of(value const& number, bool second = false) {
    value last = high(w_, iteration_);
    if (second) last = binary(w_, "xor", {last, word(w_, last.type, 0x80000000u)});
    return philox(w_, {low(w_, number), high(w_, number), low(w_, iteration_), last}, key_[0], key_[1]);
  }
  /// One word for each element. Sixteen neighbouring elements share four counters. Each four neighbours among them use
  /// the words with one index, one word from each counter.
  value of_element(value const& index, bool second = false) {
    auto const four = [&] { return like(w_, index, 4); };
    value const sixteens = binary(w_, "multiply", {shifted(w_, index, 4), four()});
    words const all = of(binary(w_, "add", {sixteens, binary(w_, "remainder", {index, four()})}), second);
    value const which = binary(w_, "remainder", {shifted(w_, index, 2), four()});
    value r = all[3];
    for (int k = 3; k-- > 0;)
      r = select(w_, {compare(w_, "EQ", {which, like(w_, which, k)}), all[static_cast<std::size_t>(k)], r});
    return r;
  }

 private:
  writer& w_;
  extents shape_;
  value key_[2], iteration_;
};

/// A number in f32 as one that bf16 holds, with the same bits as math::truncated_to_bf16.
inline value truncated_to_bf16(writer& w, value const& x) {
  value const bits = w.op("bitcast_convert", {x}, {"ui32", x.type.shape});
  return w.op("bitcast_convert", {binary(w, "and", {bits, word(w, bits.type, 0xffff0000u)})}, x.type);
}
/// Uniform in [0, 1), with the same bits as math::uniform_of.
inline value uniform(writer& w, stream& s, value const& index, bool wide) {
  value const word0 = s.of_element(index);
  if (!wide) return scaled(w, convert(w, shifted(w, word0, 8), "f32"), 0x1p-24);
  value const upper = binary(w, "shift_left", {convert(w, word0, "ui64"), like(w, index, 21)});
  value const lower = convert(w, shifted(w, s.of_element(index, true), 11), "ui64");
  return scaled(w, convert(w, binary(w, "or", {upper, lower}), "f64"), 0x1p-53);
}

/// The standard normal distribution, as math::normal_of, but with the compiler's own logarithm and cosine.
inline value normal(writer& w, stream& s, value const& index, bool wide) {
  words const bits = s.of(index);
  std::string const element = wide ? "f64" : "f32";
  auto const number = [&](value const& x) { return convert(w, x, element); };
  auto const sum = [&](two const& v) { return binary(w, "add", v); };
  auto const masked = [&](value const& x, std::uint64_t mask) { return binary(w, "and", {x, word(w, x.type, mask)}); };
  value const moved = sum({bits[2], word(w, bits[2].type, 1u << 29)});  // quadrant, then the position in it
  value turn = number(masked(moved, 0x3fffffffu));
  turn = sum({turn, like(w, turn, -0x1p29)});
  if (wide) turn = sum({turn, scaled(w, number(bits[3]), 0x1p-32)});
  value const one = like(w, turn, 1);
  value const u =
      wide ? sum({scaled(w, number(bits[0]), 0x1p-32), scaled(w, sum({number(shifted(w, bits[1], 11)), one}), 0x1p-53)})
           : sum({scaled(w, number(shifted(w, bits[0], 16)), 0x1p-16),
                  scaled(w, sum({number(masked(bits[0], 0xffff)), one}), 0x1p-32)});
  double const quarter = 0x1.921fb54442d18p+0;  // π/2, a quadrant of 2^30
  value const angle = sum({scaled(w, turn, quarter * 0x1p-30), scaled(w, number(shifted(w, moved, 30)), quarter)});
  value const size = unary(w, "sqrt", scaled(w, unary(w, "log", u), -2));
  return binary(w, "multiply", {size, unary(w, "cosine", angle)});
}

}  // namespace detail

/// Each element's number depends on the seed, the node, the step, the iteration and its global index.
inline value random(emission& e, node const& n) {
  meshtensor::value const& v = e.m.result_value(n);
  type const t = e.result_type(n), wide{"ui64", t.shape};
  value index = constant(e.w, wide, 0.0);
  std::int64_t stride = 1;
  for (int i = v.dims.count; i-- > 0; stride *= e.b.extent[v.dims.at[i]])
    index = binary(e.w, "add", {index, scaled(e.w, e.positions(v, i, wide, i), stride)});
  detail::stream s(e, n, t.shape);
  bool const doubles = v.type == dtype::f64;
  bool const is_uniform = static_cast<distribution>(n.function) == distribution::uniform;
  value made = is_uniform ? detail::uniform(e.w, s, index, doubles) : detail::normal(e.w, s, index, doubles);
  if (is_uniform && v.type == dtype::bf16) made = detail::truncated_to_bf16(e.w, made);
  return convert(e.w, made, t.element);
}

}  // namespace meshtensor::hlo
