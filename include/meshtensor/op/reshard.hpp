// SPDX-License-Identifier: Apache-2.0
// reshard: gives one tensor another layout than its dims and its scope imply.
#pragma once

#include "meshtensor/op/transpose.hpp"
#include "meshtensor/tensor/layout.hpp"

namespace meshtensor {

struct reshard_rule {
  static constexpr primitive kind = primitive::reshard;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::request}, {attribute_kind::count}}, .buffer = buffer_use::shared, .text = "{0}"};
  static constexpr void infer(inference& i) { i.give(i[0].type, i.dims_of(0)); }
  static constexpr void gradient(differentiation& d, node const& n) {
    d.contribute(d.b.m.operand(n, 0), d.cotangent(d.b.m.result(n)));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    transpose_rule::evaluate(e);
  }
};

namespace detail {
struct no_rule {
  static constexpr void add_to(layout_rules&, name const&) {}
};
}  // namespace detail

// ---- public functions ----

/// The same tensor with the layout that `rules` give: `reshard(x, shard<length, model>{}, replicate<d_model>{})`. For
/// the dims that they name, they override the implied layout. Operations that use the result reshard it again as they
/// need. Therefore a reshard says *where* communication happens, and it never changes results.
///
/// dims    those of `x`
/// layout  that of the rules. Communication is shown at this line
/// grad    the cotangent, in its own layout
/// errors  T01 a rule names a dim that `x` lacks; S04, S05 as for a layout
template <handle H, class A, class B = detail::no_rule, class C = detail::no_rule>
constexpr auto reshard(H const& x, A, B = {}, C = {}, line const& where = {}) {
  detail::recording const r(x.owner, where);
  layout_rules asked{};
  A::add_to(asked, name{}), B::add_to(asked, name{}), C::add_to(asked, name{});
  meshtensor::module& m = r.b.m;
  id const first = static_cast<id>(m.request_count);
  for (int i = 0; i < asked.count; ++i) {
    if (!r.b.expect(m.request_count < max_rules, "S06 a program asks for more than 64 placements")) break;
    reshard_request row{r.b.find_dim(asked.rules[i].dim), static_cast<id>(asked.rules[i].count), {}};
    if (!m.values[x.id].dims.has(row.dim)) {
      diagnostic d{};
      add_type(d << "T01 reshard names the dim '" << asked.rules[i].dim << "', which its operand lacks, ", m, H::type,
               m.values[x.id].dims);
      r.b.note(d);
    }
    for (int a = 0; a < asked.rules[i].count; ++a) row.axes[a] = r.b.intern(asked.rules[i].axes[a]);
    m.requests[m.request_count++] = row;
  }
  value_id const v = add_node<reshard_rule>(r.b, {x.id}, reshard_attributes{first, asked.count}.packed());
  return detail::wrap<H::type, typename H::dim_list>(r.b, v);
}

}  // namespace meshtensor
