// SPDX-License-Identifier: Apache-2.0
// Differentiates a composite by its custom gradient.
#pragma once

#include <span>
#include <string_view>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/pass/copy_region.hpp"
#include "meshtensor/pass/differentiate/copied_region.hpp"
#include "meshtensor/pass/differentiate/zero_values.hpp"

namespace meshtensor::detail {

constexpr name gradient_name(module const& m, node const& n) {
  name const& label = m.names[name_of(n)];
  char text[name::capacity] = {};
  std::size_t size = 0;
  for (; size < label.size() && size < name::capacity - 9; ++size) text[size] = label[size];
  for (char c : std::string_view("_gradient")) text[size++] = c;
  return name::of({text, size});
}

constexpr void leaves_out_a_cotangent(builder& b, node const& n) {
  meshtensor::module const& m = b.m;
  diagnostic d{};
  b.note(d << "G35 the gradient of the composite '" << m.names[name_of(n)]
           << "' depends on a result but not on its cotangent, so this derivative would be wrong: use the cotangent, "
              "or let the gradient take cotangents of the first results only, and others go through the body");
}

/// The operand of a composite's gradient for argument `i`. The arguments are the composite's operands, then its
/// results, then their cotangents.
constexpr value_id argument_of_gradient(differentiation& d, node const& n, int i) {
  builder& b = d.b;
  meshtensor::module const& m = b.m;
  int const given = n.operands.count, results = n.results.count;
  if (i >= given + results) return d.cotangent(m.result(n, i - given - results));
  return b.use(d.forward(i < given ? m.operand(n, i) : m.result(n, i - given)));
}

/// If the loss needs only some of the results, the terms of the gradient that come from the other cotangents are left
/// out. The nodes are then not in a composite, because devices know the composite only with all of its operands.
constexpr void own_gradient_in_part(differentiation& d, node_id forward, int taken,
                                    id_list<max_operands, id> const& targets) {
  builder& b = d.b;
  meshtensor::module const& m = b.m;
  node const n = m.nodes[forward];
  region const r = m.regions[m.region_of(n, 1)];
  zero_values zeros;
  for (int k = 0; k < taken; ++k)
    if (!d.has_cotangent(m.result(n, k))) zeros.add(m.link(r.arguments, n.operands.count + n.results.count + k));
  zeros.follow(m, m.region_of(n, 1), m.values[m.link(r.arguments, 0)].node, forward);
  region_copy body(b, forward, 1, &zeros);
  for (id i : std::span<id const>(targets)) body.need(i);
  body.find_needed();
  for (int i = 0; i < r.arguments.count; ++i)
    if (body.needs_argument(i)) body.give(i, argument_of_gradient(d, n, i));
  body.copy();
  for (id i : std::span<id const>(targets))
    if (!zeros.has(m.link(r.results, i))) d.contribute(m.operand(n, i), body.result(i));
}

/// The composite's own gradient becomes another composite. Its operands are the operands, results and cotangents that
/// the gradient reads, and its results are the cotangents of the targets. Its region is copied after its operands
/// exist, because arguments come after their operands.
constexpr void own_gradient_backwards(differentiation& d, node_id forward, int taken) {
  builder& b = d.b;
  meshtensor::module& m = b.m;
  node const n = m.nodes[forward];
  region_copy body(b, forward, 1);
  id_list<> operands{};
  id_list<max_operands, id> places{}, targets{};
  int const given = n.operands.count, results = n.results.count;
  for (int i = 0; i < given; ++i) {
    body.need(i);  // for all targets, so that a device can recognize it by its operands
    if (d.differentiable(m.operand(n, i))) targets.add(static_cast<id>(i));
  }
  body.find_needed();
  bool all = true;
  for (int k = 0; k < taken; ++k) {
    bool const known = d.has_cotangent(m.result(n, k)), uses = body.needs_argument(given + results + k);
    if (known && body.needs_argument(given + k) && !uses) return leaves_out_a_cotangent(b, n);
    all = all && (known || !uses);
  }
  if (!all) return own_gradient_in_part(d, forward, taken, targets);
  for (int i = 0; i < given + results + taken; ++i) {
    if (!body.needs_argument(i)) continue;
    places.add(static_cast<id>(i));
    operands.add(argument_of_gradient(d, n, i));
  }
  region_id const owned[] = {copied_region(b, body, m.region_of(n, 1), places, targets)};
  node_id const made = b.add_node(primitive::composite, 0, operands,
                                  composite_attributes{b.intern(gradient_name(m, n)), operands.count, false}.packed());
  m.nodes[made].regions = b.add_links(owned);
  id_list<> terms{};
  for (id i : std::span<id const>(targets)) {
    value const x = m.operand_value(n, i);
    terms.add(b.add_result(made, x.type, x.dims));
  }
  for (int i = 0; i < targets.count; ++i) d.contribute(m.operand(n, targets.at[i]), terms.at[i]);
}

}  // namespace meshtensor::detail
