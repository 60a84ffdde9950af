// The named ends of a traced program: inputs, outputs, numbers; and what is said, in the compiler, of a name that it
// does not have.
#pragma once

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/pass/deliver.hpp"
#include "meshtensor/run/suggest.hpp"

namespace meshtensor::detail {

/// The node of one kind and name in the entry at region `entry`, or -1.
constexpr int find_port(module const& m, int entry, primitive kind, name const& label) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == kind && m.nodes[i].region == entry && m.names[m.nodes[i].attribute[0]] == label) return i;
  return -1;
}
constexpr bool has_number(module const& m, name const& label) {
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named && m.names[m.numbers[i].first] == label) return true;
  return false;
}

/// What the type of a dim said of its extent.
constexpr extent_rule rule_of(module const& m, int d) {
  dim_row const& row = m.dims[d];
  return {static_cast<extent_rule::kind_t>(row.kind), row.value, row.first == no_id ? name{} : m.dim_name(row.first),
          row.second == no_id ? name{} : m.dim_name(row.second)};
}

struct finding {
  diagnostic report;
};

/// `T12 the program has no input 'imag'; did you mean 'image'? It has: image, label`
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

/// What is wrong with the name of a port: empty if the entry has it.
template <class Stages, class Entry, primitive Kind, name Label>
inline constexpr finding port_finding = [] {
  constexpr int entry = find_entry(Stages::traced, entry_name<Entry>());
  if (find_port(Stages::traced, entry, Kind, Label) >= 0) return finding{};
  module const& m = Stages::traced;
  unknown_name u(text_of(Kind), Label);
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == Kind && m.nodes[i].region == entry) u.add(m.names[m.nodes[i].attribute[0]]);
  return u.result();
}();

template <class Stages, name Label>
inline constexpr finding number_finding = [] {
  if (has_number(Stages::traced, Label)) return finding{};
  module const& m = Stages::traced;
  unknown_name u("number", Label);
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named) u.add(m.names[m.numbers[i].first]);
  return u.result();
}();

}  // namespace meshtensor::detail
