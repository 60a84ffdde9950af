// SPDX-License-Identifier: Apache-2.0
// Turns handles into nodes: the first and the last lines of every operation that users call.
#pragma once

#include "meshtensor/op/constant.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor::detail {

/// Nodes made while it lives carry the user's line, or that of the layer that they belong to.
struct recording {
  builder& b;
  constexpr recording(builder* owner, line const& where) : b(*owner) {
    if (!b.site_is_held && where.number != 0) b.site = b.add_site(where.file, where.number);
  }
};

template <class... H>
constexpr builder* owner_of(H const&... operands) {
  builder* owner = nullptr;
  auto look = [&](auto const& h) {
    if constexpr (handle<std::remove_cvref_t<decltype(h)>>) {
      h.owner->expect(owner == nullptr || owner == h.owner, "G18 a tensor of one program is used in another");
      owner = h.owner;
    }
  };
  (look(operands), ...);
  return owner;
}

/// The common dtype of the handles among the operands; T02 if they differ.
template <class... H>
constexpr dtype common_type() {
  dtype type = dtype::f32;
  ((handle<H> ? void(type =
                         [] {
                           if constexpr (handle<H>) return H::type;
                           else return dtype::f32;
                         }())
              : void()),
   ...);
  return type;
}
template <class H, dtype T>
constexpr bool has_type() {
  if constexpr (handle<H>) return H::type == T;
  else return true;
}
template <class H>
constexpr auto dims_of() {
  if constexpr (handle<H>) return typename H::dim_list{};
  else return dims<>{};
}
template <class H>
using dims_of_t = decltype(dims_of<H>());

/// Reports T02 if a number whose value is known is not an integer, but would become one beside a tensor of integers.
constexpr void require_integer(builder& b, number const& n, dtype type) {
  if (is_float(type) || n.count != 1) return;
  number::item const& only = n.items[0];
  number_row const* const row = only.kind == number::item::row ? &b.m.numbers[only.id] : nullptr;
  bool const known = row == nullptr ? only.kind == number::item::literal
                                    : row->kind == number_row::literal || row->kind == number_row::named;
  double const value = row == nullptr ? only.value : row->value;
  bool const fits = value > -9e18 && value < 9e18;  // not NaN, either
  if (!known || (fits && value == static_cast<double>(static_cast<std::int64_t>(value)))) return;
  diagnostic d{};
  add_real(d << "T02 ", value);
  b.note(d << " is not an integer, but stands beside a tensor of " << text_of(type) << ": cast the tensor to a float");
}

template <class H>
constexpr id value_of(builder& b, H const& operand, dtype type) {
  if constexpr (handle<H>) return operand.id;
  else {
    require_integer(b, number(operand), type);
    return constant(b, number(operand), type);
  }
}

template <class D>
constexpr id dim_id(builder& b, D) {
  return b.dim(D::label, D::rule);
}
template <class... D>
constexpr shape shape_of(builder& b, dims<D...>) {
  shape s{};
  (s.add(b.dim(D::label, D::rule)), ...);
  return s;
}
template <class... D>
using dims_list = dims<std::remove_cvref_t<D>...>;

template <dtype T, class List>
constexpr handle_t<T, List> wrap(builder& b, id value) {
  return {&b, value};
}

}  // namespace meshtensor::detail
