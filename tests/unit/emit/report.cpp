// SPDX-License-Identifier: Apache-2.0
// The report of a plan: what it counts is what the processors will do; what it says is there.
#include "meshtensor/emit/report.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "meshtensor/comm/collective.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/job/rank_context.hpp"
#include "support/layouts.hpp"
#include "support/loops_that_end.hpp"
#include "support/source_path.hpp"
#include "unit/run/two_layers.hpp"

namespace mt = meshtensor;
using net = two_layers::network<mt::extent_rule{}, 0, 0>;

namespace {

constexpr auto traced = mt::trace<net::train_step>();

std::unique_ptr<mt::lowering> lowered(mt::mesh_shape const& mesh, mt::layout_rules const& rules, std::int64_t batch) {
  std::array const extents{net::batch(batch)};
  return mt::lower(traced, "train_step", mesh, rules, extents);
}
mt::mesh_shape mesh_of(std::int64_t data, std::int64_t model) {
  mt::mesh_shape mesh{};
  mesh.add("data", data).add("model", model);
  return mesh;
}
mt::layout_rules two_d() {
  mt::layout_rules rules{};
  rules.shard("batch", {"data"}).shard("inner", {"model"}).shard("classes", {"model"});
  return rules;
}
bool has(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

inline constexpr struct place_dim : mt::dim<"place"> {} place;
inline constexpr struct units_dim : mt::dim<"units", 7> {} units;

/// Operations that make dims of their own: parts of `place`, and a second `place`.
struct running_sums {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, place);
    s.output("sums", cumulative_sum(x, place));
    s.output("sorted", std::get<0>(sort(x, place)));
  }
};
struct scale_units {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", s.input("x", mt::f32, place, units) * s.parameter("gain", units));
  }
};
struct pass_on {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, place)); }
};
template <class Program>
std::string report_of(mt::mesh_shape const& mesh, mt::layout_rules const& rules, std::int64_t places) {
  static auto const program = mt::on_heap([] { return mt::trace<Program>(); });
  std::array const extents{place(places)};
  auto const l = mt::lower(*program, mt::entry_name<Program>(), mesh, rules, extents);
  return mt::report(l->graph, l->planned, mesh);
}
int count_of(std::string const& text, std::string const& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++n;
  return n;
}

}  // namespace

TEST_CASE("bytes are those that the collectives of every layout receive") {
  std::vector<mt::name> const dims{"batch", "hidden", "inner", "classes", "pixels"};
  int tried = 0, k = 0;
  for (auto const& mesh : meshtensor_test::meshes())
    meshtensor_test::each_layout(dims, mesh, [&](mt::layout_rules const& rules) {
      if (mesh.count > 1 && k++ % 41 != 0) return;
      try {
        auto const l = lowered(mesh, rules, 24);
        auto const runs = mt::run_counts_of(l->graph, l->planned.numbers);
        mt::rank_context const first(l->graph, l->planned, mesh, 0);
        std::int64_t bytes = 0, count = 0, exchanges = 0;
        for (int i = 0; i < l->graph.node_count; ++i) {
          mt::node const& n = l->graph.nodes[i];
          if (!mt::is_collective(n.kind)) continue;
          auto const& e = first.collective_of(static_cast<mt::node_id>(i));
          std::int64_t const received = mt::received_bytes_of(e.call, e.with.count, e.with.index);
          if (l->planned.joined[i] == 0)
            CHECK(mt::cost_of_collective(l->graph, l->planned.numbers, n).bytes == received);
          if (e.with.count > 1) count += runs.of[n.region];
          if (mt::goes_with_another(l->planned, i)) continue;
          exchanges += e.with.count > 1 ? runs.of[n.region] : 0;
          auto const together = first.joined_collective(static_cast<mt::node_id>(i));
          auto const& call = l->planned.joined[i] == 0 ? e.call : together->call;
          bytes += mt::received_bytes_of(call, e.with.count, e.with.index) * runs.of[n.region];
        }
        auto const all = mt::traffic_of(l->graph, l->planned);
        CHECK(all.messages == exchanges);
        CHECK(all.bytes == bytes);
        CHECK(all.collectives() == count);
        std::int64_t held = 0;
        for (mt::value_id v : mt::detail::held_at_fullest(l->graph, l->planned))
          held += (l->planned.numbers.local_bytes(l->graph.values[v]) + 63) / 64 * 64;
        CHECK(held > 0);
        CHECK(held <= l->planned.arena_bytes);
        CHECK(held >= l->planned.arena_bytes / 2);  // the rest lies between them
        CHECK(!mt::report(l->graph, l->planned, mesh).empty());
        ++tried;
      } catch (mt::error const& e) { CHECK(e.code() == "S05"); }
    });
  CHECK(tried >= 40);
}

TEST_CASE("what a layout exchanges is a constant") {
  using fixed = two_layers::network<24, 2, 2>;
  struct mesh : mt::mesh<fixed::data, fixed::model> {};
  struct replicated : mt::layout<> {};
  struct data_parallel : mt::layout<mt::shard<fixed::batch, fixed::data>> {};
  static_assert(mt::traffic<fixed::train_step, mesh, replicated>.collectives() == 0);
  static_assert(mt::traffic<fixed::train_step, mesh, replicated>.bytes == 0);
  // The loss, and each of the ten parameters' gradients once, of the two layers' two matrices in the loop: 1 + 12·24 +
  // 24 + 2·(24·12 + 12 + 12·24 + 24 + 2·24) + 24·6 + 6 numbers of four bytes, of which each of two processors receives
  // its half twice.
  constexpr auto sent = mt::traffic<fixed::train_step, mesh, data_parallel>;
  static_assert(sent.all_reduces == 11 + 2 && sent.collectives() == 13 && sent.messages < 8);
  static_assert(sent.bytes == 4 * (1 + 12 * 24 + 24 + 2 * (24 * 12 + 12 + 12 * 24 + 24 + 2 * 24) + 24 * 6 + 6));
}

TEST_CASE("operations: what is spread is done once, loops multiply") {
  auto const alone = lowered({}, {}, 24);
  auto const four = lowered(mesh_of(2, 2), two_d(), 24);
  auto const work = mt::work_of(alone->graph, alone->planned.numbers);
  // Forward: first, two layers of up and down, last. Backward: twice that, less the gradient by the image.
  std::int64_t const first = 24 * 12 * 24, layer = 2 * 24 * 24 * 12, last = 24 * 24 * 6;
  CHECK(work.products == 2 * (2 * first + 3 * (2 * layer + last)));
  CHECK(work.others > 0);
  auto const part = mt::work_of(four->graph, four->planned.numbers);
  CHECK(part.products == 2 * (2 * first / 2 + 3 * (2 * layer + last) / 4));
}

TEST_CASE("the text") {
  auto const l = lowered(mesh_of(64, 2), two_d(), 640);
  std::string const text = mt::report(l->graph, l->planned, mesh_of(64, 2));
  CAPTURE(text);
  CHECK(has(text,
            "program  train_step\nmesh     data = 64, model = 2: 128 ranks\nlayout   batch over data, inner over "
            "model, classes over model\n"));
  CHECK(has(text, "batch = 640"));
  CHECK(has(text, "model/blocks/up/weight"));
  CHECK(has(text, "f32[layers, hidden, inner/model]"));
  CHECK(has(text, "optimizer/model/blocks/up/weight/m, v"));
  CHECK(has(text, "parameters: 1782 elements, 7128 B; "));
  CHECK(has(text, "all_reduce sum  over data"));
  CHECK(has(text, "two_layers.hpp:"));
  CHECK(has(text, "fullest at "));
  CHECK(has(text, "f32[layers, batch/data, hidden]  carry, two_layers.hpp:"));
  CHECK(!has(text, "nothing is spread"));
  mt::layout_rules two_ways{};
  two_ways.shard("hidden", {"model"}).shard("hidden", {"data"}, "optimizer");
  auto const in_two_ways = lowered(mesh_of(4, 2), two_ways, 24);
  std::string const ways = mt::report(in_two_ways->graph, in_two_ways->planned, mesh_of(4, 2));
  CAPTURE(ways);
  CHECK(has(ways, "layout   hidden over model or data\n"));
  CHECK(has(mt::report(in_two_ways->graph, in_two_ways->planned, mesh_of(4, 2)), "8 ranks\n"));
  mt::layout_rules by_batch{};
  by_batch.shard("batch", {"data"});
  auto const wasted = lowered(mesh_of(4, 2), by_batch, 24);
  CHECK(has(mt::report(wasted->graph, wasted->planned, mesh_of(4, 2)), "nothing is spread over the axis 'model'"));
}

TEST_CASE("of loops that may end early and of branches, amounts are limits") {
  mt::mesh_shape const four = mesh_of(2, 2);
  auto const rules = mt::layout_rules{}.shard("batch", {"data"}).shard("model", {"model"});
  auto const text_of = [&]<class Program>(Program) {
    auto const program = mt::on_heap([] { return mt::trace<mt::precision<Program, mt::f32>>(); });
    auto const l = mt::lower(*program, mt::entry_name<Program>(), four, rules, {});
    return mt::report(l->graph, l->planned, four);
  };
  std::string text = text_of(loops_that_end::layers_until<1'000, 6>{});
  CAPTURE(text);
  CHECK(has(text,
            "dims     batch = 24, model = 12, inner = 24\n"
            "         while_loop/3 = 6: at most, the iterations of a loop, loops_that_end.hpp:"));
  CHECK(has(text, "\ncommunication: a rank receives at most "));
  CHECK(has(text, " kB in at most "));
  CHECK(has(text, "over data, model     at most x6  loops_that_end.hpp:"));  // the condition, in the loop and before it
  CHECK(has(text, "over data, model                 loops_that_end.hpp:"));
  CHECK(has(text, "\ncomputation: a rank does at most "));
  text = text_of(loops_that_end::branch<true>{});
  CHECK(has(text, "         cond/3 = 1: at most, how often one of the branches runs, loops_that_end.hpp:"));
  CHECK(has(text, "  at most once  loops_that_end.hpp:"));
}

TEST_CASE("what unequal parts cost") {
  mt::layout_rules rules{};
  rules.shard("batch", {"data"});
  auto const l = lowered(mesh_of(4, 1), rules, 10);
  std::string const text = mt::report(l->graph, l->planned, mesh_of(4, 1));
  CAPTURE(text);
  // Of three rows that a rank has, half a row is more than the mean.
  auto const all = mt::work_of(l->graph, l->planned.numbers);
  std::int64_t along = 0;  // all but the update of parameters, which are whole
  for (std::int64_t rows : {10, 20}) {
    auto const alone = mt::work_of(lowered({}, {}, rows)->graph, lowered({}, {}, rows)->planned.numbers);
    along = alone.products + alone.others - along;
  }
  CHECK(along > 0);
  CHECK(all.products + all.others > along * 3 / 10);
  CHECK(has(text,
            "note     'batch' (10) over data = 4 is laid out as 3 | 3 | 2 | 2\n"
            "         the largest part is 3, the mean 2.50: 1.20 times; its rank computes " +
                mt::detail::rounded((along + 10) / 20) + "flop more than the mean\n"));
  CHECK(has(text, "that is the busiest one: it does 1."));
  auto const root = meshtensor_test::source_path(__FILE__).parent_path().parent_path().parent_path().parent_path();
  std::ifstream page(root / "docs" / "layouts.md");
  std::string shown;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("note     'batch'") || line.starts_with("         the largest part")) shown += line + "\n";
  CHECK(!shown.empty());
  CHECK(has(text, shown));
  auto const even = lowered(mesh_of(4, 1), rules, 12);
  CHECK(!has(mt::report(even->graph, even->planned, mesh_of(4, 1)), "times the mean"));
}

TEST_CASE("notes of unequal parts name the dim as the program does, its axes and the cost") {
  auto const by_place = mt::layout_rules{}.shard("place", {"data"});
  std::string text = report_of<running_sums>(mesh_of(4, 1), by_place, 10);
  CAPTURE(text);
  CHECK(has(text,
            "dims     place = 10\n"
            "         place/again = 10: a second name of place\n"
            "         place/blocks = 4: the parts of place over data\n"
            "         place/in_block = 3: the elements of the largest of them\n"));
  // For each of its three elements, a sum up to it, its part of the total, and what the others before it have.
  CHECK(
      has(text,
          "note     'place' (10) over data = 4 is laid out as 3 | 3 | 2 | 2\n"
          "         the largest part is 3, the mean 2.50: 1.20 times; its rank computes 2 flop more than the mean\n"));
  CHECK(count_of(text, "note ") == 1);
  text = report_of<running_sums>(mesh_of(2, 3), mt::layout_rules{}.shard("place", {"data", "model"}), 10);
  CAPTURE(text);
  CHECK(has(text, "place/blocks = 6: the parts of place over data, model\n"));
  CHECK(
      has(text,
          "note     'place' (10) over data = 2, model = 3 is laid out as 2 | 2 | 1 | 2 | 2 | 1\n"
          "         the largest part is 2, the mean 1.67: 1.20 times; its rank computes 1 flop more than the mean\n"));

  text =
      report_of<scale_units>(mesh_of(2, 4), mt::layout_rules{}.shard("place", {"data"}).shard("units", {"model"}), 5);
  CAPTURE(text);
  CHECK(
      has(text,
          "note     'place' (5) over data = 2 is laid out as 3 | 2\n"
          "         the largest part is 3, the mean 2.50: 1.20 times; its rank computes 1 flop more than the mean\n"));
  CHECK(has(text,
            "note     'units' (7) over model = 4 is laid out as 2 | 2 | 2 | 1\n"
            "         the largest part is 2, the mean 1.75: 1.14 times; its rank computes 1 flop and stores 1 B more "
            "than the mean\n"));

  CHECK(has(report_of<pass_on>(mesh_of(4, 1), by_place, 10),
            "the largest part is 3, the mean 2.50: 1.20 times; nothing is computed or stored along it\n"));
}

TEST_CASE("a draft needs no processors, and says the same as the executable") {
  struct mesh : mt::mesh<net::data, net::model> {};
  struct layout : mt::layout<mt::shard<net::batch, net::data>, mt::shard<net::inner, net::model>> {};
  using step_t = mt::executable<net::train_step, mesh, layout>;
  mt::draft<step_t> const large(net::data(4096), net::model(4), net::batch(1 << 20));
  CHECK(has(mt::explain(large), "16384 ranks"));
  mt::draft<step_t> const small(net::data(2), net::model(2), net::batch(24));
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  step_t const step(weights, net::data(2), net::model(2), net::batch(24));
  CHECK(mt::explain(step).starts_with(mt::explain(small)));
  CHECK(has(mt::explain(step), "beside it, in this process: "));
}

TEST_CASE("rounded quantities") {
  using mt::detail::rounded;
  CHECK(rounded(0) == "0 ");
  CHECK(rounded(9999) == "9999 ");
  CHECK(rounded(10000) == "10.0 k");
  CHECK(rounded(12345) == "12.3 k");
  CHECK(rounded(99960) == "100 k");
  CHECK(rounded(999499) == "999 k");
  CHECK(rounded(999999) == "1.00 M");
  CHECK(rounded(1234567) == "1.23 M");
  CHECK(rounded(2050000000) == "2.05 G");
  CHECK(rounded(std::int64_t{7} << 60) == "8.07 E");
}
