// SPDX-License-Identifier: Apache-2.0
// The names and the order of dims of the tensors in torchvision's residual networks. There, each block has its own
// tensors. Here, the equal blocks of a stage are stacked in one value.
#pragma once

#include <string>

#include <meshtensor/io/tensor_names.hpp>

#include "sizes.hpp"

namespace resnet {

/// The names of the network under `scope`, which is "model" or "average".
class torch_names {
 public:
  torch_names(options const& o, std::string scope) : scope_(std::move(scope)) {
    bool const wide = depth_of(o).has_bottlenecks;
    std::string from = wide ? "stem_out" : "out_2";
    conv_norm("stem", {"color", from}, 7, "conv1", "bn1");
    for (int n = 2; n <= 5; ++n) {
      std::string const path = "conv" + std::to_string(n) + "_x", layer = "layer" + std::to_string(n - 1);
      std::string const out = of("out", n);
      bool const has_first = from != out;
      if (has_first) {
        block(path + "/first", layer + ".0.", from, n, wide);
        conv_norm(path + "/first/shortcut", {from, out}, 1, layer + ".0.downsample.0", layer + ".0.downsample.1");
      }
      along_ = of("blocks", n), first_ = has_first ? 1 : 0;
      block(path + "/rest", layer + ".{}.", out, n, wide);
      along_.clear(), from = out;
    }
    add("scores/weight", "fc.weight", {"classes", "out_5"});
    add("scores/bias", "fc.bias", {"classes"});
  }
  mt::tensor_names const& all() const { return names_; }

 private:
  static std::string of(char const* name, int stage) { return name + ("_" + std::to_string(stage)); }

  void add(std::string const& value, std::string const& tensor, std::vector<std::string> dims) {
    names_.push_back({scope_ + "/" + value, tensor, std::move(dims), along_, first_});
  }
  struct channels {
    std::string from, into;
  };
  void conv_norm(std::string const& path, channels const& c, int size, std::string const& conv,
                 std::string const& norm) {
    std::string const kernel = std::to_string(size);
    add(path + "/conv/kernel", conv + ".weight", {c.into, c.from, "rows_of_" + kernel, "cols_of_" + kernel});
    add(path + "/norm/gain", norm + ".weight", {c.into});
    add(path + "/norm/bias", norm + ".bias", {c.into});
    add(path + "/norm/mean", norm + ".running_mean", {c.into});
    add(path + "/norm/variance", norm + ".running_var", {c.into});
  }
  void block(std::string const& path, std::string const& layer, std::string const& from, int n, bool wide) {
    std::string const inner = of("inner", n), next = of("next", n), out = of("out", n);
    auto const nth = [&](char const* number, channels const& c, int size) {
      conv_norm(path + "/" + number, c, size, layer + "conv" + number, layer + "bn" + number);
    };
    nth("1", {from, inner}, wide ? 1 : 3);
    nth("2", {inner, wide ? next : out}, 3);
    if (wide) nth("3", {next, out}, 1);
  }

  std::string scope_, along_;
  std::int64_t first_ = 0;
  mt::tensor_names names_;
};

}  // namespace resnet
