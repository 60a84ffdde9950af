// SPDX-License-Identifier: Apache-2.0
// The Transformer of transformer.hpp at one size on one mesh. The compiler makes the whole plan, checks its costs, and
// writes out the step, one instruction after the other. Therefore the binary has no passes, no planner, no kernel
// interpreter and no engine that reads a list. Run it alone: it prints twenty losses to the last bit.
#include "transformer.hpp"

#include <cstdint>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/pass/cost.hpp>

namespace {

namespace mt = meshtensor;
namespace net = transformer;

inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<net::batch, data>, mt::shard<net::heads, model>, mt::shard<net::d_ff, model>,
                           mt::shard<net::vocab, model>> {};

struct small : mt::sized<net::train_step, net::batch(8), net::length(32), net::layers(3), net::d_model(64),
                         net::heads(4), net::d_head(16), net::d_ff(256)> {};

using step_of_small = mt::compiled_step<small, mesh, layout, mt::default_device>;

// The compiler knows the costs of a step for each rank, so the build fails if the layout or the library changes them.
using plan = step_of_small::stages;
constexpr mt::step_constants costs = mt::constants_of<step_of_small>;
static_assert(costs.launches == 155);
static_assert(costs.messages == 23);
static_assert(costs.bytes == 835'412);
static_assert(costs.peak == 2'399'488);
static_assert(mt::traffic_of(plan::graph, plan::planned).collectives() == 58);
static_assert(mt::work_of(plan::graph, plan::planned.numbers).products == 68'444'160);

}  // namespace

int main(int argc, char** argv) {
  return mt::run_main(argc, argv, [](mt::job const& job) {
    mt::store weights(job);
    step_of_small step(weights);
    std::vector<std::uint8_t> text(8 * 32), next(8 * 32);
    for (int i = 0; i < 20; ++i) {
      for (std::size_t k = 0; k < text.size(); ++k) {
        text[k] = static_cast<std::uint8_t>('a' + (k * 7 + static_cast<std::size_t>(i)) % 19);
        next[k] = static_cast<std::uint8_t>(text[k] + 1);
      }
      auto const result = step(mt::feed<"text">(text), mt::feed<"next">(next), mt::set<"warmup">(10));
      mt::print(job, "{:a}\n", static_cast<double>(result.get<"loss">()));
    }
  });
}
