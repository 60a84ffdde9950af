// SPDX-License-Identifier: Apache-2.0
// Prints a plan of the Transformer's training, and writes its graph to a file.
#pragma once

#include <fstream>
#include <string>

#include <meshtensor/emit/graphviz.hpp>
#include <meshtensor/job/job.hpp>

#include "command_line.hpp"

namespace transformer {

namespace mt = meshtensor;

/// Prints the text that --explain asks for, writes the graph that --dot asks for, and returns the exit code.
///
/// errors  R43 the graph cannot be written
inline int show(mt::job const& job, options const& o, std::string const& text, mt::module const& graph,
                mt::plan const& planned) {
  mt::print(job, "{}", text);
  if (o.dot.empty() || !job.is_root()) return 0;
  std::ofstream file(o.dot);
  auto const how = o.dot_nodes ? mt::graph_detail::nodes : mt::graph_detail::automatic;
  if (!(file << mt::graphviz(graph, how, &planned.numbers)).flush())
    throw mt::error("R43", {"the graph cannot be written to '", o.dot, "'"});
  return 0;
}

}  // namespace transformer
