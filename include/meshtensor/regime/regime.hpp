// SPDX-License-Identifier: Apache-2.0
// Includes all topologies, and their rounds inside programs.
#pragma once

#include "meshtensor/regime/base_graph.hpp"
#include "meshtensor/regime/complete.hpp"
#include "meshtensor/regime/exponential.hpp"
#include "meshtensor/regime/hop.hpp"
#include "meshtensor/regime/random_topology.hpp"
#include "meshtensor/regime/ring.hpp"
#include "meshtensor/regime/torus.hpp"
