// SPDX-License-Identifier: Apache-2.0
// Interface of the Transformer's programs on one device; each device that a build has is compiled in a file of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <meshtensor/data/text/text.hpp>
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

  /// Takes a step and returns its loss. `steps` is the length of the whole training, for the schedule.
  virtual double learn(mt::text_batch const& b, double steps) = 0;
  virtual double loss_of(mt::text_batch const& b) = 0;
  /// The probabilities of the byte behind `seen[last]`.
  virtual std::vector<float> likely(std::vector<std::uint8_t> const& seen, std::int32_t last, double temperature) = 0;

  /// Compares the next step with the same on whole tensors. Returns whether they agree, and a sentence.
  virtual std::pair<bool, std::string> compare(mt::text_batch const& b) = 0;
  /// Which rank holds which elements of the tensors of a step; mt::pictures draws it.
  virtual std::string pictures() const = 0;
  virtual mt::memory_use memory() const = 0;
  virtual void record(bool on) = 0;
  virtual std::string profile() const = 0;
  virtual void write_trace(std::string const& file) const = 0;
  /// What a step learns from, and how much of it.
  virtual mt::progress_unit unit() const = 0;
  /// The numbers that the last step gave out, for TensorBoard.
  virtual void write_numbers(mt::tensorboard& board, std::int64_t step) const = 0;
};

using learner_maker = std::unique_ptr<learner> (*)(mt::store&, options const&);

/// A learner on one device; learner_of.hpp has it.
template <class Device>
std::unique_ptr<learner> learner_on(mt::store&, options const&);

}  // namespace transformer
