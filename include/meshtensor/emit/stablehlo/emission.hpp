// SPDX-License-Identifier: Apache-2.0
// The state of the StableHLO emission: the module with its numbers, and the values that have been written.
#pragma once

#include <map>
#include <optional>

#include "meshtensor/emit/stablehlo/operations.hpp"
#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/emit/stablehlo/reached_range.hpp"
#include "meshtensor/emit/stablehlo/rewrite/rewrites.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/pass/bind/known_number.hpp"

namespace meshtensor::hlo {

/// One program is written for all ranks of a mesh. They are replicas, which differ only in their coordinates.
class emission {
 public:
  meshtensor::module const& m;
  binding const& b;
  mesh_shape const& mesh;
  writer& w;
  value index, iteration;  // `index`, i64, is that of the innermost loop; `iteration`, ui64, counts all loops
  value seed, step;        // ui64
  struct argument {
    number_id row;
    value what;
  };
  std::vector<argument> given;  // numbers that are not known before the first step
  /// The positions of the greatest elements of a pool's windows, if no window consists of padding only.
  struct positions_of {
    value_id of, positions;
  };
  std::vector<positions_of> greatest;
  rewrites const& rewritten;
  std::vector<bool> feeds_relu;         // by value
  std::map<value_id, value> rectified;  // by the result of a relu: whether it is 0

  emission(binding const& numbers, mesh_shape const& shape, writer& to, rewrites const& changed)
      : m(changed.m),
        b(numbers),
        mesh(shape),
        w(to),
        rewritten(changed),
        feeds_relu(static_cast<std::size_t>(m.value_count)),
        values_(feeds_relu.size() + changed.results.size()) {
    for (int i = 0; i < m.node_count; ++i)
      if (applies(m.nodes[i], function::relu)) feeds_relu[m.operand(m.nodes[i], 0)] = true;
  }

  /// The StableHLO value of a module's value, or of the result of a rewrite's operation. If the value was deferred, it
  /// is written now.
  value& at(int v) {
    auto& known = values_[static_cast<std::size_t>(v)];
    if (known.name.empty())
      if (auto const r = rewritten.of.find(v); r != rewritten.of.end()) write(r->second.at_use);
    return known;
  }
  void write(std::vector<operation> const& all);
  value const& operand(node const& n, int i = 0) { return at(m.operand(n, i)); }
  shape const& dims(node const& n, int i = 0) const { return m.operand_value(n, i).dims; }
  shape const& result_dims(node const& n) const { return m.result_value(n).dims; }

  /// The type of one rank's shard of a value.
  type type_of(value_id v) const {
    meshtensor::value const& x = m.values[v];
    type t{hlo::text_of(x.type), {}};
    for (int i = 0; i < x.dims.count; ++i) {
      auto const covered = reached_range::of(m, b, x, i);
      t.shape.push_back(covered ? covered->length : b.local(x, i));
    }
    return t;
  }
  type result_type(node const& n) const { return type_of(m.result(n)); }

  /// The value of a row of the table of numbers, if it is known before the first step.
  std::optional<number_value> known(number_id row) const { return known_number(m, b, row); }

  /// A number as a scalar: a constant if it is known before the first step, otherwise an argument of the program.
  value number(node const& n, number_id row, std::string const& element) {
    if (auto const x = known(row)) return constant(w, {element, {}}, *x);
    for (argument const& a : given)
      if (a.row == row && a.what.type.element == element) return a.what;
    refuse(n, "a number that changes between steps");
  }

  /// Transposes and broadcasts a value from dims `from` to dims `to`, which contain them and have these extents.
  value laid(value const& v, shape const& from, shape const& to, extents const& extents_of_to) {
    extents places;
    for (int i = 0; i < from.count; ++i) places.push_back(to.find(from.at[i]));
    return spread(w, v, places, extents_of_to);
  }
  /// An operand, broadcast to the dims of the result.
  value laid(node const& n, int i) { return laid(operand(n, i), dims(n, i), result_dims(n), result_type(n).shape); }

  // ---- the offset of a rank's shard ----

  /// This rank's coordinate along an axis, i64.
  value coordinate(int axis) {
    type const scalar{"i64", {}};
    value const rank = convert(w, w.op("replica_id", {}, {"ui32", {}}), "i64");
    value const row = binary(w, "divide", {rank, constant(w, scalar, mesh.stride(axis))});
    return binary(w, "remainder", {row, constant(w, scalar, mesh.axes[axis].extent)});
  }
  /// The number of this rank's part along a dim, i64, among the parts by those axes for which `counts` is true. It is
  /// empty if there is one part.
  template <class Counts>
  std::optional<value> part_number(placement const& layout, int place, Counts const& counts) {
    std::optional<value> part;
    for (int o = 0, a = 0; (a = layout.axis_at(place, o)) >= 0; ++o) {
      if (mesh.axes[a].extent == 1 || !counts(a)) continue;
      value const here = coordinate(a);
      part = part ? binary(w, "add", {scaled(w, *part, mesh.axes[a].extent), here}) : here;
    }
    return part;
  }
  /// The global index of the shard's first element along a dim, i64. It is empty if the dim is whole, because it would
  /// be 0.
  std::optional<value> origin(meshtensor::value const& v, int place) {
    return origin(v.layout, place, b.local(v, place));
  }
  std::optional<value> origin(placement const& layout, int place, std::int64_t length) {
    auto const part = part_number(layout, place, [](int) { return true; });
    if (!part) return {};
    return scaled(w, *part, length);
  }
  /// The position of the iteration's slice in this rank's part of a stack, i64, and whether this rank has the slice,
  /// i1. The condition is empty if each rank has all slices.
  struct local_slice {
    value place;
    std::optional<value> is_here;
  };
  local_slice slice_of_iteration(std::optional<value> const& first, std::int64_t length) {
    if (!first) return {index, {}};
    value const place = binary(w, "subtract", {index, *first});
    value const begins = compare(w, "GE", {place, like(w, place, 0)});
    value const ends = compare(w, "LT", {place, like(w, place, length)});
    return {place, binary(w, "and", {begins, ends})};
  }
  /// The global indices along a value's dim at `place`. They are a tensor of the type `t`, whose dim `along` counts
  /// them.
  value positions(meshtensor::value const& v, int place, type const& t, int along) {
    value const i = iota(w, t, along);
    auto const first = origin(v, place);
    return first ? binary(w, "add", {i, fill(w, convert(w, *first, t.element), t.shape)}) : i;
  }

  [[noreturn]] void refuse(node const& n, std::string_view what, char const* why = " yet") const {
    diagnostic d{};
    d << "R01 there is no StableHLO for " << what << why;
    locate(d, m, n);
    throw error(d.code(), std::string(d.view().substr(4)));
  }

  /// Refuses an operation of the user's own by the name that the user gave to it.
  [[noreturn]] void refuse_own(node const& n) const {
    refuse(n, own_name_of(m, n)->text(), ", an operation of your own: mt::default_device runs it");
  }

 private:
  std::vector<value> values_;
};

/// The extents of the dims `of` in a tensor that has the dims `dims` with the extents `all`.
inline extents extents_of(shape const& of, shape const& dims, extents const& all) {
  extents r;
  for (int i = 0; i < of.count; ++i) r.push_back(all[static_cast<std::size_t>(dims.find(of.at[i]))]);
  return r;
}
/// The positions in `of` of the dims that `in` lacks.
inline extents lost(shape const& of, shape const& in) {
  extents r;
  for (int i = 0; i < of.count; ++i)
    if (!in.has(of.at[i])) r.push_back(i);
  return r;
}

}  // namespace meshtensor::hlo
