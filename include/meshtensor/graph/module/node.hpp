// SPDX-License-Identifier: Apache-2.0
// Nodes, values and regions of a graph, with the path and the line to which a node belongs.
#pragma once

#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

/// A range of `module::links`, whose elements are ids of one table.
template <class Id>
struct list_of {
  id first, count;
};
using list = list_of<value_id>;

inline constexpr int max_attributes = 5;

/// The part of a training step to which a node belongs. It is only for reports, and no pass depends on it.
enum class phase : std::uint8_t { forward, backward, update };

/// A node of the graph: an operation with its operands, results, regions and attributes.
struct node {
  primitive kind;
  std::uint8_t function;  // depends on `kind`, see primitive.hpp: for example, an elementwise node's scalar function
  bool effect;            // never removed, merged, or reordered against another effect
  meshtensor::phase phase;
  region_id region;
  path_id path;
  site_id site;
  id ordinal;  // random: its index in its path; path and ordinal identify it
  id copy;     // of a layer that may be recomputed: only nodes of the same copy are merged; 0 if there is none
  id called;   // for reports: the composed operation that made it, such as gelu, a row of names plus 1; 0 if none
  id attribute[max_attributes];  // their meaning is in graph/attributes.hpp, and in the structs of operations in op/
  list operands, results;
  list_of<region_id> regions;
};

/// The attributes of a node as it stores them, in `max_attributes` slots. The structs in graph/attributes.hpp and in
/// op/ name the content of each slot, in the order of the primitive's declaration. `of` reads the attributes of a node,
/// and `packed` gives the slots of a node to be made.
struct attributes {
  id at[max_attributes];
};

constexpr void set_attributes(node& n, attributes const& a) {
  for (int i = 0; i < max_attributes; ++i) n.attribute[i] = a.at[i];
}
constexpr attributes attributes_of(node const& n) {
  attributes a{};
  for (int i = 0; i < max_attributes; ++i) a.at[i] = n.attribute[i];
  return a;
}

/// A result of a node. `partition` decides its layout. Before that, all values are unsharded.
struct value {
  dtype type;
  id index;  // among the results of its node
  shape dims;
  placement layout;
  node_id node;
  region_id region;
  id origin;  // of a value on one rank: the value of the whole program of which it is a part, plus 1; 0 if none
};

enum class region_kind : std::uint8_t { entry, body, branch, composite, gradient, kernel };

struct region {
  region_kind kind;
  bool removed;
  name_id label;  // the name of an entry or a composite
  region_id parent;
  list arguments, results;
};

struct path_row {
  path_id parent;
  name_id label;
};

struct site_row {
  char const* file;
  std::uint32_t line;
};

}  // namespace meshtensor
