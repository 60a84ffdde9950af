// SPDX-License-Identifier: Apache-2.0
// The CUDA text of sums and other reductions: those of one thread, and those over the threads of a block.
#pragma once

namespace meshtensor::cuda {

inline constexpr char const* reductions = R"text(
// reductions: kinds, and what changes nothing
template <class E> struct range {
  static __device__ inline sum<E> least() {
    if constexpr (floats<sum<E>>) return -sum<E>(__uint_as_float(0x7f800000u));
    else return sizeof(E) == 8 ? (i64)0x8000000000000000ull : sizeof(E) == 4 ? -2147483648ll : 0;
  }
  static __device__ inline sum<E> most() {
    if constexpr (floats<sum<E>>) return sum<E>(__uint_as_float(0x7f800000u));
    else return sizeof(E) == 8 ? 0x7fffffffffffffffll : sizeof(E) == 4 ? 2147483647ll : 255;
  }
};
template <> struct range<boolean> {
  static __device__ inline i64 least() { return 0; }
  static __device__ inline i64 most() { return 1; }
};
struct sums {
  static constexpr bool adds = true;
  template <class A> static __device__ inline A of(A a, A b) { return do_add(a, b); }
  template <class E> static __device__ inline sum<E> none() { return 0; }
};
struct maxima {
  static constexpr bool adds = false;
  template <class A> static __device__ inline A of(A a, A b) { return do_maximum(a, b); }
  template <class E> static __device__ inline sum<E> none() { return range<E>::least(); }
};
struct minima {
  static constexpr bool adds = false;
  template <class A> static __device__ inline A of(A a, A b) { return do_minimum(a, b); }
  template <class E> static __device__ inline sum<E> none() { return range<E>::most(); }
};

// what one thread adds up; of floats, if it keeps them, with the rounding errors of the additions, so that many terms
// lose no digits
template <class Op, class E, bool Keeps = true> struct running {
  sum<E> all = Op::template none<E>(), error = 0;
  __device__ inline void add(sum<E> x) {
    if constexpr (Keeps && floats<sum<E>> && Op::adds) {
      const sum<E> next = all + x, added = next - all;
      error += (all - (next - added)) + (x - added);
      all = next;
    } else all = Op::of(all, x);
  }
  __device__ inline sum<E> total() const {
    if constexpr (Keeps && floats<sum<E>> && Op::adds) {
      const sum<E> kept = all + error;
      return kept == kept ? kept : all;  // the error of an infinite sum is a nan
    } else return all;
  }
};

// over the T threads of a group: a part of a warp, or a whole block, all of which call it
template <int T, class Op, class A> __device__ inline A over_group(A x, unsigned char* shared) {
  if constexpr (T > 1) {
    constexpr int in_warp = T < 32 ? T : 32;
    const u32 lane = threadIdx.x & 31u;
    const u32 mask = in_warp == 32 ? 0xffffffffu : ((1u << in_warp) - 1u) << (lane / in_warp * in_warp);
    for (int o = in_warp / 2; o > 0; o /= 2) x = Op::of(x, __shfl_xor_sync(mask, x, o));
    if constexpr (T > 32) {
      A* const all = (A*)shared;
      __syncthreads();
      if (lane == 0) all[threadIdx.x / 32] = x;
      __syncthreads();
      x = all[0];
      for (int w = 1; w < T / 32; ++w) x = Op::of(x, all[w]);
    }
  }
  return x;
}
)text";

}  // namespace meshtensor::cuda
