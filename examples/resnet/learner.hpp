// SPDX-License-Identifier: Apache-2.0
// The interface of the training programs. Each combination of block, dtype and optimizer is compiled in its own file.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <meshtensor/datasets/image/image_batches.hpp>
#include <meshtensor/run/store.hpp>

#include "command_line.hpp"

namespace resnet {

namespace mt = meshtensor;

/// The mean loss of a batch in nats, and its number of images.
struct batch_loss {
  double nats = 0, images = 0;
};
/// The scores of evaluated images: the sum of losses in nats, the number of images, and how many have the right class
/// first or among the first five.
struct scores {
  double nats = 0;
  std::int64_t images = 0, first = 0, among_five = 0;
};

class learner {
 public:
  virtual ~learner() = default;

  virtual batch_loss learn(mt::datasets::image_batch const& b) = 0;
  /// Evaluates the network, or its moving average if there is one, on a batch, and adds the scores.
  virtual void look(mt::datasets::image_batch const& b, scores& so_far) = 0;
  /// The logits of a batch, [batch, classes] in row-major order. This process must have the whole mesh.
  virtual std::vector<float> logits(mt::datasets::image_batch const& b) = 0;
  /// The part of each batch that this process feeds. It is the part of its rank, or all if it has several ranks.
  virtual mt::datasets::image_part mine() const = 0;

  /// The policy of replicas, and the bytes that they send. Empty if one model is trained.
  virtual std::string regime() const { return ""; }
  /// Of replicas, with --network: when each of so many steps would end, with a rank for each replica.
  virtual std::vector<double> predicted(std::int64_t /*steps*/) const { return {}; }
  /// Of replicas: a store with the values of one new model, which `take` gives to all replicas.
  virtual std::unique_ptr<mt::store> new_model(mt::job const&) const { return nullptr; }
  virtual void take(mt::store&) {}
  /// Of replicas: a store with their mean. It has the values that are evaluated.
  virtual std::unique_ptr<mt::store> mean(mt::job const&) { return nullptr; }

  /// The number of parameters, and of multiplications for one image.
  virtual std::pair<std::int64_t, std::int64_t> counts() const = 0;
  /// The text that --explain asks for: the plan, the instructions, or a page with all of it.
  virtual std::string explained(std::string const& what) const = 0;
  /// The planned bytes of a training step, or of an evaluation if there is no training step.
  virtual std::int64_t planned_bytes() const = 0;
  /// Compares a step with the same step on whole tensors. Returns whether they agree, and a sentence.
  virtual std::pair<bool, std::string> compare(mt::datasets::image_batch const& b) = 0;
  virtual void record(bool on) = 0;
  /// The profile of the recorded steps.
  virtual std::string profile() const = 0;
};

/// The arguments of a learner.
struct learner_needs {
  mt::store& weights;
  options const& o;
  std::int64_t classes, steps;
  double steps_per_epoch;
};

std::unique_ptr<learner> basic_in_replicas(learner_needs const&);
std::unique_ptr<learner> bottleneck_in_replicas(learner_needs const&);
std::unique_ptr<learner> basic_f32(learner_needs const&);
std::unique_ptr<learner> basic_bf16(learner_needs const&);
std::unique_ptr<learner> basic_in_parts(learner_needs const&);
std::unique_ptr<learner> basic_lars(learner_needs const&);
std::unique_ptr<learner> bottleneck_f32(learner_needs const&);
std::unique_ptr<learner> bottleneck_bf16(learner_needs const&);
std::unique_ptr<learner> bottleneck_in_parts(learner_needs const&);
std::unique_ptr<learner> bottleneck_lars(learner_needs const&);

/// Makes the learner for the options. LARS is for large batches, so it always takes a batch in parts, or in a single
/// part.
inline std::unique_ptr<learner> make_learner(learner_needs const& needs) {
  options const& o = needs.o;
  bool const wide = o.depth >= 50;
  if (o.trains_replicas()) return wide ? bottleneck_in_replicas(needs) : basic_in_replicas(needs);
  if (o.optimizer == "lars") return wide ? bottleneck_lars(needs) : basic_lars(needs);
  if (o.dtype == "bf16") return wide ? bottleneck_bf16(needs) : basic_bf16(needs);
  if (o.microbatches > 1) return wide ? bottleneck_in_parts(needs) : basic_in_parts(needs);
  return wide ? bottleneck_f32(needs) : basic_f32(needs);
}

}  // namespace resnet
