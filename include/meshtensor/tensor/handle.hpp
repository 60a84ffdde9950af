// SPDX-License-Identifier: Apache-2.0
// Concepts of operands: handles of tensors, and numbers that take the dtype of a handle.
#pragma once

#include "meshtensor/tensor/number.hpp"

namespace meshtensor {

/// A tensor of a program, as operations take and return it. It has no elements of its own. It names a value of the
/// graph, and its type has the dtype and the dims.
template <class T>
concept handle = requires { typename T::is_handle; };
/// A tensor, or a number that takes the dtype of the other operand.
template <class T>
concept operand_like = handle<T> || number_like<T>;

}  // namespace meshtensor
