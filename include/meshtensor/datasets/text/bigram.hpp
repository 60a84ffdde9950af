// SPDX-License-Identifier: Apache-2.0
// The bigram model of a text, which predicts a byte from the byte before it. It is a baseline for language models.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "meshtensor/datasets/text/text.hpp"

namespace meshtensor::datasets {

/// Counts of pairs of successive bytes: the bigram model.
class byte_pairs {
 public:
  void add(std::uint8_t byte, std::uint8_t next) { ++counts_[byte * 256u + next]; }
  void add(text_batch const& b) {
    for (std::size_t i = 0; i < b.text.size(); ++i) add(b.text[i], b.next[i]);
  }
  std::int64_t operator()(std::size_t byte, std::size_t next) const { return counts_[byte * 256 + next]; }

 private:
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(65536);
};

/// The loss of the bigram model with the counts `learnt`, on the pairs `asked`, in nats for each byte. It is the mean
/// of −log((count + c) / (sum + 256 c)), with the best c of 1, 0.1, 0.01 and 0.001.
inline double bigram_loss(byte_pairs const& learnt, byte_pairs const& asked) {
  double best = std::numeric_limits<double>::infinity();
  for (double const c : {1.0, 0.1, 0.01, 0.001}) {
    double loss = 0, pairs = 0;
    for (std::size_t a = 0; a < 256; ++a) {
      double sum = 256 * c;
      for (std::size_t b = 0; b < 256; ++b) sum += static_cast<double>(learnt(a, b));
      for (std::size_t b = 0; b < 256; ++b) {
        auto const n = static_cast<double>(asked(a, b));
        if (n != 0) loss -= n * std::log((static_cast<double>(learnt(a, b)) + c) / sum), pairs += n;
      }
    }
    best = std::min(best, loss / pairs);
  }
  return best;
}

}  // namespace meshtensor::datasets
