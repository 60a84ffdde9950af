// SPDX-License-Identifier: Apache-2.0
// Recognizes the composites `nn.attention`, `nn.causal_attention` and `nn.masked_attention` and their gradients, for
// devices that run them as a whole.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The roles of the dims of an attention, derived from its operands.
struct attention_form {
  bool found, causal, masked, each, backward;  // each: whether every query has its own mask
  int length, memory, head, value_head;        // dims
};

/// Recognizes an attention. `found` is true if a device can run it as a whole. The operands are q, k and v, then the
/// mask of visible keys if it is masked, and for a gradient also y, log_sum and dy. For bf16, log_sum is an f32.
constexpr attention_form attention_form_of(module const& m, node const& n) {
  attention_form f{};
  if (n.kind != primitive::composite) return f;
  name const& label = m.names[name_of(n)];
  f.causal = label == name("nn.causal_attention") || label == name("nn.causal_attention_gradient");
  f.masked = label == name("nn.masked_attention") || label == name("nn.masked_attention_gradient");
  f.backward = label == name("nn.attention_gradient") || label == name("nn.causal_attention_gradient") ||
               label == name("nn.masked_attention_gradient");
  if (!f.causal && !f.masked && !f.backward && label != name("nn.attention")) return f;
  int const first_of_gradient = f.masked ? 4 : 3;
  if (n.operands.count != first_of_gradient + (f.backward ? 3 : 0) || n.results.count != (f.backward ? 3 : 2)) return f;
  for (int i = 0; i < m.node_count; ++i)  // a body that reshards is not run as a whole
    if (m.nodes[i].region == m.region_of(n, 0) &&
        (is_collective(m.nodes[i].kind) || m.nodes[i].kind == primitive::local_slice))
      return f;
  auto const dims = [&](int i) -> shape const& { return m.operand_value(n, i).dims; };
  shape const &q = dims(0), &k = dims(1), &v = dims(2);
  auto const& logarithms = f.backward ? m.operand_value(n, first_of_gradient + 1) : m.result_value(n, 1);
  shape const& log_sum = logarithms.dims;
  if (logarithms.type != accumulator_of(m.operand_value(n, 0).type)) return f;
  shape const& y = f.backward ? dims(first_of_gradient) : m.result_value(n, 0).dims;
  f.length = f.memory = f.head = f.value_head = -1;
  int lengths = 0, memories = 0, heads = 0, value_heads = 0;
  for (int i = 0; i < q.count; ++i) {
    int const d = q.at[i];
    if (!k.has(d)) f.length = d, ++lengths;
    else if (!log_sum.has(d)) f.head = d, ++heads;
    else if (!v.has(d)) return f;
  }
  for (int i = 0; i < k.count; ++i)
    if (!q.has(k.at[i])) f.memory = k.at[i], ++memories;
  for (int i = 0; i < v.count; ++i)
    if (!q.has(v.at[i]) ? v.at[i] != f.memory : v.at[i] == f.head) f.value_head = v.at[i], ++value_heads;
  f.found = lengths == 1 && memories == 1 && heads == 1 && value_heads == 1 && v.has(f.memory) && !v.has(f.length) &&
            y.has(f.length) && y.has(f.value_head) && y.count == log_sum.count + 1 && log_sum.count + 1 == q.count &&
            v.count == k.count;
  if (f.found && f.masked) {
    shape const& visible = dims(3);
    f.found = visible.has(f.memory), f.each = visible.has(f.length);
    for (int i = 0; i < visible.count; ++i)
      f.found = f.found && (visible.at[i] == f.memory || log_sum.has(visible.at[i]));
  }
  return f;
}

}  // namespace meshtensor
