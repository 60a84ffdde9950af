// SPDX-License-Identifier: Apache-2.0
// Names the work of a rank in words: the operation, its scope, and the phase of the step to which it belongs.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"

namespace meshtensor::detail {

/// The name of a node in three parts, which together read `gelu of decoder/mlp, backward`.
struct spoken_node {
  std::string operation, scope, phase;

  std::string text() const {
    return operation + (scope.empty() ? "" : " of " + scope) + (phase.empty() ? "" : ", " + phase);
  }
};

/// Names nodes in the words of the program.
class node_words : public speller {
 public:
  explicit node_words(module const& m) : speller(m) {
    for (int i = 0; i < m.node_count; ++i) is_training_ = is_training_ || m.nodes[i].phase != phase::forward;
  }

  /// A fused kernel has the name of the operation that does most of its work. If a program has no gradients, it has one
  /// phase, which is not named.
  spoken_node named(node const& n) const {
    node const* of = &n;
    std::string operation = operation_of(n);
    if (n.kind == primitive::wait) {
      of = &awaited(m_, n);
      operation = std::string("wait for ") + text_of(*of);
    } else if (epilogue_form const joined = epilogue_form_of(m_, n); joined.found) {
      of = &m_.nodes[joined.product];
      operation = operation_of(*of);
    } else if (n.kind == primitive::kernel) {
      of = main_of(n);
      operation = operation_of_fused(*of);
    } else if (declared(m_, n).fusion != fusion_role::none) {
      operation = operation_of_fused(n);
    }
    char const* const phases[] = {"forward", "backward", "optimizer"};
    spoken_node named{operation, path(of->path), is_training_ ? phases[static_cast<int>(of->phase)] : ""};
    if (named.scope == named.phase) named.scope.clear();
    return named;
  }

  /// The operations of a kernel in their order, such as `multiply, erf, add`. It is empty for any other node.
  std::string operations_of(node const& n) const {
    std::string all;
    int count = 0;
    for (node const* each : steps_of(n))
      if (++count <= shown) all += (count == 1 ? "" : ", ") + operation_of(*each);
    if (count > shown) all += ", … " + std::to_string(count) + " in all";
    return all;
  }

 private:
  /// The library's own names without their decoration. For example, `nn.attention_gradient` is `attention`, because its
  /// phase says the rest.
  static std::string plain(std::string_view name) {
    if (name.starts_with("nn.")) name.remove_prefix(3);
    if (name.ends_with("_gradient")) name.remove_suffix(9);
    return std::string(name);
  }

  /// The name of an operation: the user's own name, the function of an elementwise node, or the kind of a reduction.
  std::string operation_of(node const& n) const {
    if (name const* const own = own_name_of(m_, n)) return plain(own->text());
    if (n.kind == primitive::reduce) return std::string(text_of(static_cast<reduction>(n.function)));
    return text_of(n);
  }

  /// The same name, or the name of the composed operation of which the node is a step.
  std::string operation_of_fused(node const& n) const {
    return n.called != 0 ? plain(label(n.called - 1)) : operation_of(n);
  }

  std::vector<node const*> steps_of(node const& n) const {
    std::vector<node const*> all;
    for (int i = 0; n.kind == primitive::kernel && i < m_.node_count; ++i) {
      node const& one = m_.nodes[i];
      if (one.region != m_.region_of(n, 0) || !is_computed(one.kind)) continue;
      fusion_role const role = declared(m_, one).fusion;
      if (role != fusion_role::broadcast && role != fusion_role::number) all.push_back(&one);
    }
    return all;
  }

  /// The approximate number of instructions for an element.
  int cost_of(node const& n) const {
    fusion_role const role = declared(m_, n).fusion;
    if (role == fusion_role::random) return 20;
    if (role == fusion_role::reduction) return 3;
    auto const f = static_cast<function>(n.function);
    bool const is_series = n.kind == primitive::elementwise && ((f >= function::exp && f <= function::erf) ||
                                                                f == function::power || f == function::modulo);
    return is_series ? 8 : 1;
  }

  /// The node that stands for a kernel, which is the costliest node of the composed operation that costs most.
  node const* main_of(node const& kernel) const {
    struct share {
      node const* of;
      int sum, most;
    };
    std::vector<share> shares;
    for (node const* n : steps_of(kernel)) {
      auto const same = std::ranges::find_if(shares, [n](share const& s) {
        return s.of->called == n->called && s.of->path == n->path && s.of->phase == n->phase;
      });
      int const cost = cost_of(*n);
      if (same == shares.end()) {
        shares.push_back({n, cost, cost});
        continue;
      }
      same->sum += cost;
      if (cost > same->most) same->most = cost, same->of = n;
    }
    if (shares.empty()) return &kernel;
    return std::ranges::max_element(shares, {}, &share::sum)->of;
  }

  static constexpr int shown = 6;
  bool is_training_ = false;
};

}  // namespace meshtensor::detail
