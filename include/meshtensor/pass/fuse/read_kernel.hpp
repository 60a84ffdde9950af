// SPDX-License-Identifier: Apache-2.0
// Reads a kernel's region into its descriptor.
// before: fused.  after: the same module. The descriptor is the kernel's key, and the rest of the reading binds the key
// to the module.
#pragma once

#include "meshtensor/pass/fuse/descriptor.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A kernel's descriptor, and the data that binds it to its module.
struct kernel_reading {
  descriptor key;
  shape rows;  // kept rows, then reduced rows
  int kept;    // how many of `rows` are kept
  int vector;  // the vector dim, or -1 if the space has no dims
  number_id numbers[max_kernel_numbers];
  node_id first_node, end_node;      // of the kernel's region
  node_id makers[max_kernel_steps];  // the node of each step: positions and random numbers need more than the key
  std::uint16_t overwrites[max_kernel_results];  // mask of the operands whose buffer a result may reuse
};

namespace detail {

struct kernel_reader {
  // There are at most 160 values after the passes: 32 steps, three ways to read for each of them, 16 operands and 16
  // numbers.
  static constexpr int most_values = 192;
  meshtensor::module const& m;
  kernel_reading r{};
  shape space;
  int first_value;
  source code[most_values];
  kernel_step steps[max_kernel_steps];
  extent_class level[64];                // of a source
  std::uint8_t phase[64];                // of a source: the first phase in which it is available
  int last_reader[max_kernel_operands];  // the last step that reads an operand, as 64 times its phase plus its number

  constexpr kernel_reader(module const& source_module, node const& kernel)
      : m(source_module),
        space(kernel_attributes::of(kernel).space),
        first_value(0),
        code{},
        steps{},
        level{},
        phase{},
        last_reader{} {
    region_id const region = m.region_of(kernel, 0);
    auto here = static_cast<int>(&kernel - m.nodes);  // comes after the region's nodes, which are consecutive
    while (here > 0 && m.nodes[here - 1].region != region) --here;
    int first = here;
    while (first > 0 && m.nodes[first - 1].region == region) --first;
    r.vector = space.count == 0 ? -1 : space.at[space.count - 1];
    first_value = first == here ? 0 : m.result(m.nodes[first]);
    r.first_node = static_cast<node_id>(first), r.end_node = static_cast<node_id>(here);
    order_rows(first, here);
    for (int i = first; i < here; ++i) step(static_cast<node_id>(i));
    r.key.result_count = static_cast<std::uint8_t>(kernel.results.count);
    for (int i = 0; i < kernel.results.count; ++i) result(kernel, i, m.link(m.regions[region].results, i));
  }

 private:
  constexpr source& at(value_id v) {
    require(v - first_value < most_values, "G24: one kernel has more than 192 values");
    return code[v - first_value];
  }
  constexpr bool spans_vector(shape const& dims) const { return r.vector >= 0 && dims.has(r.vector); }
  constexpr extent_class class_of(shape const& dims) const {
    if (!spans_vector(dims)) return dims.count == 0 ? extent_class::uniform : extent_class::row;
    return dims.at[dims.count - 1] == r.vector ? extent_class::vector : extent_class::strided;
  }
  /// A reduction that keeps the vector dim goes over rows. A reduction of the vector dim alone goes along it, if the
  /// space has rows or a node in the kernel reads its result. Otherwise a reduction is total.
  constexpr step_kind kind_of(node const& n) const {
    shape const &x = m.operand_value(n, 0).dims, &y = m.result_value(n).dims;
    bool const of_vector = spans_vector(x) && !spans_vector(y);
    bool const of_rows = x.count - y.count > (of_vector ? 1 : 0);
    step_kind const first = !of_vector                                         ? step_kind::over_sum
                            : of_rows || (space.count == 1 && !used_inside(n)) ? step_kind::total_sum
                                                                               : step_kind::along_sum;
    return static_cast<step_kind>(static_cast<int>(first) + n.function - 1);
  }
  constexpr bool used_inside(node const& n) const {
    value_id const v = m.result(n);
    for (int i = m.values[v].node + 1; m.nodes[i].region == n.region; ++i)
      for (int k = 0; k < m.nodes[i].operands.count; ++k)
        if (m.operand(m.nodes[i], k) == v) return true;
    return false;
  }
  constexpr void order_rows(int first, int end) {
    shape gone{};
    for (int i = first; i < end; ++i) {
      if (declared(m, m.nodes[i]).fusion != fusion_role::reduction) continue;
      shape const lost = without(m.operand_value(m.nodes[i], 0).dims, m.result_value(m.nodes[i]).dims);
      for (int k = 0; k < lost.count; ++k)
        if (lost.at[k] != r.vector && !gone.has(lost.at[k])) gone.add(lost.at[k]);
    }
    for (int i = 0; i + 1 < space.count; ++i)
      if (!gone.has(space.at[i])) r.rows.add(space.at[i]);
    r.kept = r.rows.count;
    for (int i = 0; i + 1 < space.count; ++i)
      if (gone.has(space.at[i])) r.rows.add(space.at[i]);
  }

  constexpr void step(node_id i) {
    node const& n = m.nodes[i];
    value const& v = m.result_value(n);
    source& s = at(m.result(n));
    if (n.kind == primitive::argument) return operand(n, v, s);
    switch (declared(m, n).fusion) {
      case fusion_role::number: return number(n, v.type, s);
      case fusion_role::broadcast:
      case fusion_role::transpose: s = at(m.operand(n, 0)); return;
      case fusion_role::position:
        return make(i, step_kind::position, v.type, v.dims.at[0] == r.vector ? extent_class::vector : extent_class::row,
                    s);
      case fusion_role::random:
        return make(i, n.function == 0 ? step_kind::uniform : step_kind::normal, v.type,
                    spans_vector(v.dims) ? extent_class::vector : extent_class::row, s);
      case fusion_role::reduction: {
        if (m.operand_value(n, 0).dims.count == v.dims.count) {
          s = at(m.operand(n, 0));
          return;
        }
        step_kind const k = kind_of(n);
        return make(i, k, v.type, goes_over(k) && !spans_vector(v.dims) ? extent_class::row : extent_class::vector, s);
      }
      default: break;
    }
    auto const f = static_cast<function>(n.function);
    if (f == function::copy || f == function::stop_gradient) {
      s = at(m.operand(n, 0));
      return;
    }
    extent_class most = extent_class::uniform;
    for (int k = 0; k < n.operands.count; ++k)
      if (extent_class const c = level[at(m.operand(n, k)).code]; c > most) most = c;
    make(i, static_cast<step_kind>(n.function), v.type, most, s);
  }

  constexpr void operand(node const& n, value const& v, source& s) {
    id const place = place_of(n);
    s.code = static_cast<std::uint8_t>(source::operands + place);
    r.key.operands[place] =
        static_cast<std::uint8_t>(static_cast<int>(v.type) | static_cast<int>(class_of(v.dims)) << 3);
    if (place >= r.key.operand_count) r.key.operand_count = static_cast<std::uint8_t>(place + 1);
    level[s.code] = class_of(v.dims) == extent_class::strided ? extent_class::vector : class_of(v.dims);
    last_reader[place] = -1;
  }

  constexpr void number(node const& n, dtype type, source& s) {
    number_id const row = constant_attributes::of(n).number;
    int k = 0;
    while (k < r.key.number_count && (r.numbers[k] != row || r.key.numbers[k] != static_cast<std::uint8_t>(type))) ++k;
    if (k == r.key.number_count) {
      r.numbers[k] = row, r.key.numbers[k] = static_cast<std::uint8_t>(type);
      ++r.key.number_count;
    }
    s.code = static_cast<std::uint8_t>(source::numbers + k);
  }

  constexpr void make(node_id i, step_kind kind, dtype type, extent_class runs, source& s) {
    node const& n = m.nodes[i];
    int const place = r.key.step_count++;
    kernel_step& made = steps[place];
    made.kind = kind, made.type = type, made.level = runs;
    for (int k = 0; k < n.operands.count; ++k) {
      made.from[k] = at(m.operand(n, k));
      if (phase[made.from[k].code] > made.phase) made.phase = phase[made.from[k].code];
    }
    for (int k = 0; k < n.operands.count; ++k)
      if (made.from[k].is_operand() && last_reader[made.from[k].index()] < made.phase * 64 + place)
        last_reader[made.from[k].index()] = made.phase * 64 + place;
    level[place] = goes_along(kind) ? extent_class::row : runs;
    phase[place] = static_cast<std::uint8_t>(made.phase + goes_along(kind));
    r.key.steps[place] = made.packed();
    r.makers[place] = i;
    s.code = static_cast<std::uint8_t>(place);
  }

  constexpr void result(node const& kernel, int i, value_id v) {
    source const s = at(v);
    shape const& dims = m.values[v].dims;
    extent_class const c = class_of(dims);
    r.key.results[i] = static_cast<std::uint8_t>(s.code | static_cast<int>(c) << 6);
    // A result may reuse the buffer of an operand with the same dims and element size, once the operand has been read
    // for the last time.
    if (!s.is_step() || dims.count != space.count) return;
    kernel_step const& maker = steps[s.index()];
    if (maker.level != extent_class::vector || is_reduction(maker.kind)) return;
    int const made = maker.phase * 64 + s.index();
    for (int k = 0; k < r.key.operand_count; ++k) {
      value const& x = m.operand_value(kernel, k);
      if (x.dims == dims && bytes_of(x.type) == bytes_of(m.values[v].type) && last_reader[k] <= made &&
          !leaves_as_it_is(k))
        r.overwrites[i] = static_cast<std::uint16_t>(r.overwrites[i] | 1u << k);
    }
  }
  constexpr bool leaves_as_it_is(int operand) {
    list const given = m.regions[m.values[first_value].region].results;
    for (int i = 0; i < given.count; ++i)
      if (at(m.link(given, i)).code == source::operands + operand) return true;
    return false;
  }
};

}  // namespace detail

/// Reads a kernel of a fused module into its descriptor.
constexpr kernel_reading read_kernel(module const& m, node const& kernel) { return detail::kernel_reader(m, kernel).r; }

constexpr int count_kernels(module const& m) {
  int n = 0;
  for (int i = 0; i < m.node_count; ++i) n += m.nodes[i].kind == primitive::kernel;
  return n;
}
template <int Count>
struct node_list {
  node_id at[static_cast<std::size_t>(Count)];
};
/// The nodes that are kernels. `Count` is `count_kernels`.
template <int Count>
constexpr node_list<Count> list_kernels(module const& m) {
  node_list<Count> r{};
  int n = 0;
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == primitive::kernel) r.at[n++] = static_cast<node_id>(i);
  return r;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
