// SPDX-License-Identifier: Apache-2.0
// Includes all training regimes: replicas that may differ, the policies by which they meet, and topologies.
#pragma once

#include "meshtensor/regime/base_graph.hpp"
#include "meshtensor/regime/complete.hpp"
#include "meshtensor/regime/compressed.hpp"
#include "meshtensor/regime/consensus.hpp"
#include "meshtensor/regime/decentralized_sgd.hpp"
#include "meshtensor/regime/exponential.hpp"
#include "meshtensor/regime/hop.hpp"
#include "meshtensor/regime/local_sgd.hpp"
#include "meshtensor/regime/over_replicas.hpp"
#include "meshtensor/regime/quantized.hpp"
#include "meshtensor/regime/random_k_values.hpp"
#include "meshtensor/regime/random_topology.hpp"
#include "meshtensor/regime/replicas.hpp"
#include "meshtensor/regime/ring.hpp"
#include "meshtensor/regime/slow_momentum.hpp"
#include "meshtensor/regime/stochastic_gradient_push.hpp"
#include "meshtensor/regime/synchronous.hpp"
#include "meshtensor/regime/top_k_values.hpp"
#include "meshtensor/regime/torus.hpp"
