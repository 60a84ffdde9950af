// SPDX-License-Identifier: Apache-2.0
// The interface of the Transformer's programs on one device. Each device of a build is compiled in its own file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <meshtensor/datasets/text/text.hpp>
#include <meshtensor/run/memory_use.hpp>
#include <meshtensor/run/store.hpp>
#include <meshtensor/train/progress_unit.hpp>
#include <meshtensor/train/tensorboard.hpp>

#include "command_line.hpp"

namespace transformer {

namespace mt = meshtensor;

class learner {
 public:
  virtual ~learner() = default;

  /// Runs one step and returns its loss. The schedule needs `steps`, the length of the whole training.
  virtual double learn(mt::datasets::text_batch const& b, double steps) = 0;
  virtual double loss_of(mt::datasets::text_batch const& b) = 0;
  /// The probabilities of the byte after `seen[last]`.
  virtual std::vector<float> likely(std::vector<std::uint8_t> const& seen, std::int32_t last, double temperature) = 0;

  /// The policy of replicas, and the bytes that they send. Empty if one model is trained.
  virtual std::string regime() const { return ""; }
  /// Of replicas, with --network: when each of so many steps would end, with a rank for each replica.
  virtual std::vector<double> predicted(std::int64_t /*steps*/) const { return {}; }
  /// Compares the next step with the same step on whole tensors. Returns whether they agree, and a sentence.
  virtual std::pair<bool, std::string> compare(mt::datasets::text_batch const& b) = 0;
  /// Drawings by mt::pictures that show which rank holds which elements of the tensors of a step.
  virtual std::string pictures() const = 0;
  virtual mt::memory_use memory() const = 0;
  virtual void record(bool on) = 0;
  virtual std::string profile() const = 0;
  virtual void write_trace(std::string const& file) const = 0;
  /// The unit and the amount of the data that a step learns from, for the progress line.
  virtual mt::progress_unit unit() const = 0;
  /// Writes the numbers that the last step returned for TensorBoard.
  virtual void write_numbers(mt::tensorboard& board, std::int64_t step) const = 0;
};

using learner_maker = std::unique_ptr<learner> (*)(mt::store&, options const&);

/// Makes a learner on one device. learner_of.hpp defines it.
template <class Device>
std::unique_ptr<learner> learner_on(mt::store&, options const&);

}  // namespace transformer
