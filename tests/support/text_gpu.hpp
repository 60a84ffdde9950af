// SPDX-License-Identifier: Apache-2.0
// Stands in for a GPU of some generation while a program is prepared: it has no memory, runs nothing, and keeps the
// text of the kernels that it would be asked to compile.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "meshtensor/device/cuda/choose_gpu.hpp"

namespace meshtensor_test {

/// What a program learns of a GPU while it makes its kernels.
struct gpu_generation {
  char const* target;  // of the compiler
  int processors;
  std::size_t shared_bytes;
};
inline constexpr gpu_generation gpu_generations[] = {
    {"sm_80", 108, 166912},   // A100
    {"sm_90", 132, 232448},   // H100
    {"sm_100", 148, 232448},  // B200
};

class text_gpu final : public meshtensor::cuda::gpu {
  using address = meshtensor::cuda::address;

 public:
  explicit text_gpu(gpu_generation const& g) : generation_(g) { meshtensor::cuda::given_gpu() = this; }
  ~text_gpu() override { meshtensor::cuda::given_gpu() = nullptr; }

  bool has_products = true;  // else the kernels of products are its own
  std::string text;          // of the last program
  std::vector<std::string> names;

  int block_threads() const override { return 256; }
  std::int64_t enough_blocks() const override { return 4 * std::int64_t{generation_.processors}; }
  std::size_t shared_bytes() const override { return generation_.shared_bytes; }
  bool has_matrix_units() const override { return true; }
  std::size_t workspace_bytes() const override { return std::size_t{32} << 20; }

  address allocate(std::size_t bytes) override {
    return reinterpret_cast<address>(std::exchange(next_, next_ + (bytes + 255) / 256 * 256 + 256));
  }
  void release(address) noexcept override {}
  std::byte* allocate_host(std::size_t bytes) override { return static_cast<std::byte*>(std::calloc(bytes, 1)); }
  void release_host(std::byte* which) noexcept override { std::free(which); }

  std::vector<meshtensor::cuda::function> load(std::string const& kernels,
                                               std::vector<std::string> const& of) override {
    text = kernels, names = of;
    return std::vector<meshtensor::cuda::function>(of.size());
  }
  std::unique_ptr<meshtensor::cuda::product_plan> plan(meshtensor::cuda::gemm const&) override {
    return has_products ? std::make_unique<meshtensor::cuda::product_plan>() : nullptr;
  }

  void upload(address, void const*, std::size_t) override {}
  void download(void*, address, std::size_t) override {}
  void copy(address, address, std::size_t) override {}
  void clear(address, std::size_t) override {}
  void launch(meshtensor::cuda::function, meshtensor::cuda::launch_shape,
              meshtensor::cuda::launch_arguments const&) override {}
  void run(meshtensor::cuda::product_plan const&, meshtensor::cuda::product_addresses const&, address) override {}
  void wait() override {}
  meshtensor::cuda::api::stream stream() override { return nullptr; }
  void enter_here() override {}
  void begin_capture() override {}
  std::unique_ptr<meshtensor::cuda::captured_step> end_capture() override {
    return std::make_unique<meshtensor::cuda::captured_step>();
  }
  void replay(meshtensor::cuda::captured_step const&) override {}

 private:
  gpu_generation generation_;
  std::uintptr_t next_ = 1 << 20;
};

}  // namespace meshtensor_test
