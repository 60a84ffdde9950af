// SPDX-License-Identifier: Apache-2.0
// Defines operations that move the elements of arrays, or give them other dims.
#pragma once

#include <cstdint>
#include <tuple>

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/concat.hpp"
#include "meshtensor/op/pad.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/op/resize.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/stack.hpp"
#include "meshtensor/op/stencil.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

template <named_array A, dim_type... D>
auto transpose(A const& a, to_dims<D...> order) {
  return at_once([](auto const& x, auto t) { return transpose(x, t); }, a, order);
}
template <named_array A, dim_type... D>
auto broadcast(A const& a, to_dims<D...> result) {
  return at_once([](auto const& x, auto t) { return broadcast(x, t); }, a, result);
}
template <named_array A, dim_type F, dim_type T>
auto rename(A const& a, F from, T into) {
  return at_once([](auto const& x, auto f, auto t) { return rename(x, f, t); }, a, from, into);
}
template <named_array A, dim_type F, dim_type T>
auto slice(A const& a, F from, T part, number const& first, number const& step = 1) {
  return at_once([](auto const& x, auto f, auto t, auto const& n, auto const& k) { return slice(x, f, t, n, k); }, a,
                 from, part, first, step);
}
template <named_array A, dim_type F, dim_type T, named_array I>
auto slice(A const& a, F from, T part, I const& start) {
  return at_once([](auto const& x, auto f, auto t, auto const& i) { return slice(x, f, t, i); }, a, from, part, start);
}
template <named_array A, dim_type F, dim_type T>
auto pad(A const& a, F from, T wide, number const& first, number const& around = 0, number const& step = 1) {
  return at_once(
      [](auto const& x, auto f, auto t, auto const& n, auto const& v, auto const& k) { return pad(x, f, t, n, v, k); },
      a, from, wide, first, around, step);
}
template <named_array A, named_array P, dim_type D>
auto put(A const& a, P const& part, D along, number const& position) {
  return at_once([](auto const& x, auto const& p, auto d, auto const& n) { return put(x, p, d, n); }, a, part, along,
                 position);
}
template <named_array A, named_array P, dim_type D, named_array I>
auto put(A const& a, P const& part, D along, I const& index) {
  return at_once([](auto const& x, auto const& p, auto d, auto const& i) { return put(x, p, d, i); }, a, part, along,
                 index);
}
template <named_array A, named_array P, dim_type F, dim_type T, named_array I>
auto put(A const& a, P const& part, F from, T to, I const& start) {
  return at_once([](auto const& x, auto const& p, auto f, auto t, auto const& i) { return put(x, p, f, t, i); }, a,
                 part, from, to, start);
}
template <named_array A, dim_type DA, named_array B, dim_type DB, dim_type T>
auto concat(A const& a, DA da, B const& b, DB db, T joined) {
  return at_once([](auto const& x, auto dx, auto const& y, auto dy, auto t) { return concat(x, dx, y, dy, t); }, a, da,
                 b, db, joined);
}
template <named_array A, dim_type... P, dim_type J>
auto merge(A const& a, to_dims<P...> parts, J joined) {
  return at_once([](auto const& x, auto p, auto j) { return merge(x, p, j); }, a, parts, joined);
}
template <named_array A, dim_type J, dim_type... P>
auto split(A const& a, J joined, to_dims<P...> parts) {
  return at_once([](auto const& x, auto j, auto p) { return split(x, j, p); }, a, joined, parts);
}
template <named_array A, dim_type D>
auto roll(A const& a, D along, std::int64_t by) {
  return at_once([&](auto const& x, auto d) { return roll(x, d, by); }, a, along);
}
template <named_array A, dim_type D>
auto shift(A const& a, D along, std::int64_t by, number const& around = 0) {
  return at_once([&](auto const& x, auto d) { return shift(x, d, by, around); }, a, along);
}
template <named_array A, dim_type D>
auto reverse(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return reverse(x, d); }, a, along);
}
template <named_array A, dim_type F, dim_type T>
auto resize(A const& a, F from, T to, interpolation how = interpolation::nearest) {
  return at_once([how](auto const& x, auto f, auto t) { return resize(x, f, t, how); }, a, from, to);
}
template <named_array A, class F>
auto stencil(A const& a, F const& f, beyond outside = beyond::zero) {
  return at_once([&](auto const& x) { return stencil(x, f, outside); }, a);
}
template <named_array... A, dim_type D>
auto stack(std::tuple<A...> const& all, D along) {
  return std::apply(
      [&](A const&... a) { return at_once([&](auto const&... x) { return stack(std::tuple(x...), along); }, a...); },
      all);
}
template <named_array A, dim_type D>
auto unstack(A const& a, D along) {
  return at_once([](auto const& x, auto d) { return unstack(x, d); }, a, along);
}

}  // namespace meshtensor
