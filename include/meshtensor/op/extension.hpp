// SPDX-License-Identifier: Apache-2.0
// Records operations that are declared outside of the library, by a struct of rules: name, declares, infer, evaluate,
// and optionally sharding and gradient. The struct becomes a row of the module, which passes read as they read the
// rules of any other operation.
#pragma once

#include "meshtensor/op/detail/composed.hpp"

namespace meshtensor {

/// The rules of an operation, as data and functions. A function that the operation does not have is null.
struct operation {
  meshtensor::declaration declares;
  void (*infer)(inference&);
  meshtensor::sharding (*sharding)(module const&, node const&);
  void (*gradient)(differentiation&, node const&);
  void (*evaluate)(evaluation const&);
};

/// Whether the printer's text names only attributes 0 to 3, and at least one in each bracket.
constexpr bool names_attributes(char const* text) {
  bool inside = false, named = true;
  for (char const* c = text; *c != '\0'; ++c) {
    if (*c == '{' && (c[1] < '0' || c[1] > '3' || c[2] != '}')) return false;
    if (*c == '{') named = true;
    if (*c != '[' && *c != ']') continue;
    if (inside == (*c == '[') || !named) return false;
    inside = !inside, named = !inside;
  }
  return !inside;
}
/// The rules that a struct like those in op/ has.
template <class Rule>
inline constexpr operation operation_of = [] {
  constexpr declaration d = Rule::declares;
  static_assert(d.results.least == 1 && d.results.most == 1 && d.regions.most == 0,
                "meshtensor T52: an operation of your own has one result and no regions");
  static_assert(d.buffer == buffer_use::own && d.fusion == fusion_role::none && !d.effect && !d.takes_strides,
                "meshtensor T52: an operation of your own has a buffer of its own, dense operands, no part in kernels "
                "and no effect: leave out buffer, takes_strides, fusion and effect");
  static_assert(d.operands.most <= inference::most_operands, "meshtensor T52: an operation takes at most 8 operands");
  static_assert(names_attributes(d.text), "meshtensor T52: the printer's words name attributes as {0} to {3}");
  operation all{Rule::declares, &Rule::infer, nullptr, nullptr, &Rule::evaluate};
  if constexpr (requires(module const& m, node const& n) { Rule::sharding(m, n); }) all.sharding = &Rule::sharding;
  if constexpr (requires(differentiation& of, node const& n) { Rule::gradient(of, n); }) all.gradient = &Rule::gradient;
  return all;
}();

/// Rules of the primitive `extension`, which call those of the operation. `node::function` is the operation's row in
/// the table of extensions. The operation decides what the attributes mean.
struct extension_rule {
  static constexpr primitive kind = primitive::extension;
  static constexpr declaration declares{.operands = {0, inference::most_operands}};
  static constexpr operation const& of(module const& m, node const& n) { return *m.extensions[n.function].rules; }

  static constexpr void infer(inference& i) { i.m->extensions[i.function].rules->infer(i); }
  /// Without a rule, dims that the operation names are whole on every rank.
  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    operation const& o = of(m, n);
    if (o.sharding != nullptr) return o.sharding(m, n);
    meshtensor::sharding whole{};
    for (int a = 0; a < max_attributes; ++a)
      if (o.declares.attributes[a].kind == attribute_kind::dim && n.attribute[a] != id{no_id})
        whole.keeps_whole(n.attribute[a]);
    return whole;
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    if (of(d.b.m, n).gradient != nullptr) return of(d.b.m, n).gradient(d, n);
    for (int k = 0; k < n.operands.count; ++k)
      if (diagnostic none{}; d.differentiable(d.b.m.operand(n, k)))
        return d.b.note(none << "G30 the operation '" << d.b.m.names[d.b.m.extensions[n.function].label]
                             << "' has no gradient: give it one, or end differentiation before it with stop_gradient");
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    of(e.m, e.n).evaluate(e);
  }
};

/// Adds a node of an operation declared outside of the library.
template <class Rule>
constexpr value_id add_extension(builder& b, ids operands, attributes const& a = {}, requested const& as = {}) {
  meshtensor::module& m = b.m;
  int row = 0;
  while (row < m.extension_count && m.extensions[row].rules != &operation_of<Rule>) ++row;
  if (row == m.extension_count) {
    if (!b.expect(row < max_extensions, "G32 a program has at most 16 operations declared outside of the library"))
      row = --m.extension_count;
    m.extensions[m.extension_count++] = {b.intern(Rule::name), &operation_of<Rule>};
  }
  return add_node<extension_rule>(b, operands, a, as, static_cast<std::uint8_t>(row));
}

namespace detail {

/// Whether attributes `first` to `first + count - 1` of a declaration are numbers, counts and flags.
constexpr bool takes_numbers(declaration const& d, std::size_t first, std::size_t count) {
  for (std::size_t a = first; a < first + count; ++a)
    if (attribute_kind const k = d.attributes[a].kind;
        !d.attributes[a].is_number() && k != attribute_kind::count && k != attribute_kind::flag)
      return false;
  return true;
}

/// The slot of a number: a row of the table, or the count or flag itself.
constexpr id slot_of(builder& b, attribute_kind kind, number const& n) {
  if (attribute_declaration{kind}.is_number()) return add_number_of_call(b, n);
  bool const known = n.count == 1 && n.items[0].kind == number::item::literal;
  double const value = known ? n.items[0].value.real : -1;
  bool const fits = value >= 0 && value <= (kind == attribute_kind::flag ? 1 : no_id_t::value - 1);
  if (fits && static_cast<id>(value) == value) return static_cast<id>(value);
  diagnostic d{};
  if (known) add_real(d << "T53 ", value);
  else d << "T53 a number that a run sets";
  b.note(d << " is given as a count or flag: a count is a literal from 0 to 65534, a flag true or false; declare other "
              "numbers as attribute_kind::number");
  return 0;
}

}  // namespace detail

// ---- public functions ----

/// Records an operation that a struct of your own declares, like the structs in op/. The struct has `static constexpr
/// mt::name name`, `declares`, `infer` and `evaluate`, and may have `sharding` and `gradient`. Call it in a function
/// like those of the library. For example, `constexpr auto reversed(H const& x, D along, line const& where = {})`
/// returns `mt::extension<reversed_rule>(where, mt::to(along), x)`. The dims in `to` become the node's first
/// attributes.
///
/// dims    by the struct's `infer`
/// layout  by its `sharding`. Without it, the dims among its attributes must be whole, and so must dims that the result
///         lacks. All others may be sharded, as for an elementwise operation, and partial operands are reduced first
/// grad    by its `gradient`. Without it, differentiation through the operation is an error, G30
/// errors  those of `infer`
template <class Rule, dim_type... D, handle... H>
constexpr auto extension(line const& where, to_dims<D...>, H const&... operands) {
  return detail::record<Rule, D...>(
      where,
      [&](builder& b) {
        value_id const inside[] = {operands.id...};
        return add_extension<Rule>(b, inside, {{b.dim(D::dim_name, D::dim_rule)...}});
      },
      operands...);
}
/// Has counts, flags and numbers as the attributes after the dims: `mt::extension<rotated_rule>(where, mt::to(along),
/// {2, true, s.number("gain", 1)}, x)`. The declaration gives the kind of each of them. A count or flag is a literal,
/// so rules read it from the node (`n.attribute[1]`). A number may be set before each step, and `evaluate` reads it as
/// `e.number(3)`. When `infer` runs on the types of handles, all of them are 0.
///
/// errors  T52 there are too many; T53 a count or flag is not a literal of its range, or the declaration has no
///         attribute for it
template <class Rule, dim_type... D, std::size_t Count, handle... H>
constexpr auto extension(line const& where, to_dims<D...>, number const (&behind)[Count], H const&... operands) {
  constexpr std::size_t dims = sizeof...(D);
  static_assert(dims + Count <= max_attributes,
                "meshtensor T52: an operation has at most 5 attributes, its dims among them");
  static_assert(detail::takes_numbers(Rule::declares, dims, dims + Count <= max_attributes ? Count : 0),
                "meshtensor T53: the attributes behind the dims are numbers, counts and flags: declare them as such");
  return detail::record<Rule, D...>(
      where,
      [&](builder& b) {
        value_id const inside[] = {operands.id...};
        attributes all{{b.dim(D::dim_name, D::dim_rule)...}};
        for (std::size_t a = 0; a < Count && dims + a < max_attributes; ++a)
          all.at[dims + a] = detail::slot_of(b, Rule::declares.attributes[dims + a].kind, behind[a]);
        return add_extension<Rule>(b, inside, all);
      },
      operands...);
}

}  // namespace meshtensor
