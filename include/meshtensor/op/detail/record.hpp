// SPDX-License-Identifier: Apache-2.0
// Turns handles into nodes: every operation that users call begins and ends with this code.
#pragma once

#include "meshtensor/graph/element_number.hpp"
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

/// The dtype of the last handle among the operands, or f32 if there is none. Callers report T02 if the dtypes differ.
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

template <class H>
constexpr value_id value_of(builder& b, H const& operand, dtype type) {
  if constexpr (handle<H>) return operand.id;
  else {
    require_element(b, number(operand), type);
    return constant(b, number(operand), type);
  }
}

template <class D>
constexpr dim_id dim_of(builder& b, D) {
  return b.dim(D::dim_name, D::dim_rule);
}
template <class... D>
constexpr shape shape_of(builder& b, dims<D...>) {
  shape s{};
  (s.add(b.dim(D::dim_name, D::dim_rule)), ...);
  return s;
}

/// Continues with a handle of the program after an error that the compiler has reported at the call. Therefore the
/// errors that follow from it are not reported.
template <dtype T, class List, class... H>
constexpr handle_t<T, List> given_up(H const&... operands) {
  auto const first = first_handle(operands...);
  first.owner->give_up();
  return {first.owner, first.id};
}
/// The same, with the first operand as the result.
template <class... H>
constexpr auto given_up(H const&... operands) {
  auto const first = first_handle(operands...);
  first.owner->give_up();
  return first;
}

template <dtype T, class List>
constexpr handle_t<T, List> wrap(builder& b, value_id value) {
  return {&b, value};
}

/// The dtype of an operand. A number takes that of the tensors.
template <class H, dtype Others>
constexpr dtype type_of_operand() {
  if constexpr (handle<H>) return H::type;
  else return Others;
}
/// The error of a result that has more dims than a tensor may have, if it has more.
template <bool HasTooMany>
inline constexpr type_finding too_many_dims = [] {
  diagnostic d{};
  if (HasTooMany) d << "T07 a tensor has more than 10 dims: merge some, or sum over them before";
  return type_finding{d};
}();

/// Runs an operation's `infer` on the types of its operands and of the dims among its attributes. A dim is its index in
/// `all`, the list of all these dims.
template <class Rule, class AttributeDims, class... H>
struct typed_inference {
  using all = typename joined<dims_of_t<H>..., AttributeDims>::type;
  static constexpr value operands[sizeof...(H)] = {
      {type_of_operand<H, common_type<H...>()>(), 0, numbered<dims_of_t<H>, all>::value, {}, {}, {}, 0}...};
  static constexpr inference made = [] {
    inference i{};
    shape const attributes = numbered<AttributeDims, all>::value;
    for (value const& v : operands) i.operands[i.count++] = &v;
    for (int a = 0; a < attributes.count; ++a) i.attributes[a] = attributes.at[a];
    Rule::infer(i);
    return i;
  }();
  static constexpr bool fails = made.fault != nullptr || !made.dims.fits();
  static constexpr dtype type = made.type;
  static constexpr type_finding finding =
      made.fault != nullptr ? fault_of_types<made, AttributeDims, H...>() : too_many_dims<fails>;
  static constexpr shape dims = fails ? shape{} : made.dims;
  using dim_list = typename selected<dims, all, std::make_integer_sequence<int, dims.count>>::type;
};
/// The same if only the trace knows the operands' dims, because then the types give only the dtype.
template <class Rule, dtype... T>
struct traced_inference {
  static constexpr value operands[sizeof...(T)] = {{T, 0, {}, {}, {}, {}, 0}...};
  static constexpr bool fails = false;
  static constexpr dtype type = [] {
    inference i{};
    for (value const& v : operands) i.operands[i.count++] = &v;
    Rule::infer(i);
    return i.type;
  }();
  using dim_list = any_dims;
};
template <bool Traced, class Rule, class AttributeDims, class... H>
struct inference_by {
  using type = typed_inference<Rule, AttributeDims, H...>;
};
template <class Rule, class AttributeDims, class... H>
struct inference_by<true, Rule, AttributeDims, H...> {
  using type = traced_inference<Rule, type_of_operand<H, common_type<H...>()>()...>;
};

/// The error that a rule finds in operands of these types and in the dims among its attributes, or `no_error`.
template <class AttributeDims>
inline constexpr bool are_dims = false;
template <dim_type... D>
inline constexpr bool are_dims<dims<D...>> = true;
template <class Rule, class AttributeDims, operand_like... H>
requires are_dims<AttributeDims>
consteval auto rule_finding() {
  using types = typename inference_by<(is_any<dims_of_t<H>> || ...), Rule, AttributeDims, H...>::type;
  if constexpr (types::fails) return error_of<types::finding>();
  else return no_error{};
}
/// The line of a call of an operation. It refuses the call if the rule finds an error.
template <class Rule, class AttributeDims, class... H>
using rule_line = checked_line<decltype(rule_finding<Rule, AttributeDims, H...>())>;

/// Calls `make` to add nodes to the trace, and returns their value as a handle whose type the operation's `infer`
/// gives. A fault is one error sentence of the compiler, with the types of the operands and dims that it is about. It
/// is reported at the call if `where` is a `rule_line`. The first operand is then returned with the dtype of the
/// result, so that compilation goes on.
template <class Rule, dim_type... D, class Line, class... H>
constexpr auto record(Line const& where, auto const& make, H const&... operands) {
  using types = typename inference_by<(is_any<dims_of_t<H>> || ...), Rule, dims<D...>, H...>::type;
  if constexpr (types::fails) {
    if constexpr (!is_refused<Line>) static_assert(is_valid<types::finding>);
    return given_up<types::type, typename decltype(first_handle(operands...))::dim_list>(operands...);
  } else {
    recording r(owner_of(operands...), where);
    return wrap<types::type, typename types::dim_list>(r.b, make(r.b));
  }
}

}  // namespace meshtensor::detail
