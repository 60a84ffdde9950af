// SPDX-License-Identifier: Apache-2.0
// Defines the operations of programs on arrays, by the same names, for example `softmax(x * 2, d_model)`. They compute
// at once. For layers, losses and control flow, use `at_once` or an eager scope. Random numbers need a scope, because
// their seed depends on its path. == and != compare two arrays as a whole.
#pragma once

#include "meshtensor/eager/array_operations/contractions.hpp"
#include "meshtensor/eager/array_operations/elementwise.hpp"
#include "meshtensor/eager/array_operations/indices.hpp"
#include "meshtensor/eager/array_operations/movement.hpp"
#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/eager/array_operations/operators.hpp"
#include "meshtensor/eager/array_operations/reductions.hpp"
#include "meshtensor/eager/eager.hpp"
