// SPDX-License-Identifier: Apache-2.0
// Traces a program: runs it once and returns the graph that it recorded.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/scope.hpp"

namespace meshtensor {

/// The unqualified name of a type, for example `train_step`. It is used as the name of an entry.
template <class T>
constexpr name type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  auto const first = text.find("T = ") + 4;
  text = text.substr(first, text.find_first_of(";]", first) - first);
  std::size_t colon = std::string_view::npos;  // the last one outside of template arguments
  for (std::size_t i = 0, depth = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (text[i] == ':' && depth == 0) colon = i;
  }
  return name::of(colon == std::string_view::npos ? text : text.substr(colon + 1));
}

namespace detail {
/// Finds the full name of T in a compiler's name of a function, for example in `…[with T = transformer::train_step]`.
template <class = lazy>
std::string full_name_in(std::string_view text) {
  auto const first = text.find("T = ") + 4;
  text = text.substr(first, text.find_first_of(";]", first) - first);
  std::string full;
  std::size_t part = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    depth += c == '<' || c == '(' || c == '{' ? 1 : c == '>' || c == ')' || c == '}' ? -1 : 0;
    if (depth != 0 || !text.substr(i).starts_with("::")) continue;
    std::string_view const scope = text.substr(part, i - part);  // compilers spell unnamed scopes differently
    if (scope.find_first_of("({") == scope.npos) full += std::string(scope) + "::";
    part = i + 2;
  }
  return full + std::string(text.substr(part));
}
#if MESHTENSOR_COMPILED
extern template std::string full_name_in<lazy>(std::string_view);
#endif
}  // namespace detail

/// The full name of a type, with its named namespaces, for example `transformer::train_step`.
template <class T>
std::string full_type_name() {
  return detail::full_name_in(__PRETTY_FUNCTION__);
}

/// A program with other dtypes. Parameters are stored as `Parameters`, and the program computes in `Compute`.
template <class Program, dtype Parameters, dtype Compute = Parameters>
struct precision : Program {
  using with_precision = Program;
  using of_any_size = void;  // its extents are those of `Program`
  static constexpr dtype parameters = Parameters, compute = Compute;
};

namespace detail {
/// The base of all sets of programs. Unlike their members, it shows also in a set that inherits privately.
struct any_programs {};
template <class P>
concept private_set = std::is_base_of_v<any_programs, P> && !std::is_convertible_v<P*, any_programs*>;
}  // namespace detail

/// Programs that share their parameters and are lowered from one module. For example: `struct programs :
/// mt::programs<train_step, evaluate> {};`
///
/// errors  T54 the base is private, as in `class programs : mt::programs<train_step, evaluate> {};`
template <class... Programs>
struct programs : detail::any_programs {
  template <class F>
  static constexpr void each(F f) {
    (f.template operator()<Programs>(), ...);
  }
};

namespace detail {
template <class P>
concept of_one_size = requires { typename P::of_any_size; } && !std::is_void_v<typename P::of_any_size>;
/// Sets the extents of a module's dims that a program's type fixes.
template <class P>
constexpr void fix_sizes(module& m) {
  if constexpr (of_one_size<P>) P::fix(m);
  else if constexpr (requires { typename P::with_precision; }) fix_sizes<typename P::with_precision>(m);
}
}  // namespace detail

/// A program, or a set of programs, at one size. Its dynamic dims get their extents at compile time, so that the
/// compiler makes the plan. For example: `struct small : mt::sized<train_step, batch(16), length(128)> {};`
///
/// errors  S10 the dim has another extent already; S15 the program does not have the dim
template <class Program, dim_extent... Extents>
struct sized : Program {
  using of_any_size = Program;
  static constexpr void fix(module& m) {
    detail::fix_sizes<Program>(m);
    (fix(m, Extents), ...);
  }

 private:
  static constexpr void fix(module& m, dim_extent const& e) {
    int d = 0;
    while (d < m.dim_count && !(m.dim_name(d) == e.label)) ++d;
    if (!m.report.empty()) return;
    if (d == m.dim_count) {
      m.report << "S15 an extent is given for the dim '" << e.label << "', which this program does not have";
    } else if (m.dims[d].kind != dim_row::dynamic || e.extent < 1) {
      m.report << "S10 the dim '" << e.label << "' cannot have the extent " << e.extent
               << (e.extent < 1 ? ": an extent is at least 1" : ": the program fixes it already");
    } else {
      m.dims[d].kind = dim_row::fixed, m.dims[d].value = e.extent;
    }
  }
};

template <class P>
concept program_set = requires { P::each([]<class>() {}); };

namespace detail {
template <class Program>
struct precision_of {
  using scope_t = trace_scope<>;
  using program = Program;
};
template <of_one_size P>
struct precision_of<P> : precision_of<typename P::of_any_size> {};
template <class P>
requires(!of_one_size<P> && requires { typename P::with_precision; })  //
struct precision_of<P> {
  using scope_t = trace_scope<P::parameters, P::compute>;
  using program = typename precision_of<typename P::with_precision>::program;
};
/// The program whose name a program has: its own, or that of the program around which a regime stands.
template <class Program>
struct named_program {
  using type = Program;
};
template <class P>
requires requires { typename P::program_inside; }
struct named_program<P> : named_program<typename precision_of<typename P::program_inside>::program> {};
template <class Program>
using named_program_t = typename named_program<typename precision_of<Program>::program>::type;

template <class Program>
constexpr void trace_entry(module& m) {
  using how = precision_of<Program>;
  builder b(m);
  name const label = type_name<named_program_t<Program>>();
  for (int r = 0; r < m.region_count; ++r)
    if (diagnostic d{}; m.regions[r].kind == region_kind::entry && m.names[m.regions[r].label] == label)
      b.find(d << "G03 two programs of a set are called '" << label << "': give one of them another name");
  b.begin_region(region_kind::entry, b.intern(label));
  using given = decltype(typename how::program{}(typename how::scope_t(&b, no_id, line(std::source_location()))));
  if constexpr (handle<given>)
    static_assert(is_valid<wrong<"T23 a program returns nothing: s.output(\"y\", y) gives a tensor out", given>>);
  typename how::program{}(typename how::scope_t(&b, no_id, line(std::source_location())));
}
}  // namespace detail

/// The entry name of a program. It is the program's own name, for any precision and any regime.
template <class Program>
constexpr name entry_name() {
  return type_name<detail::named_program_t<Program>>();
}

/// The name under which the steps of a program are counted, which is its full name.
template <class Program>
std::string counted_name() {
  return full_type_name<detail::named_program_t<Program>>();
}

/// The graph of one program, or of a set of programs that share their parameters. If the program has an error, the
/// error is in `report`.
template <class Program>
constexpr module try_trace() {
  meshtensor::module m{};
  static_assert(!detail::private_set<Program>,
                "meshtensor T54: mt::programs is a private base of the set: write struct programs : "
                "mt::programs<train, evaluate> {}, or public before the base of a class");
  if constexpr (detail::private_set<Program>) return m;
  else if constexpr (program_set<Program>)
    Program::each([&]<class P>() {
      static_assert(!detail::of_one_size<P>,
                    "meshtensor T38: a set of programs has one size: mt::sized<mt::programs<train, ask>, batch(16)>");
      detail::trace_entry<P>(m);
    });
  else detail::trace_entry<Program>(m);
  detail::fix_sizes<Program>(m);
  return m;
}
/// The graph of a valid program. It throws the error of any other program. In a constant expression the compiler then
/// shows only the throw. To see the sentence, write `constexpr auto m = try_trace<program>();
/// static_assert(is_valid<m>);`.
template <class Program>
constexpr module trace() {
  meshtensor::module m = try_trace<Program>();
  raise(m.report);
  return m;
}

/// The region of the entry called `label`, or -1.
constexpr int find_entry(module const& m, name const& label) {
  for (int r = 0; r < m.region_count; ++r)
    if (m.regions[r].kind == region_kind::entry && m.names[m.regions[r].label] == label) return r;
  return -1;
}

}  // namespace meshtensor
