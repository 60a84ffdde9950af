// SPDX-License-Identifier: Apache-2.0
// Declares the functions of the CUDA driver, NVRTC and cuBLASLt that are called, so that a program can be built without
// their headers. If the headers are installed, tests/unit/device/cuda_api.cpp compares these declarations with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace meshtensor::cuda::api {

using result = int;  // of the driver, 0 for success
using device = int;
using pointer = unsigned long long;  // an address on the GPU
struct context_object;
struct module_object;
struct function_object;
struct stream_object;
struct graph_object;
struct graph_exec_object;
using context = context_object*;
using module = module_object*;
using kernel = function_object*;
using stream = stream_object*;
using graph = graph_object*;
using graph_exec = graph_exec_object*;

inline constexpr int multiprocessors = 16, capability_major = 75, capability_minor = 76,
                     most_shared_bytes = 97;   // attributes of a device
inline constexpr int shared_bytes = 8;         // an attribute of a kernel
inline constexpr int capture_this_thread = 1;  // a mode of capture
inline constexpr unsigned non_blocking_stream = 1;
inline constexpr result no_device = 100, not_ready = 600;

/// The driver, libcuda.so.1.
struct driver {
  result (*cuInit)(unsigned);
  result (*cuDeviceGetCount)(int*);
  result (*cuDeviceGet)(device*, int);
  result (*cuDeviceGetAttribute)(int*, int, device);
  result (*cuDevicePrimaryCtxRetain)(context*, device);
  result (*cuCtxSetCurrent)(context);
  result (*cuMemAlloc_v2)(pointer*, std::size_t);
  result (*cuMemFree_v2)(pointer);
  result (*cuMemHostAlloc)(void**, std::size_t, unsigned);
  result (*cuMemFreeHost)(void*);
  result (*cuMemcpyHtoDAsync_v2)(pointer, void const*, std::size_t, stream);
  result (*cuMemcpyDtoHAsync_v2)(void*, pointer, std::size_t, stream);
  result (*cuMemcpyDtoDAsync_v2)(pointer, pointer, std::size_t, stream);
  result (*cuMemsetD8Async)(pointer, unsigned char, std::size_t, stream);
  result (*cuStreamCreate)(stream*, unsigned);
  result (*cuStreamSynchronize)(stream);
  result (*cuStreamQuery)(stream);
  result (*cuModuleLoadData)(module*, void const*);
  result (*cuModuleUnload)(module);
  result (*cuModuleGetFunction)(kernel*, module, char const*);
  result (*cuFuncSetAttribute)(kernel, int, int);
  result (*cuLaunchKernel)(kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream, void**,
                           void**);
  result (*cuStreamBeginCapture_v2)(stream, int);
  result (*cuStreamEndCapture)(stream, graph*);
  result (*cuGraphInstantiateWithFlags)(graph_exec*, graph, unsigned long long);
  result (*cuGraphLaunch)(graph_exec, stream);
  result (*cuGraphExecDestroy)(graph_exec);
  result (*cuGraphDestroy)(graph);
  result (*cuGetErrorString)(result, char const**);
};

struct program_object;
using program = program_object*;

/// The compiler of kernels, libnvrtc.so.
struct compiler {
  int (*nvrtcCreateProgram)(program*, char const*, char const*, int, char const* const*, char const* const*);
  int (*nvrtcCompileProgram)(program, int, char const* const*);
  int (*nvrtcGetCUBINSize)(program, std::size_t*);
  int (*nvrtcGetCUBIN)(program, char*);
  int (*nvrtcGetProgramLogSize)(program, std::size_t*);
  int (*nvrtcGetProgramLog)(program, char*);
  int (*nvrtcDestroyProgram)(program*);
};

struct blas_object;
struct product_object;
struct layout_object;
struct preference_object;
using blas = blas_object*;
using product = product_object*;
using layout = layout_object*;
using preference = preference_object*;

struct algorithm {
  std::uint64_t data[8];
};
struct choice {
  algorithm how;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};

inline constexpr int real_f32 = 0, real_f64 = 1, real_bf16 = 14, compute_f32 = 68, compute_f64 = 70;
inline constexpr int transpose_a = 3, transpose_b = 4, epilogue = 7, bias_pointer = 8;  // attributes of a product
inline constexpr std::uint32_t epilogue_bias = 4;
inline constexpr int batch_count = 5, batch_step = 6, batch_mode = 8;  // of a layout
inline constexpr int most_workspace = 1, alignment_a = 5, alignment_b = 6, alignment_c = 7, alignment_d = 8;

/// The library of matrix products, libcublasLt.so.
struct products {
  int (*cublasLtCreate)(blas*);
  int (*cublasLtMatmulDescCreate)(product*, int, int);
  int (*cublasLtMatmulDescSetAttribute)(product, int, void const*, std::size_t);
  int (*cublasLtMatmulDescDestroy)(product);
  int (*cublasLtMatrixLayoutCreate)(layout*, int, std::uint64_t, std::uint64_t, std::int64_t);
  int (*cublasLtMatrixLayoutSetAttribute)(layout, int, void const*, std::size_t);
  int (*cublasLtMatrixLayoutDestroy)(layout);
  int (*cublasLtMatmulPreferenceCreate)(preference*);
  int (*cublasLtMatmulPreferenceSetAttribute)(preference, int, void const*, std::size_t);
  int (*cublasLtMatmulPreferenceDestroy)(preference);
  int (*cublasLtMatmulAlgoGetHeuristic)(blas, product, layout, layout, layout, layout, preference, int, choice*, int*);
  int (*cublasLtMatmul)(blas, product, void const*, void const*, layout, void const*, layout, void const*, void const*,
                        layout, void*, layout, algorithm const*, void*, std::size_t, stream);
};

}  // namespace meshtensor::cuda::api
