// SPDX-License-Identifier: Apache-2.0
// Chooses sums and products to defer, so that factors of few dims are multiplied with each other first. The tensor of
// all dims is then multiplied by their product.
#pragma once

#include "meshtensor/emit/stablehlo/linear_writer.hpp"
#include "meshtensor/emit/stablehlo/variance.hpp"
#include "meshtensor/graph/locate.hpp"

namespace meshtensor::hlo {

/// Defers sums and products of a value that has several dims and of others that have some of these dims.
class linear_nodes {
 public:
  linear_nodes(emission& e, node const& n) : e_(e), n_(n), result_(e.m.result_value(n)), small_(e, result_, shape()) {}

  /// Whether the node is deferred.
  bool takes() {
    if (result_.type != dtype::f32 && result_.type != dtype::f64) return false;
    if (result_.dims.count < 2 || n_.operands.count != 2 || !is_joined()) return false;
    if (applies(n_, function::multiply))
      return multiplies(0) || multiplies(1) || multiplies_term(0) || multiplies_term(1);
    if (applies(n_, function::subtract) || applies(n_, function::add)) return adds();
    return false;
  }
  /// The sum of products by one factor, computed as the sum times the factor.
  std::optional<value> sum() {
    auto const off = e_.put_off.find(e_.m.operand(n_, 0));
    if (off == e_.put_off.end()) return {};
    linear_form const& f = off->second;
    if (!is_product(f) || !result_.dims.includes(f.terms.front().factor->dims)) return {};
    linear_term const& x = f.terms.front();
    value const y = reduce(e_.w, reduction::sum, centred(x), lost(e_.dims(n_), result_.dims));
    return binary(e_.w, "multiply", {y, e_.laid(x.factor->what, x.factor->dims, result_.dims, y.type.shape)});
  }

 private:
  static bool is_product(linear_form const& f) { return f.terms.size() == 1 && f.terms[0].factor && !f.rest; }
  extents shape() const { return e_.type_of(e_.m.result(n_)).shape; }
  bool has_all(int i) const { return e_.dims(n_, i).count == result_.dims.count; }
  bool is_small(int i) const { return e_.dims(n_, i).count > 0 && !has_all(i); }
  small_value small(int i) { return {e_.operand(n_, i), e_.dims(n_, i)}; }
  bool is_used_once(value_id v) const { return e_.uses[v].count == 1; }
  bool has_same_order(int i) const {
    for (int k = 0; k < result_.dims.count; ++k)
      if (e_.dims(n_, i).at[k] != result_.dims.at[k]) return false;
    return true;
  }
  bool put_off(linear_form f) {
    e_.put_off.emplace(e_.m.result(n_), std::move(f));
    return true;
  }
  /// Whether a user of the result may join it to others, or the result joins a deferred operand.
  bool is_joined() const {
    return e_.uses[e_.m.result(n_)].joining > 0 || (known(0) != nullptr && has_all(0)) ||
           (known(1) != nullptr && has_all(1));
  }

  /// The form of an operand of all dims. If the operand was not deferred, the form has one term.
  linear_form form(int i) {
    if (linear_form const* f = known(i)) return *f;
    linear_form f;
    f.terms.push_back({.whole = e_.laid(n_, i), .is_narrow = is_widened(i)});
    return f;
  }
  linear_form const* known(int i) const {
    value_id const v = e_.m.operand(n_, i);
    auto const off = e_.put_off.find(v);
    if (off == e_.put_off.end() || !has_same_order(i)) return nullptr;
    return off->second.terms.size() == 1 || is_used_once(v) ? &off->second : nullptr;
  }
  bool is_widened(int i) const {
    node const& maker = e_.m.nodes[e_.m.operand_value(n_, i).node];
    return applies(maker, function::cast) && e_.m.operand_value(maker, 0).type == dtype::bf16;
  }
  value centred(linear_term const& x) {
    return x.centre ? binary(e_.w, "subtract", {x.whole, small_whole(x).broadcast(*x.centre)}) : x.whole;
  }
  small_values small_whole(linear_term const& x) { return {e_, e_.m.operand_value(n_, 0), x.whole.type.shape}; }

  /// Defers the product of a tensor of all dims and a tensor of fewer dims.
  bool multiplies(int whole) {
    int const by = 1 - whole;
    if (!has_all(whole) || !is_small(by)) return false;
    linear_form f = form(whole);
    for (linear_term const& x : f.terms) {
      if (f.terms.size() > 1 && !x.factor) return whole_alone(whole, by);
      if (x.factor && !small_.are_small(x.factor->dims, e_.dims(n_, by))) return whole_alone(whole, by);
    }
    if (f.rest && !small_.are_small(f.rest->dims, e_.dims(n_, by))) return whole_alone(whole, by);
    small_value const s = small(by);
    for (linear_term& x : f.terms) x.factor = x.factor ? small_.binary("multiply", *x.factor, s) : s;
    if (f.rest) f.rest = small_.binary("multiply", *f.rest, s);
    return put_off(std::move(f));
  }
  bool whole_alone(int whole, int by) {
    linear_form f;
    f.terms.push_back({.whole = e_.laid(n_, whole), .factor = small(by)});
    return put_off(std::move(f));
  }
  /// Defers the product of a tensor of all dims and a deferred product of all dims by a factor. The only user must sum
  /// the result along dims that the factor lacks.
  bool multiplies_term(int i) {
    if (!has_all(0) || !has_all(1)) return false;
    linear_form const* const f = known(i);
    if (f == nullptr || !is_product(*f)) return false;
    auto const& u = e_.uses[e_.m.result(n_)];
    if (u.count != 1 || u.summed_to == nullptr || !u.summed_to->includes(f->terms[0].factor->dims)) return false;
    linear_term x = f->terms[0];
    small_value const factor = *x.factor;
    value const product = binary(e_.w, "multiply", {e_.laid(n_, 1 - i), centred(x)});
    linear_form r;
    r.terms.push_back({.whole = product, .factor = factor});
    return put_off(std::move(r));
  }
  bool adds() {
    bool const minus = applies(n_, function::subtract);
    if (has_all(0) && is_small(1)) {
      linear_form const* const f = known(0);
      if (f == nullptr && !minus) return false;
      if (f == nullptr) {
        linear_form r = form(0);
        r.terms[0].centre = small(1), r.terms[0].variance = moments_of_bf16(e_, n_).variance_about(e_.m.operand(n_, 1));
        return put_off(std::move(r));
      }
      if (f->rest && !small_.are_small(f->rest->dims, e_.dims(n_, 1))) return false;
      linear_form r = *f;
      add_rest(small_, r, small(1), minus);
      return put_off(std::move(r));
    }
    if (!has_all(0) || !has_all(1)) return false;
    if (known(0) == nullptr && known(1) == nullptr) return false;
    linear_form a = form(0), b = form(1);
    if (a.rest && b.rest && !small_.are_small(a.rest->dims, b.rest->dims)) return false;
    for (linear_term& x : b.terms) {
      x.is_subtracted = x.is_subtracted != minus;
      a.terms.push_back(std::move(x));
    }
    if (b.rest) add_rest(small_, a, *b.rest, b.rest_is_subtracted != minus);
    return put_off(std::move(a));
  }

  emission& e_;
  node const& n_;
  meshtensor::value const& result_;
  small_values small_;
};

}  // namespace meshtensor::hlo
