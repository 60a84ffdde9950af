// SPDX-License-Identifier: Apache-2.0
// An id of one table does not compile where that of another is meant, and no integer does; no_id is one of each table.
#include "meshtensor/tensor/ids.hpp"

#include <type_traits>

namespace mt = meshtensor;

template <class... Id>
struct tables {};

template <class A, class B>
inline constexpr bool are_apart = std::is_same_v<A, B> || !std::is_convertible_v<A, B>;
template <class A, class... Id>
inline constexpr bool is_own_type =
    (are_apart<A, Id> && ...) && !std::is_convertible_v<int, A> && !std::is_convertible_v<mt::id, A> &&
    std::is_convertible_v<A, int> && sizeof(A) == sizeof(mt::id) && A{mt::no_id} == mt::no_id && A{} != mt::no_id;
template <class... Id>
constexpr bool are_own_types(tables<Id...>) {
  return (is_own_type<Id, Id...> && ...);
}
static_assert(are_own_types(tables<mt::node_id, mt::value_id, mt::region_id, mt::name_id, mt::dim_id, mt::number_id,
                                   mt::path_id, mt::site_id, mt::variable_id>{}));
static_assert(mt::id{mt::no_id} == 0xffff);
