// SPDX-License-Identifier: Apache-2.0
// Includes the whole library, in the order of the pipeline: names, meshes, tensors, graphs, operations, layers, passes,
// devices, execution.
#pragma once

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/name.hpp"

#include "meshtensor/mesh/mesh.hpp"

#include "meshtensor/tensor/dim.hpp"
#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/tensor.hpp"

#include "meshtensor/graph/trace.hpp"

#include "meshtensor/op/accumulate_gradients.hpp"
#include "meshtensor/op/call.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/permute.hpp"
#include "meshtensor/op/rematerialize.hpp"
#include "meshtensor/op/resize.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stencil.hpp"
#include "meshtensor/op/steps.hpp"
#include "meshtensor/op/switch_case.hpp"
#include "meshtensor/op/top_k.hpp"

#include "meshtensor/nn/nn.hpp"

#include "meshtensor/regime/regime.hpp"

#include "meshtensor/pass/lower.hpp"

#include "meshtensor/device/reference.hpp"

#include "meshtensor/eager/array_operations.hpp"
#include "meshtensor/run/compiled_step.hpp"
#include "meshtensor/run/executable.hpp"
#include "meshtensor/run/one_store.hpp"
