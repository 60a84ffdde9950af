// SPDX-License-Identifier: Apache-2.0
// Recomputes a fused kernel node by node, to find the node that made a value.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

/// Copies of the operands of a node that the node may overwrite. An operand that it does not overwrite has none.
using operands_kept = std::vector<std::vector<double>>;

/// Recomputes a kernel or a composite of a rank node by node, until a value is the one that is looked for.
class recomputed_kernel {
 public:
  using predicate = std::function<bool(value_id, view const&)>;

  recomputed_kernel(module const& m, rank_context const& p, predicate ends)
      : m_(m), p_(p), ends_(std::move(ends)), at_(p.windows(), p.windows() + m.value_count) {}

  /// Whether a node is one that this class can recompute.
  static bool runs(node const& n) { return n.kind == primitive::kernel || n.kind == primitive::composite; }

  value_id found = no_id;
  view const& at(value_id v) const { return at_[v]; }

  void run(node const& n, operands_kept& kept) {
    for (int i = 0; i < n.operands.count; ++i) {
      view& v = at_[m_.operand(n, i)];
      auto& copy = kept[static_cast<std::size_t>(i)];
      v.data = copy.empty() ? p_.pointer(m_.operand(n, i)) : reinterpret_cast<std::byte*>(copy.data());
    }
    call(n);
  }

 private:
  void call(node const& n) {
    region_id const r = m_.region_of(n, 0);
    region const& body = m_.regions[r];
    for (int i = 0; i < n.operands.count; ++i)  // with the operand's strides, because it may be a window
      at_[m_.link(body.arguments, i)] = at_[m_.operand(n, i)];
    for (int i = 0; i < m_.node_count && found == no_id; ++i) {
      node const& one = m_.nodes[i];
      if (one.region != r || one.kind == primitive::argument) continue;
      if (runs(one)) call(one);
      else compute(one);
    }
    for (int i = 0; i < body.results.count && found == no_id; ++i)
      at_[m_.result(n, i)].data = at_[m_.link(body.results, i)].data;
  }
  void compute(node const& n) {
    std::vector<view> operands, results;
    for (int i = 0; i < n.operands.count; ++i) operands.push_back(at_[m_.operand(n, i)]);
    for (int i = 0; i < n.results.count; ++i) {
      view& v = at_[m_.result(n, i)];
      memory_.emplace_back(static_cast<std::size_t>(v.bytes() + 7) / 8 + 1);
      v.data = memory_.back().data();
      results.push_back(v);
    }
    evaluate<>({m_, n, operands.data(), results.data(), p_.context});
    for (int i = 0; i < n.results.count && found == no_id; ++i)
      if (ends_(m_.result(n, i), results[static_cast<std::size_t>(i)])) found = m_.result(n, i);
  }

  meshtensor::module const& m_;
  rank_context const& p_;
  predicate ends_;
  std::vector<view> at_;
  std::deque<std::vector<double>> memory_;
};

}  // namespace meshtensor::detail
