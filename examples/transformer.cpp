// SPDX-License-Identifier: Apache-2.0
// Trains a byte-level Transformer on a mesh of processors, threads or MPI ranks, and prints text that it generates.
#include "transformer.hpp"

#include <cstdlib>
#include <fstream>

#include <meshtensor/device/default.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/job/main.hpp>

#include "common/devices.hpp"
#include "transformer/command_line.hpp"
#include "transformer/learner_of.hpp"
#include "transformer/training.hpp"

namespace {

using namespace transformer;

int show_plan(mt::job const& job, options const& o) {
  auto const plan = made<mt::draft<learner_of<mt::default_device>::training>>(sizes(o, o.batch));
  if (o.explain == "plan") mt::print(job, "{}\n{}", mt::explain(plan), mt::pictures(plan));
  else if (!o.explain.empty()) mt::print(job, "{}", mt::instructions(plan));
  if (o.dot.empty() || !job.is_root()) return 0;
  std::ofstream file(o.dot);
  if (!(file << mt::graphviz(plan.graph())).flush())
    throw mt::error("R43", {"the graph cannot be written to '", o.dot, "'"});
  return 0;
}

std::unique_ptr<learner> learner_on_default(mt::store& weights, options const& o) {
  return std::make_unique<learner_of<mt::default_device>>(weights, o);
}

examples::devices<learner_maker> const devices{
    {examples::default_device_name, &learner_on_default},
#if MESHTENSOR_EXAMPLE_REFERENCE
    {"reference", &learner_on_reference},
#endif
#if MESHTENSOR_EXAMPLE_CUDA
    {"cuda", &learner_on_cuda},
#endif
#if MESHTENSOR_EXAMPLE_PJRT
    {"pjrt", &learner_on_pjrt},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  return mt::run_main(argc, argv, [&](mt::job const& job) {
    options o;
    if (auto const ending = read_command_line(argc, argv, o)) {
      if (ending->code == 0) mt::print(job, "{}", ending->words);
      else mt::progress(job, "{}", ending->words);
      return ending->code;
    }
    if (o.device == "list") return mt::print(job, "{}", examples::list_of_devices(examples::names_of(devices))), 0;
    complete_mesh(o, o.plan_only() ? 0 : job.get().size());
    complete_sizes(o);
    if (o.threads != 0) setenv("MESHTENSOR_THREADS", std::to_string(o.threads).c_str(), 1);
    if (o.plan_only()) return show_plan(job, o);
    return train(job, o, examples::chosen(o.device, devices));
  });
}
