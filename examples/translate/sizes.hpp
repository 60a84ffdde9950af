// SPDX-License-Identifier: Apache-2.0
// Computes the extents that are chosen at start-up from the options.
#pragma once

#include <memory>
#include <tuple>

#include "../translate.hpp"
#include "command_line.hpp"

namespace translation {

struct model_size {
  std::int64_t layers, d_model, heads, d_ff;
};
inline model_size size_of(std::string const& name) {
  if (name == "base") return {6, 512, 8, 2048};
  if (name == "tiny") return {4, 128, 4, 256};
  return {2, 64, 2, 128};
}

/// All extents of the model and the mesh, followed by `more`.
inline auto sizes(options const& o, std::int64_t pieces, auto... more) {
  model_size const m = size_of(o.size);
  return std::tuple(data(o.mesh.at("data")), model(o.mesh.at("model")), vocab(pieces), layers(m.layers),
                    d_model(m.d_model), heads(m.heads), d_head(m.d_model / m.heads), d_ff(m.d_ff), more...);
}
template <class Executable>
std::unique_ptr<Executable> made(mt::store& weights, auto const& given) {
  return std::apply([&](auto const&... each) { return std::make_unique<Executable>(weights, each...); }, given);
}

/// Whether a value of the store belongs to the model.
inline bool is_model(std::string const& name) { return name.starts_with("model/"); }
/// Whether a training needs a value to go on. It does not need the caches of a translation.
inline bool is_training(std::string const& name) { return !name.starts_with("memory/"); }

}  // namespace translation
