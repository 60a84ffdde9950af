// SPDX-License-Identifier: Apache-2.0
// A name that does not fit is refused where it is written.
// quick
// expect: meshtensor G01: a name has at most 32 characters
#include "meshtensor/base/name.hpp"

constexpr meshtensor::name fits = "exactly_thirty_two_characters_ab";
constexpr meshtensor::name long_one = "this_name_has_thirty_three_charac";

int main() { return fits == long_one; }
