// SPDX-License-Identifier: Apache-2.0
// Dims of first attempts, which those who know PyTorch write, and the way in which a program is refused.
#pragma once

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/slice_at.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length", 8> {} length;
inline constexpr struct in : mt::dim<"in", 6> {} in;
inline constexpr struct out : mt::dim<"out", 4> {} out;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;

/// Traces a program; what is wrong with it, the compiler says.
template <class Program>
constexpr mt::module traced = mt::try_trace<Program>();
template <class Program>
constexpr bool is_accepted = mt::is_valid<traced<Program>>;
}  // namespace net

using namespace net;  // NOLINT: nothing else is in these files
