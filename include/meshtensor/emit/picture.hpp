// SPDX-License-Identifier: Apache-2.0
// Draws a plan's parts as text: which rank holds which elements of a tensor, and to which rank a move sends them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/emit/picture_of_moves.hpp"

namespace meshtensor {
namespace detail {

class picture_writer : moves_writer {
 public:
  using moves_writer::moves_writer;

  /// All pictures of a program.
  std::string all() {
    struct drawn {
      std::string of, picture, names;
      int more = 0;
    };
    std::vector<drawn> held;
    auto const add = [&](std::string const& name, value const& v) {
      std::string const picture = tensor(v);
      if (picture.empty()) return;
      std::string const of = "[" + dims(v.dims, v.layout) + "]";
      auto const same = std::ranges::find_if(held, [&](drawn const& d) { return d.picture == picture; });
      if (same == held.end()) held.push_back({of, picture, name});
      else if (same->names.size() + name.size() + 2 < picture_columns - 40) same->names += ", " + name;
      else ++same->more;
    };
    each_port(add);
    std::string text;
    for (drawn const& d : held) {
      std::string title = d.names + (d.more == 0 ? "" : " and " + std::to_string(d.more) + " more");
      text += (text.empty() ? "" : "\n") + cut(title + " " + d.of) + "\n" + d.picture;
    }
    std::vector<std::string> told;
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (n.kind != primitive::move || m_.regions[n.region].removed) continue;
      std::string const one = move(n);
      if (one.empty() || std::ranges::find(told, one) != told.end()) continue;
      text += (text.empty() ? "" : "\n") + one;
      told.push_back(one);
    }
    return text;
  }
};

}  // namespace detail

/// The parts of a program's inputs, parameters and outputs, and the subboxes of its moves, as text of at most 100
/// columns. The text shows which rank holds which elements, and from which rank a move takes them. Tensors with equal
/// parts share a picture. A tensor that no axis shards has none.
template <class = lazy>
std::string pictures(module const& graph, plan const& planned, mesh_shape const& mesh) {
  return detail::picture_writer(graph, planned, mesh).all();
}

#if MESHTENSOR_COMPILED
extern template std::string pictures<lazy>(module const&, plan const&, mesh_shape const&);
#endif

}  // namespace meshtensor
