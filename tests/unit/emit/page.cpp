// SPDX-License-Identifier: Apache-2.0
// The page of a plan: its numbers are those of `cost`, its curves and tables add up, and it stays small.
// passes: start-up
#include "meshtensor/emit/page.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <regex>

#include "meshtensor/inspect/explain_html.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using namespace programs;

namespace {

inline constexpr struct by_axis : mt::axis<"by"> {} by;
struct mesh : mt::mesh<ax, by> {};
struct by_batch : mt::layout<mt::shard<batch, ax, by>> {};
struct by_model : mt::layout<mt::shard<batch, ax>, mt::shard<inner, by>> {};
struct program : mt::precision<language_model, mt::f32> {};
template <class Layout>
using step_with = mt::draft<mt::executable<program, mesh, Layout>>;

/// The exact value of each `data-` attribute of this name.
std::vector<std::int64_t> numbers(std::string const& page, std::string const& attribute) {
  std::regex const wanted(" data-" + attribute + "=\"(-?\\d+)\"");
  std::vector<std::int64_t> all;
  for (std::sregex_iterator i(page.begin(), page.end(), wanted), end; i != end; ++i) all.push_back(std::stoll((*i)[1]));
  return all;
}
std::int64_t sum(std::vector<std::int64_t> const& all) {
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

}  // namespace

TEST_CASE("every number is that of the plan and of its cost") {
  step_with<by_batch> const first(ax(2), by(3));
  step_with<by_model> const second(ax(2), by(3));
  std::string const two_plans = mt::page({mt::on_page("batch < 7 & more", first), mt::on_page("model", second)});
  CHECK(two_plans.find("<h1>batch &lt; 7 &amp; more</h1>") != two_plans.npos);
  std::vector<std::string> const pages{mt::page({mt::on_page("a", first)}), mt::page({mt::on_page("b", second)})};
  for (int k = 0; k < 2; ++k) {
    mt::module const& m = k == 0 ? first.graph() : second.graph();
    mt::plan const& p = k == 0 ? first.planned() : second.planned();
    mt::exchanged const sent = mt::traffic_of(m, p);
    mt::computed const work = mt::work_of(m, p.numbers);
    REQUIRE(sent.bytes > 0);
    std::pair<char const*, std::int64_t> const expected[] = {{"ranks", 6},
                                                             {"variable-bytes", p.variable_bytes},
                                                             {"arena-bytes", p.arena_bytes},
                                                             {"input-bytes", p.input_bytes},
                                                             {"received-bytes", sent.bytes},
                                                             {"collectives", sent.collectives()},
                                                             {"flops", work.all()},
                                                             {"product-flops", work.products}};
    for (auto const& [attribute, value] : expected) {
      CAPTURE(attribute);
      CHECK(numbers(pages[std::size_t(k)], attribute) == std::vector{value});
      CHECK(numbers(two_plans, attribute).at(std::size_t(k)) == value);
    }
    std::int64_t in_rows = 0;
    for (auto const& l : mt::detail::exchanges_of_report(m, p).lines()) in_rows += l.bytes;
    CHECK(sum(numbers(pages[std::size_t(k)], "bytes")) == in_rows);
    CHECK(in_rows >= sent.bytes);
  }
}

TEST_CASE("the curve of memory never leaves the arena, and meets what it says") {
  for (auto const& rules : {mt::layout_rules{}, by_model::sharding_rules}) {
    mt::mesh_shape shape{};
    shape.add("ax", 2).add("by", 2);
    auto const traced = mt::on_heap([] { return mt::trace<program>(); });
    auto const low = mt::lower(*traced, mt::entry_name<program>(), shape, rules, {});
    mt::detail::memory_curve const curve(low->graph, low->planned);
    REQUIRE(!curve.bands().empty());
    std::size_t const moments = curve.bands()[0].bytes.size();
    std::int64_t most = 0;
    for (std::size_t k = 0; k < moments; ++k) {
      std::int64_t all = 0;
      for (auto const& band : curve.bands()) all += band.bytes[k];
      most = std::max(most, all);
    }
    CHECK(most == curve.most());
    CHECK(most <= low->planned.arena_bytes);
    CHECK(most > low->planned.arena_bytes / 2);
    // What the report finds when the arena is fullest is a moment of the curve, or less than its highest one.
    std::int64_t fullest = 0;
    for (mt::value_id v : mt::detail::held_at_fullest(low->graph, low->planned))
      fullest +=
          low->planned.numbers.local_bytes(low->graph.values[v]) * (low->planned.where[v] == mt::place::turns ? 2 : 1);
    CHECK(fullest <= curve.most());
  }
}

TEST_CASE("the longest chain is at least its longest part, and at most all work") {
  mt::mesh_shape shape{};
  shape.add("ax", 2).add("by", 2);
  auto const traced = mt::on_heap([] { return mt::trace<program>(); });
  auto const low = mt::lower(*traced, mt::entry_name<program>(), shape, by_model::sharding_rules, {});
  mt::rates const by_operations{1e9, 1e300};  // operations alone count
  mt::detail::longest_chain const chain(low->graph, low->planned, by_operations, 1e300);
  double const all = static_cast<double>(mt::work_of(low->graph, low->planned.numbers).all()) / by_operations.flops;
  CHECK(chain.seconds() > 0.2 * all);  // a network is mostly a chain
  CHECK(chain.seconds() <= all * 1.000001);
  double links = 0;
  for (auto const& l : chain.links()) links += l.seconds;
  CHECK(links == doctest::Approx(chain.seconds()));
}

TEST_CASE("a page of 512 ranks is small, and is written once") {
  step_with<by_model> const large(ax(64), by(8));
  std::string const page = mt::page({mt::on_page("large", large), mt::on_page("again", large)});
  CHECK(page.size() < 200000);
  CHECK(numbers(page, "ranks") == std::vector<std::int64_t>{512, 512});
  meshtensor_test::own_folder const folder;
  auto const job = mt::job::in_lockstep();
  CHECK(mt::explain_html(job, folder / "a.html", {mt::on_page("large", large)}));
  CHECK(meshtensor_test::content(folder / "a.html") == mt::page({mt::on_page("large", large)}));
}
