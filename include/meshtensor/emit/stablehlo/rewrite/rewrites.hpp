// SPDX-License-Identifier: Apache-2.0
// An annotation of a module: operations that are written in the place of some of its nodes. The module itself stays as
// it is, so that the ports and lines of the text name the caller's nodes and values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "meshtensor/graph/spell.hpp"

namespace meshtensor::hlo {

/// The operands of arithmetic are broadcast to the dims of both, in order of first appearance.
enum class op : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  convert,         // to the dtype of the result
  lay_out,         // x with the dims of y, in their order
  sum,             // over the dims that the result lacks
  sum_in_parts,    // the same in f64, where few elements of f32 at a time are summed in f32
  median_of_some,  // of the first, the middle and the last element along the dims that the result lacks
  times_terms,     // x times the number of elements of y for each element of x
  varies,          // 1 where the variance x, relative to the square of the mean, is not that of a constant, otherwise 0
};

constexpr char const* text_of(op kind) {
  constexpr char const* names[] = {"add", "subtract",     "multiply",       "divide",      "convert", "lay_out",
                                   "sum", "sum_in_parts", "median_of_some", "times_terms", "varies"};
  return names[static_cast<int>(kind)];
}

/// Operands and results are values of the module, or results of other operations. These have the numbers that follow
/// those of the module's values.
struct operation {
  op kind;
  int result, x, y;  // y is x if the operation has one operand
};

/// The operations for one value of the module. If the value is not the result of `at_node`, it is deferred, and
/// `at_use` has the operations that make it.
struct rewrite {
  std::vector<operation> at_node;  // written in the place of its node
  std::vector<operation> at_use;   // written before its first use
};

struct rewrites {
  struct result {
    shape dims;
    dtype type;
  };
  meshtensor::module const& m;
  std::vector<result> results{};  // of operations, apart from values of the module
  std::map<int, rewrite> of{};    // by value of the module

  shape const& dims(int v) const { return v < m.value_count ? m.values[v].dims : result_of(v).dims; }
  dtype type(int v) const { return v < m.value_count ? m.values[v].type : result_of(v).type; }

 private:
  result const& result_of(int v) const { return results[static_cast<std::size_t>(v - m.value_count)]; }
};

/// The operations by value, one a line, for example `  %14: f32[channels] = multiply(%3, %4)`.
inline std::string text_of(rewrites const& all) {
  speller const spell(all.m);
  std::string r;
  auto const list = [&](int v, char const* when, std::vector<operation> const& operations) {
    r += "%" + std::to_string(v) + when;
    for (operation const& o : operations) {
      r += "  %" + std::to_string(o.result) + ": " + meshtensor::text_of(all.type(o.result)) + "[" +
           spell.dims(all.dims(o.result), {}) + "] = " + text_of(o.kind) + "(%" + std::to_string(o.x);
      r += (o.y == o.x && o.kind > op::divide ? "" : ", %" + std::to_string(o.y)) + ")\n";
    }
  };
  for (auto const& [v, own] : all.of) {
    list(v, " at its node\n", own.at_node);
    if (!own.at_use.empty()) list(v, " at its first use\n", own.at_use);
  }
  return r;
}

}  // namespace meshtensor::hlo
