// SPDX-License-Identifier: Apache-2.0
// Finds the named inputs, outputs and numbers of a traced program. Makes the compiler's errors for unknown names and
// for arrays of a wrong dtype or with wrong dims.
#pragma once

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/base/suggest.hpp"
#include "meshtensor/graph/trace.hpp"

namespace meshtensor::detail {

/// The node of one kind and name in the entry at region `entry`, or -1.
constexpr int find_port(module const& m, int entry, primitive kind, name const& label) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == kind && m.nodes[i].region == entry && m.names[name_of(m.nodes[i])] == label) return i;
  return -1;
}
constexpr bool has_number(module const& m, name const& label) {
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named && m.names[m.numbers[i].first] == label) return true;
  return false;
}

/// The extent rule of a dim's type.
constexpr extent_rule rule_of(module const& m, int d) {
  dim_row const& row = m.dims[d];
  return {static_cast<extent_rule::kind_t>(row.kind), row.value, row.first == no_id ? name{} : m.dim_name(row.first),
          row.second == no_id ? name{} : m.dim_name(row.second)};
}

struct finding {
  diagnostic report;
};

/// Builds a sentence such as `T12 the program has no input 'imag'; did you mean 'image'? It has: image, label`.
struct unknown_name {
  diagnostic d, known;
  name wanted, best;
  int least;

  constexpr unknown_name(char const* what, name const& label) : d{}, known{}, wanted(label), best{}, least(0) {
    least = nearness(letters(wanted)) + 1;
    d << "T12 the program has no " << what << " '" << wanted << "'";
  }
  constexpr void add(name const& other) {
    known << (known.empty() ? "" : ", ") << other;
    int const distance = edit_distance(letters(wanted), letters(other));
    if (distance < least) best = other, least = distance;
  }
  constexpr finding result() const {
    diagnostic r = d;
    if (!best.empty()) r << "; did you mean '" << best << "'?";
    if (!known.empty()) r << (best.empty() ? "; it has: " : " It has: ") << known.view();
    return {r};
  }
};

/// The error for the name of a port. It is empty if the entry has the port.
template <class Stages, class Entry, primitive Kind, name Label>
inline constexpr finding port_finding = [] {
  constexpr int entry = find_entry(Stages::traced, entry_name<Entry>());
  if (find_port(Stages::traced, entry, Kind, Label) >= 0) return finding{};
  meshtensor::module const& m = Stages::traced;
  unknown_name u(text_of(Kind), Label);
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == Kind && m.nodes[i].region == entry) u.add(m.names[name_of(m.nodes[i])]);
  return u.result();
}();

/// The names of a list of dims, as in `[batch, length]`.
template <class Dims>
struct names_of;
template <class... D>
struct names_of<dims<D...>> {
  static constexpr bool are(module const& m, shape const& wanted) {
    for (int i = 0; i < wanted.count; ++i)
      if (!((D::dim_name == m.dim_name(wanted.at[i])) || ...)) return false;
    return wanted.count == sizeof...(D);
  }
  static constexpr void add_to(diagnostic& d) {
    int count = 0;
    d << "[";
    ((d << (count++ == 0 ? "" : ", ") << D::dim_name), ...);
    d << "]";
  }
};

/// The error for an array that is fed to an input. It is about the array's dtype, or about its dims if its type has
/// dims.
template <class Stages, class Entry, name Label, dtype T, class Dims>
inline constexpr finding feed_finding = [] {
  meshtensor::module const& m = Stages::traced;
  int const port = find_port(m, find_entry(m, entry_name<Entry>()), primitive::input, Label);
  value const& v = m.result_value(m.nodes[port < 0 ? 0 : port]);
  if (port < 0) return finding{};
  diagnostic d{};
  if (v.type != T) {
    add_type(d << "T02 the input '" << Label << "' is ", m, v.type, v.dims)
        << ", but " << text_of(T) << " is fed: nothing is converted silently";
  } else if constexpr (requires { names_of<Dims>::add_to(d); }) {
    if (names_of<Dims>::are(m, v.dims)) return finding{};
    add_type(d << "T03 the input '" << Label << "' is ", m, v.type, v.dims) << ", but an array ";
    names_of<Dims>::add_to(d);
    d << " is fed";
  }
  return finding{d};
}();

/// The error for the dtype of memory into which an output is fetched.
template <class Stages, class Entry, name Label, dtype T>
inline constexpr finding fetch_finding = [] {
  meshtensor::module const& m = Stages::traced;
  int const port = find_port(m, find_entry(m, entry_name<Entry>()), primitive::output, Label);
  if (port < 0) return finding{};
  value const& v = m.values[m.operand(m.nodes[port < 0 ? 0 : port], 0)];  // clang does not see that it returned
  diagnostic d{};
  if (v.type != T)
    add_type(d << "T02 the output '" << Label << "' is ", m, v.type, v.dims)
        << ", but it is fetched into memory of " << text_of(T) << ": nothing is converted silently";
  return finding{d};
}();

template <class Stages, name Label>
inline constexpr finding number_finding = [] {
  if (has_number(Stages::traced, Label)) return finding{};
  meshtensor::module const& m = Stages::traced;
  unknown_name u("number", Label);
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named) u.add(m.names[m.numbers[i].first]);
  return u.result();
}();

}  // namespace meshtensor::detail
