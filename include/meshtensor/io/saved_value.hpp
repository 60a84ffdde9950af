// SPDX-License-Identifier: Apache-2.0
// A value in files. It is cut along its dims into blocks, and each block is in one file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meshtensor/base/config.hpp"
#include "meshtensor/graph/merge_rule.hpp"
#include "meshtensor/graph/replica_sharing.hpp"
#include "meshtensor/io/checksum.hpp"
#include "meshtensor/io/notes.hpp"
#include "meshtensor/io/storage.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace meshtensor::io {

/// One dim of a saved value. It has a name, which is empty if the files have none, the axes over which the dim was
/// sharded, and the extents of its parts.
struct saved_dim {
  dim_extent dim;
  std::string over;
  std::vector<std::int64_t> parts;
};

/// A block's origin in the whole value, and its extents.
struct saved_block {
  std::int64_t origin[max_dims_of_one], extent[max_dims_of_one];
};

struct saved_value {
  storage const* stored = nullptr;  // null: of a dtype that is not known here …
  std::string dtype = {};           // … which has this name
  std::vector<saved_dim> dims = {};
  std::vector<int> files = {};  // of each block, row-major
  int replica_dim = -1;         // the position of the dim of replicas, or -1 if the files do not say that it has one
  merge_rule merge = merge_rule::automatic;
  shared_by_replicas shared = shared_by_replicas::nothing;

  saved_block block(std::size_t k) const {
    saved_block b{};
    for (std::size_t i = dims.size(); i-- > 0;) {
      auto const& parts = dims[i].parts;
      std::size_t const at = k % parts.size();
      k /= parts.size();
      for (std::size_t j = 0; j < at; ++j) b.origin[i] += parts[j];
      b.extent[i] = parts[at];
    }
    return b;
  }
  std::int64_t bytes_of(saved_block const& b) const {
    std::int64_t n = stored->bytes;
    for (std::size_t i = 0; i < dims.size(); ++i) n *= b.extent[i];
    return n;
  }
  /// For example `f32[d_model=512, d_ff=2048/model=2]`, or `F16[512, 2048]`.
  std::string text() const {
    bool const is_known = stored != nullptr && stored->type;
    std::string t = std::string(is_known ? meshtensor::text_of(*stored->type) : dtype.c_str()) + "[";
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (i != 0) t += ", ";
      if (!dims[i].dim.label.empty()) t += dims[i].dim.label.text() + "=";
      t += std::to_string(dims[i].dim.extent);
      if (!dims[i].over.empty()) t += "/" + dims[i].over;
    }
    return t + "]";
  }
};

}  // namespace meshtensor::io
