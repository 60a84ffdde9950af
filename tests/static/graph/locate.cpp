// SPDX-License-Identifier: Apache-2.0
// Where a node comes from, as findings say it: no directories, no number where there is no value.
#include "meshtensor/graph/locate.hpp"

#include "meshtensor/graph/builder.hpp"

namespace mt = meshtensor;

constexpr mt::diagnostic where(char const* file, bool with_result) {
  mt::module m{};
  mt::builder b(m);
  b.begin_region(mt::region_kind::entry, b.intern(mt::name("e")));
  b.site = b.add_site(file, 31);
  mt::value_id const x = b.add(mt::primitive::input, {}, mt::dtype::f32, mt::shape{});
  mt::node_id const n = with_result ? m.values[x].node : b.add_node(mt::primitive::output, 0, mt::ids(&x, 1));
  mt::diagnostic d{};
  d << "G99 something";
  return mt::locate(d, m, m.nodes[n]);
}
static_assert(where("train.cpp", true).view() == "G99 something (node %0 input, train.cpp:31)");
static_assert(where("a/long/way/train.cpp", true).view() == "G99 something (node %0 input, train.cpp:31)");
static_assert(where("train.cpp", false).view() == "G99 something (node output, train.cpp:31)");
static_assert(mt::file_name({nullptr, 0}).empty());
