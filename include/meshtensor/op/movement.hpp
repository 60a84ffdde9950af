// SPDX-License-Identifier: Apache-2.0
// Includes the operations that only move elements: slice, pad, concat, put, merge, split, transpose, rename.
// Nothing here computes.
#pragma once

#include "meshtensor/op/put.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/transpose.hpp"
