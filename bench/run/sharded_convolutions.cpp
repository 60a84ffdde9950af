// SPDX-License-Identifier: Apache-2.0
// One convolution and both of its gradients under the layouts of bench/peers/sharded_convolutions.py, on eight
// processors: the collectives of a step, the bytes that a processor receives at most, and whether the results are those
// of one processor.
//
//   cmake --preset quickstart -DMESHTENSOR_BENCH=ON
//   cmake --build build/quickstart --target bench_run_sharded_convolutions
//   build/quickstart/bench/run/sharded_convolutions
//
// passes: start-up
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <meshtensor/device/reference.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/pass/cost.hpp>
#include <meshtensor/pass/lower.hpp>
#include <meshtensor/run/session.hpp>

namespace {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct rows : mt::dim<"rows"> {} rows;
inline constexpr struct cols : mt::dim<"cols"> {} cols;
inline constexpr struct c_in : mt::dim<"c_in"> {} c_in;
inline constexpr struct c_out : mt::dim<"c_out"> {} c_out;
inline constexpr struct k_rows : mt::dim<"k_rows"> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols"> {} k_cols;

/// The result and both gradients, of channels that are mapped to others or, in groups of one, that are the same.
template <bool Depthwise>
struct convolved {
  constexpr void operator()(mt::scope auto s) const {
    auto const over = [&](auto const& x, auto const& k, auto into) {
      auto const dy = s.input("dy", mt::f32, batch, rows, cols, into);
      auto const y = conv(x, k, to(batch, rows, cols, into), mt::window(rows, rows, k_rows, how),
                          mt::window(cols, cols, k_cols, how));
      auto const [dx, dk] = mt::gradient(mt::sum(y * dy), x, k);
      s.output("y", y), s.output("dx", dx), s.output("dk", dk);
    };
    auto const x = s.input("x", mt::f32, batch, rows, cols, c_in);
    if constexpr (Depthwise) over(x, s.input("k", mt::f32, k_rows, k_cols, c_in), c_in);
    else over(x, s.input("k", mt::f32, k_rows, k_cols, c_in, c_out), c_out);
  }
  static constexpr mt::window_options how{.padding = mt::centred_padding};
};

struct sizes {
  std::int64_t height, into, kernel;  // `into`: 0 where channels stay
  std::int64_t from = 8;
  static constexpr std::int64_t images = 8, width = 16;
};
using results = std::map<std::string, mt::block>;

/// Runs a step, and says what it exchanges.
template <class Program>
results run(sizes const& z, mt::mesh_shape const& mesh, mt::layout_rules const& layout, std::string& exchanged) {
  static auto const traced = std::unique_ptr<mt::module>(new mt::module(mt::trace<Program>()));
  std::vector<mt::dim_extent> extents{{mt::name("batch"), z.images},  {mt::name("rows"), z.height},
                                      {mt::name("cols"), z.width},    {mt::name("c_in"), z.from},
                                      {mt::name("k_rows"), z.kernel}, {mt::name("k_cols"), z.kernel}};
  if (z.into != 0) extents.push_back({mt::name("c_out"), z.into});
  auto const low =
      mt::lower(*traced, mt::entry_name<Program>(), mesh, layout, extents, mt::capabilities_of<mt::reference_device>);
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::session<mt::reference_device> step(values, low->graph, low->planned, mesh, low->entry);
  std::map<std::string, int> kinds;
  for (int i = 0; i < low->graph.node_count; ++i)
    if (mt::node const& n = low->graph.nodes[i]; mt::is_collective(n.kind)) ++kinds[mt::text_of(n.kind)];
  for (auto const& [kind, count] : kinds) exchanged += std::to_string(count) + " " + kind + ", ";
  exchanged += std::to_string(mt::traffic_of(low->graph, low->planned).bytes) + " bytes";
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (auto const& [label, elements] :
       std::map<std::string, std::int64_t>{{"x", z.images * z.height * z.width * z.from},
                                           {"k", z.kernel * z.kernel * (z.into == 0 ? z.from : z.from * z.into)},
                                           {"dy", z.images * z.height * z.width * (z.into == 0 ? z.from : z.into)}}) {
    std::vector<float> given(static_cast<std::size_t>(elements));
    for (float& x : given) x = normal(random);
    step.feed(label, given.data());
  }
  step.step();
  results all;
  for (char const* label : {"y", "dx", "dk"}) all.emplace(label, step.whole(label));
  return all;
}

template <bool Depthwise>
void tell(mt::job const& job, char const* what, sizes const& z, mt::mesh_shape const& mesh,
          mt::layout_rules const& layout) {
  std::string exchanged, wrong, nothing;
  results const whole = run<convolved<Depthwise>>(z, {}, {}, nothing),
                spread = run<convolved<Depthwise>>(z, mesh, layout, exchanged);
  for (auto const& [label, values] : whole)
    for (std::int64_t i = 0; i < values.size(); ++i) {
      double const wanted = values.number_at(i);
      if (std::abs(wanted - spread.at(label).number_at(i)) <= 1e-3 + 1e-4 * std::abs(wanted)) continue;
      wrong += " " + label;
      break;
    }
  mt::print(job, "ours | {} | {} | {}\n", what, exchanged, wrong.empty() ? "right" : "WRONG:" + wrong);
}

}  // namespace

int main() {
  return mt::run_main([&](mt::job const& job) {
    auto const eight = mt::mesh_shape{}.add("a", 8), two_by_four = mt::mesh_shape{}.add("a", 2).add("b", 4);
    auto const by = [](mt::name const& dim) { return mt::layout_rules{}.shard(dim, {"a"}); };
    tell<false>(job, "batch", {16, 16, 3}, eight, by(mt::name("batch")));
    tell<false>(job, "input channels", {16, 16, 3}, eight, by(mt::name("c_in")));
    tell<false>(job, "output channels", {16, 16, 3}, eight, by(mt::name("c_out")));
    tell<true>(job, "groups", {16, 0, 3, 16}, eight, by(mt::name("c_in")));
    tell<false>(job, "height", {16, 16, 3}, eight, by(mt::name("rows")));
    tell<false>(job, "height x width", {16, 16, 3}, two_by_four, by(mt::name("rows")).shard("cols", {"b"}));
    tell<false>(job, "uneven height", {19, 16, 3}, eight, by(mt::name("rows")));
    tell<false>(job, "blocks smaller than the halo", {8, 16, 7}, eight, by(mt::name("rows")));
    return 0;
  });
}
