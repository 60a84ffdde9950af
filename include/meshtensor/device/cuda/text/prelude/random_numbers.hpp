// SPDX-License-Identifier: Apache-2.0
// The CUDA text of random numbers, with the arithmetic of base/philox.hpp.
#pragma once

namespace meshtensor::cuda {

inline constexpr char const* random_numbers = R"text(
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
template <class E> __device__ inline reg<E> uniform(stream const& s, i64 i) {
  const u32 w = word_of(s, (u64)i, false);
  if constexpr (sizeof(E) == 8) {
    return (double)w * 0x1p-32 + (double)(word_of(s, (u64)i, true) >> 11) * 0x1p-53;
  } else {
    const float x = (float)(w >> 20) * 0x1p-12f + (float)((w >> 8) & 0xfffu) * 0x1p-24f;
    return sizeof(E) == 4 ? x : __uint_as_float(__float_as_uint(x) & 0xffff0000u);
  }
}
template <class T> __device__ inline T normal(stream const& s, i64 i) {
  const words w = words_of(s, (u64)i, false);
  return normal_number(w.w[0], w.w[1], w.w[2], w.w[3], T(0));
}
)text";

}  // namespace meshtensor::cuda
