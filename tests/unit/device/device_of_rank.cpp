// SPDX-License-Identifier: Apache-2.0
// The device of each rank of a machine: that of its number there, or the one that it is told to take.
#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

#include "meshtensor/device/cuda/choose_gpu.hpp"
#include "meshtensor/device/cuda/loaded_gpu.hpp"

namespace mt = meshtensor;
using mt::cuda::gpu_of_rank;

namespace {

template <class F>
std::string said(F f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}
struct named {
  explicit named(char const* number) { setenv("MESHTENSOR_CUDA_GPU", number, 1); }
  ~named() { unsetenv("MESHTENSOR_CUDA_GPU"); }
};

}  // namespace

TEST_CASE("ranks of a machine take its GPUs in their order") {
  CHECK(gpu_of_rank({0}, 0, 1) == 0);
  CHECK(gpu_of_rank({4, 5, 7}, 4, 4) == 0);
  CHECK(gpu_of_rank({4, 5, 7}, 5, 4) == 1);
  CHECK(gpu_of_rank({4, 5, 7}, 7, 3) == 2);
}

TEST_CASE("more ranks than GPUs are refused, unless each is told which one it takes") {
  CHECK(said([] { gpu_of_rank({0, 1, 2}, 0, 2); }) ==
        "meshtensor R77: this machine runs 3 ranks, but mt::cuda_device has 2 devices here: start one rank for each "
        "GPU, or let MESHTENSOR_CUDA_GPU say for each rank which one it takes: 0 for all that share one, or that each "
        "see "
        "one of their own");
  CHECK(said([] { gpu_of_rank({0, 1}, 1, 1); }).find("mt::cuda_device has 1 device here: ") != std::string::npos);
  named const first("0"), second("1");
  CHECK(gpu_of_rank({0, 1, 2}, 0, 2) == 1);
  CHECK(gpu_of_rank({0, 1, 2}, 2, 2) == 1);
}

TEST_CASE("a GPU that was used before its rank took one is no other one later") {
  mt::cuda::gpu_choice choice{0};
  choice.choose(2, 1);
  CHECK(choice.number == 2);
  choice.is_in_use = true;
  choice.choose(2, 1);
  CHECK(said([&] { choice.choose(3, 4); }) ==
        "meshtensor R80: rank 4 is to run on GPU 3, but its process has used GPU 2 already: make the job of all ranks "
        "before anything runs on mt::cuda_device, or set MESHTENSOR_CUDA_GPU for each rank");
  CHECK(choice.number == 2);
}

TEST_CASE("what is no number is refused") {
  for (char const* text : {"gpu0", "1,2", "-1", "1 "}) {
    named const it(text);
    CHECK(said([] { gpu_of_rank({0}, 0, 1); }) ==
          std::string("meshtensor R80: MESHTENSOR_CUDA_GPU is '") + text + "': it is the number of a GPU, from 0 on");
  }
  named const nothing("");
  CHECK(gpu_of_rank({0, 3}, 3, 2) == 1);
}

TEST_CASE("a library that is not there is told with what to do about it") {
  using mt::cuda::detail::library;
  unsetenv("MESHTENSOR_CUDA");
  CHECK(said([] { library("NVRTC", {"libabsent.so.2", "libabsent.so"}); }) ==
        "meshtensor R80: NVRTC was not found as libabsent.so.2, libabsent.so: install CUDA 12 or later, and set "
        "MESHTENSOR_CUDA to the folder of its libraries");
  setenv("MESHTENSOR_CUDA", "/absent", 1);
  CHECK(said([] { library("NCCL", {"libabsent.so"}, "install NCCL"); }) ==
        "meshtensor R80: NCCL was not found as /absent/libabsent.so, libabsent.so: install NCCL");
  unsetenv("MESHTENSOR_CUDA");
}
