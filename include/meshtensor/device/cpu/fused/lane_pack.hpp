// SPDX-License-Identifier: Apache-2.0
// Defines `lane_pack`, which has as many lanes as a register of 32-bit numbers, so that all types traverse an array in
// equal strides. Interpreted and instantiated kernels both compute with packs, so they give the same bits.
#pragma once

#include "meshtensor/device/cpu/fused/across_lanes.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/math.hpp"
#include "meshtensor/device/cpu/random.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The type of elements of E in registers: float for bf16, 32-bit integers for smaller types.
template <class E>
using register_t =
    std::conditional_t<std::is_same_v<E, bf16_t>, float, std::conditional_t<(sizeof(E) < 4), std::int32_t, E>>;

inline constexpr int pack_width = vec<std::int32_t>::width;

/// The bytes of a row of `n` elements of any register type that is written in whole packs. It is a multiple of 64.
inline std::int64_t bytes_of_scratch_row(std::int64_t n) {
  constexpr std::int64_t step = pack_width < 8 ? 8 : pack_width;
  return (n + step - 1) / step * step * 8;
}

template <class T>
struct lane_pack {
  static constexpr int parts = pack_width / vec<T>::width;
  struct array {
    T at[static_cast<std::size_t>(pack_width)];
  };
  vec<T> part[static_cast<std::size_t>(parts)];

  lane_pack() = default;
  explicit lane_pack(T x) {
    for (auto& p : part) p = vec<T>(x);
  }
  static lane_pack of(array const& a) {
    lane_pack r;
    for (int i = 0; i < parts; ++i) r.part[i] = load<T>(a.at + i * vec<T>::width);
    return r;
  }
  array lane_array() const {
    array a;
    for (int i = 0; i < parts; ++i) store(part[i], a.at + i * vec<T>::width);
    return a;
  }
};

namespace detail {
template <class T>
inline int lanes_in_part(int i, int n) {
  int const left = n - i * vec<T>::width;
  return left < 0 ? 0 : left > vec<T>::width ? vec<T>::width : left;
}
}  // namespace detail

// ---- memory ----

template <class E>
inline lane_pack<register_t<E>> load_pack(E const* p) {
  using T = register_t<E>;
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i) r.part[i] = load<T>(p + i * vec<T>::width);
  return r;
}
/// Loads the first n elements, and zeros after them.
template <class E>
inline lane_pack<register_t<E>> load_pack(E const* p, int n) {
  using T = register_t<E>;
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i)
    r.part[i] = load<T>(p + i * vec<T>::width, detail::lanes_in_part<T>(i, n));
  return r;
}
template <class E>
inline lane_pack<register_t<E>> load_pack_strided(E const* p, std::int64_t stride, int n) {
  using T = register_t<E>;
  typename lane_pack<T>::array a = {};
  for (int i = 0; i < n; ++i) a.at[i] = detail::number_of_element<T>(p[i * stride]);
  return lane_pack<T>::of(a);
}
template <class E>
inline void store_pack(lane_pack<register_t<E>> const& v, E* p) {
  using T = register_t<E>;
  for (int i = 0; i < lane_pack<T>::parts; ++i) store(v.part[i], p + i * vec<T>::width);
}
template <class E>
inline void store_pack(lane_pack<register_t<E>> const& v, E* p, int n) {
  using T = register_t<E>;
  for (int i = 0; i < lane_pack<T>::parts; ++i) store(v.part[i], p + i * vec<T>::width, detail::lanes_in_part<T>(i, n));
}
template <class E>
inline void store_pack_strided(lane_pack<register_t<E>> const& v, E* p, std::int64_t stride, int n) {
  auto const a = v.lane_array();
  for (int i = 0; i < n; ++i) p[i * stride] = detail::element_of<E>(a.at[i]);
}

// ---- conversion ----

template <class To, class From>
inline lane_pack<To> convert_pack(lane_pack<From> const& v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (lane_pack<To>::parts == lane_pack<From>::parts) {
    lane_pack<To> r;
    for (int i = 0; i < lane_pack<To>::parts; ++i) r.part[i] = convert<To>(v.part[i]);
    return r;
  } else {
    using from = typename compilers_vector<From, pack_width>::type;
    using to = typename compilers_vector<To, pack_width>::type;
    // Not std::bit_cast, because a function should not return a vector larger than a register.
    return std::bit_cast<lane_pack<To>>(__builtin_convertvector(__builtin_bit_cast(from, v), to));
  }
}

/// Rounds a register as if it were stored as E and loaded again.
template <class E>
inline lane_pack<register_t<E>> settled(lane_pack<register_t<E>> v) {
  if constexpr (std::is_same_v<E, bf16_t>) {
    using word = vec<std::uint32_t>;
    for (auto& p : v.part) {
      word const bits = bits_as<std::uint32_t>(p);
      word const rounded = bits + word(0x7fffu) + ((bits >> 16) & word(1u));
      word const kept = select(mask_as<std::uint32_t>(p != p), bits | word(0x400000u), rounded);
      p = bits_as<float>(kept & word(0xffff0000u));
    }
  } else if constexpr (std::is_same_v<E, std::uint8_t>) {
    for (auto& p : v.part) p = p & vec<std::int32_t>(255);
  }
  return v;
}
/// Whether a function's result may need rounding or truncation to its dtype.
constexpr bool must_settle(function f, dtype t) {
  if (t == dtype::bf16)
    return !is_comparison(f) && f != function::negate && f != function::abs && f != function::select &&
           f != function::maximum && f != function::minimum && f != function::relu;
  return t == dtype::u8 && (f == function::cast || f == function::negate ||
                            (f >= function::add && f <= function::multiply) || f == function::power);
}

// ---- functions ----

/// 1 for each lane where the condition holds, and 0 for the others.
template <class T>
inline lane_pack<std::int32_t> ones_where(mask<T> const (&m)[static_cast<std::size_t>(lane_pack<T>::parts)]) {
  if constexpr (lane_pack<T>::parts == 1 && sizeof(T) == 4) {
    lane_pack<std::int32_t> r;
    r.part[0] = one_where(mask_as<std::int32_t>(m[0]));
    return r;
  } else {
    lane_pack<std::int64_t> wide;
    for (int i = 0; i < lane_pack<T>::parts; ++i) {
      if constexpr (sizeof(T) == 8) wide.part[i] = one_where(mask_as<std::int64_t>(m[i]));
    }
    return convert_pack<std::int32_t>(wide);
  }
}

template <function F, class T>
inline lane_pack<std::int32_t> compare_packs(lane_pack<T> const& a, lane_pack<T> const& b) {
  mask<T> m[static_cast<std::size_t>(lane_pack<T>::parts)];
  for (int i = 0; i < lane_pack<T>::parts; ++i) {
    if constexpr (F == function::equal) m[i] = a.part[i] == b.part[i];
    else if constexpr (F == function::not_equal) m[i] = a.part[i] != b.part[i];
    else if constexpr (F == function::less) m[i] = a.part[i] < b.part[i];
    else m[i] = a.part[i] <= b.part[i];
  }
  return ones_where<T>(m);
}

template <class T>
inline lane_pack<T> select_packs(lane_pack<std::int32_t> const& c, lane_pack<T> const& a, lane_pack<T> const& b) {
  lane_pack<T> r;
  if constexpr (sizeof(T) == 4) {
    for (int i = 0; i < lane_pack<T>::parts; ++i)
      r.part[i] = select(mask_as<T>(c.part[i] != vec<std::int32_t>(0)), a.part[i], b.part[i]);
  } else {
    auto const wide = convert_pack<std::int64_t>(c);
    for (int i = 0; i < lane_pack<T>::parts; ++i)
      r.part[i] = select(mask_as<T>(wide.part[i] != vec<std::int64_t>(0)), a.part[i], b.part[i]);
  }
  return r;
}

namespace detail {
/// Functions of integers. If registers do not support a function, it runs lane by lane.
template <function F, class T>
inline vec<T> apply_to_integer_lanes(vec<T> a, [[maybe_unused]] vec<T> b) {
  [[maybe_unused]] vec<T> const zero(T(0)), one(T(1));
  if constexpr (vec<T>::width > 1 && F == function::negate) return zero - a;
  else if constexpr (vec<T>::width > 1 && F == function::add) return a + b;
  else if constexpr (vec<T>::width > 1 && F == function::subtract) return a - b;
  else if constexpr (vec<T>::width > 1 && F == function::multiply) return a * b;
  else if constexpr (F == function::maximum) return select(a < b, b, a);
  else if constexpr (F == function::minimum) return select(b < a, b, a);
  else if constexpr (F == function::logical_not) return one_where(a == zero);
  else if constexpr (F == function::logical_and) return a & b;
  else if constexpr (F == function::logical_or) return a | b;
  else {
    auto x = a.lane_array();
    auto const y = b.lane_array();
    for (int i = 0; i < vec<T>::width; ++i) x.at[i] = apply<T>(F, x.at[i], y.at[i]);
    return vec<T>::of(x);
  }
}
}  // namespace detail

/// A function of operands of one type. Bools are 0 and 1.
template <function F, class T>
inline vec<T> apply_to_lanes(vec<T> a, vec<T> b) {
  if constexpr (std::is_floating_point_v<T>) return apply_to_floats<F>(a, b);
  else return detail::apply_to_integer_lanes<F>(a, b);
}
template <function F, class T>
inline lane_pack<T> apply_to_packs(lane_pack<T> const& a, lane_pack<T> const& b) {
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i) r.part[i] = apply_to_lanes<F>(a.part[i], b.part[i]);
  return r;
}

/// Whether a function exists for operands in registers of type T.
template <function F, class T>
inline constexpr bool has_function =
    F != function::copy && F != function::stop_gradient && F != function::cast &&
    (std::is_floating_point_v<T> ? !is_logical(F)
                                 : F != function::floor && !takes_only_floats(F) && (!is_logical(F) || sizeof(T) == 4));

// ---- reductions: lane i of the sums accumulates elements i, i + pack_width, … ----

/// The type in which elements are summed or compared.
template <class T>
using total_t = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

/// The initial value of a total of elements of type E, which is also the result if there are no elements.
template <reduction K, class E>
inline constexpr auto reduction_start = total_t<register_t<E>>(K == reduction::sum ? 0 : neutral<E>(K));

constexpr function function_of(reduction k) {
  return k == reduction::sum ? function::add : k == reduction::max ? function::maximum : function::minimum;
}
template <reduction K, class T>
inline lane_pack<T> combined(lane_pack<T> const& a, lane_pack<T> const& b) {
  return apply_to_packs<function_of(K)>(a, b);
}
template <reduction K, class T>
inline T combined(T a, T b) {
  return apply<T>(function_of(K), a, b);
}

/// The first n lanes. The other lanes hold the reduction's identity.
template <reduction K, class T>
inline lane_pack<T> first_lanes_of(lane_pack<T> const& v, int n) {
  lane_pack<T> r;
  for (int i = 0; i < lane_pack<T>::parts; ++i)
    r.part[i] = select(lane_numbers<T>(static_cast<T>(i * vec<T>::width)) < vec<T>(static_cast<T>(n)), v.part[i],
                       vec<T>(reduction_start<K, T>));
  return r;
}

/// Reduces all lanes, as a tree of fixed shape.
template <reduction K, class T>
inline T folded(lane_pack<T> v) {
  auto const both = [](vec<T> a, vec<T> b) { return apply_to_lanes<function_of(K)>(a, b); };
  for (int half = lane_pack<T>::parts / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) v.part[i] = both(v.part[i], v.part[i + half]);
  return fold(v.part[0], both);
}

// ---- generated values ----

/// The integers first, first + stride, …, rounded as if they were stored as E.
template <class E>
inline lane_pack<register_t<E>> positions(std::int64_t first, std::int64_t stride) {
  using T = register_t<E>;
  using integer = std::conditional_t<std::is_floating_point_v<T>, std::int64_t, T>;
  lane_pack<integer> r;
  for (int i = 0; i < lane_pack<integer>::parts; ++i)
    r.part[i] = lane_numbers<integer>(static_cast<integer>(i * vec<integer>::width)) *
                    vec<integer>(static_cast<integer>(stride)) +
                vec<integer>(static_cast<integer>(first));
  return settled<E>(convert_pack<T>(r));
}
/// Random numbers of the elements first, first + stride, …, where `draw(first, stride)` fills one register.
template <class T, class F>
inline lane_pack<T> random_pack(std::uint64_t first, std::uint64_t stride, F draw) {
  lane_pack<T> r;
  for (auto& p : r.part) {
    p = draw(first, stride);
    first += static_cast<std::uint64_t>(vec<T>::width) * stride;
  }
  return r;
}
template <class T>
inline lane_pack<T> uniform_pack(uniform_source<T>& from, random_stream const& s, std::uint64_t first,
                                 std::uint64_t stride) {
  return random_pack<T>(first, stride, [&](std::uint64_t i, std::uint64_t by) { return from(s, i, by); });
}
template <class T>
inline lane_pack<T> normal_pack(random_stream const& s, std::uint64_t first, std::uint64_t stride) {
  return random_pack<T>(first, stride, [&](std::uint64_t i, std::uint64_t by) { return random_normal<T>(s, i, by); });
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
