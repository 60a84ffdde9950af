// SPDX-License-Identifier: Apache-2.0
// Copies the nodes of a complete region, and of its inner regions, to the builder's position.
#pragma once

#include "meshtensor/graph/builder.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/pass/differentiate/zero_values.hpp"

namespace meshtensor {

/// A copy of a region's nodes. Call `need` for each wanted result, then `find_needed`, then `give` for each argument,
/// and then `copy`. The region reads only its arguments from outside, as the regions of a composite with a gradient do.
class region_copy {
 public:
  /// Copies region `k` of a node. `left_out` are values of the region that are zero and therefore not copied.
  constexpr region_copy(builder& target, node_id owner, int k, detail::zero_values const* left_out = nullptr)
      : b_(target),
        m_(target.m),
        zeros_(left_out),
        source_(m_.region_of(m_.nodes[owner], k)),
        begin_(owner),
        end_(owner),
        is_needed_{},
        copy_{},
        opened_{} {
    if (list const arguments = m_.regions[source_].arguments; arguments.count != 0)
      begin_ = m_.values[m_.link(arguments, 0)].node;
  }

  /// Requests the result at `place` and all nodes that it depends on.
  constexpr void need(int place) { is_needed_[m_.values[m_.link(m_.regions[source_].results, place)].node] = true; }
  /// Finds the nodes that the requested results depend on. Afterwards `needs_argument` is valid.
  constexpr void find_needed() {
    for (int i = end_; i-- > begin_;) {
      node const& n = m_.nodes[i];
      if (!is_needed_[i]) continue;
      if (is_zero(n)) {
        is_needed_[i] = false;
        continue;
      }
      for (int k = 0; k < n.operands.count; ++k) is_needed_[m_.values[m_.operand(n, k)].node] = true;
      for (int k = 0; k < n.regions.count; ++k)
        for (int j = begin_; j < i; ++j)
          if (m_.nodes[j].region == m_.region_of(n, k)) is_needed_[j] = true;
    }
  }
  constexpr bool needs_argument(int place) const {
    return is_needed_[m_.values[m_.link(m_.regions[source_].arguments, place)].node];
  }

  /// Sets the value that replaces the argument at `place`.
  constexpr void give(int place, value_id v) { replace(m_.link(m_.regions[source_].arguments, place), v); }
  constexpr void copy() {
    region_id const here = b_.region;
    path_id const path = b_.path;
    site_id const site = b_.site;
    opened_[source_] = static_cast<id>(here + 1);
    for (int i = begin_; i < end_; ++i)
      if (is_needed_[i] && !(m_.nodes[i].kind == primitive::argument && m_.nodes[i].region == source_))
        copy(m_.nodes[i]);
    b_.region = here, b_.path = path, b_.site = site;
  }
  /// The copy of the result at `place`.
  constexpr value_id result(int place) const { return (*this)[m_.link(m_.regions[source_].results, place)]; }
  /// The copy of a value, or no_id if it was not copied.
  constexpr value_id copy_of(value_id v) const { return copy_[v] == 0 ? value_id{no_id} : (*this)[v]; }

 private:
  constexpr value_id operator[](value_id v) const { return static_cast<value_id>(copy_[v] - 1); }
  constexpr bool is_zero(node const& n) const {
    return zeros_ != nullptr && n.results.count == 1 && zeros_->has(m_.result(n));
  }
  /// The copy of an operand, or zeros at the builder's position.
  constexpr value_id operand(value_id v) {
    if (zeros_ == nullptr || !zeros_->has(v)) return (*this)[v];
    value const like = m_.values[v];
    value_id const zero = constant(b_, 0, like.type);
    return like.dims.count == 0 ? zero : broadcast(b_, zero, like.dims);
  }
  constexpr void replace(value_id v, value_id made) { copy_[v] = static_cast<id>(made + 1); }

  constexpr region_id region_of(region_id old) {
    if (opened_[old] == 0) {
      region const r = m_.regions[old];
      b_.region = region_of(r.parent);
      opened_[old] = static_cast<id>(b_.begin_region(r.kind, r.label) + 1);
    }
    return static_cast<region_id>(opened_[old] - 1);
  }

  constexpr void copy(node const n) {  // by value, because the table grows
    id_list<> operands{};
    id_list<max_operands, region_id> owned{};
    b_.region = region_of(n.region), b_.path = n.path, b_.site = n.site;
    if (int const k = zeros_ == nullptr ? -1 : zeros_->only_term(m_, n); k >= 0) return copy_term(n, k);
    for (int k = 0; k < n.operands.count; ++k) operands.add(operand(m_.operand(n, k)));
    node_id const made = b_.add_node(n.kind, n.function, operands, attributes_of(n));
    for (int k = 0; k < n.results.count; ++k) {
      value const v = m_.result_value(n, k);
      replace(m_.result(n, k), b_.add_result(made, v.type, v.dims));
    }
    node& again = m_.nodes[made];
    again.path = n.path, again.site = n.site, again.ordinal = n.ordinal, again.called = n.called;
    for (int k = 0; k < n.regions.count; ++k) {
      region const was = m_.regions[m_.region_of(n, k)];
      region_id const r = region_of(m_.region_of(n, k));
      m_.regions[r].arguments = copied(was.arguments), m_.regions[r].results = copied(was.results);
      owned.add(r);
    }
    again.regions = b_.add_links(owned);
  }
  // Replaces a sum with a zero by its other operand.
  constexpr void copy_term(node const& n, int k) {
    value_id v = (*this)[m_.operand(n, k)];
    if (k == 1 && applies(n, function::subtract)) v = negate(b_, v);
    shape const dims = m_.result_value(n).dims;
    replace(m_.result(n), m_.values[v].dims == dims ? v : broadcast(b_, v, dims));
  }
  constexpr list copied(list l) {
    id_list<> all{};
    for (int i = 0; i < l.count; ++i) all.add((*this)[m_.link(l, i)]);
    return b_.add_links(all);
  }

  builder& b_;
  meshtensor::module& m_;
  detail::zero_values const* zeros_;
  region_id source_;
  int begin_, end_;  // nodes
  bool is_needed_[max_nodes];
  id copy_[max_values];     // of a value, plus 1, or 0 if there is none yet
  id opened_[max_regions];  // of a region, plus 1
};

}  // namespace meshtensor
