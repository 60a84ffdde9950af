// SPDX-License-Identifier: Apache-2.0
// Recomputes a fused kernel node by node, to find the node that made a value, or for a value that no memory holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor::detail {

/// Copies of the operands of a node that the node may overwrite. An operand that it does not overwrite has none.
using operands_kept = std::vector<std::vector<double>>;

/// Recomputes kernels and composites of one rank node by node. It is kept from run to run, because a check of each
/// iteration would else allocate its views and its memory again.
class recomputed_kernel {
 public:
  using predicate = std::function<bool(value_id, view const&)>;

  explicit recomputed_kernel(module const& m) : m_(m) {}

  /// Whether a node is one that this class can recompute.
  static bool runs(node const& n) { return n.kind == primitive::kernel || n.kind == primitive::composite; }

  /// Computes the nodes of a kernel in order, until a value is the one that is looked for. The result is this value, or
  /// no_id.
  value_id find(node const& n, rank_context const& p, operands_kept& kept, predicate const& ends) {
    begin(n, p, kept);
    return call(n, p, &ends);
  }
  /// Computes a value in the region of a kernel, with only the nodes that it needs.
  view const& made(value_id v, node const& n, rank_context const& p, operands_kept& kept) {
    begin(n, p, kept);
    pass_operands(n);
    for (node_id const one : nodes_for(v, m_.region_of(n, 0))) run(m_.nodes[one], p, nullptr);
    return at_[v];
  }
  /// A value that the last call has computed.
  view const& at(value_id v) const { return at_.at(v); }

 private:
  void begin(node const& n, rank_context const& p, operands_kept& kept) {
    used_ = 0;
    for (int i = 0; i < n.operands.count; ++i) {
      view& v = at_[m_.operand(n, i)] = p.windows()[m_.operand(n, i)];
      auto& copy = kept[static_cast<std::size_t>(i)];
      v.data = copy.empty() ? p.pointer(m_.operand(n, i)) : reinterpret_cast<std::byte*>(copy.data());
    }
  }
  void pass_operands(node const& n) {
    region const& body = m_.regions[m_.region_of(n, 0)];
    for (int i = 0; i < n.operands.count; ++i)  // with the operand's strides, because it may be a window
      at_[m_.link(body.arguments, i)] = at_[m_.operand(n, i)];
  }
  value_id call(node const& n, rank_context const& p, predicate const* ends) {
    pass_operands(n);
    region_id const r = m_.region_of(n, 0);
    for (int i = 0; i < m_.node_count; ++i) {
      if (m_.nodes[i].region != r || m_.nodes[i].kind == primitive::argument) continue;
      if (value_id const found = run(m_.nodes[i], p, ends); found != no_id) return found;
    }
    list const results = m_.regions[r].results;
    for (int i = 0; i < results.count; ++i) {
      view& v = at_[m_.result(n, i)] = p.windows()[m_.result(n, i)];
      v.data = at_[m_.link(results, i)].data;
    }
    return no_id;
  }
  value_id run(node const& n, rank_context const& p, predicate const* ends) {
    if (runs(n)) return call(n, p, ends);
    std::vector<view> operands, results;
    for (int i = 0; i < n.operands.count; ++i) operands.push_back(at_[m_.operand(n, i)]);
    for (int i = 0; i < n.results.count; ++i) {
      view& v = at_[m_.result(n, i)] = p.windows()[m_.result(n, i)];
      v.data = memory_of(v);
      results.push_back(v);
    }
    evaluate<>({m_, n, operands.data(), results.data(), p.context});
    for (int i = 0; i < n.results.count && ends != nullptr; ++i)
      if ((*ends)(m_.result(n, i), results[static_cast<std::size_t>(i)])) return m_.result(n, i);
    return no_id;
  }
  double* memory_of(view const& v) {
    if (used_ == memory_.size()) memory_.emplace_back();
    std::vector<double>& all = memory_[used_++];
    all.resize(std::max(all.size(), static_cast<std::size_t>(v.bytes() + 7) / 8 + 1));
    return all.data();
  }
  /// The nodes of a region that a value needs, in order.
  std::vector<node_id> const& nodes_for(value_id v, region_id r) {
    auto const [at, is_new] = needed_.try_emplace(v);
    if (!is_new) return at->second;
    std::vector<bool> needed(static_cast<std::size_t>(m_.value_count));
    needed[v] = true;
    for (int i = m_.node_count; i-- > 0;) {
      node const& n = m_.nodes[i];
      bool makes = false;
      for (int k = 0; k < n.results.count; ++k) makes = makes || needed[m_.result(n, k)];
      if (!makes || n.region != r || n.kind == primitive::argument) continue;
      for (int k = 0; k < n.operands.count; ++k) needed[m_.operand(n, k)] = true;
      at->second.insert(at->second.begin(), static_cast<node_id>(i));
    }
    return at->second;
  }

  meshtensor::module const& m_;
  std::map<value_id, view> at_;
  std::map<value_id, std::vector<node_id>> needed_;
  std::deque<std::vector<double>> memory_;  // by node that has run
  std::size_t used_ = 0;
};

}  // namespace meshtensor::detail
