// SPDX-License-Identifier: Apache-2.0
// An NVIDIA GPU of this machine, with its driver, its compiler and its library of products, which are found at
// start-up.
#pragma once

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cuda/api.hpp"
#include "meshtensor/device/cuda/gpu.hpp"
#include "meshtensor/device/cuda/loaded_gpu/captured_graphs.hpp"
#include "meshtensor/device/cuda/loaded_gpu/compile.hpp"
#include "meshtensor/device/cuda/loaded_gpu/find_functions.hpp"
#include "meshtensor/device/cuda/loaded_gpu/product_library.hpp"
#include "meshtensor/device/cuda/text/kernel_texts.hpp"

namespace meshtensor::cuda {

class loaded_gpu final : public gpu {
 public:
  /// errors R80, R81
  explicit loaded_gpu(int number) {
    detail::find_functions(driver_);
    detail::find_functions(compiler_);
    products_.find();
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
    products_.begin();
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
    std::string const image = detail::compiled(compiler_, capability_, whole_text(text));
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
    return products_.plan(g, workspace_bytes());
  }
  void run(product_plan const& how, product_addresses const& at, address workspace) override {
    products_.run(how, at, workspace, workspace_bytes(), stream_);
  }

  void begin_capture() override {
    enter();
    check(driver_.cuStreamBeginCapture_v2(stream_, api::capture_this_thread), "cuStreamBeginCapture");
    is_capturing_ = true;
  }
  std::unique_ptr<captured_step> end_capture() override {
    auto made = std::make_unique<captured_graph>(graphs_);
    is_capturing_ = false;
    check(driver_.cuStreamEndCapture(stream_, &made->what), "cuStreamEndCapture");
    check(driver_.cuGraphInstantiateWithFlags(&made->ready, made->what, 0), "cuGraphInstantiate");
    return made;
  }
  void replay(captured_step const& step) override {
    enter();
    check(driver_.cuGraphLaunch(static_cast<captured_graph const&>(step).ready, stream_), "cuGraphLaunch");
  }
  void free_captured_steps() override {
    if (std::exchange(is_capturing_, false)) {
      api::graph broken_off = nullptr;
      driver_.cuStreamEndCapture(stream_, &broken_off);
      if (broken_off != nullptr) driver_.cuGraphDestroy(broken_off);
    }
    graphs_.destroy();
  }

 private:
  using captured_graph = detail::captured_graphs::captured_graph;

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
  int attribute(int which) const {
    int n = 0;
    check(driver_.cuDeviceGetAttribute(&n, which, device_), "cuDeviceGetAttribute");
    return n;
  }

  api::driver driver_{};
  api::compiler compiler_{};
  detail::product_library products_;
  api::device device_ = 0;
  api::context context_ = nullptr;
  api::stream stream_ = nullptr;
  int processors_ = 0, capability_ = 0;
  std::size_t shared_bytes_ = 0;
  struct loaded_kernel {
    api::module from = nullptr;
    std::size_t shared_bytes = 0;  // the limit that was set, if it is more than 48 KB
  };
  std::mutex turn_of_kernels_;
  std::map<api::kernel, loaded_kernel> kernels_;
  bool is_capturing_ = false;
  detail::captured_graphs graphs_{driver_, context_};
};

}  // namespace meshtensor::cuda
