// SPDX-License-Identifier: Apache-2.0
// Chooses what runs the kernels of a test: the host in place of a GPU, or with MESHTENSOR_ON_CARD=1 this machine's GPU.
#pragma once

#include <cstdlib>
#include <optional>

#include "support/host_gpu.hpp"

namespace meshtensor_test {

class gpu_of_tests {
 public:
  /// `threads`: of a block on the host.
  explicit gpu_of_tests(int threads = 1) {
    if (std::getenv("MESHTENSOR_ON_CARD") == nullptr) meshtensor::cuda::given_gpu() = &host_.emplace(threads);
  }
  gpu_of_tests(gpu_of_tests const&) = delete;
  gpu_of_tests& operator=(gpu_of_tests const&) = delete;
  ~gpu_of_tests() { meshtensor::cuda::given_gpu() = nullptr; }
  /// Null on a card.
  host_gpu* host() { return host_ ? &*host_ : nullptr; }

 private:
  std::optional<host_gpu> host_;
};

}  // namespace meshtensor_test
