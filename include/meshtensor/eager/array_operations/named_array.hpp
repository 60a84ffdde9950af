// SPDX-License-Identifier: Apache-2.0
// Names the arrays on which eager operations compute, and the operands that two of them may have.
#pragma once

#include "meshtensor/eager/eager.hpp"

namespace meshtensor {

/// An array whose type names its dims.
template <class A>
concept named_array = any_array_like<A> && requires { typename A::dim_list; };

namespace detail {
template <class A, class B>
concept array_operands = (named_array<A> && (named_array<B> || number_like<B>)) || (number_like<A> && named_array<B>);
}  // namespace detail

}  // namespace meshtensor
