// SPDX-License-Identifier: Apache-2.0
// The part of a scope that no dtype changes: the builder, a path and a line, and the nodes and names of the path.
#pragma once

#include "meshtensor/graph/steps_of_call.hpp"
#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/number.hpp"

namespace meshtensor {

/// The base of scopes of all dtypes: a path of the trace, and the line of the call.
class untyped_scope {
 public:
  constexpr untyped_scope(builder* b, path_id path, line const& where) : b_(b), path_(path), where_(where) {}

  /// As long as the result lives, traced nodes belong to this scope. Layers do this by themselves.
  class entered {
   public:
    constexpr entered(untyped_scope const& s, bool library)
        : b_(*s.b_), path_(b_.path), site_(b_.site), held_(b_.site_is_held) {
      b_.path = s.path_;
      if (library && !b_.site_is_held && s.where_.number != 0) {
        b_.site = b_.add_site(s.where_.file, s.where_.number);
        b_.site_is_held = true;
      }
    }
    constexpr ~entered() { b_.path = path_, b_.site = site_, b_.site_is_held = held_; }
    entered(entered const&) = delete;

   private:
    builder& b_;
    path_id path_;
    site_id site_;
    bool held_;
  };
  constexpr entered enter(bool library = false) const { return entered(*this, library); }

  constexpr builder& graph_builder() const { return *b_; }
  constexpr path_id path() const { return path_; }
  constexpr line where() const { return where_; }

 protected:
  constexpr meshtensor::number counted(number_row::kind_t kind, path_id path) const {
    number_id const steps = detail::steps_of_call(*b_);
    return meshtensor::number::of_row(b_, b_->add_number({kind, function::copy, path, steps, 0}));
  }
  constexpr void at_line(line const& where) const {
    if (!b_->site_is_held) b_->site = b_->add_site(where.file, where.number);
  }
  constexpr name_id named_once(primitive kind, name const& label) const {
    name_id const row = b_->intern(label);
    for (int i = 0; i < b_->m.node_count; ++i) {
      node const& n = b_->m.nodes[i];
      if (name_of(n) != row || entry_of(n.region) != entry_of(b_->region)) continue;
      bool const is_same = n.kind == kind && (kind != primitive::watch || n.path == path_);
      // A tensor that is watched under no path is returned among the outputs.
      bool const meets = kind == primitive::watch    ? n.kind == primitive::output && path_ == no_id
                         : kind == primitive::output ? n.kind == primitive::watch && n.path == no_id
                                                     : false;
      if (!is_same && !meets) continue;
      diagnostic d{};
      char const* const both = !is_same || kind == primitive::output ? "outputs"
                               : kind == primitive::input            ? "inputs"
                                                                     : "watched tensors";
      b_->note(d << "G03 two " << both << " are called '" << label << "': give one of them another name");
    }
    return row;
  }
  constexpr region_id entry_of(region_id region) const {
    while (b_->m.regions[region].parent != no_id) region = b_->m.regions[region].parent;
    return region;
  }
  constexpr void watched(named_here const& label, value_id v, bool gradient) const {
    at_line(label.where);
    in_its_layer(label.label);
    name_id const row = named_once(primitive::watch, label.label);
    for (int level = 0; level < b_->depth; ++level)
      if (diagnostic d{}; b_->frames[level].loop_dim == no_id)
        b_->note(d << "G33 '" << label.label
                   << "' is watched in cond or a composite: return it from there and watch it outside");
    effect(primitive::watch, v, watch_attributes{row, gradient}.packed());
  }
  constexpr void in_its_layer(name const& label) const {
    if (b_->path == path_) return;
    diagnostic d{};
    add_scope(d << "G04 '" << label << "' belongs to ", b_->m, path_);
    add_scope(d << ", but is used in ", b_->m, b_->path);
    b_->note(d << (is_around(b_->path)
                       ? ": use the scope that the body takes there as its first argument, or declare it before"
                       : ": write the part as inline constexpr mt::layer part = [](mt::scope auto s, auto x) {...}, "
                         "and call it with the scope, part(s / \"name\", x)"));
  }
  /// Whether this scope has the path within it, so that a body uses the scope of the code around it.
  constexpr bool is_around(path_id path) const {
    while (path != no_id && path != path_) path = b_->m.paths[path].parent;
    return path == path_;
  }
  constexpr void effect(primitive kind, value_id operand, attributes const& a) const {
    b_->m.nodes[b_->add_node(kind, 0, ids(&operand, 1), a)].effect = true;
  }
  /// The dims that mt::steps and the open eaches add to the declarations of their bodies.
  constexpr shape dims_of_steps_and_eaches() const {
    shape dims{};
    for (int level = 0; level < b_->depth; ++level) dims.add(b_->frames[level].loop_dim);
    for (int e = 0; e < b_->each_count; ++e)
      if (!b_->eaches[e].shares_variables) dims.add(b_->eaches[e].dim);
    return dims;
  }
  /// A value for all indices of the eaches that were opened in the current body.
  constexpr value_id of_all_indices(value_id v) const {
    for (int e = b_->each_count; e-- > 0 && b_->eaches[e].depth == b_->depth;)
      if (dim_id const dim = b_->eaches[e].dim; !b_->eaches[e].shares_variables)
        v = b_->add(primitive::show, {v}, b_->m.values[v].type, led_by(dim, b_->m.values[v].dims),
                    view_attributes{dim, false}.packed());
    return v;
  }
  constexpr path_id joined(path_id prefix, path_id path) const {
    return path == no_id ? prefix : b_->add_path(joined(prefix, b_->m.paths[path].parent), b_->m.paths[path].label);
  }

  builder* b_;
  path_id path_;
  line where_;
};

}  // namespace meshtensor
