// SPDX-License-Identifier: Apache-2.0
// The limits of docs/errors.md: a program that is exactly as large as a limit allows is accepted, and one that has one
// more of something is refused, with the sentence that the table there has.
//
// passes: start-up
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/op/call.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/extension.hpp"
#include "meshtensor/op/reshard.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;

// Sentences have these as literals.
static_assert(mt::max_operands == 1024 && mt::max_dims == 128 && mt::max_dims_of_one == 10 && mt::max_axes == 6);
static_assert(mt::max_calls == 64 && mt::max_extensions == 16 && mt::max_watched == 64 && mt::max_rules == 64);
static_assert(mt::name::capacity == 32 && mt::number::capacity == 24 && mt::builder::max_depth == 8);

int many = 0;  // how many of something the programs below have

template <class Program>
std::unique_ptr<mt::module> traced(int count) {
  many = count;
  return mt::on_heap([] { return mt::trace<Program>(); });
}
/// All passes, on one rank.
template <class Program>
std::unique_ptr<mt::lowering> lowered(int count) {
  return mt::lower(*traced<Program>(count), mt::entry_name<Program>(), mt::mesh_shape{}, mt::layout_rules{}, {});
}

std::string sentence(std::function<void()> const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "no error";
}
/// `make(limit)` is accepted, `make(limit + 1)` is refused.
template <class Make>
void check(int limit, std::string const& refusal, Make const& make) {
  std::string const accepted = sentence([&] { make(limit); });
  CHECK(accepted == "no error");
  std::string const said = sentence([&] { make(limit + 1); });
  CHECK_MESSAGE(said.starts_with("meshtensor " + refusal), said);
}
std::string more_than(int limit, std::string const& code, std::string const& what) {
  return code + ": the program has more than " + std::to_string(limit) + " " + what;
}

/// A module whose rows are added one by one.
struct graph {
  std::unique_ptr<mt::module> m{new mt::module{}};
  std::unique_ptr<mt::builder> b{new mt::builder(*m)};

  graph() { b->begin_region(mt::region_kind::entry, b->intern("main")); }
  static mt::name numbered(int i) { return mt::name::of("n" + std::to_string(i)); }
  mt::value_id input(mt::shape const& dims = {}) {
    return b->add(mt::primitive::input, {}, mt::dtype::f32, dims, {{b->intern("x")}});
  }
  void output(mt::value_id v) {
    m->nodes[b->add_node(mt::primitive::output, 0, mt::ids(&v, 1), {{b->intern("y")}})].effect = true;
  }
  void complete() const {
    std::string const found(mt::verify(*m).view());
    CHECK_MESSAGE(found.empty(), found);
  }
};

}  // namespace

TEST_CASE("nodes") {
  check(mt::max_nodes, more_than(mt::max_nodes, "G02", "nodes"), [](int count) {
    graph g;
    mt::value_id v = g.input();
    while (g.m->node_count < count - 1) v = mt::multiply(*g.b, v, v);
    g.output(v);
    CHECK(g.m->node_count == count);
    g.complete();
  });
}

TEST_CASE("tensors") {
  check(mt::max_values, more_than(mt::max_values, "G02", "tensors"), [](int count) {
    graph g;
    mt::node_id const n = g.b->add_node(mt::primitive::input, 0, {}, {{g.b->intern("x")}});
    for (int i = 0; i < count; ++i) g.b->add_value(mt::dtype::f32, {}, n, i);
    CHECK(g.m->value_count == count);
  });
}

TEST_CASE("operands and results of all nodes") {
  check(mt::max_links, more_than(mt::max_links, "G02", "operands and results"), [](int count) {
    graph g;
    std::vector<mt::value_id> const all(mt::max_operands);
    while (g.m->link_count < count)
      g.b->add_links(
          mt::ids(all.data(), static_cast<std::size_t>(std::min(count - g.m->link_count, mt::max_operands))));
    CHECK(g.m->link_count == count);
  });
}

TEST_CASE("lines") {
  check(mt::max_values, more_than(mt::max_values, "G16", "lines"), [](int count) {
    graph g;
    for (int i = g.m->site_count; i < count; ++i) g.b->add_site("program.cpp", static_cast<std::uint32_t>(i));
    CHECK(g.m->site_count == count);
  });
}

namespace {
/// A loop whose operands are `many`: one carry, and tensors from outside.
struct operands {
  void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, in);
    std::vector<std::remove_const_t<decltype(x)>> outer;
    for (int i = 1; i < many; ++i) outer.push_back(i == 1 ? x * x : outer.back() * x);
    s.output("y", repeat(s / "blocks", layers, x * 0.5, [&](mt::scope auto, auto h) {
               for (auto const& o : outer) h = h + o;
               return h;
             }));
  }
};
}  // namespace

TEST_CASE("operands of one node") {
  check(mt::max_operands, "G12: one node has more than 1024 operands or results", [](int count) {
    auto const made = traced<operands>(count);
    int most = 0;
    for (int i = 0; i < made->node_count; ++i) most = std::max<int>(most, made->nodes[i].operands.count);
    CHECK(most == count);
    std::string const found(mt::verify(*made).view());
    CHECK_MESSAGE(found.empty(), found);
  });
}

namespace {
/// The body of a map that uses `many` tensors from outside.
struct outer_tensors {
  void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, in);
    std::vector<std::remove_const_t<decltype(x)>> outer;
    for (int i = 0; i < many; ++i) outer.push_back(i == 0 ? x * x : outer.back() * x);
    s.output("y", mt::map(s / "map", layers, [&](mt::scope auto) {
               auto h = outer[0];
               for (auto const& o : outer) h = h + o;
               return h;
             }));
  }
};
}  // namespace

TEST_CASE("tensors from outside of an each") {
  check(mt::max_operands, "G12: an each or map uses more than 1024 tensors from outside",
        [](int count) { traced<outer_tensors>(count); });
}

TEST_CASE("parameters and states") {
  std::string const what = "parameters and states, those of the optimizer included";
  check(mt::max_variables, more_than(mt::max_variables, "G24", what), [](int count) {
    graph g;
    for (int i = 0; i < count; ++i) {  // under paths of 32 names, times 32 and more
      mt::path_id const above = g.b->add_path(mt::no_id, graph::numbered(i / 32));
      mt::path_id const path = g.b->add_path(above, graph::numbered(i % 32));
      mt::value_id const v = mt::detail::read(
          *g.b, mt::detail::declare(*g.b, path, mt::dtype::f32, {}, {mt::initializer_kind::constant, 1}, true));
      if (i + 1 == count) g.output(v);
    }
    CHECK(g.m->variable_count == count);
    g.complete();
    mt::lower(*g.m, "main", mt::mesh_shape{}, mt::layout_rules{}, {});
  });
}

namespace {
/// Three branches that make `many` updates between them, of the same states. A loop that carries so many states would
/// have too many operands.
struct updates {
  void operator()(mt::scope auto s) const {
    auto const p = s.parameter("p", in);
    auto const branch = [&](int count) {
      return [&, count](mt::scope auto b) {
        for (int i = 0; i < count; ++i) {
          mt::named_here some("some");  // under paths of 32 names
          some.label = graph::numbered(i / 32);
          auto const kept = (b / some).state_like(graph::numbered(i % 32), mt::any_tensor<mt::dtype::f32>(p));
          b.update(kept, p);
        }
        return p * 2;
      };
    };
    auto const go = s.input("go", mt::boolean), again = s.input("again", mt::boolean);
    s.output("y", mt::cond(s / "states", go, branch((many + 2) / 3), [&](mt::scope auto b) {
               return mt::cond(b, again, branch((many + 1) / 3), branch(many / 3));
             }));
  }
};
}  // namespace

TEST_CASE("states that are updated in loops") {
  check(mt::max_updates, more_than(mt::max_updates, "G24", "states that are updated in loops"), [](int count) {
    auto const made = traced<updates>(count);
    CHECK(made->variable_count == 1 + (count + 2) / 3);
    std::string const found(mt::verify(*made).view());
    CHECK_MESSAGE(found.empty(), found);
  });
}

TEST_CASE("paths, names, numbers") {
  check(mt::max_paths, more_than(mt::max_paths, "G15", "paths"), [](int count) {
    graph g;
    mt::path_id path = mt::no_id;
    for (int i = 0; i < count; ++i) path = g.b->add_path(path, mt::name("deeper"));
    CHECK(g.m->path_count == count);
  });
  check(mt::max_names, more_than(mt::max_names, "G13", "names"), [](int count) {
    graph g;
    for (int i = g.m->name_count; i < count; ++i) g.b->intern(graph::numbered(i));
    CHECK(g.m->name_count == count);
  });
  check(mt::max_numbers, more_than(mt::max_numbers, "G17", "numbers"), [](int count) {
    graph g;
    for (int i = 0; i < count; ++i) g.b->literal(i);
    CHECK(g.m->number_count == count);
  });
}

namespace {
struct regions {  // one is the entry's
  void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    for (int i = 1; i < many; ++i) x = composite("same", [](auto h) { return h; }, x);
    s.output("y", x);
  }
};

template <int Depth>
struct nested {
  template <int Left>
  static auto within(mt::scope auto s, auto x) {
    if constexpr (Left == 0) return x * 2;
    else return repeat(s / "again", layers, x, [](mt::scope auto r, auto h) { return within<Left - 1>(r, h); });
  }
  void operator()(mt::scope auto s) const { s.output("y", within<Depth>(s, s.input("x", mt::f32, in))); }
};
}  // namespace

TEST_CASE("regions, and regions in each other") {
  check(mt::max_regions, more_than(mt::max_regions, "G20", "regions"), [](int count) {
    auto const made = traced<regions>(count);
    CHECK(made->region_count == count);
  });
  CHECK(sentence([] { lowered<nested<mt::builder::max_depth>>(0); }) == "no error");
  CHECK(sentence([] {
          lowered<nested<mt::builder::max_depth + 1>>(0);
        }).starts_with("meshtensor G21: loops and branches are nested more than 8 deep"));
}

TEST_CASE("dims, of a program and of a tensor") {
  check(mt::max_dims, "G14: a program has at most 128 dims", [](int count) {
    graph g;
    for (int i = 0; i < count; ++i) g.b->dim(graph::numbered(i), {mt::extent_rule::fixed, 2, {}, {}});
    CHECK(g.m->dim_count == count);
  });
  check(mt::max_dims_of_one, "T07: a tensor has more than 10 dims", [](int count) {
    graph g;
    mt::shape row{}, column{};
    for (int i = 0; i < count; ++i)
      (i < 4 ? row : column).add(g.b->dim(graph::numbered(i), {mt::extent_rule::fixed, 2, {}, {}}));
    g.output(mt::multiply(*g.b, g.input(row), g.input(column)));
    g.complete();
    mt::lower(*g.m, "main", mt::mesh_shape{}, mt::layout_rules{}, {});
  });
}

namespace {
/// The sum of the products of so many tensors of ones, which have `dims` dims of two elements between them.
double sum_of_products(int operands, int dims) {
  graph g;
  std::vector<mt::value_id> all;
  for (int i = 0, d = 0; i < operands; ++i) {
    mt::shape own{};
    for (int end = dims * (i + 1) / operands; d < end; ++d)
      own.add(g.b->dim(graph::numbered(d), {mt::extent_rule::fixed, 2, {}, {}}));
    all.push_back(mt::broadcast(*g.b, mt::constant(*g.b, 1, mt::dtype::f32), own));
  }
  g.output(mt::einsum(*g.b, mt::ids(all.data(), all.size()), mt::shape{}));
  auto const bound = mt::on_heap([&] { return mt::bind(*g.m, mt::mesh_shape{}); });
  mt::blocks variables;
  return mt::interpreter(*g.m, *bound).run(0, {}, variables, mt::settings{}).at("y").number_at(0);
}
}  // namespace

TEST_CASE("dims and operands of an einsum") {
  CHECK(sum_of_products(2, 20) == std::pow(2, 20));
  for (int const operands : {3, 5}) {
    check(20, "T46: an einsum has at most 20 dims", [&](int dims) {
      double const sum = sum_of_products(operands, dims);
      CHECK(sum == std::pow(2, dims));
    });
  }
  check(7, "T09: einsum takes at most 7 operands", [](int operands) {
    double const sum = sum_of_products(operands, 8);
    CHECK(sum == std::pow(2, 8));
  });
}

TEST_CASE("operands of a function whose node is made by hand") {
  check(2, "T41: a function takes another number of operands", [](int operands) {
    graph g;
    std::vector<mt::value_id> const all(static_cast<std::size_t>(operands), g.input());
    g.output(mt::elementwise(*g.b, mt::function::maximum, mt::ids(all.data(), all.size())));
    g.complete();
  });
}

TEST_CASE("characters of a name") {
  constexpr mt::name longest = "exactly_thirty_two_characters_ab";
  static_assert(longest.size() == mt::name::capacity);
  CHECK(longest.text() == "exactly_thirty_two_characters_ab");
  graph g;
  mt::dim_id const d = g.b->dim(longest, {mt::extent_rule::fixed, 2, {}, {}});
  CHECK(g.b->dim("exactly_thirty_two_characters_a", {mt::extent_rule::fixed, 3, {}, {}}) != d);
  CHECK(g.m->dim_name(d) == longest);
}

TEST_CASE("terms of a number") {
  check(mt::number::capacity, "G11: a number is an expression of more than 24 terms", [](int count) {
    graph g;
    mt::number n = 2;
    while (n.count < count) n = mt::apply(mt::function::sqrt, n);
    g.b->add_number(n);
    CHECK(g.m->number_count == count);
  });
}

namespace {
template <int I>
struct numbered_call {
  static void run(std::span<float const> x, std::span<float> y) { y[0] = x[0] + I; }
};
template <int Count>
struct calls {
  void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((x = mt::call<numbered_call<I>>(x)), ...);
    }(std::make_integer_sequence<int, Count>());
    s.output("y", x);
  }
};

template <int I>
struct numbered_rule {
  static constexpr mt::name name{"numbered"};
  static constexpr mt::declaration declares{};
  static constexpr void infer(mt::inference& i) { i.give(i[0].type, i.dims_of(0)); }
  static void evaluate(mt::evaluation const&) {}
};
}  // namespace

TEST_CASE("operations of a program's own") {
  CHECK(sentence([] { lowered<calls<mt::max_calls>>(0); }) == "no error");
  CHECK(sentence([] {
          lowered<calls<mt::max_calls + 1>>(0);
        }).starts_with("meshtensor G32: a program calls at most 64 different operations of its own"));
  check(mt::max_extensions, "G32: a program has at most 16 operations declared outside of the library", [](int count) {
    graph g;
    mt::value_id v = g.input();
    [&]<int... I>(std::integer_sequence<int, I...>) {
      ((I < count ? void(v = mt::add_extension<numbered_rule<I>>(*g.b, mt::ids(&v, 1))) : void()), ...);
    }(std::make_integer_sequence<int, mt::max_extensions + 1>());
    g.output(v);
    CHECK(g.m->extension_count == count);
    g.complete();
  });
}

TEST_CASE("watched tensors") {
  check(mt::max_watched, "G33: a program watches at most 64 tensors", [](int count) {
    graph g;
    mt::value_id const x = g.input();
    for (int i = 0; i < count; ++i) {
      mt::value_id const v = mt::multiply(*g.b, x, x);
      mt::watch_attributes const as{g.b->intern(graph::numbered(i)), false};
      g.m->nodes[g.b->add_node(mt::primitive::watch, 0, mt::ids(&v, 1), as.packed())].effect = true;
    }
    g.output(x);
    mt::lower(*g.m, "main", mt::mesh_shape{}, mt::layout_rules{}, {});
  });
}

namespace {
struct placements {
  void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    for (int i = 0; i < many; ++i) x = reshard(x, mt::shard<in, data>{});
    s.output("y", x);
  }
};
}  // namespace

TEST_CASE("rules of a layout, and placements that reshard asks for") {
  auto const rules_of = [](int count) {
    mt::layout_rules rules{};
    for (int i = 0; i < count; ++i) rules.shard(graph::numbered(i), {"data"});
    return rules;
  };
  check(mt::max_rules, "S06: a layout has at most 64 rules", [&](int count) {
    mt::layout_rules const rules = rules_of(count);
    CHECK(rules.count == count);
  });
  check(mt::max_rules, "S06: a program asks for more than 64 placements", [](int count) {
    mt::lower(*traced<placements>(count), mt::entry_name<placements>(), mt::mesh_shape{}.add("data", 2),
              mt::layout_rules{}, {});
  });

  // All rules of the largest layout hold: of a tensor that has the last one's dim, each rank has a half.
  graph g;
  mt::shape dims{};
  dims.add(g.b->dim(graph::numbered(mt::max_rules - 1), {mt::extent_rule::fixed, 2, {}, {}}));
  g.output(mt::multiply(*g.b, g.input(dims), g.input(dims)));
  auto const low = mt::lower(*g.m, "main", mt::mesh_shape{}.add("data", 2), rules_of(mt::max_rules), {});
  CHECK(low->graph.values[0].layout.shards(0));
}

TEST_CASE("axes of a mesh") {
  check(mt::max_axes, "S24: a mesh has at most 6 axes", [](int count) {
    graph g;
    mt::mesh_shape mesh{};
    mt::layout_rules rules{};
    mt::shape dims{};
    for (int i = 0; i < count; ++i) {
      dims.add(g.b->dim(graph::numbered(i), {mt::extent_rule::fixed, 2, {}, {}}));
      mesh.add(graph::numbered(i), 2);
      rules.shard(graph::numbered(i), {graph::numbered(i)});
    }
    mt::value_id const x = g.input(dims);
    g.output(mt::reduce(*g.b, mt::reduction::sum, mt::multiply(*g.b, x, x), dims));
    auto const low = mt::lower(*g.m, "main", mesh, rules, {});
    for (int a = 0; a < count; ++a) CHECK(low->graph.values[0].layout.shards(a));
  });
}

TEST_CASE("windows") {
  check(mt::max_windows, more_than(mt::max_windows, "G02", "windows"), [](int count) {
    graph g;
    for (int i = 0; i < count; ++i) {
      mt::window_row row{};
      row.stride = static_cast<mt::id>(i + 1);
      g.b->add_windows(std::span<mt::window_row const>(&row, 1));
    }
    CHECK(g.m->window_count == count);
  });
}
