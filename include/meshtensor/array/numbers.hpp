// SPDX-License-Identifier: Apache-2.0
// Evaluates a module's numbers: literals, extents, numbers set by name, the step count, and expressions of these.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"
#include "meshtensor/pass/bind/binding.hpp"

namespace meshtensor {

/// The settings of a step: numbers by name, the seed, and counts of previous steps and updates.
struct settings {
  std::map<std::string, number_value, std::less<>> named;
  std::uint64_t seed = 0;
  std::uint64_t step = 0;                   // steps of the program that are done
  std::vector<std::uint64_t> updates = {};  // of each number that counts updates, or empty if they equal the steps
};

/// The seed that a number gives. A negative integer counts modulo 2^64, as in a conversion of integers.
///
/// errors  T02 it is no integer, or 2^64 or more in size
inline std::uint64_t seed_of(number_value const& number) {
  diagnostic d{};
  if (!number.is_integer())
    raise(add_exact(d << "T02 the seed is ", number) << ", but must be an integer below 2^64 in size");
  return static_cast<std::uint64_t>(number.integer());
}

/// The values of all rows of `m.numbers`.
inline void evaluate_numbers(module const& m, binding const& b, settings const& s,
                             dynamic_array<number_value>& values) {
  values.resize(static_cast<std::size_t>(m.number_count));
  for (int i = 0; i < m.number_count; ++i) {
    number_row const& row = m.numbers[i];
    number_value& v = values[static_cast<std::size_t>(i)];
    switch (row.kind) {
      case number_row::literal: v = row.value; break;
      case number_row::named: {
        auto const set =
            s.named.empty() ? s.named.end() : s.named.find(std::string_view(detail::letters(m.names[row.first])));
        v = set == s.named.end() ? row.value : set->second;
        break;
      }
      case number_row::extent: v = b.extent[row.first]; break;
      case number_row::step:
      case number_row::schedule:
      case number_row::updates:
      case number_row::most_updates: {
        bool const is_of_updates = row.kind == number_row::updates || row.kind == number_row::most_updates;
        if (is_of_updates && !s.updates.empty()) v = s.updates[static_cast<std::size_t>(i)];
        else if (row.second == id{no_id}) v = s.step;
        else v = apply_to_numbers(function::multiply, s.step, values[row.second]);
        break;
      }
      case number_row::seed: v = s.seed; break;
      case number_row::expression:
        v = apply_to_numbers(row.f, values[row.first], row.second == id{no_id} ? number_value(0) : values[row.second]);
        break;
    }
  }
}

}  // namespace meshtensor
