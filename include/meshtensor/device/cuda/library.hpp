// SPDX-License-Identifier: Apache-2.0
// A shared object that is found at start-up, with its functions by name.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <initializer_list>
#include <string>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor::cuda::detail {

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

}  // namespace meshtensor::cuda::detail
