// SPDX-License-Identifier: Apache-2.0
// The CUDA text of the scalar functions, with the arithmetic of the reference loops (op/detail/scalar.hpp).
#pragma once

namespace meshtensor::cuda {

inline constexpr char const* scalar_functions = R"text(
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
)text";

}  // namespace meshtensor::cuda
