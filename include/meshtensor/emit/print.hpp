// SPDX-License-Identifier: Apache-2.0
// Prints a module as text: one line for each node, with the user's line at its end. Regions are indented under the node
// that owns them.
//
//     %41: bf16[batch/data, hidden/model]    = einsum(%12, %7)     # train.cpp:88 decoder/attention
//     %57: f32[batch, embed | partial data]  = einsum(%41, %9)     # train.cpp:89 decoder/attention
//
// Logs, golden tests and documentation use the same text, so it contains nothing that differs between machines.
#pragma once

#include <string>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The whole module: dims, mesh, variables, then every entry.
template <class = lazy>
std::string text_of(module const& m);

#if MESHTENSOR_COMPILED
extern template std::string text_of<lazy>(module const&);
#endif

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED
#  include "meshtensor/emit/printer.hpp"
#endif
