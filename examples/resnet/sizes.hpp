// SPDX-License-Identifier: Apache-2.0
// Computes the extents that are chosen at start-up from the options.
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>

#include "../resnet.hpp"
#include "command_line.hpp"

namespace resnet {

inline depth const& depth_of(options const& o) {
  return *std::find_if(std::begin(depths), std::end(depths), [&](depth const& d) { return d.layers == o.depth; });
}

/// All extents of the model and the mesh, followed by `more`.
template <class Block>
auto sizes(options const& o, std::int64_t class_count, auto... more) {
  auto const& blocks = depth_of(o).blocks;
  std::int64_t const w = o.width, out = w * Block::widening, first = 1;
  auto const common = std::tuple(data(o.mesh.at("data")), over_rows(o.mesh.at("rows")), over_cols(o.mesh.at("cols")),
                                 model(o.mesh.at("model")), rows(o.size), cols(o.size), classes(class_count),
                                 blocks_3(blocks[1] - first), blocks_4(blocks[2] - first), blocks_5(blocks[3] - first),
                                 out_2(out), out_3(2 * out), out_4(4 * out), out_5(8 * out), inner_2(w), inner_3(2 * w),
                                 inner_4(4 * w), inner_5(8 * w), more...);
  if constexpr (std::is_same_v<std::remove_const_t<decltype(Block::stem)>, struct stem_out>)
    return std::tuple_cat(common, std::tuple(stem_out(w), blocks_2(blocks[0] - first)));
  else return std::tuple_cat(common, std::tuple(blocks_2(blocks[0])));
}
template <class Executable>
std::unique_ptr<Executable> made(mt::store& weights, auto const& given) {
  return std::apply([&](auto const&... each) { return std::make_unique<Executable>(weights, each...); }, given);
}

/// Whether a value of the store belongs to the network. This includes its running averages.
inline bool is_model(std::string const& name) { return name.starts_with("model/"); }

}  // namespace resnet
