// SPDX-License-Identifier: Apache-2.0
// An NVIDIA GPU of this machine, with its driver, its compiler and its library of products, which are found at
// start-up.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/text/kernel_texts.hpp"

namespace meshtensor::cuda {

namespace detail {

/// A shared object, which is the first of several names that can be loaded.
class library {
 public:
  /// errors R80 none of the names can be loaded
  library(char const* what, std::initializer_list<char const*> names,
          char const* advice = "install CUDA 12 or later, and set MESHTENSOR_CUDA to the folder of its libraries")
      : what_(what) {
    std::string tried;
    char const* const folder = std::getenv("MESHTENSOR_CUDA");
    for (bool const here : {true, false})
      for (char const* n : names) {
        if (here && folder == nullptr) continue;
        std::string const path = here ? std::string(folder) + "/" + n : n;
        if ((handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL)) != nullptr) return;
        tried += (tried.empty() ? "" : ", ") + path;
      }
    throw error("R80", {what, " was not found as ", tried, ": ", advice});
  }
  template <class F>
  void find(F& f, char const* name) const {
    f = reinterpret_cast<F>(dlsym(handle_, name));
    if (f == nullptr) throw error("R80", {what_, " has no function ", name, ": install CUDA 12 or later"});
  }

 private:
  char const* what_;
  void* handle_ = nullptr;
};

}  // namespace detail

class loaded_gpu final : public gpu {
 public:
  /// errors R80, R81
  explicit loaded_gpu(int number) {
    find_functions();
    int const started = driver_.cuInit(0);
    int count = 0;
    if (started != api::no_device) {
      check(started, "cuInit");
      check(driver_.cuDeviceGetCount(&count), "cuDeviceGetCount");
    }
    if (count == 0) throw error("R80", "this machine has no NVIDIA GPU");
    if (number >= count)
      throw error("R80", {"this rank is to run on GPU ", number, ", but this machine shows it ", count,
                          ", numbered from 0: set MESHTENSOR_CUDA_GPU to one of them"});
    check(driver_.cuDeviceGet(&device_, number), "cuDeviceGet");
    check(driver_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    enter();
    check(driver_.cuStreamCreate(&stream_, api::non_blocking_stream), "cuStreamCreate");
    check_product(products_.cublasLtCreate(&blas_), "cublasLtCreate");
    processors_ = attribute(api::multiprocessors);
    capability_ = attribute(api::capability_major) * 10 + attribute(api::capability_minor);
    shared_bytes_ = static_cast<std::size_t>(attribute(api::most_shared_bytes));
  }

  int block_threads() const override { return 256; }
  std::int64_t enough_blocks() const override { return 4 * std::int64_t{processors_}; }
  std::size_t workspace_bytes() const override { return std::size_t{32} << 20; }

  std::size_t shared_bytes() const override { return shared_bytes_; }
  bool has_matrix_units() const override { return capability_ >= 80; }

  address allocate(std::size_t bytes) override {
    enter();
    api::pointer p = 0;
    if (int const wrong = driver_.cuMemAlloc_v2(&p, bytes); wrong != 0)
      throw error("R82", {"the GPU has no block of ", bytes, " bytes (", text_of(wrong),
                          "): take a smaller batch, or recompute more"});
    return reinterpret_cast<address>(p);
  }
  void release(address which) noexcept override {
    driver_.cuCtxSetCurrent(context_);
    driver_.cuMemFree_v2(number(which));
  }
  std::byte* allocate_host(std::size_t bytes) override {
    enter();
    void* p = nullptr;
    check(driver_.cuMemHostAlloc(&p, bytes, 0), "cuMemHostAlloc");
    std::memset(p, 0, bytes);
    return static_cast<std::byte*>(p);
  }
  void release_host(std::byte* which) noexcept override {
    driver_.cuCtxSetCurrent(context_);
    driver_.cuMemFreeHost(which);
  }

  void upload(address to, void const* from, std::size_t bytes) override {
    enter();
    if (bytes != 0) check(driver_.cuMemcpyHtoDAsync_v2(number(to), from, bytes, stream_), "cuMemcpyHtoDAsync");
  }
  void download(void* to, address from, std::size_t bytes) override {
    enter();
    if (bytes != 0) check(driver_.cuMemcpyDtoHAsync_v2(to, number(from), bytes, stream_), "cuMemcpyDtoHAsync");
  }
  void copy(address to, address from, std::size_t bytes) override {
    check(driver_.cuMemcpyDtoDAsync_v2(number(to), number(from), bytes, stream_), "cuMemcpyDtoDAsync");
  }
  void clear(address to, std::size_t bytes) override {
    enter();
    if (bytes != 0) check(driver_.cuMemsetD8Async(number(to), 0, bytes, stream_), "cuMemsetD8Async");
  }
  void launch(function which, launch_shape shape, launch_arguments const& arguments) override {
    void* parameters[] = {const_cast<launch_arguments*>(&arguments)};
    auto const kernel = static_cast<api::kernel>(which.handle);
    if (shape.shared_bytes > 48 * 1024) {
      std::lock_guard const turn(turn_of_kernels_);
      if (std::size_t& allowed = kernels_[kernel].shared_bytes; allowed < shape.shared_bytes) {
        check(driver_.cuFuncSetAttribute(kernel, api::shared_bytes, static_cast<int>(shape.shared_bytes)),
              "cuFuncSetAttribute");
        allowed = shape.shared_bytes;
      }
    }
    check(
        driver_.cuLaunchKernel(kernel, static_cast<unsigned>(shape.blocks), 1, 1, static_cast<unsigned>(shape.threads),
                               1, 1, static_cast<unsigned>(shape.shared_bytes), stream_, parameters, nullptr),
        "cuLaunchKernel");
  }
  api::stream stream() override { return stream_; }
  void enter_here() override { enter(); }
  void wait() override {
    enter();
    if (watch())
      watch()([&] {
        int const state = driver_.cuStreamQuery(stream_);
        if (state != api::not_ready) check(state, "cuStreamQuery");
        return state == 0;
      });
    check(driver_.cuStreamSynchronize(stream_), "cuStreamSynchronize");
  }

  std::vector<function> load(std::string const& text, std::vector<std::string> const& names) override {
    enter();
    std::string const image = compiled(whole_text(text));
    api::module loaded = nullptr;
    check(driver_.cuModuleLoadData(&loaded, image.data()), "cuModuleLoadData");
    std::vector<function> all;
    for (std::string const& n : names) {
      api::kernel k = nullptr;
      auto const wrong = driver_.cuModuleGetFunction(&k, loaded, n.c_str());
      if (wrong != 0) driver_.cuModuleUnload(loaded);
      check(wrong, "cuModuleGetFunction");
      all.push_back({k});
    }
    std::lock_guard const turn(turn_of_kernels_);
    for (function const& f : all) kernels_[static_cast<api::kernel>(f.handle)] = {loaded, 0};
    return all;
  }
  void unload(std::vector<function> const& all) noexcept override {
    std::lock_guard const turn(turn_of_kernels_);
    driver_.cuCtxSetCurrent(context_);
    api::module loaded = nullptr;
    for (function const& f : all)  // because later kernels may get the same handles
      if (auto const k = kernels_.extract(static_cast<api::kernel>(f.handle))) loaded = k.mapped().from;
    if (loaded != nullptr) driver_.cuModuleUnload(loaded);
  }

  std::unique_ptr<product_plan> plan(gemm const& g) override {
    enter();
    auto made = std::make_unique<planned>(*this);
    bool const is_double = g.type == dtype::f64;
    int const type = is_double ? api::real_f64 : g.type == dtype::f32 ? api::real_f32 : api::real_bf16;
    check_product(products_.cublasLtMatmulDescCreate(&made->what, is_double ? api::compute_f64 : api::compute_f32,
                                                     is_double ? api::real_f64 : api::real_f32),
                  "cublasLtMatmulDescCreate");
    int const turned_a = g.transposed_a ? 1 : 0, turned_b = g.transposed_b ? 1 : 0;
    products_.cublasLtMatmulDescSetAttribute(made->what, api::transpose_a, &turned_a, sizeof turned_a);
    products_.cublasLtMatmulDescSetAttribute(made->what, api::transpose_b, &turned_b, sizeof turned_b);
    int refused = 0;
    if (g.adds_offset) {
      // Until the product runs, only the alignment of this address counts.
      auto const aligned_so = static_cast<std::uintptr_t>(g.offset_alignment);
      refused |=
          products_.cublasLtMatmulDescSetAttribute(made->what, api::epilogue, &api::epilogue_bias,
                                                   sizeof api::epilogue_bias) |
          products_.cublasLtMatmulDescSetAttribute(made->what, api::bias_pointer, &aligned_so, sizeof aligned_so);
    }
    auto const lay = [&](api::layout& l, std::int64_t rows, std::int64_t columns, std::int64_t line,
                         std::int64_t step) {
      check_product(products_.cublasLtMatrixLayoutCreate(&l, type, static_cast<std::uint64_t>(rows),
                                                         static_cast<std::uint64_t>(columns), line),
                    "cublasLtMatrixLayoutCreate");
      auto const batch = static_cast<std::int32_t>(g.batch);
      products_.cublasLtMatrixLayoutSetAttribute(l, api::batch_count, &batch, sizeof batch);
      std::uint32_t const by_address = 1;
      refused |= g.by_address
                     ? products_.cublasLtMatrixLayoutSetAttribute(l, api::batch_mode, &by_address, sizeof by_address)
                     : products_.cublasLtMatrixLayoutSetAttribute(l, api::batch_step, &step, sizeof step);
    };
    lay(made->a, g.transposed_a ? g.k : g.m, g.transposed_a ? g.m : g.k, g.lda, g.step_a);
    lay(made->b, g.transposed_b ? g.n : g.k, g.transposed_b ? g.k : g.n, g.ldb, g.step_b);
    lay(made->c, g.m, g.n, g.ldc, g.step_c);
    // C and D share one layout if their columns have the same distance, because only then cuBLASLt accepts one address
    // for both.
    if (g.adds_matrix && g.ld_added != g.ldc) lay(made->added, g.m, g.n, g.ld_added, g.step_c);
    if (refused != 0) return nullptr;
    api::preference wish = nullptr;
    check_product(products_.cublasLtMatmulPreferenceCreate(&wish), "cublasLtMatmulPreferenceCreate");
    auto const most = static_cast<std::uint64_t>(workspace_bytes());
    products_.cublasLtMatmulPreferenceSetAttribute(wish, api::most_workspace, &most, sizeof most);
    auto const aligned = static_cast<std::uint32_t>(g.alignment);
    for (int const which : {api::alignment_a, api::alignment_b, api::alignment_c, api::alignment_d})
      products_.cublasLtMatmulPreferenceSetAttribute(wish, which, &aligned, sizeof aligned);
    api::choice found{};
    int count = 0;
    int const state = products_.cublasLtMatmulAlgoGetHeuristic(
        blas_, made->what, made->a, made->b, made->layout_of_added(), made->c, wish, 1, &found, &count);
    products_.cublasLtMatmulPreferenceDestroy(wish);
    if (state != 0 || count == 0) return nullptr;
    made->how = found.how, made->is_double = is_double;
    made->adds_offset = g.adds_offset, made->adds_matrix = g.adds_matrix;
    return made;
  }
  void run(product_plan const& how, product_addresses const& at, address workspace) override {
    auto const& p = static_cast<planned const&>(how);
    static constexpr double f64_of[] = {0, 1};
    static constexpr float f32_of[] = {0, 1};
    auto const factor = [&](int n) { return p.is_double ? static_cast<void const*>(&f64_of[n]) : &f32_of[n]; };
    if (p.adds_offset)
      check_product(products_.cublasLtMatmulDescSetAttribute(p.what, api::bias_pointer, &at.offset, sizeof at.offset),
                    "cublasLtMatmulDescSetAttribute");
    bool const adds = p.adds_matrix;
    check_product(
        products_.cublasLtMatmul(blas_, p.what, factor(1), at.a, p.a, at.b, p.b, factor(adds), adds ? at.added : at.c,
                                 p.layout_of_added(), at.c, p.c, &p.how, workspace, workspace_bytes(), stream_),
        "cublasLtMatmul");
  }

  void begin_recording() override {
    enter();
    check(driver_.cuStreamBeginCapture_v2(stream_, api::capture_this_thread), "cuStreamBeginCapture");
    is_recording_ = true;
  }
  std::unique_ptr<recorded_step> end_recording() override {
    auto made = std::make_unique<captured>(*this);
    is_recording_ = false;
    check(driver_.cuStreamEndCapture(stream_, &made->what), "cuStreamEndCapture");
    check(driver_.cuGraphInstantiateWithFlags(&made->ready, made->what, 0), "cuGraphInstantiate");
    return made;
  }
  void replay(recorded_step const& step) override {
    enter();
    check(driver_.cuGraphLaunch(static_cast<captured const&>(step).ready, stream_), "cuGraphLaunch");
  }
  void free_recorded_steps() override {
    if (std::exchange(is_recording_, false)) {
      api::graph broken_off = nullptr;
      driver_.cuStreamEndCapture(stream_, &broken_off);
      if (broken_off != nullptr) driver_.cuGraphDestroy(broken_off);
    }
    std::lock_guard const turn(turn_of_steps_);
    for (captured* const c : steps_) c->destroy();
  }

 private:
  struct planned final : product_plan {
    explicit planned(loaded_gpu const& g) : from(g) {}
    ~planned() override {
      if (what != nullptr) from.products_.cublasLtMatmulDescDestroy(what);
      for (api::layout l : {a, b, c, added})
        if (l != nullptr) from.products_.cublasLtMatrixLayoutDestroy(l);
    }
    loaded_gpu const& from;
    api::product what = nullptr;
    api::layout layout_of_added() const { return added == nullptr ? c : added; }
    api::layout a = nullptr, b = nullptr, c = nullptr, added = nullptr;
    api::algorithm how{};
    bool is_double = false, adds_offset = false, adds_matrix = false;
  };
  struct captured final : recorded_step {
    explicit captured(loaded_gpu& g) : from(g) {
      std::lock_guard const turn(from.turn_of_steps_);
      from.steps_.insert(this);
    }
    ~captured() override {
      std::lock_guard const turn(from.turn_of_steps_);
      from.steps_.erase(this);
      destroy();
    }
    /// Destroys the graph. If it is still running, the driver frees it at its end.
    void destroy() {
      from.driver_.cuCtxSetCurrent(from.context_);
      if (ready != nullptr) from.driver_.cuGraphExecDestroy(ready);
      if (what != nullptr) from.driver_.cuGraphDestroy(what);
      ready = nullptr, what = nullptr, is_freed = true;
    }
    loaded_gpu& from;
    api::graph what = nullptr;
    api::graph_exec ready = nullptr;
  };

  static api::pointer number(address a) { return reinterpret_cast<api::pointer>(a); }
  void enter() { check(driver_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }
  std::string text_of(int wrong) const {
    char const* text = nullptr;
    driver_.cuGetErrorString(wrong, &text);
    return text == nullptr ? "error " + std::to_string(wrong) : text;
  }
  void check(int wrong, char const* call) const {
    if (wrong != 0) throw error("R81", {"CUDA says in ", call, ": ", text_of(wrong)});
  }
  static void check_product(int wrong, char const* call) {
    if (wrong != 0) throw error("R81", {"cuBLAS says in ", call, ": status ", wrong});
  }
  int attribute(int which) const {
    int n = 0;
    check(driver_.cuDeviceGetAttribute(&n, which, device_), "cuDeviceGetAttribute");
    return n;
  }
  /// errors R83
  std::string compiled(std::string const& text) const {
    api::program p = nullptr;
    compiler_.nvrtcCreateProgram(&p, text.c_str(), "meshtensor.cu", 0, nullptr, nullptr);
    std::string const target = "--gpu-architecture=sm_" + std::to_string(capability_);
    char const* const options[] = {target.c_str(), "--std=c++17", "--fmad=false", "-w"};
    int const wrong = compiler_.nvrtcCompileProgram(p, 4, options);
    if (wrong != 0) {
      std::size_t bytes = 0;
      compiler_.nvrtcGetProgramLogSize(p, &bytes);
      std::string log(bytes, ' ');
      compiler_.nvrtcGetProgramLog(p, log.data());
      compiler_.nvrtcDestroyProgram(&p);
      throw error("R83", {"NVRTC does not compile the kernels for ", target, ": ", log.substr(0, 2000)});
    }
    std::size_t bytes = 0;
    compiler_.nvrtcGetCUBINSize(p, &bytes);
    std::string image(bytes, '\0');
    compiler_.nvrtcGetCUBIN(p, image.data());
    compiler_.nvrtcDestroyProgram(&p);
    return image;
  }
  void find_functions() {
    detail::library const d("the driver of NVIDIA GPUs", {"libcuda.so.1"},
                            "install it where there is such a GPU, or take another device");
    d.find(driver_.cuInit, "cuInit");
    d.find(driver_.cuDeviceGetCount, "cuDeviceGetCount");
    d.find(driver_.cuDeviceGet, "cuDeviceGet");
    d.find(driver_.cuDeviceGetAttribute, "cuDeviceGetAttribute");
    d.find(driver_.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
    d.find(driver_.cuCtxSetCurrent, "cuCtxSetCurrent");
    d.find(driver_.cuMemAlloc_v2, "cuMemAlloc_v2");
    d.find(driver_.cuMemFree_v2, "cuMemFree_v2");
    d.find(driver_.cuMemHostAlloc, "cuMemHostAlloc");
    d.find(driver_.cuMemFreeHost, "cuMemFreeHost");
    d.find(driver_.cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2");
    d.find(driver_.cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync_v2");
    d.find(driver_.cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync_v2");
    d.find(driver_.cuMemsetD8Async, "cuMemsetD8Async");
    d.find(driver_.cuStreamCreate, "cuStreamCreate");
    d.find(driver_.cuStreamSynchronize, "cuStreamSynchronize");
    d.find(driver_.cuStreamQuery, "cuStreamQuery");
    d.find(driver_.cuModuleLoadData, "cuModuleLoadData");
    d.find(driver_.cuModuleUnload, "cuModuleUnload");
    d.find(driver_.cuModuleGetFunction, "cuModuleGetFunction");
    d.find(driver_.cuFuncSetAttribute, "cuFuncSetAttribute");
    d.find(driver_.cuLaunchKernel, "cuLaunchKernel");
    d.find(driver_.cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2");
    d.find(driver_.cuStreamEndCapture, "cuStreamEndCapture");
    d.find(driver_.cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
    d.find(driver_.cuGraphLaunch, "cuGraphLaunch");
    d.find(driver_.cuGraphExecDestroy, "cuGraphExecDestroy");
    d.find(driver_.cuGraphDestroy, "cuGraphDestroy");
    d.find(driver_.cuGetErrorString, "cuGetErrorString");
    detail::library const c("NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
    c.find(compiler_.nvrtcCreateProgram, "nvrtcCreateProgram");
    c.find(compiler_.nvrtcCompileProgram, "nvrtcCompileProgram");
    c.find(compiler_.nvrtcGetCUBINSize, "nvrtcGetCUBINSize");
    c.find(compiler_.nvrtcGetCUBIN, "nvrtcGetCUBIN");
    c.find(compiler_.nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize");
    c.find(compiler_.nvrtcGetProgramLog, "nvrtcGetProgramLog");
    c.find(compiler_.nvrtcDestroyProgram, "nvrtcDestroyProgram");
    detail::library const b("cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"});
    b.find(products_.cublasLtCreate, "cublasLtCreate");
    b.find(products_.cublasLtMatmulDescCreate, "cublasLtMatmulDescCreate");
    b.find(products_.cublasLtMatmulDescSetAttribute, "cublasLtMatmulDescSetAttribute");
    b.find(products_.cublasLtMatmulDescDestroy, "cublasLtMatmulDescDestroy");
    b.find(products_.cublasLtMatrixLayoutCreate, "cublasLtMatrixLayoutCreate");
    b.find(products_.cublasLtMatrixLayoutSetAttribute, "cublasLtMatrixLayoutSetAttribute");
    b.find(products_.cublasLtMatrixLayoutDestroy, "cublasLtMatrixLayoutDestroy");
    b.find(products_.cublasLtMatmulPreferenceCreate, "cublasLtMatmulPreferenceCreate");
    b.find(products_.cublasLtMatmulPreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute");
    b.find(products_.cublasLtMatmulPreferenceDestroy, "cublasLtMatmulPreferenceDestroy");
    b.find(products_.cublasLtMatmulAlgoGetHeuristic, "cublasLtMatmulAlgoGetHeuristic");
    b.find(products_.cublasLtMatmul, "cublasLtMatmul");
  }

  api::driver driver_{};
  api::compiler compiler_{};
  api::products products_{};
  api::device device_ = 0;
  api::context context_ = nullptr;
  api::stream stream_ = nullptr;
  api::blas blas_ = nullptr;
  int processors_ = 0, capability_ = 0;
  std::size_t shared_bytes_ = 0;
  struct loaded_kernel {
    api::module from = nullptr;
    std::size_t shared_bytes = 0;  // the limit that was set, if it is more than 48 KB
  };
  std::mutex turn_of_kernels_;
  std::map<api::kernel, loaded_kernel> kernels_;
  bool is_recording_ = false;
  std::mutex turn_of_steps_;
  std::set<captured*> steps_;  // of all programs, for `free_recorded_steps`
};

}  // namespace meshtensor::cuda
