// SPDX-License-Identifier: Apache-2.0
// Writes pages of plans, and beside each page the costs of its plans as JSON. page_in_browser.py opens the pages in a
// browser and compares.
//
// passes: start-up
// script: page_in_browser.py numbers windows picture catches
// part: translate
// sanitize: no
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "../../../examples/transformer.hpp"
#include "meshtensor/inspect/explain_html.hpp"

namespace mt = meshtensor;
namespace net = transformer;

namespace {

struct by_batch : mt::layout<mt::shard<net::batch, net::data, net::model>> {};
template <class Layout>
using step_with = mt::draft<mt::executable<net::programs, net::train_step, net::mesh, Layout>>;
template <class Layout>
step_with<Layout> planned(std::int64_t data, std::int64_t model) {
  return step_with<Layout>(net::data(data), net::model(model), net::batch(32), net::length(64), net::layers(4),
                           net::d_model(128), net::heads(8), net::d_head(16), net::d_ff(512));
}

std::string field(std::string const& name, std::int64_t value) { return "\"" + name + "\": " + std::to_string(value); }
std::string exact(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

/// The collectives of a plan, node by node.
std::string collectives_of(mt::module const& m, mt::plan const& p) {
  mt::run_counts const runs = mt::run_counts_of(m, p.numbers);
  mt::speller const spelled(m);
  std::string all;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    std::int64_t const times = runs.of[n.region];
    if (!mt::is_collective(n.kind) || times == 0 || mt::cost_of_collective(m, p.numbers, n).members < 2) continue;
    all += (all.empty() ? "" : ",\n   ") + ("{" + field("bytes", mt::bytes_in_step(m, p.numbers, n, times))) + ", " +
           field("times", times) + ", \"kind\": \"" + std::string(text_of(n.kind)) + "\", \"over\": \"" +
           spelled.axes(mt::axes_of_collective(n)) + "\"}";
  }
  return "[" + all + "]";
}

std::string costs_of(mt::plan_on_page const& on) {
  mt::module const& m = on.graph;
  mt::plan const& p = on.planned;
  mt::step_traffic const sent = mt::traffic_of(m, p);
  mt::computed const work = mt::work_of(m, p.numbers);
  mt::detail::longest_chain const chain(m, p, mt::detail::known_rates(on.machine));
  return "{\"title\": \"" + on.title + "\",\n  \"counts\": {" + field("ranks", on.mesh.size()) + ", " +
         field("parameters", mt::parameter_count(m, p.numbers)) + ", " + field("collectives", sent.collectives()) +
         "},\n  \"bytes\": {" + field("memory-bytes", p.variable_bytes + p.arena_bytes + p.input_bytes) + ", " +
         field("variable-bytes", p.variable_bytes) + ", " + field("arena-bytes", p.arena_bytes) + ", " +
         field("input-bytes", p.input_bytes) + ", " + field("received-bytes", sent.bytes) + "},\n  \"flops\": {" +
         field("flops", work.all()) + ", " + field("product-flops", work.products) +
         "},\n  \"chain\": " + exact(chain.seconds()) + ",\n  \"collectives\": " + collectives_of(m, p) + "}";
}

void write(std::string const& name, std::vector<mt::plan_on_page> const& plans) {
  std::string costs;
  for (mt::plan_on_page const& p : plans) costs += (costs.empty() ? "" : ",\n ") + costs_of(p);
  std::ofstream(name + ".json") << "[" << costs << "]\n";
  std::ofstream(name + ".html") << mt::page(plans);
}

}  // namespace

int main() {
  auto const both = planned<net::layout>(4, 2), wide = planned<net::layout>(16, 8), one = planned<net::layout>(1, 1);
  auto const by_data = planned<by_batch>(4, 2);
  mt::page_rates const machine{{2e14, 2e12}, {{"data", 5e-6, 25e9}, {"model", 2e-6, 2e11}}, "data sheet"};
  write("step", {mt::on_page("a training step", both)});
  write("layouts", {mt::on_page("batch and model", both, machine), mt::on_page("batch alone", by_data, machine)});
  write("one", {mt::on_page("one rank", one)});
  write("wide", {mt::on_page("128 ranks", wide)});
}
