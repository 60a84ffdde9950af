// SPDX-License-Identifier: Apache-2.0
// Convolves on the GPU by a loop over the terms of each element, for any windows and dtypes. If few elements have
// long sums, these are cut into chunks, and a second kernel adds the chunks up in their order.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/device/cuda/nodes/conv/windows.hpp"
#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/device/cuda/text/window.hpp"
#include "meshtensor/op/conv.hpp"

namespace meshtensor::cuda::detail {

class convolution_loop {
 public:
  convolution_loop(module const& m, node const& n, view const* operands, view const& y)
      : m_(m), n_(n), x_(operands), y_(y), p_(windows_of(m, n, operands, y)) {
    for (int o = 0; o < 2; ++o)
      for (int i = 0; i < x_[o].count; ++i) {
        int const d = x_[o].dim[i];
        if (p_.is_windowed(p_.roles[o], i) || is_kept(d) || std::ranges::find(summed_, d) != summed_.end()) continue;
        summed_.push_back(d), inner_.push_back(x_[o].extent[i]);
      }
    conv_rule::role const free = p_.roles[2] == conv_rule::kernels ? conv_rule::outputs : conv_rule::kernels;
    for (int k = 0; k < p_.count; ++k) inner_.push_back(p_.windows[k].extent[free]);
    for (std::int64_t e : inner_) terms_ *= e;
    for (int i = 0; i < y.count; ++i) outer_.push_back(y.extent[i]);
  }

  node_work prepare(preparation& p) {
    std::int64_t const size = y_.size(), wanted = p.device.enough_blocks() * p.block() / size;
    chunks_ = std::max<std::int64_t>(1, std::min(wanted, terms_ / 32));
    std::string const type = type_text(y_.type), sum = "sum<" + type + ">";
    std::string const store = joined({"((", type, "*)a.p[", max_kernel_operands, "])[0", result_offset(), "] = put<",
                                      type, ">(to<", type, ">(r.total()));\n"});
    std::string const running = "running<sums, " + type + "> r;\n";
    std::string const element = indices_text("i", "y", outer_);
    prepared_kernel const add_terms = p.over_elements(
        joined({"if (i >= ", size * chunks_, "ll) return;\nconst i64 chunk = i / ", size, "ll; (void)chunk;\n",
                indices_text(joined({"i % ", size, "ll"}), "y", outer_), running, terms_text(sum),
                chunks_ == 1 ? store : joined({"((", sum, "*)a.p[30])[i] = r.total();\n"})}),
        size * chunks_);
    if (chunks_ == 1)
      return [add_terms](recording& to_do, evaluation const& e, address state, address) {
        to_do.launch(add_terms, arguments_of(e, state));
      };
    prepared_kernel const add_chunks =
        p.over_elements(joined({"if (i >= ", size, "ll) return;\n", element, running, "for (i64 j = 0; j < ", chunks_,
                                "ll; ++j) r.add(((const ", sum, "*)a.p[30])[j * ", size, "ll + i]);\n", store}),
                        size);
    p.reserve(static_cast<std::size_t>(size * chunks_ * 8));
    return [add_terms, add_chunks](recording& to_do, evaluation const& e, address state, address workspace) {
      launch_arguments a = arguments_of(e, state);
      a.p[30] = workspace;
      to_do.launch(add_terms, a), to_do.launch(add_chunks, a);
    };
  }

 private:
  /// Whether a dim is in the result and no window moves over it.
  bool is_kept(int d) const {
    int const at = y_.find(d);
    return at >= 0 && !p_.is_windowed(p_.roles[2], at);
  }
  std::string result_offset() const {
    std::string t;
    for (int i = 0; i < y_.count; ++i) add_offset(t, "y" + std::to_string(i), y_.stride[i]);
    return t;
  }
  /// Writes the loop over the terms of one element, or over the terms of a chunk.
  std::string terms_text(std::string const& sum) const {
    std::string t = paddings_text(m_, conv_attributes::of(n_).first, p_.count), offset[2];
    for (int o = 0; o < 2; ++o)
      for (int i = 0; i < x_[o].count; ++i) {
        int const d = x_[o].dim[i];
        if (p_.is_windowed(p_.roles[o], i)) continue;
        if (is_kept(d)) add_offset(offset[o], "y" + std::to_string(y_.find(d)), x_[o].stride[i]);
        else
          add_offset(offset[o], "j" + std::to_string(std::ranges::find(summed_, d) - summed_.begin()), x_[o].stride[i]);
      }
    add(t, {"for (i64 j = ", terms_, "ll * chunk / ", chunks_, "; j < ", terms_, "ll * (chunk + 1) / ", chunks_,
            "; ++j) {\n", indices_text("j", "j", inner_), "bool meets = true;\n"});
    for (int k = 0; k < p_.count; ++k) {
      conv_rule::window_in_memory const& w = p_.windows[k];
      std::string const at = "y" + std::to_string(w.position[p_.roles[2]]),
                        free = "j" + std::to_string(summed_.size() + static_cast<std::size_t>(k));
      bool const by_kernel = p_.direction == conv_direction::kernel;
      t += by_kernel ? meeting_text(k, seen_by_operand(p_, k), free, at)
                     : meeting_text(k, seen_by_operand(p_, k), at, free);
      add_offset(offset[0], "x" + std::to_string(k), w.stride[p_.roles[0]]);
      add_offset(offset[1], free, w.stride[p_.roles[1]]);
    }
    t += "if (!meets) continue;\n";
    for (int o = 0; o < 2; ++o)
      add(t, {"const ", sum, " term", o, " = (", sum, ")get(((const ", type_text(x_[o].type), "*)a.p[", o, "])[0",
              offset[o], "]);\n"});
    return t + "r.add(do_multiply(term0, term1));\n}\n";
  }

  meshtensor::module const& m_;
  node const& n_;
  view const* x_;
  view const& y_;
  conv_rule::problem p_;
  std::vector<int> summed_;                  // summed dims
  std::vector<std::int64_t> outer_, inner_;  // extents of the result, and of summed dims and free window dims
  std::int64_t terms_ = 1, chunks_ = 1;
};

}  // namespace meshtensor::cuda::detail
