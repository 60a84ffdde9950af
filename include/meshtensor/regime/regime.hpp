// SPDX-License-Identifier: Apache-2.0
// Training regimes: replicas that differ, and the policies by which they meet.
#pragma once

#include "meshtensor/regime/consensus.hpp"
#include "meshtensor/regime/over_replicas.hpp"
#include "meshtensor/regime/replicas.hpp"
#include "meshtensor/regime/stochastic_gradient_push.hpp"
#include "meshtensor/regime/synchronous.hpp"
