// SPDX-License-Identifier: Apache-2.0
// Keeps libraries with their own threads on one thread, because our threads share the work.
#pragma once

#include <dlfcn.h>

#include <mutex>
#include <string_view>

#include "meshtensor/base/config.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// While an object of this class lives, libraries with their own threads work on the calling thread. This holds for
/// OpenMP, and so for oneDNN, if this thread calls it, and for OpenBLAS in every thread. Afterwards the program's
/// settings are restored. Our team splits the work instead, so that no two teams compete for the same cores.
class libraries_on_one_thread {
 public:
  libraries_on_one_thread() {
    if (openmp().known()) openmp_before_ = openmp().get(), openmp().set(1);
    if (!openblas().known()) return;
    std::lock_guard const one(count_.guard);
    if (count_.users++ == 0) count_.before = openblas().get(), openblas().set(1);
  }
  libraries_on_one_thread(libraries_on_one_thread const&) = delete;
  libraries_on_one_thread& operator=(libraries_on_one_thread const&) = delete;
  ~libraries_on_one_thread() {
    if (openmp().known()) openmp().set(openmp_before_);
    if (!openblas().known()) return;
    std::lock_guard const one(count_.guard);
    if (--count_.users == 0) openblas().set(count_.before);
  }

  static bool has_openblas() { return openblas().known(); }
  /// The processor for which OpenBLAS has kernels, in its own words, for example "Haswell". It is empty if OpenBLAS is
  /// not loaded.
  static std::string_view openblas_core() {
    using getter = char const* (*)();
    static auto const get = reinterpret_cast<getter>(dlsym(RTLD_DEFAULT, "openblas_get_corename"));
    return get == nullptr ? std::string_view() : get();
  }

 private:
  /// A library's getter and setter for its number of threads. They are null if the library is not loaded.
  struct library {
    int (*get)();
    void (*set)(int);
    bool known() const { return get != nullptr && set != nullptr; }
    library(char const* getter, char const* setter)
        : get(reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, getter))),
          set(reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, setter))) {}
  };
  static library const& openmp() {
    static library const one("omp_get_max_threads", "omp_set_num_threads");
    return one;
  }
  static library const& openblas() {
    static library const one("openblas_get_num_threads", "openblas_set_num_threads");
    return one;
  }
  struct use_count {  // OpenBLAS has one setting for the process
    std::mutex guard;
    int users, before;
  };
  static inline use_count count_{};
  int openmp_before_ = 1;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
