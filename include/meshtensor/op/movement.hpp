// SPDX-License-Identifier: Apache-2.0
// Movement: the same elements under other dims. Nothing here computes.
#pragma once

#include "meshtensor/op/put.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/transpose.hpp"
