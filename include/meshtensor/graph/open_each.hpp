// SPDX-License-Identifier: Apache-2.0
// An `each` under construction: its dim, and the tensors from outside as one of its indices sees them.
#pragma once

#include "meshtensor/graph/frame.hpp"

namespace meshtensor {

/// An `each` whose body is being traced. The body is no region of its own. Its nodes are in the region around it, and
/// hide nodes mark the tensors from outside that it uses.
struct open_each {
  dim_id dim;
  bool shares_variables;  // it is a `map`
  bool starts_equal;      // the variables of all indices start with the same numbers
  int depth;              // the number of loops and branches that were open when it was opened
  value_id first;         // the first value made inside
  id_list<> outside;      // tensors that the body uses
  id_list<> inside;       // the same, as one index sees them: results of hide nodes
};

}  // namespace meshtensor
