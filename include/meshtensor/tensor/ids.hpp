// SPDX-License-Identifier: Apache-2.0
// Ids: the rows of the tables of a module, a type for each table, so that the id of a node does not compile where that
// of a value is meant.
//
// They are unscoped enumerations, which cost a constant evaluation as little as the number itself; a class costs twice
// as much. An id becomes an integer by itself, to index its table or to be compared with a count. An integer becomes an
// id by a cast alone, and an id never one of another table.
#pragma once

#include <cstdint>

namespace meshtensor {

/// An id without its table, as the rows of a module store operands and attributes; a small count; and, in the tables of
/// passes where 0 is none, an id plus 1.
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

/// The absence of an id, whatever its table. The compiler makes it an id of the other side's type where it is written,
/// so that comparing with it is one comparison of numbers.
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
  consteval operator id() const { return value; }  // NOLINT: as rows store it; compare such with id{no_id}
};
inline constexpr no_id_t no_id{};

}  // namespace meshtensor
