// SPDX-License-Identifier: Apache-2.0
// Describes the interface of a guest for callers in C and Fortran: its programs, with their inputs, outputs and
// numbers.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/crc32c.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/module.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// An input or an output. `word` is its name as a part of an identifier.
struct guest_port {
  std::string label, word;
  dtype type;
  std::vector<std::string> dims;
};
struct guest_program {
  std::string word;
  std::vector<guest_port> inputs, outputs;
};
/// The facts that determine the functions of a guest.
struct guest_interface {
  std::vector<guest_program> programs;
  std::vector<std::string> dims, axes;  // those whose extents the caller gives
  std::vector<std::string> numbers;
  bool with_communicator = false;
};

/// A name as a part of an identifier in C and Fortran. Characters other than letters and digits become `_`.
inline std::string word_of(std::string_view label) {
  std::string word(label);
  for (char& c : word)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return word;
}

namespace detail {
/// Fortran does not distinguish upper-case and lower-case letters.
inline std::string lower_case(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}
/// Whether a word, in lower case, has a meaning in the files that are written: in C, in C++ or in the Fortran module.
inline bool is_reserved(std::string const& word) {
  static constexpr std::string_view reserved =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class"
      " co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype"
      " default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline"
      " int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public"
      " register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast"
      " struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual union"
      " unsigned using virtual void volatile wchar_t while xor xor_eq"
      // Macros, types and functions of C
      " int64_t linux mpi_comm mpi_comm_c2f mpi_initialized null unix"
      // Names of the whole Fortran module
      " apart c_f_procpointer c_int c_int32_t c_int64_t check create_function find_table ";
  return reserved.find(' ' + word + ' ') != reserved.npos;
}
}  // namespace detail

/// The name of a type as a word, without scopes: `learn<mt::dtype::f64>` is `learn_f64`.
inline std::string word_of_type(std::string_view type) {
  auto const is_letter = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string word;
  while (!type.empty()) {
    auto const size = static_cast<std::size_t>(std::ranges::find_if_not(type, is_letter) - type.begin());
    std::string_view const part = type.substr(0, size);
    type.remove_prefix(std::max<std::size_t>(size, 1));
    if (!part.empty() && !type.starts_with("::")) word += (word.empty() ? "" : "_") + std::string(part);
  }
  return word;
}

/// Adds one program of a traced module. Template arguments are part of its word only if another program has the name.
inline void add_program(guest_interface& all, module const& m, int entry, mesh_shape const& mesh) {
  auto const add = [](std::vector<std::string>& names, std::string const& label) {
    if (std::ranges::find(names, label) == names.end()) names.push_back(label);
  };
  guest_program p;
  std::string const label = m.names[m.regions[entry].label].text();
  p.word = word_of_type(std::string_view(label).substr(0, label.find('<')));
  if (std::ranges::find(all.programs, p.word, &guest_program::word) != all.programs.end()) p.word = word_of_type(label);
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    bool const is_input = n.kind == primitive::input;
    if (n.region != entry || !(is_input || n.kind == primitive::output)) continue;
    if (!is_input && output_attributes::of(n).with_path) continue;  // a watched tensor
    value const& v = is_input ? m.result_value(n) : m.values[m.operand(n, 0)];
    std::string const name = m.names[name_of(n)].text();
    guest_port port{name, word_of(name), v.type, {}};
    for (int d = 0; d < v.dims.count; ++d) port.dims.push_back(m.dim_name(v.dims.at[d]).text());
    (is_input ? p.inputs : p.outputs).push_back(port);
  }
  all.programs.push_back(p);
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == dim_row::dynamic) add(all.dims, m.dim_name(d).text());
  for (int a = 0; a < mesh.count; ++a)
    if (mesh.axes[a].extent == 0) add(all.axes, mesh.axes[a].label.text());
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named) add(all.numbers, m.names[m.numbers[i].first].text());
}

/// A checksum of the interface that callers hand to `create`, so that a header of another interface is noticed. It is
/// at most 2^31 - 1, because Fortran can write such a number.
inline std::int32_t checksum_of(guest_interface const& all) {
  std::string text = all.with_communicator ? "communicator\n" : "\n";
  auto const add = [&](std::vector<std::string> const& names) {
    for (std::string const& n : names) text += n + ',';
    text += '\n';
  };
  add(all.dims), add(all.axes), add(all.numbers);
  for (guest_program const& p : all.programs) {
    text += p.word + '\n';
    for (auto const* ports : {&p.inputs, &p.outputs}) {
      for (guest_port const& port : *ports) text += port.label + ' ' + text_of(port.type), add(port.dims);
      text += ";\n";
    }
  }
  return static_cast<std::int32_t>(crc32c(text) & 0x7fffffffu);
}

/// The names of a guest's functions, which C and Fortran share.
class guest_names {
 public:
  /// errors  R36 `name` is no identifier; two functions have one name; a name is too long for Fortran
  guest_names(std::string name, guest_interface const& all)
      : name_(std::move(name)), is_single_(all.programs.size() == 1) {
    bool valid = !name_.empty() && std::isalpha(static_cast<unsigned char>(name_[0])) != 0;
    valid = valid && word_of(name_) == name_;
    if (!valid) throw error("R36", {"'", name_, "' cannot be the name of a guest: use letters, digits and '_'"});
    if (detail::is_reserved(detail::lower_case(name_)))
      throw error("R36",
                  {"'", name_, "' cannot be the name of a guest, because C or Fortran uses it: choose another one"});
    std::vector<std::string> names;
    for (char const* own : {"create", "destroy", "error", "functions", "t", "table"}) names.push_back(of(own));
    for (std::string const& n : all.numbers) names.push_back(of("set", word_of(n)));
    for (guest_program const& p : all.programs) {
      names.push_back(of(p, "step"));
      for (guest_port const& i : p.inputs)
        for (char const* verb : {"set", "input_part"}) names.push_back(of(p, verb, i.word));
      for (guest_port const& o : p.outputs)
        for (char const* verb : {"fetch", "get", "output_part"}) names.push_back(of(p, verb, o.word));
    }
    for (std::string& n : names) {
      if (n.size() > 63)
        throw error("R36",
                    {"the function ", n, " has ", n.size(), " letters, but Fortran takes 63: choose shorter names"});
      n = detail::lower_case(n);
    }
    std::ranges::sort(names);
    if (auto const twice = std::ranges::adjacent_find(names); twice != names.end())
      throw error("R36", {"two functions of '", name_, "' would be called ", *twice,
                          ": rename an input, output, number or program"});
  }
  std::string const& name() const { return name_; }
  std::string of(std::string_view verb, std::string_view what = {}) const {
    return name_ + '_' + std::string(verb) + (what.empty() ? "" : "_") + std::string(what);
  }
  /// The name of a program's function. If there is only one program, the program's name is left out.
  std::string of(guest_program const& p, std::string_view verb, std::string_view what = {}) const {
    return is_single_ ? of(verb, what) : of(p.word + '_' + std::string(verb), what);
  }

 private:
  std::string name_;
  bool is_single_;
};

/// The names of the arguments of the guest's `create`, made from the dims and axes. They differ also in lower case.
/// Words of C and other names in use get a `_` at their end.
inline std::vector<std::string> extent_arguments(guest_names const& guest, guest_interface const& all) {
  std::vector<std::string> taken{"call_it", "code",  "communicator", "extents", "guest",
                                 "handle",  "ready", "status",       "table"};
  for (char const* own : {"create", "functions", "t", "table"}) taken.push_back(detail::lower_case(guest.of(own)));
  std::vector<std::string> names;
  for (auto const* labels : {&all.dims, &all.axes})
    for (std::string const& label : *labels) {
      std::string word = word_of(label);
      if (std::isalpha(static_cast<unsigned char>(word[0])) == 0) word = "n" + word;
      auto const is_taken = [&](std::string const& lower) {
        return detail::is_reserved(lower) || std::ranges::find(taken, lower) != taken.end();
      };
      while (is_taken(detail::lower_case(word))) word += '_';
      names.push_back(word), taken.push_back(detail::lower_case(word));
    }
  return names;
}

namespace detail {
/// `y, x`
inline std::string listed(std::vector<std::string> const& names, std::string_view between = ", ") {
  std::string text;
  for (std::string const& n : names) text += (text.empty() ? "" : std::string(between)) + n;
  return text;
}
}  // namespace detail
}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
