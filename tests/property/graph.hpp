// SPDX-License-Identifier: Apache-2.0
// Builds graphs node by node at run time, and checks them under every layout: one operation at a time.
#pragma once

#include <span>

#include "meshtensor/op/gradient.hpp"
#include "property/subject.hpp"

namespace property {

/// A module with one entry. Inputs have the path `in`, operations `op`, outputs `out`, so that layouts by scope can
/// tell them apart.
class graph {
 public:
  graph() : m_(new mt::module{}), b(*m_) {
    b.begin_region(mt::region_kind::entry, b.intern("main"));
    for (char const* part : {"in", "op", "out"}) b.add_path(mt::no_id, mt::name::of(part));
  }

  mt::dim_id dim(char const* label, mt::extent_rule const& rule = {}) { return b.dim(mt::name::of(label), rule); }
  /// A dim with the extent of another one.
  mt::dim_id same(char const* label, char const* as) {
    dim(as);
    return dim(label, {mt::extent_rule::shifted, 0, mt::name::of(as), {}});
  }
  mt::dim_id product(char const* label, char const* first, char const* second) {
    return dim(label, {mt::extent_rule::product, 0, mt::name::of(first), mt::name::of(second)});
  }
  mt::dim_id sum(char const* label, char const* first, char const* second) {
    return dim(label, {mt::extent_rule::sum, 0, mt::name::of(first), mt::name::of(second)});
  }
  mt::shape dims(char const* labels) {  // one letter each; unknown extents are bound at start-up
    mt::shape s{};
    for (; *labels != '\0'; ++labels) {
      mt::name const label = mt::name::of({labels, 1});
      int known = -1;
      for (int d = 0; d < m_->dim_count; ++d)
        if (m_->dim_name(d) == label) known = d;
      s.add(known >= 0 ? known : b.dim(label, {}));
    }
    return s;
  }
  mt::value_id input(char const* label, mt::dtype type, mt::shape const& s) {
    at("in");
    mt::value_id const v = b.add(mt::primitive::input, {}, type, s, {{b.intern(mt::name::of(label))}});
    at("op");
    return v;
  }
  mt::value_id input(char const* label, mt::dtype type, char const* labels) { return input(label, type, dims(labels)); }
  void output(char const* label, mt::value_id v) {
    at("out");
    mt::name_id const called = b.intern(mt::name::of(label));
    m_->nodes[b.add_node(mt::primitive::output, 0, mt::ids(&v, 1), {{called}})].effect = true;
    at("op");
  }
  void at(char const* part) { b.path = b.add_path(mt::no_id, mt::name::of(part)); }

  /// Outputs the gradients by `xs` of a loss in which every element of `y` has another weight.
  void output_gradients(mt::value_id y, std::initializer_list<mt::value_id> xs) {
    mt::shape const all = m_->values[y].dims;
    mt::value_id const w = input("weights", m_->values[y].type, all);
    mt::value_id const loss = mt::reduce(b, mt::reduction::sum, mt::multiply(b, y, w), all);
    auto const gradients = mt::detail::record_gradient(b, loss, mt::ids(xs.begin(), xs.size()));
    char const* labels[] = {"dx", "dy", "dz"};
    for (int i = 0; i < gradients.count; ++i) output(labels[i], gradients.at[i]);
  }

  mt::module const& module() const { return *m_; }

 private:
  std::unique_ptr<mt::module> m_;

 public:
  mt::builder b;
};

/// Extents of the named dims for a mesh of `size` processors. If even, every layout divides them: the size or twice the
/// size; on one processor those that are most likely to show a mistake. Otherwise 1, 2 and 3, and at every second dim
/// 5, 7 and 13: there are parts of two lengths, and empty ones. Every second dim is longer than those beside it.
inline std::vector<mt::dim_extent> extents_for(mt::module const& m, std::int64_t size, bool even = true) {
  constexpr std::int64_t few[] = {3, 1, 2}, many[] = {7, 13, 5};
  std::vector<mt::dim_extent> all;
  for (int d = 0; d < m.dim_count; ++d) {
    if (m.dims[d].kind != mt::dim_row::dynamic) continue;
    std::int64_t const odd = (d % 2 == 1 ? many : few)[(d / 2 + size) % 3];
    all.push_back({m.dim_name(d), !even ? odd : size == 1 ? 2 + d % 3 : d % 2 == 1 ? 2 * size : size});
  }
  return all;
}

inline std::vector<mt::name> dims_of(mt::module const& m) {
  std::vector<mt::name> all;
  for (int d = 0; d < m.dim_count; ++d) all.push_back(m.dim_name(d));
  return all;
}

struct how {
  fill_kind filling = fill_kind::integers;
  double low = -1, high = 1;
  meshtensor_test::closeness tolerance = meshtensor_test::same_bits;
  int drawn = 8;  // layouts by scope drawn for each mesh
  int index_extent = 2;
};

/// Runs a graph under every layout of every mesh, and under some drawn layouts by scope, at extents that divide and at
/// some that do not.
inline void check_graph(graph const& g, how const& h, tally& t) {
  static auto const all = meshtensor_test::meshes();
  auto const dims = dims_of(g.module());
  std::uint64_t number = 0;
  for (bool even : {true, false}) {
    rng c{static_cast<std::uint64_t>(g.module().node_count)};
    std::unique_ptr<subject> s;
    std::int64_t size = 0;
    for (auto const& mesh : all) {
      if (!s || size != mesh.size()) {
        size = mesh.size();
        s = std::make_unique<subject>(g.module(), mt::name("main"), extents_for(g.module(), size, even));
        s->tolerance = h.tolerance;
        s->fill(h.filling, rng{7}, h.low, h.high, h.index_extent * static_cast<int>(size));
        s->expect();
      }
      meshtensor_test::each_assignment(dims, mesh, [&](mt::layout_rules const& rules) {
        if (is_in_sample(number++)) s->check_layout(mesh, rules, t);
      });
      for (int i = 0; i < h.drawn; ++i) {
        auto const rules = meshtensor_test::drawn_layout(dims, {"in", "op", "out"}, mesh, c);
        if (is_in_sample(number++)) s->check_layout(mesh, rules, t);
      }
    }
  }
}

/// The values of operations that only move or count: exact, so that every layout gives the same bits.
inline how exact() { return {.filling = fill_kind::integers, .drawn = 12}; }

/// Checks `make(graph, x, y)` of x [a, b, c] and y [a, d] for each dtype, and its gradients in f64.
template <class F>
void hold_for_each(std::span<mt::dtype const> types, char const* what, F make, tally& t) {
  INFO(std::string(what));
  for (mt::dtype type : types) {
    graph g;
    mt::value_id const x = g.input("x", type, "abc"), y = g.input("y", type, "ad");
    g.output("z", make(g, x, y));
    check_graph(g, exact(), t);
  }
  graph g;
  mt::value_id const x = g.input("x", mt::dtype::f64, "abc"), y = g.input("y", mt::dtype::f64, "ad");
  g.output_gradients(make(g, x, y), {x, y});
  check_graph(g, exact(), t);
}

}  // namespace property
