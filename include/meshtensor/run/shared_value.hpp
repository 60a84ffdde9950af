// SPDX-License-Identifier: Apache-2.0
// A value that programs share: how one program describes it, and why two programs cannot share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "meshtensor/run/stored.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

/// ` (model.cpp:31)`, the line where a dim is merged or split, or an empty text if it never is.
inline std::string line_of_reshape(module const& m, int dim) {
  for (int i = 0; i < m.reshape_count; ++i) {
    reshape_row const& row = m.reshapes[i];
    if (row.same.adds || (!row.same.before.has(dim) && !row.same.after.has(dim))) continue;
    diagnostic d{};
    add_line(d, m, row.site);
    return std::string(d.view());
  }
  return "";
}

/// Says how two layouts differ, for example `the one shards 'd_ff' over model=2, the other replicates it`.
inline std::string differing_rule(stored const& one, stored const& other) {
  std::size_t i = 0;
  while (i + 1 < one.dims.size() && one.axes[i] == other.axes[i]) ++i;
  auto const rule = [](std::string const& axes, std::string const& what) {
    return axes.empty() ? "replicates " + what : "shards " + what + " over " + axes;
  };
  return "the one " + rule(one.axes[i], "'" + one.dims[i].label.text() + "'") + ", the other " +
         rule(other.axes[i], "it");
}

/// errors  R04 other parts, because another program merges or splits a dim
inline void require_same_parts(std::string const& label, stored const& one, stored const& other) {
  for (std::size_t i = 0; i < one.dims.size(); ++i)
    for (std::int64_t rank = 0; rank < one.mesh.size(); ++rank) {
      if (one.part(static_cast<int>(i), rank) == other.part(static_cast<int>(i), rank)) continue;
      auto const cut = [&](stored const& s) {
        return s.grains[i] == 1 ? std::string("cuts it anywhere")
                                : "keeps " + std::to_string(s.grains[i]) + " elements together" + s.reshaped_at[i];
      };
      throw error("R04", {"programs that share '", label, "', ", one.text(), ", cut '", one.dims[i].label,
                          "' into different parts: the one ", cut(one), ", the other ", cut(other),
                          "; declare them together, as mt::programs, so that all cut it alike"});
    }
}

}  // namespace detail

/// Describes a variable of a partitioned module as a value of a store, without blocks. `counted_program` is the program
/// if it updates the variable, and otherwise empty.
inline stored description_of(module const& m, binding const& b, variable const& v, std::string const& counted_program) {
  stored s{};
  s.type = v.type, s.layout = v.layout;
  s.replica_dim = v.replica_dim(), s.merge = v.merged_by(), s.sharing = v.sharing;
  s.counted_program = counted_program;
  for (int i = 0; i < m.variable_count; ++i)
    s.sharing.is_weighted = s.sharing.is_weighted || m.variables[i].merge == merge_rule::mass;
  for (int a = 0; a < m.axis_count; ++a) s.mesh.add(m.names[m.axes[a].label], b.axis[a]);
  for (int i = 0; i < v.dims.count; ++i) {
    s.dims.push_back({m.dim_name(v.dims.at[i]), b.extent[v.dims.at[i]]});
    s.grains.push_back(b.grain[v.dims.at[i]]);
    s.reshaped_at.push_back(b.grain[v.dims.at[i]] == 1 ? "" : detail::line_of_reshape(m, v.dims.at[i]));
    std::string axes;
    for (int o = 0, a = 0; (a = v.layout.axis_at(i, o)) >= 0; ++o)
      if (b.axis[a] != 1)
        axes += (axes.empty() ? "" : " x ") + m.names[m.axes[a].label].text() + "=" + std::to_string(b.axis[a]);
    s.axes.push_back(axes);
  }
  return s;
}

/// errors  R04 a store holds a value with another dtype, other extents, another layout, other parts or another
///         initializer than a program expects
inline void require_same(std::string const& label, stored const& held, stored const& expected) {
  if (held.type != expected.type || detail::text_of(held.dims) != detail::text_of(expected.dims))
    throw error("R04",
                {"the store holds '", label, "' as ", held.text(), ", but a program reads it as ", expected.text()});
  if (held.axes != expected.axes)
    throw error("R04",
                {"the store holds '", label, "' as ", held.text(), ", but another layout wants ", expected.text(), ": ",
                 detail::differing_rule(held, expected), "; programs that share parameters need the same rule for it"});
  if (held.mesh.size() != expected.mesh.size())
    throw error("R04", {"the store holds '", label, "' on ", held.mesh.size(), " ranks, but another mesh has ",
                        expected.mesh.size(), ": programs that share parameters run on one mesh"});
  detail::require_same_parts(label, held, expected);
  held.start.require_same(label, expected.start);
  if (held.replica_dim >= 0 && held.replica_dim == expected.replica_dim && held.merge != expected.merge)
    throw error("R04",
                {"'", label, "' of replicas is merged by the rule ", text_of(held.merge), " in one program and by ",
                 text_of(expected.merge), " in another: give both the same mt::merge_rule"});
}

/// Adds to a value what another program says of its replicas.
inline void add_replicas(stored& held, stored const& other) {
  if (held.replica_dim < 0) held.replica_dim = other.replica_dim, held.merge = other.merge;
  held.sharing = held.sharing.together_with(other.sharing);
  if (held.counted_program.empty()) held.counted_program = other.counted_program;
}

/// errors  R99 a program needs replicas to share more than they do before its next step
inline void require_shared(std::string const& label, stored const& held, shared_by_replicas needed) {
  if (held.replica_dim < 0 || held.shared >= needed) return;
  bool const is_all = needed == shared_by_replicas::parameters;
  throw error("R99", {"the replicas of '", label, "' may differ, but a program begins with ",
                      is_all ? "equal ones" : "replicas that have one start of a period",
                      ": save the store, and make this program's executable on a new store before mt::load, which "
                      "gives all replicas their mean; or give them equal values by weights.set"});
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
