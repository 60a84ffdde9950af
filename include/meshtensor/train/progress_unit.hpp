// SPDX-License-Identifier: Apache-2.0
// Finds the unit in which a step counts its data, for example tokens or images, by the dims of the program's inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// The unit of the training data and its number in a step, for example `{"images", 256}`.
struct progress_unit {
  std::string name;
  double per_step = 0;
};

/// Finds the unit of a graph from its inputs with dims. The dims of the batch are those that all of these inputs share.
/// If there is only one such input, the batch is its first dim, or all of its dims if its elements are integers. The
/// count is the product of the extents of the whole dims, so it does not depend on the layout. If the batch has one dim
/// and this dim is not called `batch`, the unit has the dim's name. Otherwise the unit has one of these names:
///
/// - tokens: all inputs are integers, and the batch has several dims, such as batch and length
/// - sequences: all inputs are integers, and the batch has one dim
/// - images: an input has at least three dims besides those of the batch, or two if its elements are bytes
/// - rows: any other case
/// - steps: no input has dims
template <class = lazy>
progress_unit unit_of(module const& graph, binding const& numbers) {
  std::vector<value const*> inputs;
  bool all_integers = true;
  for (int i = 0; i < graph.node_count; ++i) {
    node const& n = graph.nodes[i];
    if (n.kind != primitive::input || graph.result_value(n).dims.count == 0) continue;
    inputs.push_back(&graph.result_value(n));
    dtype const type = inputs.back()->type;
    all_integers = all_integers && !is_float(type) && type != dtype::boolean;
  }
  if (inputs.empty()) return {"steps", 1};
  shape const& first = inputs[0]->dims;
  shape batch{};
  for (int d = 0; d < first.count; ++d) {
    bool everywhere = true;
    for (value const* v : inputs) everywhere = everywhere && v->dims.has(first.at[d]);
    if (everywhere && (inputs.size() > 1 || all_integers || batch.count == 0)) batch.add(first.at[d]);
  }
  if (batch.count == 0) batch.add(first.at[0]);
  double count = 1;
  for (int d = 0; d < batch.count; ++d) count *= static_cast<double>(numbers.whole_extent(batch.at[d]));
  if (std::string const name = graph.dim_name(batch.at[0]).text(); batch.count == 1 && name != "batch")
    return {name, count};
  bool images = false;
  for (value const* v : inputs) images = images || v->dims.count - batch.count >= (v->type == dtype::u8 ? 2 : 3);
  if (images) return {"images", count};
  return {!all_integers ? "rows" : batch.count > 1 ? "tokens" : "sequences", count};
}

/// The unit of an executable: `mt::progress_line line(job, mt::unit_of(step));`.
template <class Step>
requires requires(Step const& s) {
  s.graph();
  s.planned();
}
progress_unit unit_of(Step const& step) {
  return unit_of(step.graph(), step.planned().numbers);
}

}  // namespace meshtensor
