// SPDX-License-Identifier: Apache-2.0
// Programs of two nested maps whose decisions differ by one index or by both: for all pairs at once what they give for
// one pair after the other.
// passes: start-up
// timeout: 300
#include "property/decision_fuzzer.hpp"
#include "property/in_each.hpp"
#include "property/seeds.hpp"

using namespace property;

namespace {

using pair = decision_fuzzer::pair;
constexpr int tasks = decision_fuzzer::tasks, others = decision_fuzzer::others;

struct readied {
  std::unique_ptr<mt::module> graph;
  std::unique_ptr<mt::binding> numbers;

  explicit readied(mt::module const& traced) : graph(mt::on_heap([&] { return mt::widen(traced); })) {
    mt::raise(mt::verify(*graph));
    graph = mt::on_heap([&] { return mt::differentiate(*graph); });
    mt::raise(mt::verify(*graph));
    numbers = mt::on_heap([&] { return mt::bind(*graph, mt::mesh_shape{}, {}); });
    mt::raise(numbers->report);
  }
  mt::blocks run(std::vector<double> const& x, double w, void (*evaluate)(mt::evaluation const&)) const {
    mt::blocks inputs, variables;
    for (int i = 0; i < graph->node_count; ++i) {
      mt::node const& n = graph->nodes[i];
      if (n.kind != mt::primitive::input) continue;
      mt::block b(mt::f64, graph->result_value(n).dims, *numbers);
      bool const is_x = graph->names[mt::name_of(n)] == mt::name("x");
      for (std::int64_t k = 0; k < b.size(); ++k) b.set(k, is_x ? x[static_cast<std::size_t>(k)] : w);
      inputs[graph->names[mt::name_of(n)].text()] = std::move(b);
    }
    return mt::interpreter(*graph, *numbers, evaluate).run(0, inputs, variables, mt::settings{});
  }
};

/// The element of a pair's own block that element `k` of the block of all pairs has, and the pairs that share it.
struct element {
  std::int64_t own = 0;
  int task = -1, rival = -1;  // -1: all of them

  element(mt::module const& m, mt::block const& all, std::int64_t k) {
    mt::view const v = all.window();
    std::int64_t factor = 1;
    for (int i = v.count; i-- > 0; k /= v.extent[i]) {
      std::int64_t const at = k % v.extent[i];
      if (mt::name const& label = m.dim_name(v.dim[i]); label == mt::name("task")) task = static_cast<int>(at);
      else if (label == mt::name("rival")) rival = static_cast<int>(at);
      else own += at * factor, factor *= v.extent[i];
    }
  }
  bool is_of(pair const& p) const { return (task < 0 || task == p.task) && (rival < 0 || rival == p.rival); }
};

std::string difference_of_pairs(decision_fuzzer const& a) {
  readied const together(*a.together());
  std::vector<double> x;
  for (int i = 0; i < tasks * others; ++i) x.push_back(std::sin(0.7 * i + 0.3));
  double const w = 0.75;
  mt::blocks const all = together.run(x, w, &mt::evaluate<>);
  std::vector<mt::blocks> alone;
  for (int i = 0; i < tasks * others; ++i) {
    index_of_draws = i;
    alone.push_back(
        readied(*a.alone({i / others, i % others})).run({x[static_cast<std::size_t>(i)]}, w, &evaluate_one_index));
  }
  for (auto const& [label, block] : all)
    for (std::int64_t k = 0; k < block.size(); ++k) {
      element const e(*together.graph, block, k);
      double wanted = 0;
      for (int i = 0; i < tasks * others; ++i) {
        double const one = alone[static_cast<std::size_t>(i)].at(label).number_at(e.own);
        if (label == "dw") wanted += one;
        else if (e.is_of({i / others, i % others}) && (one != 0 || std::isnan(one))) wanted = one;
      }
      double const got = block.number_at(k);
      if ((std::isnan(got) && std::isnan(wanted)) || std::abs(got - wanted) <= 1e-9 * std::max(1.0, std::abs(wanted)))
        continue;
      return "'" + label + "', element " + std::to_string(k) + ", is " + std::to_string(got) + ", but must be " +
             std::to_string(wanted);
    }
  return "";
}

}  // namespace

TEST_CASE("pairs of indices that decide by one index or by both give what they give alone") {
  long tried = 0, refused = 0, branches = 0, loops = 0, empty = 0, draws = 0, roots = 0, watches = 0;
  each_seed(7500001, 600, [&](std::uint64_t seed) {
    decision_fuzzer const a(seed);
    std::string found;
    try {
      found = difference_of_pairs(a);
    } catch (mt::error const& e) {
      found = e.code() == "G02" ? "" : e.what();  // its gradient has too many nodes
      refused += found.empty();
    }
    CHECK_MESSAGE(found == "", a.source());
    ++tried, branches += a.count("branches"), loops += a.count("loops"), empty += a.count("empty");
    draws += a.count("draws"), roots += a.count("roots"), watches += a.count("watches");
  });
  MESSAGE(tried << " programs with " << branches << " branches, " << loops << " loops, " << empty
                << " loops without results, " << draws << " draws, " << roots << " logarithms, " << watches
                << " watches, " << refused << " with too many nodes");
  CHECK(10 * refused < tried + 10);
  at_least(600, tried);
}
