// SPDX-License-Identifier: Apache-2.0
// StableHLO as text in the generic form, one operation on each line. Every StableHLO parser accepts this form. It uses
// only operations and attributes of version 1.0.
//
// source  StableHLO specification, openxla.org/stablehlo/spec
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"
#include "meshtensor/tensor/ids.hpp"

namespace meshtensor::hlo {

using extents = std::vector<std::int64_t>;

/// `tensor<8x12xf32>`
struct type {
  std::string element;
  extents shape;

  std::string text() const {
    std::string r = "tensor<";
    for (std::int64_t n : shape) r += std::to_string(n) + "x";
    return r + element + ">";
  }
};

/// The result of an operation: its name in the text, for example `%12`, and its type. If it is a bf16 that was rounded
/// from an f32, `narrowed_from` is the name of the f32.
struct value {
  std::string name;
  hlo::type type;
  std::string narrowed_from = {};
};

constexpr char const* text_of(dtype t) {
  constexpr char const* names[] = {"f64", "f32", "bf16", "i32", "i64", "ui8", "i1"};
  return names[static_cast<int>(t)];
}

/// `1, 2, 3`
template <class Numbers>
std::string list_text(Numbers const& all) {
  std::string r;
  for (auto n : all) r += (r.empty() ? "" : ", ") + std::to_string(n);
  return r;
}
/// `array<i64: 1, 2, 3>`
inline std::string array_text(extents const& all) {
  return all.empty() ? "array<i64>" : "array<i64: " + list_text(all) + ">";
}

/// `dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>`
inline std::string rows_text(std::vector<extents> const& rows, std::size_t columns = 2) {
  std::string r;
  for (extents const& row : rows) r += (r.empty() ? "[" : ", [") + list_text(row) + "]";
  return "dense<[" + r + "]> : tensor<" + std::to_string(rows.size()) + "x" + std::to_string(columns) + "xi64>";
}

namespace detail {
template <class T>
std::string shortest(T number) {
  char buffer[40];
  std::string r(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
  if (r.find('.') == std::string::npos) r.insert(std::min(r.find('e'), r.size()), ".0");  // parsers need a point
  return r;
}
}  // namespace detail

/// A number as an element of a constant, exactly. If it is not finite, it is written as bits.
inline std::string literal(std::string const& element, number_value const& exact) {
  double const number = exact.real;
  if (element == "i1") return number != 0 ? "true" : "false";
  if (element != "f64" && element != "f32" && element != "bf16") return std::to_string(element_of<std::int64_t>(exact));
  auto const bits = [](auto word, int digits) {
    std::string r;
    for (int i = digits; i-- > 0;) r += "0123456789ABCDEF"[word >> (4 * i) & 15u];
    return "0x" + r;
  };
  if (element == "f64")
    return std::isfinite(number) ? detail::shortest(number) : bits(std::bit_cast<std::uint64_t>(number), 16);
  auto const rounded = element == "f32" ? static_cast<float>(number) : float{bf16_t(static_cast<float>(number))};
  if (!std::isfinite(rounded)) {
    auto const word = std::bit_cast<std::uint32_t>(rounded);
    return element == "f32" ? bits(word, 8) : bits(word >> 16, 4);
  }
  return detail::shortest(static_cast<double>(rounded));
}

/// Writes operations, and numbers their results in order.
class writer {
 public:
  std::string text;
  std::vector<node_id> nodes;     // by line: the node for which it was written
  node_id node = node_id{no_id};  // of the next lines

  /// One operation: `%3 = "stablehlo.add"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>`.
  value op(std::string const& name, std::span<value const> operands, type result, std::string const& attributes = "",
           std::string const& region = "") {
    std::string const own = fresh();
    line(own + " = " + call(name, operands, region) + (attributes.empty() ? "" : " {" + attributes + "}") + " : (" +
         types(operands) + ") -> " + result.text());
    return {own, std::move(result), {}};
  }
  value op(std::string const& name, std::initializer_list<value> operands, type result,
           std::string const& attributes = "", std::string const& region = "") {
    return op(name, std::span(operands.begin(), operands.size()), std::move(result), attributes, region);
  }

  void line(std::string const& what) {
    text += std::string(indent_, ' ') + what + "\n";
    nodes.push_back(node);
  }
  void indent(int by) { indent_ += static_cast<std::size_t>(by); }
  std::string fresh() { return "%" + std::to_string(next_++); }

  static std::string names(std::span<value const> all) {
    std::string r;
    for (value const& v : all) r += (r.empty() ? "" : ", ") + v.name;
    return r;
  }
  static std::string types(std::span<value const> all) {
    std::string r;
    for (value const& v : all) r += (r.empty() ? "" : ", ") + v.type.text();
    return r;
  }
  /// `"stablehlo.reduce"(%1, %2) ({ … })`
  static std::string call(std::string const& name, std::span<value const> operands, std::string const& region = "") {
    return "\"stablehlo." + name + "\"(" + names(operands) + ")" + (region.empty() ? "" : " (" + region + ")");
  }
  /// The head of a block: `^bb0(%1: tensor<4xf32>):`.
  static std::string block(std::span<value const> arguments) {
    std::string r;
    for (value const& v : arguments) r += (r.empty() ? "" : ", ") + v.name + ": " + v.type.text();
    return "^bb0(" + r + "):";
  }

 private:
  std::size_t indent_ = 0;
  int next_ = 0;
};

}  // namespace meshtensor::hlo
