// SPDX-License-Identifier: Apache-2.0
// The CUDA text in front of all kernels: element types, scalar functions, random numbers and reductions of a block.
// They have the arithmetic of the reference loops (op/detail/scalar.hpp, base/philox.hpp).
#pragma once

namespace meshtensor::cuda {

/// Functions that tests on the host take from the host's library instead, see tests/support/host_gpu.hpp.
inline constexpr char const* elementary_functions = R"text(
template <class T> inline constexpr bool is_double = false;
template <> inline constexpr bool is_double<double> = true;
__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }
__device__ inline float log_of(float x) { return logf(x); }
__device__ inline double log_of(double x) { return log(x); }
__device__ inline float tanh_of(float x) { return tanhf(x); }
__device__ inline double tanh_of(double x) { return tanh(x); }
__device__ inline float sin_of(float x) { return sinf(x); }
__device__ inline double sin_of(double x) { return sin(x); }
__device__ inline float cos_of(float x) { return cosf(x); }
__device__ inline double cos_of(double x) { return cos(x); }
__device__ inline float erf_of(float x) { return erff(x); }
__device__ inline double erf_of(double x) { return erf(x); }
__device__ inline float sigmoid_of(float x) {
  const float e = expf(-fabsf(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}
__device__ inline double sigmoid_of(double x) {
  const double e = exp(-fabs(x));
  return (x < 0 ? e : 1.0) / (1.0 + e);
}
__device__ inline float power_of(float x, float y) { return (float)pow((double)x, (double)y); }
__device__ inline double power_of(double x, double y) { return pow(x, y); }
__device__ inline float root_of(float x) { return sqrtf(x); }
__device__ inline double root_of(double x) { return sqrt(x); }
template <class T> __device__ inline T near_exp(T x) { return __expf(x); }
template <class T> __device__ inline T near_sigmoid(T x) {
  const float e = __expf(-fabsf(x));
  return __fdividef(x < 0 ? e : 1.0f, 1.0f + e);
}
__device__ inline float floor_of(float x) { return floorf(x); }
__device__ inline double floor_of(double x) { return floor(x); }
__device__ inline float remainder_of(float x, float y) { return fmodf(x, y); }
__device__ inline double remainder_of(double x, double y) { return fmod(x, y); }

// sqrt(-2 log u) cos(2 pi v) of words: the polynomials of the library, so that the bits are its own
__device__ inline float word_number(u32 w) { return (float)(w >> 16) * 65536.0f + (float)(w & 0xffffu); }
__device__ inline float normal_number(u32 w0, u32, u32 w2, u32, float) {
  const u32 moved = w2 + (1u << 29);
  const float turn = word_number(moved & 0x3fffffffu) - 536870912.0f;
  const float u = (float)(w0 >> 16) * 0x1p-16f + ((float)(w0 & 0xffffu) + 1.0f) * 0x1p-32f;
  const float r = turn * 0x1.921fb6p-30f, z = r * r;
  const float s3 = fmaf(fmaf(-0x1.9954a4p-13f, z, 0x1.11077ap-7f), z, -0x1.555546p-3f);
  const float c3 = fmaf(fmaf(0x1.99e0dap-16f, z, -0x1.6c0c1ap-10f), z, 0x1.55554ap-5f);
  const float sine = fmaf(r * z, s3, r), cosine = fmaf(z * z, c3, fmaf(z, -0.5f, 1.0f));
  const u32 quadrant = (moved >> 30) + 1u;
  float chosen = (quadrant & 1u) ? cosine : sine;
  if ((quadrant >> 1) & 1u) chosen = -chosen;
  const u32 bits = __float_as_uint(u) + (0x3f800000u - 0x3f3504f3u);  // u is normal
  const float exponent = (float)(bits >> 23) - 127.0f;
  const float f = __uint_as_float((bits & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  const float s = f / (2.0f + f), q = s * s, half_square = 0.5f * f * f;
  const float l = fmaf(fmaf(0x1.31e3fep-2f, q, 0x1.995ec2p-2f), q, 0x1.55557ap-1f);
  const float small = fmaf(s, fmaf(q, l, half_square), exponent * 0x1.7f7d1cp-20f);
  const float logarithm = fmaf(exponent, 0x1.62e4p-1f, f - (half_square - small));
  return sqrtf(-2.0f * logarithm) * chosen;
}
__device__ inline double normal_number(u32 w0, u32 w1, u32 w2, u32 w3, double) {
  const u32 moved = w2 + (1u << 29);
  const double turn = (double)(moved & 0x3fffffffu) - 536870912.0 + (double)w3 * 0x1p-32;
  const double u = (double)w0 * 0x1p-32 + ((double)(w1 >> 11) + 1.0) * 0x1p-53;
  const double r = turn * 0x1.921fb54442d18p-30;
  const u32 quadrant = (moved >> 30) + 1u;
  double chosen = (quadrant & 1u) ? cos(r) : sin(r);
  if ((quadrant >> 1) & 1u) chosen = -chosen;
  return sqrt(-2.0 * log(u)) * chosen;
}
)text";

inline constexpr char const* prelude = R"text(
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

// scalar functions; the greater and the lesser one are nan if either is
__device__ inline double greater_of(double a, double b) { return a != a ? a : a > b ? a : b; }
__device__ inline double lesser_of(double a, double b) { return a != a ? a : a < b ? a : b; }
__device__ inline float greater_of(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : a > b ? a : b;
#endif
}
__device__ inline float lesser_of(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
#else
  return a != a ? a : a < b ? a : b;
#endif
}
template <class T> struct wraps { typedef int type; };
template <> struct wraps<int> { typedef u32 type; };
template <> struct wraps<i64> { typedef u64 type; };
template <class T> inline constexpr bool floats = false;
template <> inline constexpr bool floats<float> = true;
template <> inline constexpr bool floats<double> = true;
template <class T> using wrap = typename wraps<T>::type;
template <class T> __device__ inline T do_negate(T a) {
  if constexpr (floats<T>) return -a;
  else return (T)(wrap<T>(0) - (wrap<T>)a);
}
template <class T> __device__ inline T do_abs(T a) {
  if constexpr (floats<T>) return a < 0 ? -a : a + T(0);
  else return a < T(0) ? (T)(wrap<T>(0) - (wrap<T>)a) : a;
}
template <class T> __device__ inline T do_sign(T a) { return (T)((T)(T(0) < a) - (T)(a < T(0))); }
template <class T> __device__ inline T do_floor(T a) { if constexpr (floats<T>) return floor_of(a); else return a; }
template <class T> __device__ inline T do_exp(T a) { return exp_of(a); }
template <class T> __device__ inline T do_log(T a) { return log_of(a); }
template <class T> __device__ inline T do_sqrt(T a) { return root_of(a); }
template <class T> __device__ inline T do_rsqrt(T a) { return T(1) / root_of(a); }
template <class T> __device__ inline T do_sin(T a) { return sin_of(a); }
template <class T> __device__ inline T do_cos(T a) { return cos_of(a); }
template <class T> __device__ inline T do_tanh(T a) { return tanh_of(a); }
template <class T> __device__ inline T do_sigmoid(T a) { return sigmoid_of(a); }
template <class T> __device__ inline T do_erf(T a) { return erf_of(a); }
template <class T> __device__ inline T do_relu(T a) {
  if constexpr (floats<T>) return a <= T(0) ? T(0) : a;
  else return T(0) < a ? a : T(0);
}
__device__ inline bool do_logical_not(bool a) { return !a; }
template <class T> __device__ inline T do_add(T a, T b) {
  if constexpr (floats<T>) return a + b;
  else return (T)((wrap<T>)a + (wrap<T>)b);
}
template <class T> __device__ inline T do_subtract(T a, T b) {
  if constexpr (floats<T>) return a - b;
  else return (T)((wrap<T>)a - (wrap<T>)b);
}
template <class T> __device__ inline T do_multiply(T a, T b) {
  if constexpr (floats<T>) return a * b;
  else return (T)((wrap<T>)a * (wrap<T>)b);
}
template <class T> __device__ inline T do_divide(T a, T b) {
  if constexpr (floats<T>) return a / b;
  else return b == T(0) ? T(0) : b == T(-1) && T(-1) < T(0) ? (T)(wrap<T>(0) - (wrap<T>)a) : (T)(a / b);
}
// __fdividef gives 0 for divisors beyond 2^126
template <class T> __device__ inline T near_divide(T x, T y) {
  const T by = y > T(0x1p126f) || y < T(-0x1p126f) ? T(0.25f) : T(1);
  return __fdividef(x * by, y * by);
}
template <class T> __device__ inline T do_modulo(T a, T b) {
  if constexpr (floats<T>) {
    const T r = remainder_of(a, b);
    return (r < 0 && b > 0) || (r > 0 && b < 0) ? r + b : r;
  } else {
    if (b == T(0) || (b == T(-1) && T(-1) < T(0))) return T(0);
    const T r = (T)(a % b);
    return r != T(0) && ((r < T(0)) != (b < T(0))) ? (T)(r + b) : r;
  }
}
template <class T> __device__ inline T do_power(T a, T b) {
  if constexpr (floats<T>) return power_of(a, b);
  else {
    if (b < T(0)) return a == T(1) || (a == T(-1) && b % 2 == 0) ? T(1) : a == T(-1) ? T(-1) : T(0);
    wrap<T> base = (wrap<T>)a, r = 1;
    for (u64 n = (u64)b; n != 0; n >>= 1, base = (wrap<T>)(T)(base * base))
      if (n & 1) r = (wrap<T>)(T)(r * base);
    return (T)r;
  }
}
template <class T> __device__ inline T do_maximum(T a, T b) {
  if constexpr (floats<T>) return greater_of(a, b);
  else return a < b ? b : a;
}
template <class T> __device__ inline T do_minimum(T a, T b) {
  if constexpr (floats<T>) return lesser_of(a, b);
  else return b < a ? b : a;
}
template <class T> __device__ inline bool do_equal(T a, T b) { return a == b; }
template <class T> __device__ inline bool do_not_equal(T a, T b) { return a != b; }
template <class T> __device__ inline bool do_less(T a, T b) { return a < b; }
template <class T> __device__ inline bool do_less_equal(T a, T b) { return a <= b; }
__device__ inline bool do_logical_and(bool a, bool b) { return a && b; }
__device__ inline bool do_logical_or(bool a, bool b) { return a || b; }
template <class T> __device__ inline T do_select(bool c, T a, T b) { return c ? a : b; }
template <class T> __device__ inline bool stands_before(T a, T b) {
  if constexpr (floats<T>) return a > b || (a != a && b == b);
  else return a > b;
}

// random numbers: base/philox.hpp
struct words { u32 w[4]; };
__device__ inline words philox(words c, u32 k0, u32 k1) {
  for (int round = 0; round < 10; ++round) {
    const u64 a = (u64)0xD2511F53u * c.w[0], b = (u64)0xCD9E8D57u * c.w[2];
    c.w[0] = (u32)(b >> 32) ^ c.w[1] ^ k0;
    c.w[2] = (u32)(a >> 32) ^ c.w[3] ^ k1;
    c.w[1] = (u32)b;
    c.w[3] = (u32)a;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const words r = {{c.w[0], c.w[1], c.w[2], c.w[3]}};
  return r;
}
struct stream { u32 k0, k1; u64 iteration; };
__device__ inline stream stream_of(args const& a, i64 identity) {
  const u64 seed = ((const u64*)a.state)[0], step = ((const u64*)a.state)[1];
  const words c = {{(u32)identity, (u32)((u64)identity >> 32), (u32)step, (u32)(step >> 32)}};
  const words d = philox(c, (u32)seed, (u32)(seed >> 32));
  const stream s = {d.w[0], d.w[1], (u64)a.iteration};
  return s;
}
__device__ inline words words_of(stream const& s, u64 n, bool second) {
  const words c = {{(u32)n, (u32)(n >> 32), (u32)s.iteration, (u32)(s.iteration >> 32) ^ (second ? 0x80000000u : 0u)}};
  return philox(c, s.k0, s.k1);
}
__device__ inline u32 word_of(stream const& s, u64 i, bool second) {
  return words_of(s, i / 16 * 4 + i % 4, second).w[i / 4 % 4];
}
template <class T> __device__ inline T uniform(stream const& s, i64 i) {
  const u32 w = word_of(s, (u64)i, false);
  if constexpr (sizeof(T) == 8) return (double)w * 0x1p-32 + (double)(word_of(s, (u64)i, true) >> 11) * 0x1p-53;
  else return (float)(w >> 20) * 0x1p-12f + (float)((w >> 8) & 0xfffu) * 0x1p-24f;
}
template <class T> __device__ inline T normal(stream const& s, i64 i) {
  const words w = words_of(s, (u64)i, false);
  return normal_number(w.w[0], w.w[1], w.w[2], w.w[3], T(0));
}

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

/// The types that both of the above texts need.
inline constexpr char const* basic_types = R"text(
typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
)text";

}  // namespace meshtensor::cuda
