// SPDX-License-Identifier: Apache-2.0
// Turns outputs of the last step into arrays, views and numbers of the types that the program gives them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/array/block.hpp"
#include "meshtensor/run/executable/view_dims.hpp"
#include "meshtensor/run/outputs.hpp"
#include "meshtensor/run/ports.hpp"

namespace meshtensor::detail {

/// The outputs of the last step of a session, by name. `executable` describes what users call.
template <class Stages, class Entry, class Session>
class typed_outputs {
 public:
  explicit typed_outputs(Session& s) : session_(&s) {}

  // The value of an output in the traced program. Checks the name at compile time.
  template <name Label>
  static constexpr value output_value() {
    static_assert(is_valid<port_finding<Stages, Entry, primitive::output, Label>>);
    constexpr int port = find_port(Stages::traced, traced_entry, primitive::output, Label);
    return Stages::traced.values[Stages::traced.operand(Stages::traced.nodes[port < 0 ? 0 : port], 0)];
  }

  template <name Label>
  auto local() const {
    using element = element_t<output_value<Label>().type>;
    if (session_->held().size() != 1) return any_array<element>(as_array<Label>(session_->gathered(letters(Label))));
    view const part = session_->local(letters(Label));
    any_array<element> a(dims_of_view(graph(), part));
    copy_dense(part, a.data());
    for (int i = 0; i < part.count; ++i) a.set_first(i, part.origin[i]);
    return a;
  }
  template <name Label>
  auto view_of() const {
    using element = element_t<output_value<Label>().type>;
    if (session_->held().size() != 1)
      throw error("R06", {"view() is one rank's part of the output '", Label, "', but this process holds ",
                          session_->held().size(), ": use local()"});
    view const part = session_->local(letters(Label));
    std::vector<strided_extent> dims;
    for (int i = 0; i < part.count; ++i)
      dims.push_back({{graph().dim_name(part.dim[i]), part.extent[i]}, part.stride[i]});
    return array_view<element const>(part.as<element const>(), dims);
  }
  template <name Label>
  auto as_array(block const& whole) const {
    constexpr value v = output_value<Label>();
    using element = element_t<v.type>;
    std::vector<dim_extent> const dims = dims_of_view(graph(), whole.window());
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      array<element, dim<dim_of_output<Label, I>, rule_of_output<Label, I>>{}...> a(
          dims[static_cast<std::size_t>(I)]...);
      std::copy_n(whole.as<element>(), a.size(), a.data());
      return a;
    }(std::make_integer_sequence<int, v.dims.count>{});
  }
  std::vector<std::pair<std::string, double>> scalars() const {
    std::vector<std::pair<std::string, double>> all;
    for (int i = 0; i < graph().node_count; ++i) {
      node const& n = graph().nodes[i];
      if (n.kind != primitive::output || graph().operand_value(n, 0).dims.count != 0) continue;
      if (output_attributes::of(n).with_path) continue;  // a watched tensor
      std::string const label = graph().names[name_of(n)].text();
      view const v = session_->local(label);
      all.emplace_back(label, with_element(v.type, [&]<class E>() { return static_cast<double>(*v.as<E>()); }));
    }
    return all;
  }
  /// The whole of a watched tensor.
  template <class T>
  any_array<T> watched(std::string_view label, block const& b) const {
    any_array<T> a(dims_of_view(graph(), b.window()));
    if constexpr (std::is_same_v<T, double>) {
      if (std::int64_t const i = first_beyond_f64(b); i >= 0)
        throw error("R14", {"'", label, "' is i64 and has the element ", b.as<std::int64_t>()[i],
                            ", which f64 does not hold: ask for watched<std::int64_t>(\"", label, "\")"});
      for (std::int64_t i = 0; i < b.size(); ++i) a.data()[i] = b.number_at(i);
    } else {
      if (b.type() != a.type) throw error("R14", {"'", label, "' is ", text_of(b.type()), ", not ", text_of(a.type)});
      std::copy_n(b.as<T>(), b.size(), a.data());
    }
    return a;
  }

 private:
  static constexpr int traced_entry = find_entry(Stages::traced, entry_name<Entry>());

  // The name and extent rule of a dim's type. why: they are variables, because clang's lambdas cannot use a function's
  // constants.
  template <name Label, int I>
  static constexpr name dim_of_output = Stages::traced.dim_name(output_value<Label>().dims.at[I]);
  template <name Label, int I>
  static constexpr extent_rule rule_of_output = rule_of(Stages::traced, output_value<Label>().dims.at[I]);

  meshtensor::module const& graph() const { return session_->graph(); }

  Session* session_;
};

}  // namespace meshtensor::detail
