// SPDX-License-Identifier: Apache-2.0
// Translates sentences with what the store has learnt.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <meshtensor/data/tokens.hpp>
#include <meshtensor/run/store.hpp>

#include "command_line.hpp"

namespace translation {

namespace mt = meshtensor;

using sentence = std::vector<std::int32_t>;

/// Searches for the best translations, or draws them. Its programs are made when they are first needed: sources and
/// translations of similar lengths share one.
class speaking {
 public:
  speaking(mt::store& weights, options const& o, std::int64_t pieces, mt::special_tokens const& special);
  ~speaking();

  /// The translation of each sentence. Counts as no step of a training.
  std::vector<sentence> translate(std::span<std::span<std::int32_t const> const> sources);

  /// What the steps of each program spent their time on.
  std::string profile() const;

 private:
  class programs;
  std::unique_ptr<programs> all_;
};

}  // namespace translation
