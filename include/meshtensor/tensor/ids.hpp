// SPDX-License-Identifier: Apache-2.0
// Ids of the rows in a module's tables. Each table has its own type of id, so that the id of a node does not compile in
// a place that needs the id of a value.
//
// The ids are unscoped enumerations, because these cost a constant evaluation no more than the number itself. A class
// would cost twice as much. An id converts implicitly to an integer, so it can index its table or be compared with a
// count. An integer becomes an id only by a cast, and an id never converts to an id of another table.
#pragma once

#include <cstdint>

namespace meshtensor {

/// An id without its table. The rows of a module store operands and attributes in this form, and also small counts. In
/// tables of passes where 0 means "none", it is an id plus 1.
using id = std::uint16_t;

enum node_id : id {};
enum value_id : id {};
enum region_id : id {};
enum name_id : id {};
enum dim_id : id {};
enum number_id : id {};
enum path_id : id {};
enum site_id : id {};
enum variable_id : id {};

/// The empty id of every table. The compiler converts it to the id type on the other side of a comparison, so that the
/// comparison costs as little as one of numbers.
struct no_id_t {
  static constexpr id value = 0xffff;
  consteval operator node_id() const { return node_id{value}; }          // NOLINT: it stands for an id of each table
  consteval operator value_id() const { return value_id{value}; }        // NOLINT
  consteval operator region_id() const { return region_id{value}; }      // NOLINT
  consteval operator name_id() const { return name_id{value}; }          // NOLINT
  consteval operator dim_id() const { return dim_id{value}; }            // NOLINT
  consteval operator number_id() const { return number_id{value}; }      // NOLINT
  consteval operator path_id() const { return path_id{value}; }          // NOLINT
  consteval operator site_id() const { return site_id{value}; }          // NOLINT
  consteval operator variable_id() const { return variable_id{value}; }  // NOLINT
  consteval operator id() const { return value; }  // NOLINT: as rows store it. Compare with id{no_id}
};
inline constexpr no_id_t no_id{};

}  // namespace meshtensor
