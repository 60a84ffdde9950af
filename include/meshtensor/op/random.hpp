// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: an element is a function of the seed, the node's identity, the program's step, the
// iteration and its global index. So it is the same under every layout, on every mesh and when it is recomputed.
#pragma once

#include "meshtensor/base/philox.hpp"
#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/detail/composed.hpp"
#include "meshtensor/op/detail/identity_of_random.hpp"
#include "meshtensor/op/detail/structure.hpp"

namespace meshtensor {

struct random_rule {
  static constexpr primitive kind = primitive::random;
  static constexpr declaration declares{
      .operands = {0, 0}, .functions = 2, .fusion = fusion_role::random, .work = work_kind::function};
  static constexpr void infer(inference& i) { i.expect(is_float(i.type), "T04 random numbers are floats: cast them"); }
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return extents.local_size(m.result_value(n));
  }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    random_key const key{e.context.seed, identity_of(e.m, e.n), e.context.step};
    auto const which = static_cast<distribution>(e.n.function);
    fill(e.results[0], key, e.context.iteration, [which]<class E>(random_stream const& stream, std::uint64_t index) {
      return which == distribution::uniform ? random_uniform<E>(stream, index)
                                            : static_cast<E>(random_normal<arithmetic_t<E>>(stream, index));
    });
  }

  /// Fills a block of floats. `draw.operator()<E>(stream, index)` gives an element of type E, by its global index.
  template <class F>
  static void fill(view const& y, random_key const& key, std::uint64_t iteration, F const& draw) {
    walk<2> w;  // the block in memory, and the whole tensor in row-major order
    std::int64_t whole = 1, first = 0;
    for (int i = y.count; i-- > 0;) w.stride[1][i] = whole, first += whole * y.origin[i], whole *= y.total[i];
    for (int i = 0; i < y.count; ++i) w.stride[0][i] = y.stride[i], w.extent[w.count++] = y.extent[i];
    if (w.empty()) return;
    random_stream const stream(key, iteration);
    with_element(y.type, [&]<class E>() {
      if constexpr (std::is_floating_point_v<arithmetic_t<E>>) {
        do {
          auto const index = static_cast<std::uint64_t>(first + w.offset[1]);
          y.as<E>()[w.offset[0]] = draw.template operator()<E>(stream, index);
        } while (w.next());
      }
    });
  }
};

/// Random numbers. In an each, those of an index are its slice of numbers that have the each's dim in front.
constexpr value_id random(builder& b, distribution kind, dtype type, shape const& dims) {
  shape all{};
  for (int e = 0; e < b.each_count; ++e) {
    if (dims.has(b.eaches[e].dim)) {
      diagnostic d{};
      b.note(d << "G44 random numbers in an each over '" << b.m.dim_name(b.eaches[e].dim)
               << "' have this dim, but each index draws its own: leave the dim out, or rename it to "
                  "mt::dim<\"other\", "
               << b.m.dim_name(b.eaches[e].dim) << " + 0>");
    }
    all.add(b.eaches[e].dim);
  }
  value_id const v = add_node<random_rule>(b, ids{}, {}, {type, united(all, dims)}, static_cast<std::uint8_t>(kind));
  node& n = b.m.nodes[b.m.values[v].node];
  for (int i = 0; i + 1 < b.m.node_count; ++i)
    n.ordinal = static_cast<id>(n.ordinal + (b.m.nodes[i].kind == primitive::random && b.m.nodes[i].path == n.path));
  value_id seen = v;
  for (int e = 0; e < b.each_count; ++e)
    seen = add_node<hide_rule>(b, {seen}, view_attributes{b.eaches[e].dim, false}.packed());
  return seen;
}

// ---- public functions ----

namespace detail {
template <dtype T>
consteval auto random_type_finding() {
  if constexpr (is_float(T)) return no_error{};
  else return refusal<"T04 random numbers are floats: cast them", dtype_constant<T>>{};
}
/// The line of a call that makes random numbers. It refuses the call if they are no floats.
template <dtype T>
using random_line = checked_line<decltype(random_type_finding<T>())>;
}  // namespace detail

/// Uniform floats in [0, 1), new ones in every step: `uniform(s, mt::f32, to(batch, d_model))`. They follow from the
/// seed, the program's name and step, the scope's path, the index among the random tensors of that path, the iteration
/// and the element's global index. Those of bf16 are rounded towards zero, so they stay below 1.
///
/// dims    those of `to`
/// layout  bit-equal under every layout
/// grad    none
template <scope S, dtype T, dim_type... D>
constexpr tensor<T, D...> uniform(S const& s, dtype_constant<T>, to_dims<D...>,
                                  detail::random_line<T> const& where = {}) {
  if constexpr (!is_float(T)) s.graph_builder().give_up();
  auto const here = s.enter();
  detail::recording r(&s.graph_builder(), where);
  return {&r.b, random(r.b, distribution::uniform, T, detail::shape_of(r.b, dims<D...>{}))};
}

/// Normal floats with mean 0 and standard deviation 1: `normal(s, mt::f32, to(batch, d_model))`. Otherwise like
/// `uniform`.
template <scope S, dtype T, dim_type... D>
constexpr tensor<T, D...> normal(S const& s, dtype_constant<T>, to_dims<D...>,
                                 detail::random_line<T> const& where = {}) {
  if constexpr (!is_float(T)) s.graph_builder().give_up();
  auto const here = s.enter();
  detail::recording r(&s.graph_builder(), where);
  return {&r.b, random(r.b, distribution::normal, T, detail::shape_of(r.b, dims<D...>{}))};
}

/// Normal floats with the dtype and dims of a tensor: `normal_like(s / "noise", g)`. Otherwise like `normal`.
///
/// dims    those of `x`
/// layout  bit-equal under every layout
/// grad    none
/// errors  T04 `x` is not of floats
template <scope S, handle X>
constexpr X normal_like(S const& s, X const& x, detail::random_line<X::type> const& where = {}) {
  if constexpr (!is_float(X::type)) s.graph_builder().give_up();
  auto const here = s.enter();
  detail::recording r(&s.graph_builder(), where);
  value const like = r.b.m.values[r.b.use(x.id)];
  return X(&r.b, random(r.b, distribution::normal, like.type, like.dims));
}

/// True with the given probability, which is a number: `bernoulli(s / "keep", 0.9, to(batch, d_model))`. Otherwise like
/// `uniform`.
///
/// errors  T51 the probability is a literal that is not from 0 to 1
template <scope S, number_like P, dim_type... D>
constexpr tensor<dtype::boolean, D...> bernoulli(S const& s, P const& probability, to_dims<D...> result,
                                                 line const& where = {}) {
  detail::composed const here(&s.graph_builder(), where, "bernoulli");
  here.b.expect(may_be_probability(probability), "T51 bernoulli: a probability is from 0 to 1");
  return uniform(s, f32, result) < probability;
}

namespace detail {
template <class>
struct random_dims {
  using type = dims<>;
};
template <dim_type D>
struct random_dims<D> {
  using type = dims<D>;
};
template <class... D>
struct random_dims<to_dims<D...>> {
  using type = dims<D...>;
};
template <class First, class... More>
constexpr auto const& first_scope(First const& first, More const&... more) {
  if constexpr (scope<First>) return first;
  else return first_scope(more...);
}

/// The error of a call for random numbers in which an argument is missing, or the arguments are in another order.
template <literal Call, class... A>
consteval auto random_finding() {
  if constexpr (!(scope<A> || ...))
    return refusal<joined_words<"T17 random numbers take a scope first, which makes them differ from others: ", Call>,
                   A...>{};
  else if constexpr (!(is_to<A> || ...))
    return refusal<joined_words<"T26 the dims of random numbers are in to: ", Call>, A...>{};
  else if constexpr (!(is_dtype<A> || ...))
    return refusal<joined_words<"T24 random numbers take a dtype: ", Call>, A...>{};
  else
    return refusal<joined_words<"T37 random numbers take a scope, a dtype and their dims, in this order; other bounds "
                                "are arithmetic: low + (high - low) * uniform(...), mean + deviation * normal(...): ",
                                Call>,
                   A...>{};
}
/// The code of a call of `bernoulli` with wrong arguments.
template <class... A>
struct bernoulli_code {
  static constexpr auto value = !(scope<A> || ...)   ? literal("T17")
                                : !(is_to<A> || ...) ? literal("T26")
                                                     : literal("T37");
};
/// Like `refused_call`, for random numbers.
template <literal Call, class... A>
struct refused_random {
  template <class Reason = decltype(random_finding<Call, A...>())>
  MESHTENSOR_REFUSES constexpr refused_random(std::source_location const& = std::source_location::current()) {
    static_assert(is_said<Reason>, "meshtensor refuses this call");
  }
};
template <dtype T, class... A>
constexpr auto without_random(A const&... a) {
  if constexpr ((scope<A> || ...)) {
    auto const& s = first_scope(a...);
    s.graph_builder().give_up();
    return handle_t<T, typename joined<typename random_dims<A>::type...>::type>(&s.graph_builder(), value_id{});
  } else {
    return no_result{};
  }
}
template <class A>
concept for_random = scope<A> || is_to<A> || is_dtype<A>;
}  // namespace detail

/// Rejects a call without a scope or a dtype, with dims that are not in `to`, or with arguments in another order.
template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given, detail::argument E = detail::none_given>
requires((detail::for_random<A> || detail::for_random<B> || detail::for_random<C>) &&
         !(scope<A> && detail::is_dtype<B> && detail::is_to<C> && std::same_as<D, detail::none_given>))
constexpr auto uniform(
    A const& a, B const& b = {}, C const& c = {}, D const& d = {}, E const& e = {},
    detail::refused_random<"uniform(s / \"noise\", mt::f32, mt::to(batch))", A, B, C, D, E> const& = {}) {
  return detail::without_random<dtype::f32>(a, b, c, d, e);
}
template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given, detail::argument E = detail::none_given>
requires((detail::for_random<A> || detail::for_random<B> || detail::for_random<C>) &&
         !(scope<A> && detail::is_dtype<B> && detail::is_to<C> && std::same_as<D, detail::none_given>))
constexpr auto normal(
    A const& a, B const& b = {}, C const& c = {}, D const& d = {}, E const& e = {},
    detail::refused_random<"normal(s / \"noise\", mt::f32, mt::to(batch))", A, B, C, D, E> const& = {}) {
  return detail::without_random<dtype::f32>(a, b, c, d, e);
}
template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given, detail::argument E = detail::none_given>
requires((detail::for_random<A> || detail::for_random<B> || detail::for_random<C>) &&
         !(scope<A> && number_like<B> && detail::is_to<C> && std::same_as<D, detail::none_given>))
constexpr auto bernoulli(
    A const& a, B const& b = {}, C const& c = {}, D const& d = {}, E const& e = {},
    detail::refused_call_with<
        detail::bernoulli_code<A, B, C, D, E>,
        "bernoulli takes a scope, a probability, which is a number, and the dims in to: "
        "bernoulli(s / \"keep\", 0.9, mt::to(batch)); by a tensor of probabilities it is uniform(s / "
        "\"keep\", mt::f32, mt::to(batch)) < p",
        A, B, C, D, E> const& = {}) {
  return detail::without_random<dtype::boolean>(a, b, c, d, e);
}

}  // namespace meshtensor
