// SPDX-License-Identifier: Apache-2.0
// Text that runs the threads of a block on one thread of the host: a single one, or many that take turns at barriers
// and where a warp works together, in an order that a test chooses. So a barrier that is missing gives wrong results in
// one order or the other, and one that not all threads reach ends the program.
#pragma once

namespace meshtensor_test {

inline constexpr char const* lone_thread = R"text(
#define __shared__
#define __syncthreads()
#define __syncwarp()
static constexpr place_of_thread threadIdx{0};
template <class T> static T __shfl_xor_sync(unsigned, T x, int) { return x; }
// a warp has them, and nobody calls them
template <bool Turned> static void load_matrices(u32 (&r)[4], const void* row);
static void multiply_matrices(float& c0, float& c1, float& c2, float& c3, u32 const (&a)[4], u32 b0, u32 b1);
)text";
inline constexpr char const* run_lone_thread = R"text(
extern "C" void run_block(void (*kernel)(args), args const* a, unsigned b, unsigned, unsigned) {
  blockIdx.x = b;
  kernel(*a);
}
)text";

inline constexpr char const* many_threads = R"text(
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <cstdlib>
#define __shared__ static
static place_of_thread threadIdx;

enum { runs, at_block, at_warp, ended };
struct taker {
  ucontext_t first;
  jmp_buf at;
  int state = runs;
  bool has_begun = false;
  u32 mask = 0;
  unsigned steps = 0;
  alignas(16) unsigned char given[2][32];  // to the others of its warp, in turns
};
static constexpr unsigned most_threads = 1024, stack_bytes = 256 * 1024;
static taker takers[most_threads];
static jmp_buf between;
static unsigned block_threads;

static void give_turn(int state, u32 mask) {
  taker& me = takers[threadIdx.x];
  me.state = state, me.mask = mask;
  if (_setjmp(me.at) == 0) _longjmp(between, 1);
}
#define __syncthreads() give_turn(at_block, 0)
#define __syncwarp() give_turn(at_warp, 0xffffffffu)

// hands `x` to the warp; what others gave is in `given_by` then
template <class T> static unsigned give(u32 mask, T const& x) {
  static_assert(sizeof(T) <= 32);
  taker& me = takers[threadIdx.x];
  const unsigned which = me.steps++ % 2;
  std::memcpy(me.given[which], &x, sizeof x);
  give_turn(at_warp, mask);
  return which;
}
template <class T> static T given_by(unsigned lane, unsigned which) {
  T x;
  std::memcpy(&x, takers[threadIdx.x / 32 * 32 + lane].given[which], sizeof x);
  return x;
}
template <class T> static T __shfl_xor_sync(unsigned mask, T x, int other) {
  const unsigned which = give(mask, x);
  return given_by<T>(threadIdx.x % 32 ^ (unsigned)other, which);
}

// Matrices as the layouts of registers for ldmatrix and mma.m16n8k16 in CUDA's manual of PTX have them.
template <bool Turned> static void load_matrices(u32 (&r)[4], const void* row) {
  const unsigned lane = threadIdx.x % 32, which = give(0xffffffffu, row);
  for (unsigned i = 0; i < 4; ++i) {
    unsigned short two[2];
    for (unsigned k = 0; k < 2; ++k) {
      const unsigned down = Turned ? lane % 4 * 2 + k : lane / 4, across = Turned ? lane / 4 : lane % 4 * 2 + k;
      two[k] = given_by<const unsigned short*>(8 * i + down, which)[across];
    }
    r[i] = two[0] | (u32)two[1] << 16;
  }
  __syncwarp();  // all have read before any goes on
}
struct of_product { u32 a[4], b[2]; };
static float half_of(u32 pair, unsigned k) { return __uint_as_float(k % 2 == 0 ? pair << 16 : pair & 0xffff0000u); }
static void multiply_matrices(float& c0, float& c1, float& c2, float& c3, u32 const (&a)[4], u32 b0, u32 b1) {
  const unsigned lane = threadIdx.x % 32, which = give(0xffffffffu, of_product{{a[0], a[1], a[2], a[3]}, {b0, b1}});
  float* const c[] = {&c0, &c1, &c2, &c3};
  float of_a[2][16], of_b[2][16];
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned i = 0; i < 2; ++i) {
      of_a[i][k] = half_of(given_by<of_product>(lane / 4 * 4 + k % 8 / 2, which).a[k / 8 * 2 + i], k);
      of_b[i][k] = half_of(given_by<of_product>((lane % 4 * 2 + i) * 4 + k % 8 / 2, which).b[k / 8], k);
    }
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned k = 0; k < 16; ++k) *c[i] += of_a[i / 2][k] * of_b[i % 2][k];
}
)text";

inline constexpr char const* run_many_threads = R"text(
static void (*kernel_of_block)(args);
static args const* arguments_of_block;
static void start_thread() {
  kernel_of_block(*arguments_of_block);
  takers[threadIdx.x].state = ended;
  _longjmp(between, 1);
}
// Lets the threads of a warp go on that have come to where they meet: whether there were any.
static bool let_warp_go(unsigned first) {
  bool may_go[32], any = false;
  const unsigned lanes = block_threads - first < 32 ? block_threads - first : 32;
  for (unsigned k = 0; k < lanes; ++k) {
    taker const& me = takers[first + k];
    may_go[k] = me.state == at_warp;
    for (unsigned i = 0; i < lanes; ++i)
      if ((me.mask >> i & 1) != 0)
        may_go[k] = may_go[k] && takers[first + i].state == at_warp && takers[first + i].mask == me.mask;
  }
  for (unsigned k = 0; k < lanes; ++k)
    if (may_go[k]) takers[first + k].state = runs, any = true;
  return any;
}
static bool all_are(int state) {
  for (unsigned t = 0; t < block_threads; ++t)
    if (takers[t].state != state) return false;
  return true;
}
static void take_turn(unsigned t) {
  if (takers[t].state != runs) return;
  threadIdx.x = t;
  if (_setjmp(between) != 0) return;
  if (takers[t].has_begun) _longjmp(takers[t].at, 1);
  takers[t].has_begun = true;
  setcontext(&takers[t].first);
}
// The numbers below `count` in an order.
static void arrange(unsigned* turn, unsigned count, unsigned order, u32& seed) {
  for (unsigned i = 0; i < count; ++i) turn[i] = order == 1 ? count - 1 - i : i;
  for (unsigned i = order > 1 ? count : 1; i > 1; --i) {
    seed = seed * 1664525u + 1013904223u;
    const unsigned k = (seed >> 8) % i, x = turn[i - 1];
    turn[i - 1] = turn[k], turn[k] = x;
  }
}
extern "C" void run_block(void (*kernel)(args), args const* a, unsigned b, unsigned threads, unsigned order) {
  static unsigned char* const stacks = (unsigned char*)mmap(nullptr, (std::size_t)most_threads * stack_bytes,
                                                            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  blockIdx.x = b, block_threads = threads, kernel_of_block = kernel, arguments_of_block = a;
  std::memset(room_of_block, 0xff, sizeof room_of_block);
  for (unsigned t = 0; t < threads; ++t) {
    taker& x = takers[t];
    x.state = runs, x.has_begun = false, x.steps = 0;
    getcontext(&x.first);
    x.first.uc_stack.ss_sp = stacks + (std::size_t)t * stack_bytes, x.first.uc_stack.ss_size = stack_bytes;
    x.first.uc_link = nullptr;
    makecontext(&x.first, start_thread, 0);
  }
  // A warp goes as far as it can before the next one begins. What lives beyond a turn is static: longjmp comes back.
  static unsigned warps[most_threads / 32 + 1], lanes[32], w, k;
  static u32 seed;
  seed = order + 12345u * b;
  for (;;) {
    arrange(warps, (threads + 31) / 32, order, seed);
    for (w = 0; w < (threads + 31) / 32; ++w) do {
        arrange(lanes, 32, order, seed);
        for (k = 0; k < 32; ++k)
          if (warps[w] * 32 + lanes[k] < threads) take_turn(warps[w] * 32 + lanes[k]);
      } while (let_warp_go(warps[w] * 32));
    if (all_are(ended)) return;
    if (!all_are(at_block)) {
      std::fputs("threads of a block wait for others that never come\n", stderr);
      std::abort();
    }
    for (unsigned t = 0; t < threads; ++t) takers[t].state = runs;
  }
}
)text";

}  // namespace meshtensor_test
