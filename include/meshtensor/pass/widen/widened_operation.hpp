// SPDX-License-Identifier: Apache-2.0
// Widens one operation, and keeps two versions of a value: with the copies that indices have, and without them.
#pragma once

#include <tuple>

#include "meshtensor/pass/rebuild.hpp"
#include "meshtensor/pass/widen/hidden_dims.hpp"

namespace meshtensor::detail {

/// The part of `widen` that makes values with the hidden dims. A value that is the same for all indices is made again
/// without copies of indices, if a node asks for it. For example, the update of a shared parameter does.
struct widened_operation : rebuild {
  hidden_dims const hidden;
  id second[max_values];  // by old value: its version without copies of indices, plus 1, or 0 if none is made

  constexpr widened_operation(meshtensor::module const& source, meshtensor::module& target)
      : rebuild(source, target), hidden(source), second{} {}

  // The new value with exactly these dims: broadcast along those that it lacks, in this order.
  constexpr value_id with_dims(value_id v, shape const& dims) {
    if (m.values[v].dims == dims) return v;
    return m.values[v].dims.count == dims.count ? transpose(b, v, dims) : broadcast(b, v, dims);
  }
  constexpr value_id laid_out(value_id v, value_id old) { return with_dims(v, hidden.wide(old)); }
  constexpr shape wide_without_copies(value_id old) const {
    return hidden.wide(hidden.without_copies[old], from.values[old].dims);
  }

  // Makes `v` the new value of `old`. It is computed from copies of indices if it has their dims.
  constexpr void give(value_id old, value_id v) {
    replace(old, laid_out(v, old));
    if (hidden.without_copies[old] == hidden.of[old]) return;
    if (shape const dims = wide_without_copies(old); dims.includes(m.values[v].dims))
      second[old] = static_cast<id>(with_dims(v, dims) + 1);
  }
  // The new value of an operand, in the version that the node takes.
  constexpr value_id given(node const& n, int k) {
    return hidden.reads_copies(n) ? (*this)[from.operand(n, k)] : without_copies(from.operand(n, k));
  }
  // The new value that is computed without copies of indices. It is made here if it differs from the other version. The
  // node that asks is in the region of `old`.
  constexpr value_id without_copies(value_id old) {
    value_id const usual = (*this)[old];
    if (hidden.without_copies[old] == hidden.of[old]) return usual;
    if (second[old] != 0) return static_cast<value_id>(second[old] - 1);
    node const& n = from.nodes[from.values[old].node];
    id_list<> taken{};
    for (int k = 0; k < n.operands.count; ++k) taken.add(without_copies(from.operand(n, k)));
    auto const [path, site, copied, phase, caller] = std::tuple(b.path, b.site, b.copy, b.phase, b.called);
    enter(n);
    if (n.regions.count != 0) copy_plainly(n, taken);
    else second[old] = static_cast<id>(second_version(n, taken, wide_without_copies(old)) + 1);
    b.path = path, b.site = site, b.copy = copied, b.phase = phase, b.called = caller;
    return static_cast<value_id>(second[old] - 1);
  }

  // The hidden dims of the operands `given` join those that the node asks for, and `infer` runs again. If the operation
  // cannot match the hidden dims of its operands, all operands get all of them.
  constexpr void widen_operation(node const& n, id_list<> const& given, shape const& dims) {
    shape const own = from.result_value(n).dims;
    if (dims == own) return void(copy(n, given));
    bool const is_joined = n.kind == primitive::put || n.kind == primitive::concat;  // these broadcast no operand
    auto const operands_of = [&](int wide) {
      id_list<> all{};
      for (int k = 0; k < n.operands.count; ++k) {
        shape all_dims = hidden_part(dims, own);
        for (int i = 0; i < from.operand_value(n, k).dims.count; ++i) all_dims.add(from.operand_value(n, k).dims.at[i]);
        all.add(k < wide ? with_dims(given.at[k], all_dims) : given.at[k]);
      }
      return all;
    };
    id_list<> taken = operands_of(is_joined ? 2 : 0);
    inference i = inferred(n, taken, dims);
    if (!gives(i, dims)) i = inferred(n, taken = operands_of(n.operands.count), dims);
    diagnostic d{};
    if (!gives(i, dims)) return b.note(d << "G46 " << text_of(n.kind) << " does not take the further dim of an each");
    copy(n, taken);
    m.values[(*this)[from.result(n)]].dims = i.dims;
  }

 private:
  constexpr value_id second_version(node const& n, id_list<> const& taken, shape const& dims) {
    if (n.kind == primitive::hide || n.kind == primitive::show) return with_dims(taken.at[0], dims);
    value_id const usual = (*this)[from.result(n)];
    widen_operation(n, taken, dims);
    value_id const made = (*this)[from.result(n)];
    replace(from.result(n), usual);
    return with_dims(made, dims);
  }
  // Copies a loop or composite with its regions once more, for operands that are the same for all indices.
  constexpr void copy_plainly(node const& n, id_list<> const& taken) {
    list const results = n.results;
    id_list<> usual_operands{}, usual_results{};
    for (int k = 0; k < n.operands.count; ++k) usual_operands.add((*this)[from.operand(n, k)]);
    for (int k = 0; k < results.count; ++k) usual_results.add((*this)[from.result(n, k)]);
    for (int k = 0; k < n.operands.count; ++k) replace(from.operand(n, k), taken.at[k]);
    for (int r = 0; r < from.region_count; ++r)
      if (hidden.is_in(static_cast<region_id>(r), n)) entered[r] = 0;
    for (node const* inner = from.nodes; inner != &n; ++inner)
      if (hidden.is_in(inner->region, n)) copy(*inner);
    copy(n);
    for (int k = 0; k < results.count; ++k) {
      second[from.result(n, k)] = static_cast<id>((*this)[from.result(n, k)] + 1);
      replace(from.result(n, k), usual_results.at[k]);
    }
    for (int k = 0; k < n.operands.count; ++k) replace(from.operand(n, k), usual_operands.at[k]);
  }
  // The dims in front of a value's own.
  static constexpr shape hidden_part(shape const& dims, shape const& own) {
    shape front{};
    for (int i = 0; i < dims.count - own.count; ++i) front.add(dims.at[i]);
    return front;
  }
  constexpr inference inferred(node const& n, ids taken, shape const& dims) const {
    inference i = inference_of(m, taken, n.function, n.attribute, from.result_value(n).type, dims);
    bool const known = with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::infer(i); }) return R::infer(i), true;
      else return false;
    });
    i.expect(known && n.results.count == 1, "");
    return i;
  }
  static constexpr bool gives(inference const& i, shape const& dims) {
    return i.fault == nullptr && i.dims.includes(dims) && dims.includes(i.dims);
  }
};

}  // namespace meshtensor::detail
