// SPDX-License-Identifier: Apache-2.0
// Sentences as tokens: whole numbers below the size of a vocabulary.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace meshtensor::datasets {

/// Tokens with a special meaning: for padding, for unknown text, and before and after a sentence.
struct special_tokens {
  std::int32_t pad = 0, unknown = 1, begin = 2, end = 3;
};

/// Sentences as tokens, one after another in memory.
class token_lists {
 public:
  void add(std::span<std::int32_t const> sentence) {
    tokens_.insert(tokens_.end(), sentence.begin(), sentence.end());
    ends_.push_back(tokens_.size());
  }
  std::int64_t size() const { return static_cast<std::int64_t>(ends_.size()); }
  std::span<std::int32_t const> operator[](std::int64_t sentence) const {
    auto const i = static_cast<std::size_t>(sentence);
    std::size_t const begin = i == 0 ? 0 : ends_[i - 1];
    return {tokens_.data() + begin, ends_[i] - begin};
  }

 private:
  std::vector<std::int32_t> tokens_;
  std::vector<std::size_t> ends_;
};

/// Sentences and their translations as tokens, without the tokens before and after a sentence.
class token_pairs {
 public:
  void add(std::span<std::int32_t const> source, std::span<std::int32_t const> target) {
    source_.add(source), target_.add(target);
  }
  std::int64_t size() const { return source_.size(); }
  std::span<std::int32_t const> source(std::int64_t pair) const { return source_[pair]; }
  std::span<std::int32_t const> target(std::int64_t pair) const { return target_[pair]; }

 private:
  token_lists source_, target_;
};

}  // namespace meshtensor::datasets
