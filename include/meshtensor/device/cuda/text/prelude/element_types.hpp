// SPDX-License-Identifier: Apache-2.0
// The CUDA text of element types: their registers, conversions, loads and stores.
#pragma once

namespace meshtensor::cuda {

/// The types that all other texts of the prelude need.
inline constexpr char const* basic_types = R"text(
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
)text";

inline constexpr char const* element_types = R"text(
struct bf16 { unsigned short bits; };
struct boolean { unsigned char v; };
struct args { unsigned char* p[64]; const unsigned char* state; i64 index, iteration; i64 n[48]; };

// registers, and sums
template <class E> struct of { typedef E reg; typedef i64 sum; };
template <> struct of<float> { typedef float reg; typedef float sum; };
template <> struct of<double> { typedef double reg; typedef double sum; };
template <> struct of<bf16> { typedef float reg; typedef float sum; };
template <> struct of<boolean> { typedef bool reg; typedef i64 sum; };
template <class E> using reg = typename of<E>::reg;
template <class E> using sum = typename of<E>::sum;

__device__ inline float get(float x) { return x; }
__device__ inline double get(double x) { return x; }
__device__ inline int get(int x) { return x; }
__device__ inline i64 get(i64 x) { return x; }
__device__ inline unsigned char get(unsigned char x) { return x; }
__device__ inline float get(bf16 x) { return __uint_as_float((u32)x.bits << 16); }
__device__ inline bool get(boolean x) { return x.v != 0; }
template <class E> __device__ inline E put(reg<E> x) { return x; }
template <> __device__ inline bf16 put<bf16>(float x) {
  bf16 r;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
#else
  const u32 u = __float_as_uint(x);
  const bool is_nan = (u & 0x7fffffffu) > 0x7f800000u;
  r.bits = (unsigned short)(is_nan ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
#endif
  return r;
}
template <> __device__ inline boolean put<boolean>(bool x) { boolean r; r.v = x ? 1 : 0; return r; }

// a number of another type as an element, rounded to it
template <class E> struct conversion { template <class A> static __device__ inline reg<E> of(A x) { return (E)x; } };
template <class E, E Least, E Greatest> struct whole_conversion {  // base/saturating.hpp
  template <class A> static __device__ inline E of(A x) { return (E)x; }
  static __device__ inline E of(float x) { return saturated(x); }
  static __device__ inline E of(double x) { return saturated(x); }
  template <class A> static __device__ inline E saturated(A x) {
    return x != x ? 0 : x >= (A)Greatest ? Greatest : x <= (A)Least ? Least : (E)x;
  }
};
template <> struct conversion<int> : whole_conversion<int, -2147483647 - 1, 2147483647> {};
template <> struct conversion<i64> : whole_conversion<i64, -9223372036854775807 - 1, 9223372036854775807> {};
template <> struct conversion<unsigned char> : whole_conversion<unsigned char, 0, 255> {};
template <> struct conversion<bf16> {
  template <class A> static __device__ inline float of(A x) { return get(put<bf16>((float)x)); }
};
template <> struct conversion<boolean> {
  template <class A> static __device__ inline bool of(A x) { return x != A(0); }
};
template <class E, class A> __device__ inline reg<E> to(A x) { return conversion<E>::of(x); }
// a number of the step: base/number_value.hpp; behind seed and step
struct number_value { double real; i64 rest; };
template <class E> struct number_as {
  static __device__ inline reg<E> of(number_value x) {
    if (x.rest == 0) return to<E>(floor_of(x.real));
    return to<E>((i64)((x.real < 0 ? (u64)(i64)x.real : (u64)x.real) + (u64)x.rest));
  }
};
template <> struct number_as<float> { static __device__ inline float of(number_value x) { return (float)x.real; } };
template <> struct number_as<double> { static __device__ inline double of(number_value x) { return x.real; } };
template <> struct number_as<bf16> {
  static __device__ inline float of(number_value x) { return to<bf16>((float)x.real); }
};
template <> struct number_as<boolean> { static __device__ inline bool of(number_value x) { return x.real != 0; } };
template <class E> __device__ inline reg<E> number(args const& a, i64 row) {
  return number_as<E>::of(((const number_value*)(a.state + 16))[row]);
}

// neighbours that are loaded and stored at once
template <class E, int W> struct alignas(sizeof(E) * W > 16 ? 16 : sizeof(E) * W) pack { E e[W]; };
template <int W, class E> __device__ inline void load(reg<E>* x, const E* p) {
  const pack<E, W> all = *(const pack<E, W>*)p;
  for (int w = 0; w < W; ++w) x[w] = get(all.e[w]);
}
template <int W, class E> __device__ inline void load_apart(reg<E>* x, const E* p, i64 step) {
  for (int w = 0; w < W; ++w) x[w] = get(p[w * step]);
}
// by instructions of up to 16 bytes: for some GPUs the compiler stores each element by itself
template <int W, class E> __device__ inline void store_pack(E* p, pack<E, W> const& all) {
#if defined(__CUDA_ARCH__)
  constexpr int bytes = sizeof(all);
  if constexpr (W > 1 && bytes % 4 == 0) {
    const u32* const x = (const u32*)&all;
    const u64 to = (u64)__cvta_generic_to_global(p);
    if constexpr (bytes == 4) asm volatile("st.global.b32 [%0], %1;" : : "l"(to), "r"(x[0]) : "memory");
    else if constexpr (bytes == 8)
      asm volatile("st.global.v2.b32 [%0], {%1, %2};" : : "l"(to), "r"(x[0]), "r"(x[1]) : "memory");
    else
#pragma unroll
      for (int k = 0; k < bytes / 16; ++k)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};"
                     : : "l"(to + k * 16), "r"(x[4 * k]), "r"(x[4 * k + 1]), "r"(x[4 * k + 2]), "r"(x[4 * k + 3])
                     : "memory");
    return;
  }
#endif
  *(pack<E, W>*)p = all;
}
template <int W, class E> __device__ inline void store(E* p, reg<E> const (&x)[W]) {
  pack<E, W> all;
  for (int w = 0; w < W; ++w) all.e[w] = put<E>(x[w]);
  store_pack<W, E>(p, all);
}
template <int W, class E> __device__ inline void store_apart(E* p, reg<E> const (&x)[W], i64 step) {
  for (int w = 0; w < W; ++w) p[w * step] = put<E>(x[w]);
}
)text";

}  // namespace meshtensor::cuda
