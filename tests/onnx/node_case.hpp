// SPDX-License-Identifier: Apache-2.0
// Lists ONNX's node cases, and names the dims of their programs: one letter each, of any extent.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace onnx_cases {

namespace mt = meshtensor;
using mt::to;

/// One node, as a program that is traced when it is run.
struct node_case {
  char const* label;
  mt::name entry;
  std::unique_ptr<mt::module> (*trace)();
};
template <class Program>
node_case listed(char const* label) {
  return {label, mt::entry_name<Program>(), [] { return mt::on_heap([] { return mt::trace<Program>(); }); }};
}

template <int N>
struct a_dim : mt::dim<"a", N> {};
template <int N>
inline constexpr a_dim<N> a{};
template <int N>
struct b_dim : mt::dim<"b", N> {};
template <int N>
inline constexpr b_dim<N> b{};
template <int N>
struct c_dim : mt::dim<"c", N> {};
template <int N>
inline constexpr c_dim<N> c{};
template <int N>
struct d_dim : mt::dim<"d", N> {};
template <int N>
inline constexpr d_dim<N> d{};
template <int N>
struct e_dim : mt::dim<"e", N> {};
template <int N>
inline constexpr e_dim<N> e{};
template <int N>
struct f_dim : mt::dim<"f", N> {};
template <int N>
inline constexpr f_dim<N> f{};
template <int N>
struct g_dim : mt::dim<"g", N> {};
template <int N>
inline constexpr g_dim<N> g{};
template <int N>
struct h_dim : mt::dim<"h", N> {};
template <int N>
inline constexpr h_dim<N> h{};
template <int N>
struct i_dim : mt::dim<"i", N> {};
template <int N>
inline constexpr i_dim<N> i{};
template <int N>
struct j_dim : mt::dim<"j", N> {};
template <int N>
inline constexpr j_dim<N> j{};
template <int N>
struct k_dim : mt::dim<"k", N> {};
template <int N>
inline constexpr k_dim<N> k{};
template <int N>
struct l_dim : mt::dim<"l", N> {};
template <int N>
inline constexpr l_dim<N> l{};
template <int N>
struct m_dim : mt::dim<"m", N> {};
template <int N>
inline constexpr m_dim<N> m{};
template <int N>
struct n_dim : mt::dim<"n", N> {};
template <int N>
inline constexpr n_dim<N> n{};
template <int N>
struct o_dim : mt::dim<"o", N> {};
template <int N>
inline constexpr o_dim<N> o{};
template <int N>
struct p_dim : mt::dim<"p", N> {};
template <int N>
inline constexpr p_dim<N> p{};
template <int N>
struct q_dim : mt::dim<"q", N> {};
template <int N>
inline constexpr q_dim<N> q{};
template <int N>
struct r_dim : mt::dim<"r", N> {};
template <int N>
inline constexpr r_dim<N> r{};
template <int N>
struct t_dim : mt::dim<"t", N> {};
template <int N>
inline constexpr t_dim<N> t{};
template <int N>
struct u_dim : mt::dim<"u", N> {};
template <int N>
inline constexpr u_dim<N> u{};
template <int N>
struct v_dim : mt::dim<"v", N> {};
template <int N>
inline constexpr v_dim<N> v{};
template <int N>
struct w_dim : mt::dim<"w", N> {};
template <int N>
inline constexpr w_dim<N> w{};
template <int N>
struct y_dim : mt::dim<"y", N> {};
template <int N>
inline constexpr y_dim<N> y{};
template <int N>
struct z_dim : mt::dim<"z", N> {};
template <int N>
inline constexpr z_dim<N> z{};

/// All cases, and the file with their tensors, which generate.py has written.
std::vector<node_case> written_cases();
char const* file_of_tensors();

}  // namespace onnx_cases
