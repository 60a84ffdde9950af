// SPDX-License-Identifier: Apache-2.0
// The CUDA text of two ways to multiply tiles in shared memory, with sums in registers. `by_units` uses the matrix
// units of a GPU, by instructions whose register layout CUDA documents. `by_fma` uses fused multiply-adds. Both have
// the same interface, so that attention's kernels are written only once. A thread has elements (row(i), column(j)) of a
// tile of scores and (row(i), place(j)) of a tile of sums. All threads of a row are neighbours in one warp.
#pragma once

namespace meshtensor::cuda {

inline constexpr char const* tiles_text = R"text(
#if defined(__CUDACC__)
extern __shared__ __align__(16) unsigned char dynamic_room[];
__device__ inline unsigned char* shared_room() { return dynamic_room; }
__device__ inline float fma_of(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline double fma_of(double a, double b, double c) { return fma(a, b, c); }
__device__ inline float power_of_two(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
// four matrices of 8 x 8 elements; the address of a thread is that of one of their 32 rows, of 16 bytes
template <bool Turned> __device__ inline void load_matrices(u32 (&r)[4], const void* row) {
  const u32 at = (u32)__cvta_generic_to_shared(row);
  if constexpr (Turned)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(at) : "memory");
}
// 16 x 8 sums of 16 products
__device__ inline void multiply_matrices(float& c0, float& c1, float& c2, float& c3, u32 const (&a)[4], u32 b0,
                                         u32 b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};" : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline u32 pair_of(float low, float high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
#else  // the host, for tests: tests/support/host_gpu.hpp has the others
inline u32 pair_of(float low, float high) { return put<bf16>(low).bits | (u32)put<bf16>(high).bits << 16; }
#endif

__device__ constexpr int rounded_up(int n, int unit) { return (n + unit - 1) / unit * unit; }

// Rows x Columns scores, by the matrix units: a warp has 16 rows
template <int Threads, int Rows, int Columns> struct by_units {
  typedef float number;
  typedef bf16 element, staged;
  static constexpr int threads = Threads, rows = Rows, columns = Columns, across = 4, own_rows = 2, own = Columns / 4;
  static constexpr int buffer = 0;  // elements
  static_assert(Rows == Threads / 2 && Columns % 16 == 0, "16 rows of a warp, 16 columns at once");
  template <int D> static constexpr int padded = rounded_up(D, 16);
  template <int D> static constexpr int line = padded<D> + 8;  // elements from row to row: 8 rows in different banks
  template <int D> static constexpr int sums = padded<D> / 4;

  static __device__ inline int lane() { return (int)threadIdx.x % 32; }
  static __device__ inline int first_row() { return (int)threadIdx.x / 32 * 16; }
  static __device__ inline int row(int i) { return first_row() + lane() / 4 + 8 * i; }
  static __device__ inline int column(int j) { return j / 2 * 8 + lane() % 4 * 2 + j % 2; }
  static __device__ inline int place(int j) { return column(j); }
  // scores are logarithms to the base 2
  static __device__ inline float weight(float x) { return power_of_two(x); }
  static constexpr double from_natural = 1.4426950408889634, to_natural = 0.6931471805599453;

  // s += rows of x times rows of y
  template <int D>
  static __device__ inline void multiply_rows(float (&s)[own_rows][own], const bf16* x, const bf16* y) {
    const bf16* const of_x = x + (first_row() + lane() % 16) * line<D> + lane() / 16 * 8;
    const bf16* const of_y = y + (lane() / 16 * 8 + lane() % 8) * line<D> + lane() / 8 % 2 * 8;
#pragma unroll
    for (int d = 0; d < padded<D>; d += 16) {
      u32 a[4];
      load_matrices<false>(a, of_x + d);
#pragma unroll
      for (int n = 0; n < Columns; n += 16) {
        u32 b[4];
        load_matrices<false>(b, of_y + n * line<D> + d);
        const int j = n / 4;
        multiply_matrices(s[0][j], s[0][j + 1], s[1][j], s[1][j + 1], a, b[0], b[1]);
        multiply_matrices(s[0][j + 2], s[0][j + 3], s[1][j + 2], s[1][j + 3], a, b[2], b[3]);
      }
    }
  }
  // o += p times y, whose rows are the columns of p
  template <int D>
  static __device__ inline void multiply(float (&o)[own_rows][sums<D>], float const (&p)[own_rows][own], const bf16* y,
                                         float*) {
    const bf16* const of_y = y + lane() % 16 * line<D> + lane() / 16 * 8;
#pragma unroll
    for (int k = 0; k < Columns; k += 16) {
      const int from = k / 4;
      const u32 a[4] = {pair_of(p[0][from], p[0][from + 1]), pair_of(p[1][from], p[1][from + 1]),
                        pair_of(p[0][from + 2], p[0][from + 3]), pair_of(p[1][from + 2], p[1][from + 3])};
#pragma unroll
      for (int n = 0; n < padded<D>; n += 16) {
        u32 b[4];
        load_matrices<true>(b, of_y + k * line<D> + n);
        const int j = n / 4;
        multiply_matrices(o[0][j], o[0][j + 1], o[1][j], o[1][j + 1], a, b[0], b[1]);
        multiply_matrices(o[0][j + 2], o[0][j + 3], o[1][j + 2], o[1][j + 3], a, b[2], b[3]);
      }
    }
  }
};

// the same of elements E, computed in T by each thread; 8 threads share a row
template <class E, class T, int Threads, int Rows, int Columns> struct by_fma {
  typedef T number, staged;
  typedef E element;
  static constexpr int threads = Threads, rows = Rows, columns = Columns, across = Threads < 8 ? Threads : 8;
  static constexpr int down = Threads / across, own_rows = Rows / down, own = Columns / across;
  static constexpr int at_once = 16 / sizeof(T);
  static constexpr int buffer_line = Columns + at_once, buffer = Rows * buffer_line;
  static_assert(Rows % down == 0 && Columns % across == 0 && Columns % at_once == 0, "equal parts");
  template <int D> static constexpr int padded = rounded_up(D, across * at_once);
  template <int D> static constexpr int line = padded<D> + at_once;
  template <int D> static constexpr int sums = padded<D> / across;
  typedef pack<T, at_once> vector;

  static __device__ inline int row(int i) { return (int)threadIdx.x / across + down * i; }
  static __device__ inline int column(int j) { return (int)threadIdx.x % across + across * j; }
  static __device__ inline int place(int j) { return column(j / at_once) * at_once + j % at_once; }
  static __device__ inline T weight(T x) { return exp_of(x); }
  static constexpr double from_natural = 1, to_natural = 1;

  template <int D> static __device__ inline void multiply_rows(T (&s)[own_rows][own], const T* x, const T* y) {
    for (int d = 0; d < padded<D>; d += at_once) {
      vector of_x[own_rows];
#pragma unroll
      for (int i = 0; i < own_rows; ++i) of_x[i] = *(const vector*)(x + row(i) * line<D> + d);
#pragma unroll
      for (int j = 0; j < own; ++j) {
        const vector of_y = *(const vector*)(y + column(j) * line<D> + d);
#pragma unroll
        for (int i = 0; i < own_rows; ++i)
#pragma unroll
          for (int w = 0; w < at_once; ++w) s[i][j] = fma_of(of_x[i].e[w], of_y.e[w], s[i][j]);
      }
    }
  }
  template <int D>
  static __device__ inline void multiply(T (&o)[own_rows][sums<D>], T const (&p)[own_rows][own], const T* y, T* own_p) {
    __syncwarp();  // all of the warp have read the last tile
#pragma unroll
    for (int i = 0; i < own_rows; ++i)
#pragma unroll
      for (int j = 0; j < own; ++j) own_p[row(i) * buffer_line + column(j)] = p[i][j];
    __syncwarp();
    for (int k = 0; k < Columns; k += at_once) {
      vector of_p[own_rows];
#pragma unroll
      for (int i = 0; i < own_rows; ++i) of_p[i] = *(const vector*)(own_p + row(i) * buffer_line + k);
#pragma unroll
      for (int w = 0; w < at_once; ++w)
#pragma unroll
        for (int j = 0; j < sums<D>; j += at_once) {
          const vector of_y = *(const vector*)(y + (k + w) * line<D> + place(j));
#pragma unroll
          for (int v = 0; v < at_once; ++v)
#pragma unroll
            for (int i = 0; i < own_rows; ++i) o[i][j + v] = fma_of(of_p[i].e[w], of_y.e[v], o[i][j + v]);
        }
    }
  }
};
)text";

}  // namespace meshtensor::cuda
