// SPDX-License-Identifier: Apache-2.0
// Evaluates a recorded step with eaches: the nodes of an each are written for one index, so they are not evaluated one
// by one, but widened all together.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/differentiate.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/pass/widen.hpp"

namespace meshtensor::detail {

/// Whether a node, from number `first` on, marks a tensor of an each.
inline bool has_each(module const& m, int first) {
  for (int i = first; i < m.node_count; ++i)
    if (m.nodes[i].kind == primitive::hide || m.nodes[i].kind == primitive::show) return true;
  return false;
}

/// A copy of a recorded step, widened and differentiated. It also gives the values of the entry that nodes from number
/// `first` on make, and that are the same for all indices of eaches or have the dim of the indices.
class step_with_eaches {
 public:
  std::vector<value_id> wanted;  // of the recorded step
  std::unique_ptr<module> graph;

  step_with_eaches(builder const& recorded, int first, region_id entry) {
    auto const all = std::make_unique<module>(recorded.m);
    auto const hidden = std::make_unique<hidden_dims>(recorded.m);
    builder more(*all);
    more.region = entry;
    label_ = more.intern(name::of("a value"));
    for (int i = first; i < recorded.m.node_count; ++i)
      for (int k = 0; k < recorded.m.nodes[i].results.count; ++k) {
        value_id const v = recorded.m.result(recorded.m.nodes[i], k);
        if (recorded.m.nodes[i].region != entry || hidden->without_copies[v] != 0) continue;
        wanted.push_back(v);
        all->nodes[more.add_node(primitive::output, 0, ids(&v, 1), output_attributes{label_, true}.packed())].effect =
            true;
      }
    raise(all->report);
    graph = on_heap([&] { return differentiate(widen(*all)); });
    raise(graph->report);
  }

  /// The values that are wanted, after a run that also gives outputs and the next values of variables.
  std::vector<block> run(region_id entry, binding const& numbers, node_loops loops, blocks const& inputs,
                         blocks& variables, settings const& set, blocks& outputs) const {
    collecting run(*graph, numbers, loops, label_);
    outputs = run.run(entry, inputs, variables, set);
    outputs.erase(graph->names[label_].text());
    return std::move(run.given);
  }

 private:
  /// Keeps the values that nodes of one output's name give, in their order.
  class collecting final : public interpreter {
   public:
    collecting(module const& m, binding const& numbers, node_loops loops, name_id label)
        : interpreter(m, numbers, loops), label_(label) {}
    std::vector<block> given;

   private:
    void has_run(node const& n, run_context const&) override {
      if (n.kind == primitive::output && name_of(n) == label_) given.push_back(at(m_.operand(n, 0)));
    }
    name_id label_;
  };
  name_id label_{};
};

}  // namespace meshtensor::detail
