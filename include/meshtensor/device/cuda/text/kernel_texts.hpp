// SPDX-License-Identifier: Apache-2.0
// Collects the texts of a program's kernels, so that kernels with equal texts are compiled once.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cuda/gpu.hpp"
#include "meshtensor/device/cuda/text/prelude.hpp"

namespace meshtensor::cuda {

/// The type of an element in memory in a kernel's text.
constexpr char const* type_text(dtype t) {
  constexpr char const* names[] = {"double", "float", "bf16", "int", "i64", "unsigned char", "boolean"};
  return names[static_cast<int>(t)];
}
/// The type of an element in registers in a kernel's text.
inline std::string register_text(dtype t) { return std::string("reg<") + type_text(t) + ">"; }

/// Adds phrases to a text.
inline void add(std::string& to, std::initializer_list<phrase> parts) {
  for (phrase const& p : parts) to += p.text();
}
inline std::string joined(std::initializer_list<phrase> parts) {
  std::string s;
  add(s, parts);
  return s;
}

/// A kernel's number in its library, and its launch shape.
struct prepared_kernel {
  std::size_t number = 0;
  launch_shape shape;
};

/// The kernels of a program.
class kernel_library {
 public:
  kernel_library() = default;
  kernel_library(kernel_library const&) = delete;
  kernel_library& operator=(kernel_library const&) = delete;
  ~kernel_library() {
    if (loaded_by_ != nullptr) loaded_by_->unload(functions_);
  }
  /// Adds a kernel with this body, which reads `args const& a`, and returns its number.
  std::size_t add(std::string const& body, int threads) {
    std::string const key = std::to_string(threads) + body;
    auto const [at, is_new] = number_.emplace(key, names_.size());
    if (!is_new) return at->second;
    names_.push_back("k" + std::to_string(names_.size()));
    cuda::add(text_, {"extern \"C\" __global__ void __launch_bounds__(", threads, ") ", names_.back(),
                      "(const __grid_constant__ args a) {\n", body, "}\n"});
    return at->second;
  }
  /// Adds a text once, in front of all kernels that are added later.
  void require(char const* functions) {
    for (char const* const have : required_)
      if (have == functions) return;
    required_.push_back(functions);
    text_ += functions;
  }
  /// errors R83
  void load(gpu& g) {
    if (!names_.empty()) functions_ = g.load(text_, names_), loaded_by_ = &g;
  }
  function operator[](std::size_t number) const { return functions_[number]; }
  std::string const& text() const { return text_; }
  std::size_t size() const { return names_.size(); }

 private:
  std::map<std::string, std::size_t> number_;
  std::vector<std::string> names_;
  std::vector<char const*> required_;
  std::string text_;
  std::vector<function> functions_;
  gpu* loaded_by_ = nullptr;
};

/// The complete text for the GPU's compiler.
inline std::string whole_text(std::string const& kernels) {
  return std::string(basic_types) + elementary_functions + prelude() + kernels;
}

}  // namespace meshtensor::cuda
