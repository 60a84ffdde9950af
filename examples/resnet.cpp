// SPDX-License-Identifier: Apache-2.0
// Learns to classify images with a residual network on a mesh of ranks. It reads, augments and batches the images,
// trains the network, and scores it. For example, start it as `resnet --data FOLDER`, or with --help.
//
// The network is `logits_of` in resnet.hpp:
//
//     stem: 7 x 7 convolution, batch norm, relu, max pool
//     four stages of residual blocks: relu(inside(x) + x), where `inside` has two or three convolutions
//     scores: mean over rows and columns, then a linear layer
#include <meshtensor/io/checkpoints.hpp>
#include <meshtensor/io/export.hpp>
#include <meshtensor/io/import.hpp>
#include <meshtensor/train/stop_request.hpp>

#include "common/main_with_options.hpp"
#include "resnet/command_line.hpp"
#include "resnet/images.hpp"
#include "resnet/learner.hpp"
#include "resnet/torch_names.hpp"
#include "resnet/training.hpp"

namespace {

using namespace resnet;

/// The scope of the network that is evaluated. It is the moving average, if there is one.
std::string judged(options const& o) { return o.average != 0 ? "average" : "model"; }

auto only(std::string const& scope) {
  return [=](std::string const& value) { return value.starts_with(scope + "/"); };
}
void load_weights(mt::job const& job, mt::store& weights, options const& o, learner& by) {
  auto const one = by.new_model(job);
  mt::store& into = one ? *one : weights;
  mt::import_safetensors(into, o.load, {.names = torch_names(o, "model").all(), .only = only("model")});
  if (o.average != 0)
    mt::import_safetensors(into, o.load, {.names = torch_names(o, "average").all(), .only = only("average")});
  if (one) by.take(*one);
}
void export_weights(mt::job const& job, mt::store& weights, options const& o, learner& by) {
  auto const mean = by.mean(job);
  mt::export_safetensors(mean ? *mean : weights, o.export_to,
                         {.names = torch_names(o, judged(o)).all(), .only = only(judged(o))});
}

int classify(mt::job const& job, options const& o) {
  mt::store weights(job, o.seed);
  if (o.counts) {
    auto const [parameters, products] = make_learner({weights, o, o.classes, 1, 1})->counts();
    return mt::print(job, "ResNet-{}  parameters {}  multiplications {}\n", o.depth, parameters, products), 0;
  }
  images const all(o);
  std::int64_t const count = all.train ? all.train->size() : all.valid->size();
  auto const class_count = static_cast<std::int64_t>(all.valid->classes().size());
  auto const by = make_learner({weights, o, class_count, steps_of(o, count), steps_per_epoch(o, count)});
  if (!o.load.empty()) load_weights(job, weights, o, *by);
  if (!o.explain.empty()) return mt::print(job, "{}", by->explained(o.explain)), 0;
  if (o.check) {
    mt::datasets::image_batch b;
    mt::datasets::image_batches(*all.train, all.learnt).read(0, b);
    auto const [agrees, sentence] = by->compare(b);
    return mt::print(job, "{}\n", sentence), agrees ? 0 : 1;
  }
  training t{job, o, all, weights, *by};
  if (o.evaluate && o.resume) mt::checkpoints(weights, o.save).resume({.only = only(judged(o))});
  if (o.evaluate) mt::print(job, "{}\n", text_of(t.look()));
  else if (t.run()) return mt::stop_request::exit_code;
  if (!o.export_to.empty()) export_weights(job, weights, o, *by);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return examples::main_with_options(argc, argv, read_command_line, classify); }
