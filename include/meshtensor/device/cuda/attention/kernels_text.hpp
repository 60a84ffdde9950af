// SPDX-License-Identifier: Apache-2.0
// The CUDA text of attention and its gradients (Dao et al., arXiv:2205.14135). Each block of threads has a tile of
// queries or keys. No scores go to memory, and no sum depends on the order in which blocks run.
#pragma once

namespace meshtensor::cuda {

inline constexpr char const* attention_text = R"text(
// Rows of one batch and head; AtOnce: elements that are loaded at once; Down: elements of a column lie side by side
template <class E, int AtOnce, bool Down> struct rows_of {
  static constexpr int at_once = AtOnce;
  static constexpr bool down = Down;
  E* at;
  i64 row, column;
};
struct key_mask { const unsigned char* visible; i64 query, key; };

struct attention_sizes { i64 queries, keys, ahead; double scale, least; };

// loads the N rows from `first` on into shared memory; rows from `count` on, and padding, are 0
template <class G, int N, int D, class R>
__device__ inline void stage(typename G::staged* to, R const& from, i64 first, i64 count) {
  typedef typename G::staged S;
  typedef typename G::element E;
  constexpr int width = G::template padded<D>, line = G::template line<D>, W = R::at_once, across = width / W;
#pragma unroll 4
  for (int i = (int)threadIdx.x; i < N * across; i += G::threads) {
    const int r = R::down ? i % N : i / across, c = (R::down ? i / N : i % across) * W;
    const bool there = first + r < count && c < D;
    if constexpr (W > 1 && sizeof(S) == sizeof(E)) {
      pack<E, W> x = {};
      if (there) x = *(const pack<E, W>*)(from.at + (first + r) * from.row + c);
      *(pack<E, W>*)(to + r * line + c) = x;
    } else {
      reg<E> x[W] = {};
      if constexpr (W > 1) {
        if (there) load<W>(x, from.at + (first + r) * from.row + c);
      } else if (there) x[0] = get(from.at[(first + r) * from.row + c * from.column]);
#pragma unroll
      for (int w = 0; w < W; ++w) to[r * line + c + w] = put<S>(x[w]);
    }
  }
}
template <class G, int D, class R, class T>
__device__ inline void unstage(R const& to, T const (&x)[G::own_rows][G::template sums<D>], T const (&by)[G::own_rows],
                               i64 first, i64 count) {
#pragma unroll
  for (int i = 0; i < G::own_rows; ++i)
    if (first + G::row(i) < count)
#pragma unroll
      for (int j = 0; j < G::template sums<D>; ++j)
        if (G::place(j) < D)
          to.at[(first + G::row(i)) * to.row + G::place(j) * to.column] = put<typename G::element>(x[i][j] * by[i]);
}
template <class G, class T> __device__ inline T sum_of_row(T x) {
#pragma unroll
  for (int o = G::across / 2; o > 0; o /= 2) x = x + __shfl_xor_sync(0xffffffffu, x, o);
  return x;
}
template <class G, class T> __device__ inline T most_of_row(T x) {
#pragma unroll
  for (int o = G::across / 2; o > 0; o /= 2) x = greater_of(x, __shfl_xor_sync(0xffffffffu, x, o));
  return x;
}
// how many of the keys from `key` on a query may see; and whether it sees the key `key + more`
template <bool Causal> __device__ inline int visible_from(attention_sizes const& s, i64 query, i64 key) {
  constexpr int more_than_a_tile = 1024;
  i64 n = query < s.queries ? s.keys - key : 0;
  if (Causal && s.ahead + query + 1 - key < n) n = s.ahead + query + 1 - key;
  return n < more_than_a_tile ? (int)n : more_than_a_tile;
}
template <bool Masked> __device__ inline bool sees(key_mask const& h, int visible, i64 query, i64 key, int more) {
  return more < visible && (!Masked || h.visible[query * h.query + (key + more) * h.key] != 0);
}

template <class G, int D, int V, bool Causal, bool Masked, class Q, class K, class X, class Y, class L>
__device__ inline void attend(attention_sizes const& s, Q const& q, K const& k, X const& v, key_mask const& h,
                              Y const& y, L const& log_sum, i64 first, unsigned char* room) {
  typedef typename G::number T;
  typedef typename G::staged S;
  S *const at_q = (S*)room, *const at_k = at_q + G::rows * G::template line<D>;
  S* const at_v = at_k + G::columns * G::template line<D>;
  T* const buffer = (T*)(at_v + G::columns * G::template line<V>);
  const T factor = T(s.scale * G::from_natural);
  T sums[G::own_rows][G::template sums<V>] = {}, most[G::own_rows], total[G::own_rows];
#pragma unroll
  for (int i = 0; i < G::own_rows; ++i) most[i] = T(s.least), total[i] = 0;
  stage<G, G::rows, D>(at_q, q, first, s.queries);
  i64 end = s.keys;
  if (Causal && s.ahead + first + G::rows < end) end = s.ahead + first + G::rows;
  for (i64 m = 0; m < end; m += G::columns) {
    __syncthreads();
    stage<G, G::columns, D>(at_k, k, m, s.keys);
    stage<G, G::columns, V>(at_v, v, m, s.keys);
    __syncthreads();
    T p[G::own_rows][G::own] = {};
    G::template multiply_rows<D>(p, at_q, at_k);
#pragma unroll
    for (int i = 0; i < G::own_rows; ++i) {
      const int visible = visible_from<Causal>(s, first + G::row(i), m);
      T next = most[i];
#pragma unroll
      for (int j = 0; j < G::own; ++j) {
        const bool there = sees<Masked>(h, visible, first + G::row(i), m, G::column(j));
        p[i][j] = there ? p[i][j] * factor : range<T>::least();
        next = greater_of(next, p[i][j]);
      }
      next = most_of_row<G>(next);
      const T before = G::weight(most[i] - next);
      most[i] = next, total[i] = total[i] * before;
#pragma unroll
      for (int j = 0; j < G::own; ++j) p[i][j] = G::weight(p[i][j] - next), total[i] = total[i] + p[i][j];
#pragma unroll
      for (int j = 0; j < G::template sums<V>; ++j) sums[i][j] = sums[i][j] * before;
    }
    G::template multiply<V>(sums, p, at_v, buffer);
  }
  T by[G::own_rows];
#pragma unroll
  for (int i = 0; i < G::own_rows; ++i) {
    total[i] = sum_of_row<G>(total[i]);
    const bool none = total[i] == T(0);
    by[i] = none ? T(1) : T(1) / total[i];
    const T logarithm = none ? T(s.least) : fma_of(most[i], T(G::to_natural), log_of(total[i]));
    if (threadIdx.x % G::across == 0 && first + G::row(i) < s.queries)
      log_sum.at[(first + G::row(i)) * log_sum.row] = logarithm;
  }
  unstage<G, V>(y, sums, by, first, s.queries);
}

// replaces a score by its weight, and the gradient of the weight by that of the score
template <class G, class T>
__device__ inline void turn_to_gradients(T& score, T& slope, T factor, T logarithm, T delta, bool there) {
  const T weight = G::weight(score * factor - logarithm);
  score = there ? weight : T(0);
  slope = score * (slope - delta);
}

// the gradients of a tile of queries; it stores the sums of y * dy of each query in `deltas`
template <class G, int D, int V, bool Causal, bool Masked, class Q, class K, class X, class Y, class L, class DY,
          class DQ>
__device__ inline void attend_back_to_queries(attention_sizes const& s, Q const& q, K const& k, X const& v,
                                              key_mask const& h, Y const& y, L const& log_sum, DY const& dy,
                                              DQ const& dq, typename G::number* deltas, i64 first,
                                              unsigned char* room) {
  typedef typename G::number T;
  typedef typename G::staged S;
  S *const at_q = (S*)room, *const at_dy = at_q + G::rows * G::template line<D>;
  S *const at_k = at_dy + G::rows * G::template line<V>, *const at_v = at_k + G::columns * G::template line<D>;
  T* const buffer = (T*)(at_v + G::columns * G::template line<V>);
  stage<G, G::rows, D>(at_q, q, first, s.queries);
  stage<G, G::rows, V>(at_dy, dy, first, s.queries);
  T sums[G::own_rows][G::template sums<D>] = {}, logarithm[G::own_rows], delta[G::own_rows], by[G::own_rows];
#pragma unroll
  for (int i = 0; i < G::own_rows; ++i) {
    const i64 query = first + G::row(i);
    logarithm[i] = 0, delta[i] = 0, by[i] = T(s.scale);
    if (query < s.queries) {
      logarithm[i] = log_sum.at[query * log_sum.row] * T(G::from_natural);
      for (int c = (int)threadIdx.x % G::across; c < V; c += G::across)
        delta[i] = fma_of(T(get(y.at[query * y.row + c * y.column])), T(get(dy.at[query * dy.row + c * dy.column])),
                          delta[i]);
    }
    delta[i] = sum_of_row<G>(delta[i]);
    if (threadIdx.x % G::across == 0 && query < s.queries) deltas[query] = delta[i];
  }
  i64 end = s.keys;
  if (Causal && s.ahead + first + G::rows < end) end = s.ahead + first + G::rows;
  for (i64 m = 0; m < end; m += G::columns) {
    __syncthreads();
    stage<G, G::columns, D>(at_k, k, m, s.keys);
    stage<G, G::columns, V>(at_v, v, m, s.keys);
    __syncthreads();
    T p[G::own_rows][G::own] = {}, slope[G::own_rows][G::own] = {};
    G::template multiply_rows<D>(p, at_q, at_k);
    G::template multiply_rows<V>(slope, at_dy, at_v);
#pragma unroll
    for (int i = 0; i < G::own_rows; ++i) {
      const int visible = visible_from<Causal>(s, first + G::row(i), m);
#pragma unroll
      for (int j = 0; j < G::own; ++j)
        turn_to_gradients<G>(p[i][j], slope[i][j], T(s.scale * G::from_natural), logarithm[i], delta[i],
                             sees<Masked>(h, visible, first + G::row(i), m, G::column(j)));
    }
    G::template multiply<D>(sums, slope, at_k, buffer);
  }
  unstage<G, D>(dq, sums, by, first, s.queries);
}

// the gradients of a tile of keys and values
template <class G, int D, int V, bool Causal, bool Masked, class Q, class K, class X, class L, class DY, class DK,
          class DX>
__device__ inline void attend_back_to_keys(attention_sizes const& s, Q const& q, K const& k, X const& v,
                                           key_mask const& h, L const& log_sum, DY const& dy, DK const& dk,
                                           DX const& dv, const typename G::number* deltas, i64 first,
                                           unsigned char* room) {
  typedef typename G::number T;
  typedef typename G::staged S;
  S *const at_k = (S*)room, *const at_v = at_k + G::rows * G::template line<D>;
  S *const at_q = at_v + G::rows * G::template line<V>, *const at_dy = at_q + G::columns * G::template line<D>;
  T *const buffer = (T*)(at_dy + G::columns * G::template line<V>), *const logarithms = buffer + G::buffer;
  T* const own_deltas = logarithms + G::columns;
  stage<G, G::rows, D>(at_k, k, first, s.keys);
  stage<G, G::rows, V>(at_v, v, first, s.keys);
  T sums[G::own_rows][G::template sums<D>] = {}, value_sums[G::own_rows][G::template sums<V>] = {}, by[G::own_rows],
    one[G::own_rows];
#pragma unroll
  for (int i = 0; i < G::own_rows; ++i) by[i] = T(s.scale), one[i] = 1;
  i64 from = 0;
  if (Causal && first > s.ahead) from = (first - s.ahead) / G::columns * G::columns;
  for (i64 m = from; m < s.queries; m += G::columns) {
    __syncthreads();
    stage<G, G::columns, D>(at_q, q, m, s.queries);
    stage<G, G::columns, V>(at_dy, dy, m, s.queries);
    for (int j = (int)threadIdx.x; j < G::columns; j += G::threads) {
      const bool there = m + j < s.queries;
      logarithms[j] = there ? log_sum.at[(m + j) * log_sum.row] * T(G::from_natural) : T(0);
      own_deltas[j] = there ? deltas[m + j] : T(0);
    }
    __syncthreads();
    T p[G::own_rows][G::own] = {}, slope[G::own_rows][G::own] = {};
    G::template multiply_rows<D>(p, at_k, at_q);
    G::template multiply_rows<V>(slope, at_v, at_dy);
#pragma unroll
    for (int j = 0; j < G::own; ++j) {
      const T logarithm = logarithms[G::column(j)], delta = own_deltas[G::column(j)];
      const int visible = visible_from<Causal>(s, m + G::column(j), first);
#pragma unroll
      for (int i = 0; i < G::own_rows; ++i)
        turn_to_gradients<G>(p[i][j], slope[i][j], T(s.scale * G::from_natural), logarithm, delta,
                             sees<Masked>(h, visible, m + G::column(j), first, G::row(i)));
    }
    G::template multiply<V>(value_sums, p, at_dy, buffer);
    G::template multiply<D>(sums, slope, at_q, buffer);
  }
  unstage<G, D>(dk, sums, by, first, s.keys);
  unstage<G, V>(dv, value_sums, one, first, s.keys);
}
)text";

}  // namespace meshtensor::cuda
