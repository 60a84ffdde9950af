// SPDX-License-Identifier: Apache-2.0
// Writes CUDA text that computes the offsets of elements from one index over named dims, for several tensors at once.
// Extents and strides are constants. Neighbouring dims are merged if the strides of all tensors allow it.
#pragma once

#include "meshtensor/device/cuda/text/kernel_texts.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cuda {

class index_text {
 public:
  /// Adds a dim inside the earlier dims, with one stride for each tensor.
  void add(std::int64_t extent, std::vector<std::int64_t> strides) {
    count_ *= extent;
    if (extent == 1) return;
    if (!dims_.empty()) {
      bool joins = true;
      for (std::size_t k = 0; k < strides.size(); ++k) joins = joins && dims_.back().strides[k] == strides[k] * extent;
      if (joins) {
        dims_.back().extent *= extent, dims_.back().strides = std::move(strides);
        return;
      }
    }
    dims_.push_back({extent, std::move(strides)});
  }
  /// Adds dim `i` of `along` with the strides of these views. The stride of a view without this dim is 0.
  void add(view const& along, int i, std::initializer_list<view const*> of) {
    std::vector<std::int64_t> strides;
    for (view const* v : of) {
      int const p = v->find(along.dim[i]);
      strides.push_back(p < 0 ? 0 : v->stride[p]);
    }
    add(along.extent[i], std::move(strides));
  }
  std::int64_t count() const { return count_; }

  /// Writes `const i64 <name>0 = …, <name>1 = …;` for an index, which must be below `count`.
  std::string text(std::string const& index, std::string const& name, std::size_t tensors) const {
    std::string t, decoded = index;
    std::vector<std::string> offsets(tensors);
    t += "i64 " + name + "r = " + index + "; (void)" + name + "r;\n";
    for (std::size_t d = dims_.size(); d-- > 0;) {
      std::string const at = name + "i" + std::to_string(d);
      if (d == 0) cuda::add(t, {"const i64 ", at, " = ", name, "r;\n"});
      else
        cuda::add(t, {"const i64 ", at, " = ", name, "r % ", dims_[d].extent, "ll; ", name, "r /= ", dims_[d].extent,
                      "ll;\n"});
      for (std::size_t k = 0; k < tensors; ++k)
        if (dims_[d].strides[k] != 0)
          cuda::add(offsets[k], {offsets[k].empty() ? "" : " + ", at, " * ", dims_[d].strides[k], "ll"});
    }
    for (std::size_t k = 0; k < tensors; ++k)
      cuda::add(t, {"const i64 ", name, k, " = ", offsets[k].empty() ? "0" : offsets[k], "; (void)", name, k, ";\n"});
    return t;
  }

 private:
  struct dim {
    std::int64_t extent;
    std::vector<std::int64_t> strides;
  };
  std::vector<dim> dims_;
  std::int64_t count_ = 1;
};

}  // namespace meshtensor::cuda
