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
    mt::step_traffic const sent = mt::traffic_of(m, p);
    mt::computed const work = mt::work_of(m, p.numbers);
    REQUIRE(sent.bytes > 0);
    std::pair<char const*, std::int64_t> const expected[] = {
        {"ranks", 6},
        {"variable-bytes", p.variable_bytes},
        {"arena-bytes", p.arena_bytes},
        {"input-bytes", p.input_bytes},
        {"received-bytes", sent.bytes},
        {"collectives", sent.collectives()},
        {"flops", work.all()},
        {"parameters", mt::parameter_count(m, p.numbers)},
        {"memory-bytes", p.variable_bytes + p.arena_bytes + p.input_bytes},
        {"product-flops", work.products}};
    for (auto const& [attribute, value] : expected) {
      CAPTURE(attribute);
      CHECK(numbers(pages[std::size_t(k)], attribute) == std::vector{value});
      CHECK(numbers(two_plans, attribute).at(std::size_t(k)) == value);
    }
    std::int64_t in_rows = 0;
    for (auto const& l : mt::detail::collectives_of_report(m, p).lines()) in_rows += l.bytes;
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
      fullest += low->planned.numbers.local_bytes(low->graph.values[v]) *
                 (low->planned.where[v] == mt::place::double_buffer ? 2 : 1);
    CHECK(fullest <= curve.most());
  }
}

TEST_CASE("the longest chain is at least its longest part, and at most all work") {
  mt::mesh_shape shape{};
  shape.add("ax", 2).add("by", 2);
  auto const traced = mt::on_heap([] { return mt::trace<program>(); });
  auto const low = mt::lower(*traced, mt::entry_name<program>(), shape, by_model::sharding_rules, {});
  // Operations alone count.
  mt::page_rates const by_operations{{1e9, 1e300}, {{"ax", 0, 1e300}, {"by", 0, 1e300}}};
  mt::detail::longest_chain const chain(low->graph, low->planned, mt::detail::known_rates(by_operations));
  double const all = static_cast<double>(mt::work_of(low->graph, low->planned.numbers).all()) / 1e9;
  CHECK(chain.seconds() > 0.2 * all);  // a network is mostly a chain
  CHECK(chain.seconds() <= all * 1.000001);
  double links = 0;
  for (auto const& l : chain.links()) links += l.seconds;
  CHECK(links == doctest::Approx(chain.seconds()));
}

TEST_CASE("a chain takes the rates of its machine") {
  mt::mesh_shape shape{};
  shape.add("ax", 2).add("by", 2);
  auto const traced = mt::on_heap([] { return mt::trace<program>(); });
  auto const low = mt::lower(*traced, mt::entry_name<program>(), shape, by_model::sharding_rules, {});
  auto const seconds = [&](mt::page_rates const& r) {
    return mt::detail::longest_chain(low->graph, low->planned, mt::detail::known_rates(r)).seconds();
  };
  mt::rates const fast{1e300, 1e300};
  double const slow_link = seconds({fast, {{"ax", 0, 1e300}, {"by", 0, 1e6}}});
  CHECK(slow_link > 0);
  CHECK(seconds({fast, {{"ax", 0, 1e300}, {"by", 0, 2e6}}}) == doctest::Approx(slow_link / 2));
  CHECK(seconds({fast, {{"ax", 0, 1e300}, {"by", 1e-3, 1e6}}}) > slow_link + 2e-3);  // several messages in turn
  CHECK(seconds({fast, {{"ax", 0, 1e300}}}) < slow_link);                            // 1 GB/s is assumed over `by`
  CHECK(seconds({{2e11, 2e10}}) < seconds({}));
  CHECK(seconds({{1e11, 1e10}, {{"ax", 0, 1e9}, {"by", 0, 1e9}}}) == seconds({}));
}

struct deep_program {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = repeat(s / "deep", layers, s.input("x", mt::f32, batch, model), [](auto l, auto h) {
      return rename(einsum(h, l.parameter("w", model, vocab), mt::to(batch, vocab)), vocab, model);
    });
    s.output("y", x);
  }
};

TEST_CASE("the slices of a loop's parameters take their time, too") {
  mt::mesh_shape shape{};
  shape.add("ax", 2);
  auto const traced = mt::on_heap([] { return mt::trace<deep_program>(); });
  auto const low =
      mt::lower(*traced, mt::entry_name<deep_program>(), shape, mt::layout_rules{}.shard("layers", {"ax"}), {});
  std::int64_t const bytes = mt::traffic_of(low->graph, low->planned).bytes;
  REQUIRE(bytes > 0);
  mt::page_rates const by_network{{1e300, 1e300}, {{"ax", 0, 1e6}}};
  mt::detail::longest_chain const chain(low->graph, low->planned, mt::detail::known_rates(by_network));
  CHECK(chain.seconds() == doctest::Approx(static_cast<double>(bytes) / 1e6));
}

TEST_CASE("a page says which rates it takes, and from where") {
  step_with<by_model> const step(ax(2), by(3));
  auto const has = [](std::string const& page, std::string const& row) { return page.find(row) != page.npos; };
  auto const row = [](char const* of, char const* rate, char const* source) {
    return "<tr><td>" + std::string(of) + "</td><td class=\"number\">" + rate + "</td><td>" + source + "</td></tr>";
  };
  std::string const assumed = mt::page({mt::on_page("a", step)});
  CHECK(has(assumed, row("arithmetic", "100 Gflop/s", "assumed")));
  CHECK(has(assumed, row("memory", "10.0 GB/s", "assumed")));
  CHECK(has(assumed, row("network over ax", "1.00 GB/s", "assumed")));
  mt::page_rates const known{{2e14, 0}, {{"by", 5e-6, 25e9}}, "measured"};
  std::string const measured = mt::page({mt::on_page("a", step, known)});
  CHECK(has(measured, row("arithmetic", "200 Tflop/s", "measured")));
  CHECK(has(measured, row("memory", "10.0 GB/s", "assumed")));
  CHECK(has(measured, row("network over ax", "1.00 GB/s", "assumed")));
  CHECK(has(measured, row("network over by", "25.0 GB/s, 5.00 µs a message", "measured")));
  for (mt::page_rates const& bad : {mt::page_rates{{-1, 1}}, mt::page_rates{{1e300 * 1e300, 1}},
                                    mt::page_rates{{1, 1}, {{"by", -1, 1}}}, mt::page_rates{{1, 1}, {{"by", 0, -1}}}}) {
    std::string told;
    try {
      mt::page({mt::on_page("a", step, bad)});
    } catch (mt::error const& e) { told = e.what(); }
    CHECK(told.starts_with("meshtensor R28: a rate of a page is negative or no number"));
  }
}

TEST_CASE("times have three digits") {
  using mt::seconds_text;
  CHECK(seconds_text(0) == "0.00 ns");
  CHECK(seconds_text(9.996e-9) == "10.0 ns");
  CHECK(seconds_text(999.4e-9) == "999 ns");
  CHECK(seconds_text(999.6e-9) == "1.00 µs");
  CHECK(seconds_text(0.01234) == "12.3 ms");
  CHECK(seconds_text(99.96) == "100 s");
  CHECK(seconds_text(12345) == "12345 s");
}

TEST_CASE("scopes keep their colours in all plans of a page") {
  mt::detail::scope_colours colours;
  std::string const first = colours.of("model"), second = colours.of("optimizer");
  CHECK(first != second);
  CHECK(colours.of("model") == first);
  CHECK(colours.of(mt::detail::scope_colours::all_others) != first);
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
