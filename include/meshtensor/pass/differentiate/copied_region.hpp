// SPDX-License-Identifier: Apache-2.0
// Makes a region from a part of another one.
#pragma once

#include <span>

#include "meshtensor/pass/copy_region.hpp"

namespace meshtensor::detail {

/// Makes a region like `source`, with the arguments at `places` and the results at `targets`.
constexpr region_id copied_region(builder& b, region_copy& body, region_id source, std::span<id const> places,
                                  std::span<id const> targets) {
  meshtensor::module& m = b.m;
  region_id const here = b.region;
  region const original = m.regions[source];
  region_id const fresh = b.begin_region(original.kind, original.label);
  id_list<> arguments{}, results{};
  for (id i : places) {
    value const like = m.values[m.link(original.arguments, i)];
    value_id const a = b.add_argument(like, like.dims);
    set_place(m.nodes[m.values[a].node], arguments.count);
    body.give(i, a), arguments.add(a);
  }
  body.copy();
  for (id i : targets) results.add(body.result(i));
  m.regions[fresh].arguments = b.add_links(arguments), m.regions[fresh].results = b.add_links(results);
  b.region = here;
  return fresh;
}

}  // namespace meshtensor::detail
