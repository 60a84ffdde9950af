// SPDX-License-Identifier: Apache-2.0
// The variables of a scope: their declaration, the variable that a tensor reads, and the error of a refused update.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "meshtensor/graph/scope/declaration_finding.hpp"
#include "meshtensor/graph/scope/untyped_scope.hpp"
#include "meshtensor/graph/state_updates.hpp"
#include "meshtensor/graph/variables.hpp"
#include "meshtensor/tensor/tensor.hpp"

namespace meshtensor {

/// The part of a scope that declares variables and checks their updates.
class scope_variables : public untyped_scope {
 public:
  using untyped_scope::untyped_scope;

 protected:
  template <class... Args>
  static constexpr std::size_t dim_count =
      ((std::is_same_v<Args, initializer> || std::is_same_v<Args, merge_rule> ? 0 : 1) + ... + 0);

  // For a declaration that was refused, returns a tensor with the dims among the arguments.
  template <dtype T, bool Trainable, dtype Compute, class Reason, class... Args, std::size_t... I>
  requires(!nothing_found<Reason>)
  constexpr auto declare(named<Reason> const&, std::tuple<Args...> const&, std::index_sequence<I...>) const {
    b_->give_up();
    return handle_t<Trainable ? Compute : T, typename detail::dims_among_all<Args...>::type>(b_, value_id{});
  }
  template <dtype T, bool Trainable, dtype Compute, class... Args, std::size_t... I>
  constexpr auto declare(named_here const& label, std::tuple<Args...> const& args, std::index_sequence<I...>) const {
    constexpr bool has_start = (std::is_same_v<Args, initializer> || ...);
    constexpr bool has_rule = (std::is_same_v<Args, merge_rule> || ...);
    at_line(label.where);
    in_its_layer(label.label);
    shape own{};
    (own.add(b_->dim(std::tuple_element_t<I, std::tuple<Args...>>::dim_name,
                     std::tuple_element_t<I, std::tuple<Args...>>::dim_rule)),
     ...);
    initializer start = Trainable ? initializer{initializer_kind::automatic, 0} : zeros;
    if constexpr (has_start) start = std::get<initializer>(args);
    merge_rule rule = merge_rule::automatic;
    if constexpr (has_rule) rule = std::get<merge_rule>(args);
    value_id v = declared(b_->add_path(path_, label.label), T, own, start, Trainable, rule);
    constexpr dtype seen = Trainable ? Compute : T;
    if constexpr (seen != T)
      v = b_->add(primitive::elementwise, static_cast<std::uint8_t>(function::cast), ids(&v, 1), seen,
                  b_->m.values[v].dims);
    return tensor<seen, std::tuple_element_t<I, std::tuple<Args...>>...>(b_, v);
  }

  constexpr value_id declared(path_id path, dtype type, shape const& own, initializer const& start, bool trainable,
                              merge_rule rule) const {
    return detail::read(*b_, detail::declare(*b_, path, type, own, start, trainable, rule));
  }
  constexpr value_id ordered(value_id v, shape const& dims) const {
    return b_->m.values[v].dims == dims ? v : b_->add(primitive::transpose, {v}, b_->m.values[v].type, dims);
  }
  constexpr variable_id variable_of(value_id v) const { return detail::variable_read(*b_, v); }
  constexpr variable const& like(value_id v) const {
    variable_id const row = variable_of(v);
    return b_->m.variables[row == no_id ? 0 : row];
  }

  // The dims of a declaration in the eaches and loops that are open, which add their dims themselves.
  constexpr shape own_dims(shape const& dims) const {
    shape of_loops{}, own{};
    for (int level = 0; level < b_->depth; ++level)
      if (!b_->frames[level].shares_parameters) of_loops.add(b_->frames[level].loop_dim);
    for (int i = 0; i < dims.count; ++i)
      if (b_->find_each(static_cast<dim_id>(dims.at[i])) < 0 && !of_loops.has(dims.at[i])) own.add(dims.at[i]);
    return own;
  }
  constexpr void require_variable(value_id v, line const& where) const {
    if (variable_of(v) != no_id) return;
    at_line(where);
    diagnostic d{};
    b_->note(d << "G08 state_like: the argument is not a parameter or state: state_like takes it as it was declared, "
                  "in a policy r[i].before");
  }

  // Gives a variable its next value, or reports why not. `amends` says that it may replace an earlier update.
  constexpr void replace(value_id variable, value_id next, counted_update how, bool amends, line const& where) const {
    variable_id const target = variable_of(variable);
    if (diagnostic const finding = refused_update(target, variable, next, amends); !finding.empty()) {
      at_line(where);
      b_->note(finding);
      return;
    }
    value_id before = b_->use(variable), all = ordered(next, b_->m.values[before].dims);
    if (b_->each_count != 0) detail::show_all(*b_, before, all);
    if (b_->depth != 0) {
      state_update* const earlier = detail::update_in_regions(*b_, target);
      bool const is_pending = earlier != nullptr || b_->find_write(entry_of(b_->region), target) != no_id;
      if (earlier != nullptr && earlier->region == b_->region) earlier->next = b_->use(all);
      else detail::update_in_loop(*b_, target, before, all, how, is_pending);
      return;
    }
    if (node_id const earlier = b_->find_write(b_->region, target); earlier != no_id) {
      how = counting_of(b_->m.nodes[earlier]);
      b_->remove_write(earlier);
    }
    effect(primitive::write, all, write_attributes{target, how}.packed());
  }
  // The next value of a variable, as this body sees it, or no_id if it has no update yet.
  constexpr value_id next_value(value_id variable) const {
    variable_id const target = variable_of(variable);
    if (target == no_id) {
      diagnostic d{};
      b_->note(d << "G08 next: the argument is not a parameter or state: next takes it as it was declared");
      return no_id;
    }
    state_update const* const u = detail::update_in_regions(*b_, target);
    node_id const written = u != nullptr ? node_id{no_id} : b_->find_write(entry_of(b_->region), target);
    if (u == nullptr && written == no_id) return no_id;
    value_id next = detail::slice_of_index(*b_, u != nullptr ? u->next : b_->m.operand(b_->m.nodes[written], 0));
    shape const dims = b_->m.values[variable].dims;
    dtype const type = b_->m.values[variable].type;
    if (b_->m.values[next].type != type)  // the variable is read in the dtype of the computation
      next = b_->add(primitive::elementwise, static_cast<std::uint8_t>(function::cast), ids(&next, 1), type,
                     b_->m.values[next].dims);
    return ordered(b_->use(next), dims);
  }

  // The error of an update that is not allowed here, or an empty diagnostic.
  constexpr diagnostic refused_update(variable_id target, value_id before, value_id next, bool amends) const {
    meshtensor::module const& m = b_->m;
    diagnostic d{};
    if (b_->regime != nullptr && b_->regime->shows_other_values)
      return d << "G08 update: the program sees the mean of replicas, which is not stored: update variables in the "
                  "training step";
    if (target == no_id)
      return d << "G08 update: the first argument is not a parameter or state: update takes it as it was declared, and "
                  "its next value";
    variable const& kept = m.variables[target];
    if (diagnostic const in_loop = detail::refused_in_regions(*b_, kept); !in_loop.empty()) return in_loop;
    auto const may_replace = [&](region_id in) {
      return amends && (in == b_->region || detail::is_branch_in(*b_, in));
    };
    state_update const* const other = detail::update_in_regions(*b_, target);
    if (other != nullptr && !may_replace(other->region)) return updated_twice(kept, other->site);
    node_id const written = b_->find_write(entry_of(b_->region), target);
    if (other == nullptr && written != no_id && !may_replace(m.nodes[written].region))
      return updated_twice(kept, m.nodes[written].site);
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
                "parameters); s.amend replaces an earlier update in the same body, or before "
                "the cond of a branch";
  }
};

}  // namespace meshtensor
