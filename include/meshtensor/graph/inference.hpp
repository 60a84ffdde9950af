// SPDX-License-Identifier: Apache-2.0
// Infers the dtype and dims of an operation's result, or reports why it has none. Each operation has one function for
// this, `infer`. It serves handles, where a dim is the index of a type in a list. It also serves the trace and
// `verify`, where a dim is a row of the module.
#pragma once

#include "meshtensor/graph/frame.hpp"
#include "meshtensor/graph/locate.hpp"

namespace meshtensor {

/// The input and output of `infer`. The input consists of the operands and the attributes. If the caller of an
/// operation chooses the result's dims or dtype (such as einsum, reduce, broadcast, cast), they are input, too. `infer`
/// sets the dtype and dims of the result, or reports a fault.
struct inference {
  static constexpr int most_operands = 8;
  meshtensor::module const* m;  // null if dims are indices of types
  value const* operands[most_operands];
  int count;
  std::uint8_t function;
  id attributes[max_attributes];
  dtype type;  // before `infer` the requested dtype, and after it the dtype of the result
  shape dims;  // likewise

  char const* fault;                                // an error sentence that begins with its code, null if none
  unsigned operands_at_fault, attributes_at_fault;  // masks: which of them the sentence shows

  constexpr value const& operator[](int i) const { return *operands[i]; }
  constexpr shape const& dims_of(int i) const { return operands[i]->dims; }
  constexpr bool has_type(int i, dtype wanted) const { return operands[i]->type == wanted; }
  constexpr bool is_integer(int i) const { return !is_float(operands[i]->type) && !has_type(i, dtype::boolean); }
  constexpr dtype common_type() {
    unsigned all = (1u << count) - 1u;
    bool same = true;
    for (int i = 1; i < count; ++i) same = same && operands[i]->type == operands[0]->type;
    expect(same, "T02 the dtypes of the operands differ: cast one of them", all);
    return operands[0]->type;
  }
  constexpr shape united_dims() const {
    shape all{};
    for (int i = 0; i < count; ++i) all = united(all, operands[i]->dims);
    return all;
  }

  /// Reports a fault unless the condition holds. The first fault is kept. The masks select the operands and the
  /// attributes that the error sentence shows. These attributes must be dims.
  constexpr bool expect(bool holds, char const* sentence, unsigned shown_operands = 0, unsigned shown_attributes = 0) {
    if (!holds && fault == nullptr)
      fault = sentence, operands_at_fault = shown_operands, attributes_at_fault = shown_attributes;
    return holds;
  }
  constexpr void give(dtype t, shape const& d) { type = t, dims = d; }
};

/// The input of `infer` for a node about to be added. `type` and `dims` are the requested ones.
constexpr inference inference_of(module const& m, ids operands, std::uint8_t function, id const* attributes, dtype type,
                                 shape const& dims) {
  inference i{};
  i.m = &m, i.function = function, i.type = type, i.dims = dims;
  for (value_id o : operands)
    if (i.count < inference::most_operands) i.operands[i.count++] = &m.values[o];
  for (int a = 0; a < max_attributes; ++a) i.attributes[a] = attributes[a];
  return i;
}

/// The input of `infer` for a node of a module.
constexpr inference inference_of(module const& m, node const& n, dtype type, shape const& dims) {
  inference i = inference_of(m, ids{}, n.function, n.attribute, type, dims);
  for (int k = 0; k < n.operands.count && k < inference::most_operands; ++k)
    i.operands[i.count++] = &m.operand_value(n, k);
  return i;
}

/// Adds the operands and dims that a fault shows, for example `(f32[batch, in], 'out')`.
constexpr diagnostic& add_facts(diagnostic& d, module const& m, inference const& i) {
  int count = 0;
  for (int k = 0; k < i.count; ++k)
    if ((i.operands_at_fault >> k & 1u) != 0) add_type(d << (count++ == 0 ? " (" : ", "), m, i[k].type, i.dims_of(k));
  for (int a = 0; a < max_attributes; ++a)
    if ((i.attributes_at_fault >> a & 1u) != 0)
      d << (count++ == 0 ? " ('" : ", '") << m.dim_name(i.attributes[a]) << "'";
  return count == 0 ? d : d << ")";
}

}  // namespace meshtensor
