// SPDX-License-Identifier: Apache-2.0
// Trains a byte-level Transformer on a mesh of ranks, and prints text that it generates. Alone, its ranks are threads.
// With mpirun they are processes. --help lists the options.
//
// The network is `decoder` in transformer.hpp:
//
//     x = embedding of each byte + embedding of its position
//     in each layer: a = x + causal attention of the norm of x, then x = a + feed-forward layer of the norm of a
//     logits of the next byte = linear layer of the norm of x
#include "transformer.hpp"

#include <meshtensor/inspect/explain_html.hpp>

#include "common/built_devices.hpp"
#include "common/machine_rates.hpp"
#include "common/main_with_options.hpp"
#include "transformer/command_line.hpp"
#include "transformer/devices.hpp"
#include "transformer/in_replicas.hpp"
#include "transformer/learner_of.hpp"
#include "transformer/plan.hpp"
#include "transformer/training.hpp"

namespace {

using namespace transformer;

int show_plan(mt::job const& job, options const& o) {
  auto const plan = made<mt::draft<learner_of<mt::default_device>::training>>(sizes(o, o.batch));
  std::string text;
  if (o.explain == "plan") text = mt::explain(plan) + "\n" + mt::pictures(plan);
  else if (o.explain == "html")
    text = mt::page({mt::on_page("training", plan,
                                 o.rates.empty() ? examples::measured_here<mt::default_device>()
                                                 : examples::given_rates(o.rates, plan.bound_mesh()))});
  else if (!o.explain.empty()) text = mt::instructions(plan);
  return show(job, o, text, plan.graph(), plan.planned());
}

}  // namespace

int main(int argc, char** argv) {
  return examples::main_with_options(argc, argv, read_command_line, [](mt::job const& job, options& o) {
    complete_mesh(o, o.plan_only() ? 0 : job.get().size());
    complete_sizes(o);
    if (o.plan_only()) return o.trains_replicas() ? show_plan_of_replicas(job, o) : show_plan(job, o);
    if (o.trains_replicas()) return train(job, o, replicas_of);
    return train(job, o, examples::on_device(o.device, []<class Device>(std::type_identity<Device>) -> learner_maker {
                   return &learner_on<Device>;
                 }));
  });
}
