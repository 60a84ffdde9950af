// SPDX-License-Identifier: Apache-2.0
// Multiplies factors of few dims with each other before the tensor of all dims is multiplied by them.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/graph/locate.hpp"

namespace meshtensor::hlo {

/// An operation on tensors of some of the dims of one value.
class small_values {
 public:
  small_values(emission& e, meshtensor::value const& whole, extents const& shape)
      : e_(e), whole_(whole), shape_(shape) {}

  bool are_small(shape const& a, shape const& b) const { return united(a, b).count < whole_.dims.count; }
  small_value binary(char const* name, small_value const& x, small_value const& y) {
    shape const dims = united(x.dims, y.dims);
    extents of_dims;
    for (int i = 0; i < dims.count; ++i)
      of_dims.push_back(shape_[static_cast<std::size_t>(whole_.dims.find(dims.at[i]))]);
    value const a = e_.laid(x.what, x.dims, dims, of_dims), b = e_.laid(y.what, y.dims, dims, of_dims);
    return {hlo::binary(e_.w, name, {a, b}), dims};
  }
  value broadcast(small_value const& x) { return e_.laid(x.what, x.dims, whole_.dims, shape_); }

 private:
  emission& e_;
  meshtensor::value const& whole_;
  extents shape_;
};

inline void add_rest(small_values& small, linear_form& f, small_value const& x, bool subtracted) {
  if (!f.rest) {
    f.rest = x, f.rest_is_subtracted = subtracted;
  } else if (f.rest_is_subtracted == subtracted) {
    f.rest = small.binary("add", *f.rest, x);
  } else {
    f.rest = subtracted ? small.binary("subtract", *f.rest, x) : small.binary("subtract", x, *f.rest);
    f.rest_is_subtracted = false;
  }
}

/// Whether (x - centre) * factor + rest is written as x * factor + (rest - centre * factor).
inline bool joins_centres(linear_form const& f) {
  int narrow = 0;
  for (linear_term const& t : f.terms) narrow += t.centre && t.is_narrow ? 1 : 0;
  return narrow != 0 && (f.rest || narrow > 1);
}

inline value emission::written(linear_form const& form, meshtensor::value const& v) {
  linear_form f = form;
  type const t = [&] {
    type all{hlo::text_of(v.type), {}};
    all.shape = f.terms.front().whole.type.shape;
    return all;
  }();
  small_values small(*this, v, t.shape);
  if (joins_centres(f))
    for (linear_term& x : f.terms)
      if (x.centre && x.is_narrow) {
        add_rest(small, f, x.factor ? small.binary("multiply", *x.centre, *x.factor) : *x.centre, !x.is_subtracted);
        x.centre.reset();
      }
  std::optional<value> sum;
  bool negative = false;
  for (linear_term const& x : f.terms) {
    value y = x.whole;
    if (x.centre) y = binary(w, "subtract", {y, small.broadcast(*x.centre)});
    if (x.factor) y = binary(w, "multiply", {y, small.broadcast(*x.factor)});
    if (!sum) {
      sum = y, negative = x.is_subtracted;
    } else if (x.is_subtracted == negative) {
      sum = binary(w, "add", {*sum, y});
    } else {
      sum = negative ? binary(w, "subtract", {y, *sum}) : binary(w, "subtract", {*sum, y});
      negative = false;
    }
  }
  if (f.rest) {
    value const rest = small.broadcast(*f.rest);
    if (f.rest_is_subtracted == negative) {
      sum = binary(w, "add", {*sum, rest});
    } else {
      sum = negative ? binary(w, "subtract", {rest, *sum}) : binary(w, "subtract", {*sum, rest});
      negative = false;
    }
  }
  return negative ? unary(w, "negate", *sum) : *sum;
}

/// Puts off sums and products of a value that has several dims and of others that have some of them.
class linear_nodes {
 public:
  linear_nodes(emission& e, node const& n) : e_(e), n_(n), result_(e.m.result_value(n)), small_(e, result_, shape()) {}

  /// Whether the node is put off.
  bool takes() {
    if (result_.type != dtype::f32 && result_.type != dtype::f64) return false;
    if (result_.dims.count < 2 || n_.operands.count != 2 || !is_joined()) return false;
    if (applies(n_, function::multiply))
      return multiplies(0) || multiplies(1) || multiplies_term(0) || multiplies_term(1);
    if (applies(n_, function::subtract) || applies(n_, function::add)) return adds();
    return false;
  }
  /// The sum of products by one factor as the product of the sum.
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
  static bool is_product(linear_form const& f) {
    return f.terms.size() == 1 && f.terms[0].factor && !f.terms[0].is_subtracted && !f.rest;
  }
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
  /// Whether a user of the result may join it to others.
  bool is_joined() const {
    return e_.uses[e_.m.result(n_)].joining > 0 || (known(0) != nullptr && has_all(0)) ||
           (known(1) != nullptr && has_all(1));
  }

  /// An operand of all dims as it was put off, or as one term.
  linear_form form(int i) {
    if (linear_form const* f = known(i)) return *f;
    linear_form f;
    f.terms.push_back({e_.laid(n_, i), {}, {}, false, is_widened(i)});
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

  /// All dims times some.
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
    f.terms.push_back({e_.laid(n_, whole), {}, small(by), false, false});
    return put_off(std::move(f));
  }
  /// All dims times a product of all dims and some, which is summed along the others.
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
    r.terms.push_back({product, {}, factor, false, false});
    return put_off(std::move(r));
  }
  bool adds() {
    bool const minus = applies(n_, function::subtract);
    if (has_all(0) && is_small(1)) {
      linear_form const* const f = known(0);
      if (f == nullptr && !minus) return false;
      if (f == nullptr) {
        linear_form r = form(0);
        r.terms[0].centre = small(1);
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
