// SPDX-License-Identifier: Apache-2.0
// Adds lists, values and results of nodes to a module, at the region, path and phase of new nodes.
#pragma once

#include <initializer_list>
#include <span>

#include "meshtensor/graph/frame.hpp"
#include "meshtensor/graph/table_builder.hpp"

namespace meshtensor {

struct value_builder : table_builder {
  region_id region;         // of new nodes
  path_id path;             // of new nodes; no_id is the root
  bool site_is_held;        // nodes of the library's own layers report the line that called the layer
  id copy;                  // of new nodes; see node::copy
  meshtensor::phase phase;  // of new nodes
  id called;                // of new nodes; see node::called

  constexpr explicit value_builder(module& target)
      : table_builder(target),
        region(no_id),
        path(no_id),
        site_is_held(false),
        copy(0),
        phase(meshtensor::phase::forward),
        called(0) {}

  constexpr list add_links(ids l) {
    if (!expect(l.size() <= id_list<>::most,
                "G12 one node has more than 1024 operands or results, as a gradient by so many parameters: write equal "
                "layers as one repeat"))
      l = l.first(id_list<>::most);
    make_room(m.link_count, static_cast<int>(l.size()), max_links, "G02", "operands and results");
    list const result{static_cast<id>(m.link_count), static_cast<id>(l.size())};
    for (value_id i : l) m.links[m.link_count++] = i;
    return result;
  }
  constexpr list_of<region_id> add_links(std::span<region_id const> l) {
    make_room(m.link_count, static_cast<int>(l.size()), max_links, "G02", "operands and results");
    list_of<region_id> const result{static_cast<id>(m.link_count), static_cast<id>(l.size())};
    for (region_id r : l) m.links[m.link_count++] = r;
    return result;
  }

  constexpr value_id add_value(dtype type, shape dims, node_id maker, int index) {
    make_room(m.value_count, 1, max_values, "G02", "tensors");
    if (!expect(dims.fits(), "T07 a tensor has more than 10 dims: merge some, or sum over them before")) dims = {};
    value& v = m.values[m.value_count];
    v.type = type, v.dims = dims, v.node = maker, v.region = region, v.index = static_cast<id>(index);
    return static_cast<value_id>(m.value_count++);
  }

  /// Adds one more result to the node that was made last.
  constexpr value_id add_result(node_id maker, dtype type, shape const& dims) {
    node& n = m.nodes[maker];
    value_id const v = add_value(type, dims, maker, n.results.count);
    if (n.results.count == 0) n.results.first = static_cast<id>(m.link_count);
    expect(n.results.first + n.results.count == m.link_count, "G19 results are added to the last node only");
    add_links(std::initializer_list<value_id>{v});
    ++n.results.count;
    return v;
  }
};

}  // namespace meshtensor
