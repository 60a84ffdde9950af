// SPDX-License-Identifier: Apache-2.0
// Declares the kernel of one node, which is prepared once for its extents and run in every step. Each primitive that
// the cpu device runs has a struct of this form in a file of this folder:
//
//     struct gather_kernel : node_kernel {
//       static constexpr bool takes(module const&, node const&);          // if true, `prepare` never returns null
//       static std::unique_ptr<node_kernel> prepare(node_setup const&);   // if null, the rule's `evaluate` runs it
//       void run(evaluation const&, std::byte* workspace, thread_team&) override;
//     };
#pragma once

#include <memory>

#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/graph/rule.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// A node with views of its operands and its first result, before the first step. Extents and strides are final, but
/// addresses may change until the node runs.
struct node_setup {
  meshtensor::module const& m;
  node const& n;
  view const* operands;
  view const& result;
  int threads;
};

class node_kernel {
 public:
  virtual ~node_kernel() = default;
  /// Memory that a run needs besides its results. Its blocks start at multiples of 64.
  virtual std::int64_t workspace_bytes() const { return 0; }
  virtual void run(evaluation const& e, std::byte* workspace, thread_team& team) = 0;
};

/// Stands for primitives without a kernel, because the rule's `evaluate` runs them.
struct no_kernel {
  static constexpr bool takes(module const&, node const&) { return false; }
  static std::unique_ptr<node_kernel> prepare(node_setup const&) { return nullptr; }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
