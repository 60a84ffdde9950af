// SPDX-License-Identifier: Apache-2.0
// Updates of variables in the branches of a cond. They become carries of the branches, and one update behind the cond.
#pragma once

#include "meshtensor/graph/state_updates.hpp"

namespace meshtensor::detail {

/// The variables that a branch of a cond has updated, when the branch is complete. Each is a carry of the branch. It
/// starts with the next value that the other branch gives it or, if there is none, with the value that it has without
/// the branch. Therefore it keeps this value if the branch does not run.
class updates_of_branch {
 public:
  id_list<> starts, next;

  constexpr explicit updates_of_branch(builder& open)
      : starts{}, next{}, b_(open), body_(open.region), around_(open.m.regions[open.region].parent) {
    for (int i = 0; i < b_.update_count; ++i) {
      state_update& u = b_.updates[i];
      if (u.region != body_) continue;
      u.before = outer_of(b_, u.before);
      state_update const* const other = of_other_branch(u.variable);
      starts.add(other != nullptr ? other->next : u.amends ? amended(u) : u.before), next.add(u.next);
    }
  }
  /// The results of the branch, from position `first` on, become updates in the region around it.
  constexpr void hand_on(node_id branch, int first) const {
    int kept = 0;
    for (int i = 0; i < b_.update_count; ++i) {
      state_update u = b_.updates[i];
      if (u.region == body_) {
        u.next = b_.m.result(b_.m.nodes[branch], first++);
        if (state_update* const other = of_other_branch(u.variable); other != nullptr) {
          other->next = u.next;
          continue;
        }
        u.region = around_, u.of_other_branch = true;
      }
      b_.updates[kept++] = u;
    }
    b_.update_count = kept;
  }
  /// Ends a cond: its updates are those of the region around it, or are written if there is no loop or branch.
  static constexpr void end_cond(builder& b) {
    path_id const path = b.path;
    site_id const site = b.site;
    int kept = 0;
    for (int i = 0; i < b.update_count; ++i) {
      state_update u = b.updates[i];
      if (u.of_other_branch && u.region == b.region) {
        b.path = u.path, b.site = u.site, u.of_other_branch = false;
        show_all(b, u.before, u.next);
        if (u.amends) {
          amend(b, u, kept);
          continue;
        }
        if (b.depth == 0) {
          write_update(b, u);
          continue;
        }
      }
      b.updates[kept++] = u;
    }
    b.update_count = kept, b.path = path, b.site = site;
  }

 private:
  constexpr state_update* of_other_branch(variable_id which) const {
    for (int i = 0; i < b_.update_count; ++i)
      if (state_update& u = b_.updates[i]; u.of_other_branch && u.region == around_ && u.variable == which) return &u;
    return nullptr;
  }

  // The next value of a variable before the cond, with the dims of its value before.
  constexpr value_id amended(state_update const& by) const {
    value_id v = no_id;
    for (int i = 0; i < b_.update_count && v == no_id; ++i)
      if (state_update const& u = b_.updates[i]; u.variable == by.variable && u.region == around_ && !u.of_other_branch)
        v = u.next;
    if (v == no_id) v = b_.m.operand(b_.m.nodes[b_.find_write(around_, by.variable)], 0);
    region_id const here = b_.region;
    b_.region = around_, --b_.depth;
    v = slice_of_index(b_, v);
    value const like = b_.m.values[by.before];
    if (!(b_.m.values[v].dims == like.dims)) v = b_.add(primitive::transpose, {v}, like.type, like.dims);
    b_.region = here, ++b_.depth;
    return v;
  }
  // Replaces an update before the cond, which is among the first `count` or is written.
  static constexpr void amend(builder& b, state_update u, int count) {
    for (int i = 0; i < count; ++i)
      if (b.updates[i].variable == u.variable && b.updates[i].region == u.region) {
        b.updates[i].next = u.next;
        return;
      }
    node_id const earlier = b.find_write(b.region, u.variable);
    u.counted = counting_of(b.m.nodes[earlier]);
    b.remove_write(earlier);
    write_update(b, u);
  }

  builder& b_;
  region_id body_, around_;
};

}  // namespace meshtensor::detail
