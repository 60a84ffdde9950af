// SPDX-License-Identifier: Apache-2.0
// The interface of the training programs. Each combination of an optimizer and a dtype is compiled in its own file.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <meshtensor/datasets/text/pair_batches.hpp>
#include <meshtensor/run/store.hpp>

#include "command_line.hpp"

namespace translation {

namespace mt = meshtensor;

/// The loss of a batch in nats per word, and its number of words.
struct batch_loss {
  double nats = 0, words = 0;
};

class learner {
 public:
  virtual ~learner() = default;

  /// Runs one training step with the program of the batch's bucket.
  virtual batch_loss learn(mt::datasets::pair_batch const& b) = 0;
  /// Only computes the loss, without dropout and label smoothing.
  virtual batch_loss look(mt::datasets::pair_batch const& b) = 0;
  /// The rows of each batch that this process feeds. They are the rows of its rank, or all if it has several ranks.
  virtual mt::datasets::batch_part mine() const = 0;

  /// The text that --explain asks for: the plan of a step with its memory, communication and computation, its
  /// instructions, or a page with all of it.
  virtual std::string explained(std::string const& what) const = 0;
  /// Compares a step with the same step on whole tensors. Returns whether they agree, and a sentence.
  virtual std::pair<bool, std::string> compare(mt::datasets::pair_batch const& b) = 0;
  virtual void record(bool on) = 0;
  /// The profile of the recorded steps.
  virtual std::string profile() const = 0;
};

/// The arguments of a learner.
struct learner_needs {
  mt::store& weights;
  options const& o;
  std::span<mt::datasets::bucket const> buckets;
  std::int64_t pieces;
};

std::unique_ptr<learner> adam_f32(learner_needs const&);
std::unique_ptr<learner> adam_bf16(learner_needs const&);
std::unique_ptr<learner> adam_in_parts_f32(learner_needs const&);
std::unique_ptr<learner> adafactor_f32(learner_needs const&);

/// Makes the learner for the options.
inline std::unique_ptr<learner> make_learner(learner_needs const& needs) {
  options const& o = needs.o;
  if (o.optimizer == "adafactor") return adafactor_f32(needs);
  if (o.dtype == "bf16") return adam_bf16(needs);
  return o.microbatches > 1 ? adam_in_parts_f32(needs) : adam_f32(needs);
}

}  // namespace translation
