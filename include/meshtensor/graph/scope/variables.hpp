// SPDX-License-Identifier: Apache-2.0
// The variables of a scope: their declaration, the variable that a tensor reads, and the error of a refused update.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "meshtensor/graph/scope/declaration_finding.hpp"
#include "meshtensor/graph/scope/place.hpp"
#include "meshtensor/graph/state_updates.hpp"
#include "meshtensor/graph/variables.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

/// The part of a scope that declares variables and checks their updates.
class scope_variables : public scope_place {
 public:
  using scope_place::scope_place;

 protected:
  template <class... Args>
  static constexpr std::size_t dim_count = ((std::is_same_v<Args, initializer> ? 0 : 1) + ... + 0);

  // For a declaration that was refused, returns a tensor with the dims among the arguments.
  template <dtype T, bool Trainable, dtype Compute, class Reason, class... Args, std::size_t... I>
  requires(!nothing_found<Reason>)
  constexpr auto declare(named<Reason> const&, std::tuple<Args...> const&, std::index_sequence<I...>) const {
    b_->give_up();
    return handle_t<Trainable ? Compute : T, typename detail::dims_among_all<Args...>::type>(b_, value_id{});
  }
  template <dtype T, bool Trainable, dtype Compute, class... Args, std::size_t... I>
  constexpr auto declare(named_here const& label, std::tuple<Args...> const& args, std::index_sequence<I...>) const {
    constexpr bool given = sizeof...(Args) > sizeof...(I);
    at_line(label.where);
    in_its_layer(label.label);
    shape own{};
    (own.add(b_->dim(std::tuple_element_t<I, std::tuple<Args...>>::dim_name,
                     std::tuple_element_t<I, std::tuple<Args...>>::dim_rule)),
     ...);
    initializer start = Trainable ? initializer{initializer_kind::automatic, 0} : zeros;
    if constexpr (given) start = std::get<sizeof...(I)>(args);
    value_id v = detail::read(*b_, detail::declare(*b_, b_->add_path(path_, label.label), T, own, start, Trainable));
    constexpr dtype seen = Trainable ? Compute : T;
    if constexpr (seen != T)
      v = b_->add(primitive::elementwise, static_cast<std::uint8_t>(function::cast), ids(&v, 1), seen,
                  b_->m.values[v].dims);
    return tensor<seen, std::tuple_element_t<I, std::tuple<Args...>>...>(b_, v);
  }

  constexpr value_id ordered(value_id v, shape const& dims) const {
    return b_->m.values[v].dims == dims ? v : b_->add(primitive::transpose, {v}, b_->m.values[v].type, dims);
  }
  constexpr variable_id variable_of(value_id v) const { return detail::variable_read(*b_, v); }
  constexpr variable const& like(value_id v) const {
    variable_id const row = variable_of(v);
    return b_->m.variables[row == no_id ? 0 : row];
  }

  // The error of an update that is not allowed here, or an empty diagnostic.
  constexpr diagnostic refused_update(variable_id target, value_id before, value_id next) const {
    meshtensor::module const& m = b_->m;
    diagnostic d{};
    if (target == no_id)
      return d << "G08 update: the first argument is not a parameter or state: update takes it as it was declared, and "
                  "its next value";
    variable const& kept = m.variables[target];
    if (diagnostic const in_loop = detail::refused_in_loops(*b_, kept); !in_loop.empty()) return in_loop;
    state_update const* const other = detail::update_in_loops(*b_, target);
    if (other != nullptr) return updated_twice(kept, other->site);
    node_id const written = b_->find_write(entry_of(b_->region), target);
    if (written != no_id) return updated_twice(kept, m.nodes[written].site);
    value const& v = m.values[next];
    shape const& dims = m.values[before].dims;
    if (!v.dims.includes(dims) || !dims.includes(v.dims)) {
      add_type(add_path(d << "T03 '", m, kept.path) << "' is ", m, kept.type, dims);
      add_type(d << ", but its next value is ", m, v.type, v.dims) << ": sum over a dim, or rename one";
    }
    return d;
  }
  constexpr diagnostic updated_twice(variable const& kept, site_id first) const {
    meshtensor::module const& m = b_->m;
    diagnostic d{};
    add_path(d << "G05 '", m, kept.path) << "' is updated twice in one step";
    if (first < m.site_count && m.sites[first].line != 0)
      d << ", first at " << file_name(m.sites[first]) << ":" << m.sites[first].line;
    return d << ": a step has one next value of it, and all reads see the value before (minimize updates all "
                "parameters)";
  }
};

}  // namespace meshtensor
