// SPDX-License-Identifier: Apache-2.0
// Adds the user's line, path and type of a node to an error sentence.
#pragma once

#include <string_view>

#include "meshtensor/graph/attributes.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The file of a line, without directories, so that the text does not depend on where the program was compiled.
constexpr std::string_view file_name(site_row const& s) {
  std::string_view const file = s.file == nullptr ? "" : s.file;
  auto const slash = file.rfind('/');
  return slash == std::string_view::npos ? file : file.substr(slash + 1);
}

/// The name of a node's operation. It is the function of an elementwise node, and otherwise the primitive.
constexpr char const* text_of(node const& n) {
  if (n.kind != primitive::elementwise || n.function >= static_cast<std::uint8_t>(function::count_))
    return text_of(n.kind);
  return text_of(static_cast<function>(n.function));
}

/// Whether a node is this scalar function.
constexpr bool applies(node const& n, function f) {
  return n.kind == primitive::elementwise && n.function == static_cast<std::uint8_t>(f);
}

/// The name that the user gave to a node's operation, or null if the operation is the library's.
constexpr name const* own_name_of(module const& m, node const& n) {
  if (n.kind == primitive::call) return &m.names[m.calls[call_of(n)].label];
  if (n.kind == primitive::extension) return &m.names[m.extensions[n.function].label];
  return n.kind == primitive::composite ? &m.names[name_of(n)] : nullptr;
}

/// Adds the name of a node's operation: `einsum`, or the user's own name.
constexpr diagnostic& add_operation(diagnostic& d, module const& m, node const& n) {
  name const* const own = n.kind == primitive::composite ? nullptr : own_name_of(m, n);
  return own == nullptr ? d << text_of(n) : d << *own;
}

/// Adds ` (node %12 einsum, train.cpp:31)`. The number is that of the node's first value, as the printer shows it.
[[gnu::cold]] constexpr diagnostic& locate(diagnostic& d, module const& m, node const& n) {
  d << " (node ";
  if (n.results.count != 0) d << "%" << m.result(n) << " ";
  add_operation(d, m, n);
  if (n.site < m.site_count && m.sites[n.site].line != 0)
    d << ", " << file_name(m.sites[n.site]) << ":" << m.sites[n.site].line;
  return d << ")";
}

/// Adds ` (train.cpp:31)`.
constexpr diagnostic& add_line(diagnostic& d, module const& m, site_id site) {
  if (site < m.site_count && m.sites[site].line != 0)
    d << " (" << file_name(m.sites[site]) << ":" << m.sites[site].line << ")";
  return d;
}

/// Adds a number in its usual notation, with up to nine digits, for example `0.001` or `3e-07`.
[[gnu::cold]] constexpr diagnostic& add_real(diagnostic& d, double v) {
  if (v != v) return d << "nan";
  if (v < 0) d << "-", v = -v;
  if (v > 1.7976931348623157e308) return d << "inf";
  int exponent = 0;
  if (v != 0 && (v >= 1e9 || v < 1e-4)) {
    for (; v >= 10; v /= 10) ++exponent;
    for (; v < 1; v *= 10) --exponent;
  }
  long long scale = 1;  // the power of ten that makes it a whole number, or nearly
  auto const rest = [&] {
    double const x = v * static_cast<double>(scale), to = static_cast<double>(static_cast<long long>(x + 0.5));
    return x < to ? to - x : x - to;
  };
  while (scale < 1'000'000'000 && rest() > 1e-9 * v * static_cast<double>(scale)) scale *= 10;
  auto const all = static_cast<long long>(v * static_cast<double>(scale) + 0.5);
  d << all / scale;
  if (scale > 1) d << ".";
  for (long long left = all % scale, place = scale / 10; place > 0; left %= place, place /= 10) d << left / place;
  return exponent == 0 ? d : d << "e" << exponent;
}
/// Adds a number in its usual notation. An integer below 2^64 in size gets all its digits.
[[gnu::cold]] constexpr diagnostic& add_exact(diagnostic& d, number_value const& n) {
  if (!n.is_integer() || (n.real < 1e9 && n.real > -1e9)) return add_real(d, n.real);
  char digits[24] = {};
  int first = 23;  // behind it is the 0 that ends the text
  for (auto left = n.integer() < 0 ? -n.integer() : n.integer(); left != 0; left /= 10)
    digits[--first] = static_cast<char>('0' + static_cast<int>(left % 10));
  if (n.integer() < 0) digits[--first] = '-';
  return d << static_cast<char const*>(digits + first);
}

/// Adds ` made at train.cpp:31`.
[[gnu::cold]] constexpr diagnostic& add_made(diagnostic& d, module const& m, value_id v) {
  site_id const site = m.nodes[m.values[v].node].site;
  d << " made";
  if (site < m.site_count && m.sites[site].line != 0)
    d << " at " << file_name(m.sites[site]) << ":" << m.sites[site].line;
  return d;
}

/// Adds `decoder/attention/query`.
constexpr diagnostic& add_path(diagnostic& d, module const& m, path_id path) {
  if (path == no_id) return d;
  if (m.paths[path].parent != no_id) add_path(d, m, m.paths[path].parent) << "/";
  return d << m.names[m.paths[path].label];
}

/// Adds `the scope 'decoder/attention'`.
constexpr diagnostic& add_scope(diagnostic& d, module const& m, path_id path) {
  if (path == no_id) return d << "the program's own scope";
  return add_path(d << "the scope '", m, path) << "'";
}

/// Adds `f32[d_model, d_ff/model]`: each dim with the axes that shard it, the first axis major.
[[gnu::cold]] constexpr diagnostic& add_type(diagnostic& d, module const& m, dtype type, shape const& dims,
                                             placement const& layout = {}) {
  d << text_of(type) << "[";
  for (int i = 0; i < dims.count; ++i) {
    d << (i == 0 ? "" : ", ") << m.dim_name(dims.at[i]);
    for (int o = 0, a = 0; (a = layout.axis_at(i, o)) >= 0; ++o) d << "/" << m.names[m.axes[a].label];
  }
  return d << "]";
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
