// SPDX-License-Identifier: Apache-2.0
// The CUDA text of the elementary functions, and of normal random numbers.
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

}  // namespace meshtensor::cuda
