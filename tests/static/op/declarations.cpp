// SPDX-License-Identifier: Apache-2.0
// Every primitive has a declaration, and the declaration is complete.
#include "meshtensor/op/rules.hpp"

namespace mt = meshtensor;

namespace {

constexpr int primitives = static_cast<int>(mt::primitive::count_);

/// Calls f.operator()<Rule>(primitive) for every primitive until it gives false.
template <class F>
constexpr bool each_rule(F f) {
  for (int p = 1; p < primitives; ++p) {
    auto const kind = static_cast<mt::primitive>(p);
    if (!mt::with_rule(kind, [&]<class R>() { return f.template operator()<R>(kind); })) return false;
  }
  return true;
}

template <class R>
concept infers = requires(mt::inference& i) { R::infer(i); };
template <class R>
concept is_evaluated = requires(mt::evaluation const& e) { R::evaluate(e); };
template <class R>
concept is_differentiated = requires(mt::differentiation& d, mt::node const& n) { R::gradient(d, n); };

// The table leads to the rules of the primitive itself.
static_assert(each_rule([]<class R>(mt::primitive p) { return R::kind == p; }));

// A device computes it: dtype and dims, plain loops and a gradient, if only an empty one.
static_assert(each_rule([]<class R>(mt::primitive p) {
  return !mt::is_computed(p) ||
         (infers<R> && is_evaluated<R> && is_differentiated<R> && R::declares.regions.most == 0 &&
          R::declares.results.least == 1 && R::declares.results.most == 1);
}));

// Counts are ranges, and no more operands than an inference holds.
static_assert(each_rule([]<class R>(mt::primitive) {
  mt::declaration const& d = R::declares;
  return d.operands.least <= d.operands.most && d.results.least <= d.results.most &&
         d.regions.least <= d.regions.most && (!infers<R> || d.operands.most <= mt::inference::most_operands);
}));

// The printer's words name attributes that are used; behind the first unused attribute all are unused, but for the flag
// of an all_reduce.
static_assert(each_rule([]<class R>(mt::primitive p) {
  mt::declaration const& d = R::declares;
  for (char const* c = d.text; *c != '\0'; ++c)
    if (*c == '{' && (c[1] < '0' || c[1] >= '0' + mt::max_attributes || c[2] != '}' ||
                      d.attributes[c[1] - '0'].kind == mt::attribute_kind::unused))
      return false;
  for (int a = 1; a < mt::max_attributes && p != mt::primitive::all_reduce; ++a)
    if (d.attributes[a].kind != mt::attribute_kind::unused && d.attributes[a - 1].kind == mt::attribute_kind::unused)
      return false;
  return true;
}));

// What plays a part in kernels has no attributes beside the number of a constant, for kernels do not read any. The flag
// of an elementwise node says to check_numerics which indices of an each take part.
static_assert(each_rule([]<class R>(mt::primitive p) {
  mt::declaration const& d = R::declares;
  mt::attribute_kind const first = d.attributes[0].kind;
  if (d.fusion == mt::fusion_role::none) return true;
  if (d.fusion == mt::fusion_role::number) return first == mt::attribute_kind::number;
  return first == (p == mt::primitive::elementwise ? mt::attribute_kind::flag : mt::attribute_kind::unused);
}));

// Effects have no results; a result that shares a buffer has an operand to share it with.
static_assert(each_rule([]<class R>(mt::primitive) {
  mt::declaration const& d = R::declares;
  return (!d.effect || d.results.most == 0) && (d.buffer == mt::buffer_use::own || d.operands.least >= 1);
}));

// A window has the attributes of a strided_window.
static_assert(each_rule([]<class R>(mt::primitive) {
  constexpr mt::attribute_kind wanted[] = {mt::attribute_kind::dim, mt::attribute_kind::dim, mt::attribute_kind::place,
                                           mt::attribute_kind::place};
  mt::declaration const& d = R::declares;
  for (int a = 0; d.buffer == mt::buffer_use::window && a < 4; ++a)
    if (d.attributes[a].kind != wanted[a]) return false;
  return true;
}));
// What has places checks them, or takes any.
static_assert(each_rule([]<class R>(mt::primitive p) {
  return !R::declares.has_places() || p == mt::primitive::shift ||
         requires(mt::module const& m, mt::node const& n) { R::require_places(m, n, nullptr, nullptr); };
}));

static_assert(mt::declared(mt::primitive::put).buffer == mt::buffer_use::update);
static_assert(mt::declared(mt::primitive::einsum).takes_strides);

}  // namespace
