// SPDX-License-Identifier: Apache-2.0
// Sums of tensors that may be shifted and multiplied by tensors of fewer dims, and the operations that compute them
// with few operations on all dims. Norms and their gradients are such sums.
#pragma once

#include "meshtensor/emit/stablehlo/rewrite/rewriter.hpp"

namespace meshtensor::hlo {

inline constexpr int none = -1;

/// The term (whole - centre) * factor, which is added or subtracted.
struct linear_term {
  int whole, centre = none, factor = none;
  bool is_subtracted = false;
  bool is_narrow = false;    // `whole` is a widened bf16, so a difference from its centre saves none of its own digits
  value_id variance{no_id};  // of `whole` about its centre, in f64, if the program has it
};

/// The sum of the terms, plus or minus `rest`. The first term is not subtracted.
struct linear_form {
  std::vector<linear_term> terms{};
  int rest = none;
  bool rest_is_subtracted = false;

  bool is_product() const { return terms.size() == 1 && terms[0].factor != none && rest == none; }
};

class linear_rewriter : protected rewriter {
 protected:
  using rewriter::rewriter;

  /// Whether the dims of both together are fewer than those of `whole`.
  bool are_few(int x, int y, shape const& whole) const { return united(dims(x), dims(y)).count < whole.count; }
  int product(int x, int y) { return x == none ? y : make(op::multiply, x, y); }
  int centred(linear_term const& x) { return x.centre == none ? x.whole : make(op::subtract, x.whole, x.centre); }
  /// Adds a tensor of fewer dims to the rest of a form.
  void add_rest(linear_form& f, int x, bool subtracted) {
    if (f.rest == none) {
      f.rest = x, f.rest_is_subtracted = subtracted;
    } else if (f.rest_is_subtracted == subtracted) {
      f.rest = make(op::add, f.rest, x);
    } else {
      f.rest = subtracted ? make(op::subtract, f.rest, x) : make(op::subtract, x, f.rest);
      f.rest_is_subtracted = false;
    }
  }
  /// Makes the value of a form, whose tensors have these dims, before the node `at`.
  void write(linear_form f, shape const& whole, int at) {
    join_centres(f, whole, at);
    int sum = none;
    auto const add = [&](int y, bool is_subtracted) {
      sum = sum == none ? y : make(is_subtracted ? op::subtract : op::add, sum, y);
    };
    for (linear_term const& x : f.terms) {
      int const y = centred(x);
      add(x.factor == none ? y : product(y, x.factor), x.is_subtracted);
    }
    if (f.rest != none) add(f.rest, f.rest_is_subtracted);
  }

 private:
  /// Whether a term (x - centre) * factor of a sum with `rest` can be written as x * factor. The product of few dims,
  /// centre * factor, then joins `rest`.
  bool joins(linear_form const& f, linear_term const& t, shape const& whole) const {
    if (t.centre == none || !t.is_narrow) return false;
    shape all = dims(t.centre);
    for (int x : {t.factor, f.rest})
      if (x != none) all = united(all, dims(x));
    return all.count < whole.count;
  }
  /// Writes (x - centre) * factor + rest as x * factor + (rest - centre * factor), if that saves a difference of all
  /// dims.
  void join_centres(linear_form& f, shape const& whole, int at) {
    int narrow = 0;
    for (linear_term const& t : f.terms) narrow += joins(f, t, whole) ? 1 : 0;
    if (narrow < (f.rest == none ? 2 : 1)) return;
    for (linear_term& t : f.terms) {
      if (!joins(f, t, whole)) continue;
      if (t.factor != none) t.factor = without_constants(t, at);
      add_rest(f, t.factor == none ? t.centre : product(t.centre, t.factor), !t.is_subtracted);
      t.centre = none;
    }
  }
  /// The factor of (x - centre), or 0 where all x equal the centre, because multiplying the centre separately loses
  /// most digits there. If bf16 values differ, their variance is at least 2⁻¹⁶ centre², divided by the number of
  /// elements.
  int without_constants(linear_term const& t, int at) {
    if (t.variance == id{no_id} || m_.values[t.variance].node >= at) return t.factor;
    int const spread = convert(t.variance, to_.type(t.centre));
    int const share = make(op::divide, make(op::divide, spread, t.centre), t.centre);
    return product(t.factor, make(op::varies, share, share));
  }
};

}  // namespace meshtensor::hlo
