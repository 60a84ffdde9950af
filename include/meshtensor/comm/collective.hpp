// SPDX-License-Identifier: Apache-2.0
// A collective as a plain value: its call, extents, traffic, checks and text, all known before the first step.
#pragma once

#include "meshtensor/comm/collective/call.hpp"
#include "meshtensor/comm/collective/check.hpp"
#include "meshtensor/comm/collective/extents.hpp"
#include "meshtensor/comm/collective/text.hpp"
#include "meshtensor/comm/collective/traffic.hpp"
