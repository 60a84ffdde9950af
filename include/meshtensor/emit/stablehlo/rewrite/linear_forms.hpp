// SPDX-License-Identifier: Apache-2.0
// Defers sums and products, so that factors of few dims are multiplied with each other first. The tensor of all dims is
// then multiplied by their product.
#pragma once

#include "meshtensor/emit/stablehlo/rewrite/linear_form.hpp"
#include "meshtensor/emit/stablehlo/rewrite/variance.hpp"

namespace meshtensor::hlo {

/// Defers sums and products of a value that has several dims and of others that have some of these dims.
class linear_forms : linear_rewriter {
 public:
  linear_forms(rewrites& to, binding const& b)
      : linear_rewriter(to), b_(b), uses_(static_cast<std::size_t>(m_.value_count)) {
    for (int i = 0; i < m_.node_count; ++i) count_uses(m_.nodes[i]);
    each_region_result([&](value_id v) { ++uses_[v].count; });
  }

  void find() {
    for (at_ = 0; at_ < m_.node_count; ++at_)
      if (!replaces())
        for (int i = 0; i < n().operands.count; ++i) use(m_.operand(n(), i));
    each_region_result([&](value_id v) { use(v); });
  }

 private:
  /// The users of a value: their number, the number that joins it to others, and the dims to which the last sum reduces
  /// it.
  struct users {
    int count = 0, joining = 0;
    shape const* summed_to = nullptr;
  };
  template <class Call>
  void each_region_result(Call const& call) {
    for (int r = 0; r < m_.region_count; ++r)
      for (int i = 0; i < m_.regions[r].results.count; ++i) call(m_.link(m_.regions[r].results, i));
  }
  static bool joins_others(node const& n) {
    return applies(n, function::multiply) || applies(n, function::add) || applies(n, function::subtract);
  }
  void count_uses(node const& n) {
    for (int i = 0; i < n.operands.count; ++i) {
      users& u = uses_[m_.operand(n, i)];
      ++u.count, u.joining += joins_others(n) || is_sum(n) ? 1 : 0;
      if (is_sum(n)) u.summed_to = &m_.result_value(n).dims;
    }
  }

  /// Whether other operations stand for the node.
  bool replaces() {
    if (!joins_others(n()) && !is_sum(n())) return false;
    if (to_.of.contains(result())) return true;
    if (is_sum(n())) return sums_product();
    dtype const type = m_.values[result()].type;
    if ((type != dtype::f32 && type != dtype::f64) || all().count < 2 || !is_joined()) return false;
    return applies(n(), function::multiply) ? multiplies(0) || multiplies(1) || multiplies_term(0) || multiplies_term(1)
                                            : adds();
  }
  /// Computes the sum of products by one factor as the sum times the factor.
  bool sums_product() {
    auto const f = forms_.find(m_.operand(n(), 0));
    if (f == forms_.end() || !f->second.is_product()) return false;
    linear_term const& x = f->second.terms.front();
    if (!all().includes(dims(x.factor))) return false;
    int const y = centred(x);
    make(op::multiply, make(op::sum, y, y, all(), to_.type(y)), x.factor);
    to_.of[result()].at_node = making(result());
    return true;
  }

  node const& n() const { return m_.nodes[at_]; }
  value_id result() const { return m_.result(n()); }
  shape const& all() const { return dims(result()); }
  shape const& operand_dims(int i) const { return m_.operand_value(n(), i).dims; }
  bool has_all(int i) const { return operand_dims(i).count == all().count; }
  bool is_small(int i) const { return operand_dims(i).count > 0 && !has_all(i); }
  bool defer(linear_form f) {
    forms_.emplace(result(), std::move(f));
    to_.of[result()].at_node = std::exchange(made_, {});
    return true;
  }
  /// Whether a user of the result may join it to others, or the result joins a deferred operand.
  bool is_joined() const { return uses_[result()].joining > 0 || known(0) != nullptr || known(1) != nullptr; }
  /// Makes a deferred value, if this is its first use.
  bool use(value_id v) {
    auto const f = forms_.find(v);
    if (f == forms_.end() || !to_.of[v].at_use.empty()) return false;
    std::vector<operation> outer = std::exchange(made_, {});
    write(f->second, dims(v), at_);
    to_.of[v].at_use = making(v);
    made_ = std::move(outer);
    return true;
  }
  /// An operand in the order of the dims of `like`. If the operand was deferred, this node is written behind it.
  int operand(int i, value_id like) {
    value_id const v = m_.operand(n(), i);
    return use(v) || !(dims(v) == dims(like)) ? make(op::lay_out, v, like, dims(like), to_.type(v)) : v;
  }
  int whole(int i) { return operand(i, result()); }
  int small(int i) { return operand(i, m_.operand(n(), i)); }

  /// The form of an operand of all dims. If the operand was not deferred, the form has one term.
  linear_form form(int i) {
    if (linear_form const* f = known(i)) return *f;
    node const& cast = maker(m_, m_.operand(n(), i));
    bool const is_narrow = applies(cast, function::cast) && m_.operand_value(cast, 0).type == dtype::bf16;
    return {{{.whole = whole(i), .is_narrow = is_narrow}}};
  }
  linear_form const* known(int i) const {
    value_id const v = m_.operand(n(), i);
    auto const f = forms_.find(v);
    if (f == forms_.end() || !(dims(v) == all())) return nullptr;
    return f->second.terms.size() == 1 || uses_[v].count == 1 ? &f->second : nullptr;
  }

  /// Defers the product of a tensor of all dims and a tensor of fewer dims.
  bool multiplies(int i) {
    int const by = 1 - i;
    if (!has_all(i) || !is_small(by)) return false;
    linear_form f = form(i);
    bool joins = f.rest == none || are_few(f.rest, m_.operand(n(), by), all());
    for (linear_term const& x : f.terms)
      joins = joins && (x.factor == none ? f.terms.size() == 1 : are_few(x.factor, m_.operand(n(), by), all()));
    if (!joins) f = {{{.whole = whole(i)}}};
    int const s = small(by);
    for (linear_term& x : f.terms) x.factor = product(x.factor, s);
    if (f.rest != none) f.rest = product(f.rest, s);
    return defer(std::move(f));
  }
  /// Defers the product of a tensor of all dims and a deferred product of all dims by a factor. The only user must sum
  /// the result along dims that the factor lacks.
  bool multiplies_term(int i) {
    if (!has_all(0) || !has_all(1)) return false;
    linear_form const* const f = known(i);
    if (f == nullptr || !f->is_product()) return false;
    users const& u = uses_[result()];
    linear_term const& x = f->terms[0];
    if (u.count != 1 || u.summed_to == nullptr || !u.summed_to->includes(dims(x.factor))) return false;
    int const other = whole(1 - i);
    return defer({{{.whole = make(op::multiply, other, centred(x)), .factor = x.factor}}});
  }
  bool adds() {
    bool const minus = applies(n(), function::subtract);
    if (has_all(0) && is_small(1)) {
      linear_form const* const f = known(0);
      if (f == nullptr && !minus) return false;
      if (f != nullptr && f->rest != none && !are_few(f->rest, m_.operand(n(), 1), all())) return false;
      linear_form r = form(0);
      if (f == nullptr) {
        r.terms[0].centre = small(1);
        r.terms[0].variance = variance_of_bf16(m_, b_, n());
      } else {
        add_rest(r, small(1), minus);
      }
      return defer(std::move(r));
    }
    if (!has_all(0) || !has_all(1) || (known(0) == nullptr && known(1) == nullptr)) return false;
    linear_form a = form(0), b = form(1);
    if (a.rest != none && b.rest != none && !are_few(a.rest, b.rest, all())) return false;
    for (linear_term& x : b.terms) {
      x.is_subtracted = x.is_subtracted != minus;
      a.terms.push_back(x);
    }
    if (b.rest != none) add_rest(a, b.rest, b.rest_is_subtracted != minus);
    return defer(std::move(a));
  }

  binding const& b_;
  std::vector<users> uses_;
  std::map<value_id, linear_form> forms_;
  int at_ = 0;  // the node at hand
};

}  // namespace meshtensor::hlo
