// SPDX-License-Identifier: Apache-2.0
// The library's declarations of the CUDA driver, NVRTC, cuBLASLt and NCCL are those of their headers.
#include <doctest/doctest.h>

#include <type_traits>

#include "meshtensor/device/cuda/nccl.hpp"
#include "support/skip.hpp"

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>) && __has_include(<cublasLt.h>)
#  include <cublasLt.h>
#  include <cuda.h>
#  include <nvrtc.h>
#  if __has_include(<nccl.h>)
#    include <nccl.h>
#  endif

namespace api = meshtensor::cuda::api;

namespace {

/// What a call passes: pointers are alike, and so are an enumeration and an integer of its size.
template <class T>
struct passed {
  using type = std::conditional_t<std::is_pointer_v<T>, void*, T>;
};
template <class T>
requires std::is_enum_v<T>
struct passed<T> {
  using type = int;
  static_assert(sizeof(T) == sizeof(int));
};
template <class T>
requires(std::is_integral_v<T> && sizeof(T) == 8)
struct passed<T> {
  using type = std::conditional_t<std::is_signed_v<T>, long, unsigned long>;
};
template <class T>
requires std::is_class_v<T>
struct passed<T> {
  using type = std::integral_constant<std::size_t, sizeof(T)>;
};
template <class F>
struct call;
template <class R, class... A>
struct call<R (*)(A...)> {
  using type = typename passed<R>::type (*)(typename passed<std::remove_cv_t<A>>::type...);
};
template <class Ours, class Theirs>
constexpr bool are_called_alike(Ours, Theirs) {
  return std::is_same_v<typename call<Ours>::type, typename call<Theirs>::type>;
}

constexpr api::driver d{};
static_assert(are_called_alike(d.cuInit, &cuInit));
static_assert(are_called_alike(d.cuDeviceGetCount, &cuDeviceGetCount));
static_assert(are_called_alike(d.cuDeviceGet, &cuDeviceGet));
static_assert(are_called_alike(d.cuDeviceGetAttribute, &cuDeviceGetAttribute));
static_assert(are_called_alike(d.cuDevicePrimaryCtxRetain, &cuDevicePrimaryCtxRetain));
static_assert(are_called_alike(d.cuCtxSetCurrent, &cuCtxSetCurrent));
static_assert(are_called_alike(d.cuMemAlloc_v2, &cuMemAlloc_v2));
static_assert(are_called_alike(d.cuMemFree_v2, &cuMemFree_v2));
static_assert(are_called_alike(d.cuMemHostAlloc, &cuMemHostAlloc));
static_assert(are_called_alike(d.cuMemFreeHost, &cuMemFreeHost));
static_assert(are_called_alike(d.cuMemcpyHtoDAsync_v2, &cuMemcpyHtoDAsync_v2));
static_assert(are_called_alike(d.cuMemcpyDtoHAsync_v2, &cuMemcpyDtoHAsync_v2));
static_assert(are_called_alike(d.cuMemcpyDtoDAsync_v2, &cuMemcpyDtoDAsync_v2));
static_assert(are_called_alike(d.cuMemsetD8Async, &cuMemsetD8Async));
static_assert(are_called_alike(d.cuStreamCreate, &cuStreamCreate));
static_assert(are_called_alike(d.cuStreamSynchronize, &cuStreamSynchronize));
static_assert(are_called_alike(d.cuStreamQuery, &cuStreamQuery));
static_assert(are_called_alike(d.cuModuleLoadData, &cuModuleLoadData));
static_assert(are_called_alike(d.cuModuleUnload, &cuModuleUnload));
static_assert(are_called_alike(d.cuModuleGetFunction, &cuModuleGetFunction));
static_assert(are_called_alike(d.cuFuncSetAttribute, &cuFuncSetAttribute));
static_assert(are_called_alike(d.cuLaunchKernel, &cuLaunchKernel));
static_assert(are_called_alike(d.cuStreamBeginCapture_v2, &cuStreamBeginCapture_v2));
static_assert(are_called_alike(d.cuStreamEndCapture, &cuStreamEndCapture));
static_assert(are_called_alike(d.cuGraphInstantiateWithFlags, &cuGraphInstantiateWithFlags));
static_assert(are_called_alike(d.cuGraphLaunch, &cuGraphLaunch));
static_assert(are_called_alike(d.cuGraphExecDestroy, &cuGraphExecDestroy));
static_assert(are_called_alike(d.cuGraphDestroy, &cuGraphDestroy));
static_assert(are_called_alike(d.cuGetErrorString, &cuGetErrorString));
static_assert(api::multiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(api::most_shared_bytes == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
static_assert(api::shared_bytes == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(api::capability_major == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(api::capability_minor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(api::capture_this_thread == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
static_assert(api::non_blocking_stream == CU_STREAM_NON_BLOCKING);
static_assert(api::not_ready == CUDA_ERROR_NOT_READY && api::no_device == CUDA_ERROR_NO_DEVICE);
static_assert(sizeof(api::pointer) == sizeof(CUdeviceptr));

constexpr api::compiler c{};
static_assert(are_called_alike(c.nvrtcCreateProgram, &nvrtcCreateProgram));
static_assert(are_called_alike(c.nvrtcCompileProgram, &nvrtcCompileProgram));
static_assert(are_called_alike(c.nvrtcGetCUBINSize, &nvrtcGetCUBINSize));
static_assert(are_called_alike(c.nvrtcGetCUBIN, &nvrtcGetCUBIN));
static_assert(are_called_alike(c.nvrtcGetProgramLogSize, &nvrtcGetProgramLogSize));
static_assert(are_called_alike(c.nvrtcGetProgramLog, &nvrtcGetProgramLog));
static_assert(are_called_alike(c.nvrtcDestroyProgram, &nvrtcDestroyProgram));

constexpr api::products p{};
static_assert(are_called_alike(p.cublasLtCreate, &cublasLtCreate));
static_assert(are_called_alike(p.cublasLtMatmulDescCreate, &cublasLtMatmulDescCreate));
static_assert(are_called_alike(p.cublasLtMatmulDescSetAttribute, &cublasLtMatmulDescSetAttribute));
static_assert(are_called_alike(p.cublasLtMatmulDescDestroy, &cublasLtMatmulDescDestroy));
static_assert(are_called_alike(p.cublasLtMatrixLayoutCreate, &cublasLtMatrixLayoutCreate));
static_assert(are_called_alike(p.cublasLtMatrixLayoutSetAttribute, &cublasLtMatrixLayoutSetAttribute));
static_assert(are_called_alike(p.cublasLtMatrixLayoutDestroy, &cublasLtMatrixLayoutDestroy));
static_assert(are_called_alike(p.cublasLtMatmulPreferenceCreate, &cublasLtMatmulPreferenceCreate));
static_assert(are_called_alike(p.cublasLtMatmulPreferenceSetAttribute, &cublasLtMatmulPreferenceSetAttribute));
static_assert(are_called_alike(p.cublasLtMatmulPreferenceDestroy, &cublasLtMatmulPreferenceDestroy));
static_assert(are_called_alike(p.cublasLtMatmulAlgoGetHeuristic, &cublasLtMatmulAlgoGetHeuristic));
static_assert(are_called_alike(p.cublasLtMatmul, &cublasLtMatmul));
static_assert(api::real_f32 == CUDA_R_32F && api::real_f64 == CUDA_R_64F && api::real_bf16 == CUDA_R_16BF);
static_assert(api::compute_f32 == CUBLAS_COMPUTE_32F && api::compute_f64 == CUBLAS_COMPUTE_64F);
static_assert(api::transpose_a == CUBLASLT_MATMUL_DESC_TRANSA && api::transpose_b == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(api::epilogue == CUBLASLT_MATMUL_DESC_EPILOGUE && api::epilogue_bias == CUBLASLT_EPILOGUE_BIAS);
static_assert(api::bias_pointer == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(sizeof(api::epilogue_bias) == sizeof(cublasLtEpilogue_t));
static_assert(api::batch_count == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(api::batch_step == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
#  if CUBLAS_VERSION >= 130000
static_assert(api::batch_mode == CUBLASLT_MATRIX_LAYOUT_BATCH_MODE && CUBLASLT_BATCH_MODE_POINTER_ARRAY == 1);
#  endif
static_assert(api::most_workspace == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(api::alignment_a == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(api::alignment_b == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
static_assert(api::alignment_c == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
static_assert(api::alignment_d == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(sizeof(api::choice) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(sizeof(api::algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(offsetof(api::choice, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

#  if __has_include(<nccl.h>)
constexpr api::nccl n{};
static_assert(are_called_alike(n.ncclGetUniqueId, &ncclGetUniqueId));
static_assert(are_called_alike(n.ncclCommInitRankConfig, &ncclCommInitRankConfig));
static_assert(are_called_alike(n.ncclCommGetAsyncError, &ncclCommGetAsyncError));
static_assert(are_called_alike(n.ncclCommFinalize, &ncclCommFinalize));
static_assert(are_called_alike(n.ncclCommAbort, &ncclCommAbort));
static_assert(are_called_alike(n.ncclCommDestroy, &ncclCommDestroy));
static_assert(are_called_alike(n.ncclAllReduce, &ncclAllReduce));
static_assert(are_called_alike(n.ncclReduceScatter, &ncclReduceScatter));
static_assert(are_called_alike(n.ncclAllGather, &ncclAllGather));
static_assert(are_called_alike(n.ncclSend, &ncclSend));
static_assert(are_called_alike(n.ncclRecv, &ncclRecv));
static_assert(are_called_alike(n.ncclGroupStart, &ncclGroupStart));
static_assert(are_called_alike(n.ncclGroupEnd, &ncclGroupEnd));
static_assert(are_called_alike(n.ncclGetErrorString, &ncclGetErrorString));
static_assert(api::nccl_u8 == ncclUint8 && api::nccl_i32 == ncclInt32 && api::nccl_i64 == ncclInt64);
static_assert(api::nccl_f32 == ncclFloat32 && api::nccl_f64 == ncclFloat64 && api::nccl_bf16 == ncclBfloat16);
static_assert(api::nccl_sum == ncclSum && api::nccl_max == ncclMax && api::nccl_min == ncclMin);
static_assert(api::nccl_in_progress == ncclInProgress);
static_assert(sizeof(api::nccl_id) == sizeof(ncclUniqueId));
static_assert(offsetof(api::nccl_config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(api::nccl_config, magic) == offsetof(ncclConfig_t, magic));
static_assert(sizeof(api::nccl_config) <= sizeof(ncclConfig_t));
#  endif

}  // namespace

TEST_CASE("a field of a heuristic's answer lies where cuBLASLt writes it") {
  CHECK(offsetof(api::choice, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  CHECK(offsetof(api::choice, waves) == offsetof(cublasLtMatmulHeuristicResult_t, wavesCount));
}

#else

TEST_CASE("declarations of CUDA") {
  meshtensor_test::skip("the headers of CUDA, cuda.h, nvrtc.h and cublasLt.h, are not installed");
}

#endif
