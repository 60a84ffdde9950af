// SPDX-License-Identifier: Apache-2.0
// Finds the functions of the CUDA driver, of NVRTC and of cuBLASLt in their libraries.
#pragma once

#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/library.hpp"

namespace meshtensor::cuda::detail {

/// errors R80
inline void find_functions(api::driver& driver) {
  library const d("the driver of NVIDIA GPUs", {"libcuda.so.1"},
                  "install it where there is such a GPU, or take another device");
  d.find(driver.cuInit, "cuInit");
  d.find(driver.cuDeviceGetCount, "cuDeviceGetCount");
  d.find(driver.cuDeviceGet, "cuDeviceGet");
  d.find(driver.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  d.find(driver.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  d.find(driver.cuCtxSetCurrent, "cuCtxSetCurrent");
  d.find(driver.cuMemAlloc_v2, "cuMemAlloc_v2");
  d.find(driver.cuMemFree_v2, "cuMemFree_v2");
  d.find(driver.cuMemHostAlloc, "cuMemHostAlloc");
  d.find(driver.cuMemFreeHost, "cuMemFreeHost");
  d.find(driver.cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2");
  d.find(driver.cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync_v2");
  d.find(driver.cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync_v2");
  d.find(driver.cuMemsetD8Async, "cuMemsetD8Async");
  d.find(driver.cuStreamCreate, "cuStreamCreate");
  d.find(driver.cuStreamSynchronize, "cuStreamSynchronize");
  d.find(driver.cuStreamQuery, "cuStreamQuery");
  d.find(driver.cuModuleLoadData, "cuModuleLoadData");
  d.find(driver.cuModuleUnload, "cuModuleUnload");
  d.find(driver.cuModuleGetFunction, "cuModuleGetFunction");
  d.find(driver.cuFuncSetAttribute, "cuFuncSetAttribute");
  d.find(driver.cuLaunchKernel, "cuLaunchKernel");
  d.find(driver.cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2");
  d.find(driver.cuStreamEndCapture, "cuStreamEndCapture");
  d.find(driver.cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  d.find(driver.cuGraphLaunch, "cuGraphLaunch");
  d.find(driver.cuGraphExecDestroy, "cuGraphExecDestroy");
  d.find(driver.cuGraphDestroy, "cuGraphDestroy");
  d.find(driver.cuGetErrorString, "cuGetErrorString");
}

/// errors R80
inline void find_functions(api::compiler& compiler) {
  library const c("NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
  c.find(compiler.nvrtcCreateProgram, "nvrtcCreateProgram");
  c.find(compiler.nvrtcCompileProgram, "nvrtcCompileProgram");
  c.find(compiler.nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
  c.find(compiler.nvrtcGetCUBIN, "nvrtcGetCUBIN");
  c.find(compiler.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
  c.find(compiler.nvrtcGetProgramLog, "nvrtcGetProgramLog");
  c.find(compiler.nvrtcDestroyProgram, "nvrtcDestroyProgram");
}

/// errors R80
inline void find_functions(api::products& products) {
  library const b("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
  b.find(products.cublasLtCreate, "cublasLtCreate");
  b.find(products.cublasLtMatmulDescCreate, "cublasLtMatmulDescCreate");
  b.find(products.cublasLtMatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute");
  b.find(products.cublasLtMatmulDescDestroy, "cublasLtMatmulDescDestroy");
  b.find(products.cublasLtMatrixLayoutCreate, "cublasLtMatrixLayoutCreate");
  b.find(products.cublasLtMatrixLayoutSetAttribute, "cublasLtMatrixLayoutSetAttribute");
  b.find(products.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy");
  b.find(products.cublasLtMatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate");
  b.find(products.cublasLtMatmulPreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute");
  b.find(products.cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceDestroy");
  b.find(products.cublasLtMatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic");
  b.find(products.cublasLtMatmul, "cublasLtMatmul");
}

}  // namespace meshtensor::cuda::detail
