// SPDX-License-Identifier: Apache-2.0
// Translates sentences with the trained model in the store.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <meshtensor/datasets/text/tokens.hpp>
#include <meshtensor/run/store.hpp>

#include "command_line.hpp"

namespace translation {

namespace mt = meshtensor;

using sentence = std::vector<std::int32_t>;

/// Translates by beam search or by sampling. Similar lengths of source and translation share a program, which is made
/// when it is first needed.
class speaking {
 public:
  speaking(mt::store& weights, options const& o, std::int64_t pieces, mt::datasets::special_tokens const& special);
  ~speaking();

  /// Returns the translation of each sentence. The steps do not count as training steps.
  std::vector<sentence> translate(std::span<std::span<std::int32_t const> const> sources);

  /// The profile of each program.
  std::string profile() const;

  /// Translates on one device.
  class translator {
   public:
    virtual ~translator() = default;
    virtual std::vector<sentence> translate(std::span<std::span<std::int32_t const> const> sources) = 0;
    virtual std::string profile() const = 0;
  };

 private:
  std::unique_ptr<translator> all_;
};

}  // namespace translation
