// SPDX-License-Identifier: Apache-2.0
// A kernel that calls, in a template, what only the host has: nvcc says nothing and leaves the kernel empty.
inline double twice(double x) { return 2 * x; }
template <class T>
constexpr T doubled(T x) {
  return twice(x);
}
template <int>
__global__ void run(double* x) {
  *x = doubled(*x);
}

int main() { run<0><<<1, 1>>>(nullptr); }
