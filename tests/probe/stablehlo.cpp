// SPDX-License-Identifier: Apache-2.0
// Programs as StableHLO: the two-layer training step against the texts that are kept beside this file, and the
// catalogue of programs, alone and spread. Where MESHTENSOR_STABLEHLO_CASES names a folder all of them are written
// there, for stablehlo_on_xla.py, which runs them.
//
// optimize: 0
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "property/graph.hpp"
#include "property/many_dims.hpp"
#include "property/program.hpp"
#include "stablehlo_cases.hpp"
#include "support/exchange_programs.hpp"
#include "support/loops_that_end.hpp"
#include "support/programs.hpp"
#include "support/source_path.hpp"
#include "two_layers.hpp"
#include "unit/pass/programs.hpp"

namespace mt = meshtensor;

namespace {

constexpr auto two_layers_traced = mt::trace<two_layers::train_step>();
constexpr mt::name step = mt::entry_name<two_layers::train_step>();

std::string folder() {
  char const* const named = std::getenv("MESHTENSOR_STABLEHLO_CASES");
  return named == nullptr ? "" : named;
}
mt::mesh_shape mesh_of(std::int64_t data, std::int64_t model) {
  mt::mesh_shape mesh = two_layers::mesh::shape;
  return mesh.bind(two_layers::data(data)).bind(two_layers::model(model));
}

/// The first line in which a text differs from the one that is kept.
std::string first_difference(std::string const& text, char const* kept) {
  std::filesystem::path const path = meshtensor_test::source_path(__FILE__).parent_path() / kept;
  std::ifstream file(path);
  std::istringstream got(text);
  std::string line, wanted;
  for (int n = 1;; ++n) {
    bool const more = bool(std::getline(got, line)), there = bool(std::getline(file, wanted));
    if (!more && !there) return "";
    if (more != there || line != wanted) return std::string(kept) + ":" + std::to_string(n) + ": now " + line;
  }
}
std::string whole_text(mt::module const& m, std::vector<mt::dim_extent> const& extents = {}) {
  int entry = 0;
  while (m.regions[entry].kind != mt::region_kind::entry) ++entry;
  return mt::stablehlo(m, entry, mt::bind(m, {}, extents)).text;
}

inline constexpr struct even_token : mt::dim<"token", 8> {} token;
inline constexpr struct even_part : mt::dim<"part", 4> {} part;
inline constexpr struct even_choice : mt::dim<"choice", 2> {} choice;
inline constexpr struct even_group : mt::dim<"group", 4> {} group;
inline constexpr struct even_inner : mt::dim<"inner", 3> {} inner;
inline constexpr struct even_place : mt::dim<"place", 8> {} place;

inline constexpr struct cut_four : mt::dim<"four", 4> {} cut_four;
inline constexpr struct cut_two : mt::dim<"two", 2> {} cut_two;
inline constexpr struct long_place : mt::dim<"long_place", 16> {} long_place;

/// Rows that are exchanged, computed with and returned, with `Most` rows for each group, or with all.
template <int Most>
struct evenly_exchanged {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), token, part, inner);
    auto const index = s.input("index", mt::i32, token, part, choice);
    auto const sent = [&] {
      if constexpr (Most == 0) return all_to_all_rows(x, index, group);
      else return all_to_all_rows(x, index, group, Most);
    }();
    auto const bias = s.parameter("bias", group, mt::normal(0.5));
    auto const up = s.parameter("up", group, inner, mt::normal(0.5));
    auto const made = grouped_einsum(sent.rows, up, sent.group, group, mt::to(sent.holder, sent.row));
    auto const y = return_rows(tanh(made + gather(bias, sent.group, group)) * sent.rows, sent);
    auto const loss = mean(y * (y + 0.5)) + sum(sent.rows * (sent.rows + 1)) * 0.01;
    s.output("y", y);
    s.output("index", sent.index);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
  }
};

/// Rolls and shifts by numbers that change from step to step, and what flows back.
struct moved_by_steps {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, inner, place);
    auto const by = s.step();
    auto const y = roll(x, place, by * 3) + 2 * roll(x, place, -5 * by) + shift(x, place, by + 1, by * 0.5) +
                   shift(x, place, -20 * by, 7) + shift(x, place, 2, by);
    s.output("y", y);
    s.output("scaled", x * by);
    s.output("dx", gradient(sum(y * y), x));
  }
};

inline constexpr struct axis_of_two : mt::axis<"ax", 2> {} axis_of_two;
inline constexpr struct three : mt::dim<"three", 3> {} three;

struct whole_around : mt::layout<mt::shard<place, axis_of_two>, mt::in<"around", mt::replicate<place>>> {};

/// A convolution around a dim, whose ends it repeats.
struct around {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, place, inner);
    auto const ring = mt::window(place, place, three, {.padding = mt::circular_padding});
    s.output("y", mt::nn::convolution(s / "around", x, inner, group, ring));
  }
};

/// A C++ function of the user's own.
struct half {
  static void run(std::span<double const> x, std::span<double> y) {
    std::transform(x.begin(), x.end(), y.begin(), [](double v) { return v / 2; });
  }
};
struct halved {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::call<half>(s.input("x", mt::f64, programs::batch)));
  }
};

/// Slices, pads and puts at numbers that change from step to step, forwards, backwards and in steps; steps that change.
struct cut_by_steps {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, inner, place);
    auto const by = s.step();
    auto const plain = slice(x, place, cut_four, by * 3), odd = slice(x, place, cut_four, by, 2);
    auto const back = slice(x, place, cut_four, 7 - by, -2), any = slice(x, place, cut_four, 3 + 4 * by, -1 - by);
    auto const all = plain + 2 * odd + 3 * back * back;
    auto const inside = pad(all, cut_four, long_place, by * 11) + pad(all, cut_four, long_place, by + 1, 0.5 * by, 3) +
                        pad(all, cut_four, long_place, 15 - by, 7, -4) +
                        pad(plain, cut_four, long_place, by, by, 3 * by + 1) +
                        pad(odd, cut_four, long_place, 14 + by, -1, -3 * by - 1);
    auto const last = slice(inside, long_place, cut_two, 13 + by, 2 * by - 1);
    auto const y = put(put(x, sum(last, cut_two), place, 6 * by), sum(plain, cut_four), place, 2 - by);
    s.output("any", any);
    s.output("inside", inside);
    s.output("y", y);
    s.output("dx", gradient(sum(y * y) + sum(inside * inside * inside), x));
  }
};

/// grouped_einsum without an exchange of rows.
struct chosen {
  constexpr void operator()(mt::scope auto s) const {
    using namespace programs;
    auto x = s.input("x", s.real(), batch, length, model);
    auto [expert, weight, balance] = mt::nn::choose_experts(s / "router", x, length, model, experts, choices);
    auto of_each = grouped_einsum(x, weight, expert, experts, mt::to(experts, batch, model));
    auto z = grouped_einsum(of_each, weight, expert, experts, mt::to(batch, length, model));
    s.output("of_each", of_each);
    auto loss = sum(z * z) + balance;
    s.output("loss", loss);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

}  // namespace

TEST_CASE("the training step of two layers, alone and on four processors, is the text that is kept") {
  mt::dim_extent const extents[] = {two_layers::batch(8)};
  auto const text = [&](mt::mesh_shape const& mesh, mt::layout_rules const& rules) {
    auto const l = mt::lower(two_layers_traced, step, mesh, rules, extents);
    return mt::stablehlo(l->graph, l->entry, l->planned.numbers, mesh).text;
  };
  CHECK(first_difference(text(mesh_of(1, 1), two_layers::whole::rules), "two_layers.mlir") == "");
  CHECK(first_difference(text(mesh_of(2, 2), two_layers::spread::rules), "two_layers_spread.mlir") == "");
  CHECK(first_difference(text(mesh_of(1, 2), two_layers::spread::rules), "two_layers_spread.mlir") != "");

  probe::stablehlo_cases cases(folder(), two_layers_traced, step, {two_layers::batch(8)});
  CHECK(cases.add("two_layers", mesh_of(1, 1), two_layers::whole::rules));
  CHECK(cases.add("two_layers_spread", mesh_of(2, 2), two_layers::spread::rules));
  CHECK(cases.add("two_layers_fused", mesh_of(2, 2), two_layers::spread::rules, {.fuses = true}));
  CHECK_THROWS_WITH_AS(cases.add("", mesh_of(3, 1), two_layers::spread::rules),
                       "meshtensor S02: dim 'batch' (8) is cut into unequal parts by 3 ranks, which StableHLO does "
                       "not have: make it 6 or 9, or replicate it (node %0 input, two_layers.hpp:20)",
                       mt::error);
}

TEST_CASE("every program of the catalogue is emitted, alone and on a mesh") {
  mt::mesh_shape const four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  for (property::listed const& p : property::catalogue()) {
    CAPTURE(std::string(p.label));
    auto const traced = p.trace();
    if (std::any_of(traced->calls, traced->calls + traced->call_count,
                    [](mt::call_row const& c) { return c.library == mt::library_call::none; }))
      continue;  // the user's own C++; refused, see below
    probe::stablehlo_cases cases(folder(), *traced, p.entry, {});
    std::string name = p.label;
    std::replace(name.begin(), name.end(), ' ', '_');
    CHECK(cases.add(name, mt::mesh_shape{}.add("ax", 1), {}));
    auto const dims = property::dims_in_use(cases.whole().graph()), scopes = property::scopes_of(cases.whole().graph());
    for (property::rng c{3}; cases.emitted < 2;) try {
        cases.add(name + "_spread", four, meshtensor_test::drawn_layout(dims, scopes, four, c));
      } catch (mt::error const& e) {
        if (std::string_view(e.code()) != "S02" || traced->window_count == 0) throw;  // nine rows on two processors
      }
  }
}

namespace {
template <class Program>
void emit_many_dims(std::string const& name) {
  using in_f64 = mt::precision<Program, mt::f64>;
  auto const traced = mt::on_heap([] { return mt::trace<in_f64>(); });
  probe::stablehlo_cases cases(folder(), *traced, mt::entry_name<in_f64>(), {});
  CHECK(cases.add(name, mt::mesh_shape{}.add("ax", 1), {}));
  CHECK(cases.add(name + "_spread", mt::mesh_shape{}.add("ax", 2), mt::layout_rules{}.shard("h", {"ax"})));
  CHECK(cases.add(name + "_fused", mt::mesh_shape{}.add("ax", 1), {}, {.fuses = true}));
}
}  // namespace

TEST_CASE("tensors of nine and ten dims are emitted, alone and on a mesh") {
  emit_many_dims<property::many_dims::ten>("ten_dims");
  emit_many_dims<property::many_dims::nine>("nine_dims");
  emit_many_dims<property::many_dims::eight_in_two>("eight_dims_in_two_eaches");
}

TEST_CASE("products of rows with the matrices of their experts are emitted, alone and on a mesh") {
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<chosen, mt::f64>>(); });
  probe::stablehlo_cases cases(folder(), *traced, mt::entry_name<chosen>(), {});
  CHECK(cases.add("chosen", mt::mesh_shape{}.add("ax", 1), {}));
  CHECK(cases.add("chosen_spread", mt::mesh_shape{}.add("ax", 2), mt::layout_rules{}.shard("batch", {"ax"})));
}

TEST_CASE("rows that go to the holders of their groups are emitted, for all rows and for some of each group") {
  mt::mesh_shape const four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  auto const layouts = exchange_programs::layouts_of_exchanges(four);
  auto const emit = [&]<int Most>(std::integral_constant<int, Most>, std::size_t first) {
    auto const traced = mt::on_heap([] { return mt::trace<mt::precision<evenly_exchanged<Most>, mt::f64>>(); });
    probe::stablehlo_cases cases(folder(), *traced, mt::entry_name<evenly_exchanged<Most>>(), {});
    std::string const name = "all_to_all_rows_" + std::to_string(Most);
    CHECK(cases.add(name, mt::mesh_shape{}.add("ax", 1), {}));
    for (std::size_t k = first; k < layouts.size(); k += 4)
      cases.add(name + "_spread_" + std::to_string(k), four, layouts[k]);  // some shard a value twice over an axis
    CHECK(cases.emitted > 10);
  };
  emit(std::integral_constant<int, 0>{}, 0);
  emit(std::integral_constant<int, 3>{}, 1);
}

namespace {

/// A program of loops that end early, alone, on two processors that share its rows, and on four that share both of its
/// dims. `count`: how often the loop of the output of that name runs; -1: there is none.
template <class Program, mt::dtype Type>
void emit_early_ends(std::string const& name, int count = -1) {
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<Program, Type>>(); });
  probe::stablehlo_cases cases(folder(), *traced, mt::entry_name<Program>(), {});
  if (count >= 0) CHECK(cases.whole().expected_outputs(1).at("count").number_at(0) == count);
  auto const both = mt::layout_rules{}.shard("batch", {"ax"}).shard("model", {"by"});
  mt::mesh_shape const four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  CHECK(cases.add(name, mt::mesh_shape{}.add("ax", 1), {}));
  CHECK(cases.add(name + "_rows", mt::mesh_shape{}.add("ax", 2), mt::layout_rules{}.shard("batch", {"ax"})));
  CHECK(cases.add(name + "_both", four, both));
  CHECK(cases.add(name + "_both_fused", four, both, {.fuses = true}));
}

}  // namespace

TEST_CASE("loops that end early and branches are emitted, with their gradients") {
  using namespace loops_that_end;
  emit_early_ends<layers_until<1'000, 9>, mt::f64>("while_some", 3);
  emit_early_ends<layers_until<-1, 9>, mt::f64>("while_none", 0);
  emit_early_ends<layers_until<1'000'000'000, 6>, mt::f64>("while_all", 6);
  emit_early_ends<layers_until<1'000, 8, 2>, mt::f64>("while_recomputed", 3);
  emit_early_ends<within_a_scan, mt::f64>("while_in_scan");
  emit_early_ends<within_a_scan_of<2>, mt::f64>("while_in_scan_recomputed");
  emit_early_ends<branch<true>, mt::f64>("cond_first");
  emit_early_ends<branch<false>, mt::f64>("cond_second");
  emit_early_ends<branches_within, mt::f64>("cond_in_while", 5);
  emit_early_ends<normed, mt::f32>("while_norms", 3);

  std::string const text = whole_text(meshtensor_test::traced<meshtensor_test::branching>);
  auto const count = [&](std::string_view what) {
    int n = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++n;
    return n;
  };
  CHECK(count("\"stablehlo.if\"") == 2);  // both branches
  CHECK(count("\"stablehlo.while\"") == 1);
}

TEST_CASE("rolls and shifts by numbers that change between steps are emitted") {
  auto const traced = mt::on_heap([] { return mt::trace<moved_by_steps>(); });
  probe::stablehlo_cases cases(folder(), *traced, mt::entry_name<moved_by_steps>(), {});
  CHECK(cases.add("moved_by_steps", mt::mesh_shape{}.add("ax", 1), {}));
  CHECK(cases.add("moved_by_steps_spread", mt::mesh_shape{}.add("ax", 4), mt::layout_rules{}.shard("place", {"ax"})));
}

TEST_CASE("slices, pads and puts at numbers that change between steps are emitted") {
  auto const traced = mt::on_heap([] { return mt::trace<cut_by_steps>(); });
  probe::stablehlo_cases cases(folder(), *traced, mt::entry_name<cut_by_steps>(), {});
  CHECK(cases.add("cut_by_steps", mt::mesh_shape{}.add("ax", 1), {}));
  CHECK(cases.add("cut_by_steps_spread", mt::mesh_shape{}.add("ax", 2),
                  mt::layout_rules{}.shard("place", {"ax"}).shard("four", {"ax"}).shard("long_place", {"ax"})));
  CHECK(cases.add("cut_by_steps_in_part", mt::mesh_shape{}.add("ax", 4),
                  mt::layout_rules{}.shard("place", {"ax"}).shard("long_place", {"ax"})));
}

TEST_CASE("layers that are spread over processors are emitted") {
  for (std::string const label : {"mlp", "language_model in f32"}) {
    CAPTURE(label);
    property::listed const& p = property::program_named(label);
    auto const traced = p.trace();
    probe::stablehlo_cases cases(folder(), *traced, p.entry, {});
    auto const rules = mt::layout_rules{}.shard("batch", {"ax"}).shard("layers", {"ax"});
    std::string const name = label.substr(0, label.find(' '));
    CHECK(cases.add(name + "_layers_apart", mt::mesh_shape{}.add("ax", 2), rules));
    CHECK(cases.add(name + "_layers_apart_fused", mt::mesh_shape{}.add("ax", 2), rules, {.fuses = true}));
  }
}

namespace {

struct moving {
  int size, stride, dilation, low, high, extent;
};
/// Windows that reach a neighbour's elements, more than one neighbour's, and none; places that do not lie beside the
/// elements; less padding than nothing.
constexpr moving movements[] = {{3, 1, 1, 1, 1, 8},  {3, 2, 1, 1, 0, 8},  {7, 1, 1, 3, 3, 8}, {3, 1, 2, 2, 2, 8},
                                {2, 3, 1, 1, 0, 12}, {2, 1, 1, -1, 2, 8}, {3, 1, 1, 4, 2, 8}, {2, 2, 1, 0, 0, 8}};

mt::window_row along_a(property::graph& g, moving const& w) {
  mt::dim_id const a = g.dim("a"), kernel = g.dim("w", mt::extent_rule(w.size));
  mt::window_places const places{w.low + w.high - w.dilation * (w.size - 1) - 1, w.stride};
  mt::dim_id const o = g.dim("o", {mt::extent_rule::windowed, places.packed(), mt::name::of("a"), mt::name{}});
  return {a,
          o,
          kernel,
          static_cast<mt::id>(w.stride),
          static_cast<mt::id>(w.dilation),
          g.b.literal(w.low),
          g.b.literal(w.high)};
}
/// The result of `make(graph, windows, x)`, of x [b, a, c], and its gradient.
template <class Make>
void emit_moved(std::string const& name, moving const& w, mt::dtype type, Make const& make) {
  property::graph g;
  mt::window_row const rows[] = {along_a(g, w)};
  mt::id const first = g.b.add_windows(rows);
  mt::value_id const x = g.input("x", type, "bac");
  mt::value_id const y = make(g, first, x);
  g.output("y", y);
  if (is_float(type)) g.output_gradients(y, {x});
  std::vector<mt::dim_extent> extents{{mt::name("a"), w.extent}, {mt::name("b"), 2}, {mt::name("c"), 3}};
  auto const dims = property::dims_of(g.module());
  if (std::ranges::find(dims, mt::name("d")) != dims.end()) extents.push_back({mt::name("d"), 2});
  probe::stablehlo_cases cases(folder(), g.module(), mt::name("main"), extents);
  CHECK(cases.add(name + "_whole", mt::mesh_shape{}.add("ax", 1), {}));
  CHECK(cases.add(name + "_outputs", mt::mesh_shape{}.add("ax", 2),
                  mt::layout_rules{}.replicate("a").shard("o", {"ax"})));
  if (w.extent % 4 == 0 && w.stride * 4 <= w.extent)
    CHECK(cases.add(name + "_spread", mt::mesh_shape{}.add("ax", 4),
                    mt::layout_rules{}.shard("a", {"ax"}).shard("o", {"ax"})));
}

}  // namespace

TEST_CASE("windows that move along sharded dims are emitted") {
  using mt::conv_direction;
  for (moving const& w : movements) {
    std::string const name = "window_" + std::to_string(w.size) + "_" + std::to_string(w.stride) + "_" +
                             std::to_string(w.dilation) + (w.low < 0 ? "_less_" : "_more_") +
                             std::to_string(std::abs(w.low)) + std::to_string(w.high);
    CAPTURE(name);
    emit_moved(name + "_conv", w, mt::dtype::f64, [](property::graph& g, mt::id first, mt::value_id x) {
      mt::value_id const kernel = g.input("kernel", mt::dtype::f64, "cwd");
      mt::value_id const y = mt::conv(g.b, x, kernel, conv_direction::forward, {first, 1}, g.dims("dbo"));
      g.output("slope", mt::conv(g.b, x, y, conv_direction::kernel, {first, 1}, g.dims("wcd")));
      return y;
    });
    emit_moved(name + "_max", w, w.size == 7 ? mt::dtype::bf16 : mt::dtype::f64,
               [](property::graph& g, mt::id first, mt::value_id x) {
                 return mt::pool(g.b, mt::pool_step::pick, {x, mt::pool(g.b, mt::pool_step::position, {x}, {first, 1})},
                                 {first, 1});
               });
    emit_moved(name + "_sum", w,
               w.size == 7   ? mt::dtype::bf16
               : w.size == 2 ? mt::dtype::i32
                             : mt::dtype::f32,
               [](property::graph& g, mt::id first, mt::value_id x) {
                 return mt::pool(g.b, mt::pool_step::sum, {x}, {first, 1});
               });
  }
}

TEST_CASE("a window whose stride does not divide parts is refused") {
  property::graph g;
  mt::window_row const rows[] = {along_a(g, {3, 2, 1, 2, 1, 6})};
  mt::id const first = g.b.add_windows(rows);
  g.output("y", mt::pool(g.b, mt::pool_step::spread, {g.input("x", mt::dtype::f32, "bo")}, {first, 1}));
  mt::mesh_shape const two = mt::mesh_shape{}.add("ax", 2);
  mt::dim_extent const extents[] = {{mt::name("a"), 6}, {mt::name("b"), 2}};
  auto const l = mt::lower(g.module(), mt::name("main"), two, mt::layout_rules{}.shard("a", {"ax"}), extents);
  CHECK_THROWS_WITH_AS(mt::stablehlo(l->graph, l->entry, l->planned.numbers, two),
                       "meshtensor S02: the parts of dim 'a' are no multiples of 2, the stride of windows that move "
                       "along it, which StableHLO does not have: replicate it, or choose another extent",
                       mt::error);
}

TEST_CASE("a dim that circular padding has made longer is refused by the name of the user's dim, with the fix") {
  auto const traced = mt::on_heap([] { return mt::trace<around>(); });
  mt::mesh_shape const two = mt::mesh_shape{}.add("ax", 2);
  auto const text = [&](mt::layout_rules const& rules) {
    auto const l = mt::lower(*traced, mt::entry_name<around>(), two, rules, {});
    return mt::stablehlo(l->graph, l->entry, l->planned.numbers, two).text;
  };
  auto const by_place = mt::layout_rules{}.shard("place", {"ax"});
  CHECK_THROWS_WITH_AS(
      text(by_place),
      doctest::Contains("(9, made from 'place') is cut into unequal parts by 2 ranks, which StableHLO does not "
                        "have: choose another extent of 'place', or replicate that here, in<\"around\", "
                        "replicate<place>> (node %"),
      mt::error);
  CHECK(text(whole_around::rules) != "");
}

TEST_CASE("what has no form yet is refused in one sentence") {
  CHECK_THROWS_WITH_AS(whole_text(meshtensor_test::traced<meshtensor_test::network>),
                       doctest::Contains("there is no StableHLO for gradient yet"), mt::error);
  CHECK_THROWS_WITH_AS(
      whole_text(meshtensor_test::traced<halved>),
      doctest::Contains("R01: there is no StableHLO for half, an operation of your own: mt::default_device "
                        "runs it (node %1 half, stablehlo.cpp:"),
      mt::error);
}

TEST_CASE("numbers are spelled exactly, and as MLIR reads them") {
  using mt::hlo::literal;
  CHECK(literal("f32", 8) == "8.0");
  CHECK(literal("f64", 0.1) == "0.1");
  CHECK(std::stof(literal("f32", 0.1)) == 0.1f);
  CHECK(std::stod(literal("f32", 0.1)) == static_cast<double>(0.1f));
  CHECK(literal("f64", 1e-8) == "1.0e-08");
  CHECK(literal("bf16", 0.3) == "0.30078125");
  double const infinity = std::numeric_limits<double>::infinity();
  CHECK(literal("f64", -infinity) == "0xFFF0000000000000");
  CHECK(literal("f32", -infinity) == "0xFF800000");
  CHECK(literal("bf16", infinity) == "0x7F80");
  CHECK(literal("i32", -1.5) == "-2");  // as element_of
  CHECK(literal("i1", 2) == "true");
}

TEST_CASE("the replicas that take part together") {
  mt::mesh_shape const mesh = mt::mesh_shape{}.add("data", 2).add("model", 3);
  CHECK(mt::hlo::groups(mesh, 1) == "replica_groups = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>");
  CHECK(mt::hlo::groups(mesh, 2) == "replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>");
  CHECK(mt::hlo::groups(mesh, 3) == "replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>");
}
