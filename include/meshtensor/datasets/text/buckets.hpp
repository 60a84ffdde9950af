// SPDX-License-Identifier: Apache-2.0
// Chooses buckets, which are a few fixed extents for batches of sentence pairs, so that there is little padding. One
// program for each bucket, bound when it is made, serves sentences of any length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/datasets/text/tokens.hpp"

namespace meshtensor::datasets {

/// The extents of a batch: the number of pairs, and the padded length of source and target in tokens.
struct bucket {
  std::int64_t rows, source_length, target_length;
  friend bool operator==(bucket const&, bucket const&) = default;
};

/// Options of the choice of buckets.
struct bucket_options {
  std::int64_t count = 4;            // at most so many buckets
  std::int64_t tokens = 4096;        // the most target tokens in a batch, padding included
  std::int64_t longest = 48;         // longer pairs are left out
  std::int64_t multiple = 8;         // of the rows, because several ranks share them
  std::int64_t length_multiple = 8;  // of the lengths; a smaller value gives less padding
};

/// The number of tokens of a pair's longer side, including the token that ends a sentence.
inline std::int64_t length_of(token_pairs const& pairs, std::int64_t pair) {
  return static_cast<std::int64_t>(std::max(pairs.source(pair).size(), pairs.target(pair).size())) + 1;
}

/// Buckets for pairs up to these lengths, in rising order. Each has as many rows as `tokens` allows.
///
/// errors  R55 there is no room for `multiple` rows; lengths do not rise
inline std::vector<bucket> buckets_up_to(std::span<std::int64_t const> lengths, bucket_options const& o = {}) {
  std::vector<bucket> all;
  for (std::int64_t const length : lengths) {
    std::int64_t const rows = length < 1 || o.multiple < 1 ? 0 : o.tokens / length / o.multiple * o.multiple;
    if (rows < 1)
      throw error("R55", {"a batch of ", o.tokens, " tokens has no room for ", o.multiple, " sentences of ", length,
                          ": allow more tokens, or fewer sentences"});
    if (!all.empty() && length <= all.back().target_length)
      throw error("R55", {"a bucket of length ", length, " follows one of ", all.back().target_length,
                          ": give them in rising order"});
    all.push_back({rows, length, length});
  }
  return all;
}

/// The lengths of at most `count` buckets with the least padding. They are multiples of `length_multiple`, and they
/// minimize the sum, over all pairs, of the length of a pair's bucket. The last bucket has room for the longest pair
/// that is not left out.
///
/// errors  R55 no pair is that short; `length_multiple` is not positive, or more than a batch has room for
inline std::vector<std::int64_t> bucket_lengths(token_pairs const& pairs, bucket_options const& o = {}) {
  std::int64_t const step = o.length_multiple;
  if (step < 1 || step > o.tokens)
    throw error("R55", {"buckets cannot have multiples of ", step, " as lengths: give a positive number, at most the ",
                        o.tokens, " tokens that a batch has room for"});
  std::vector<std::int64_t> pairs_up_to;  // the number of pairs with at most (i + 1) * step tokens
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    std::int64_t const length = length_of(pairs, i), place = (length - 1) / step;
    if (length > o.longest) continue;
    if (static_cast<std::size_t>(place) >= pairs_up_to.size()) pairs_up_to.resize(static_cast<std::size_t>(place) + 1);
    ++pairs_up_to[static_cast<std::size_t>(place)];
  }
  if (pairs_up_to.empty() || o.count < 1)
    throw error("R55", {"none of ", pairs.size(), " pairs of sentences fits in ", o.count, " buckets of at most ",
                        o.longest, " tokens: allow longer ones"});
  std::size_t const places = pairs_up_to.size();
  for (std::size_t i = 1; i < places; ++i) pairs_up_to[i] += pairs_up_to[i - 1];

  // `best[k][i]` is the least number of tokens of k + 1 buckets, if the last has the length (i + 1) * step. The bucket
  // before the last then has the length (`before[k][i]` + 1) * step.
  auto const most = std::min(static_cast<std::size_t>(o.count), places);
  std::vector const nothing(places, std::numeric_limits<std::int64_t>::max());
  std::vector best(most, nothing);
  std::vector before(most, std::vector<std::size_t>(places));
  for (std::size_t i = 0; i < places; ++i) {
    auto const slots = [&](std::int64_t after) {
      return (pairs_up_to[i] - after) * static_cast<std::int64_t>(i + 1) * step;
    };
    best[0][i] = slots(0);
    for (std::size_t k = 1; k < std::min(most, i + 1); ++k)
      for (std::size_t j = k - 1; j < i; ++j)
        if (std::int64_t const all = best[k - 1][j] + slots(pairs_up_to[j]); all < best[k][i])
          best[k][i] = all, before[k][i] = j;
  }
  std::size_t k = 0;
  for (std::size_t other = 1; other < most; ++other)
    if (best[other][places - 1] < best[k][places - 1]) k = other;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = places - 1;; i = before[k--][i]) {
    lengths.insert(lengths.begin(), static_cast<std::int64_t>(i + 1) * step);
    if (k == 0) return lengths;
  }
}

/// The best buckets for these pairs. They have the lengths of `bucket_lengths`, and the fewest rows that need no more
/// batches than the greatest possible number of rows. Therefore the pairs are spread evenly, and the last batch of a
/// bucket is about as full as its others.
inline std::vector<bucket> choose_buckets(token_pairs const& pairs, bucket_options const& o = {}) {
  std::vector<bucket> all = buckets_up_to(bucket_lengths(pairs, o), o);
  std::vector<std::int64_t> held(all.size());
  for (std::int64_t i = 0; i < pairs.size(); ++i) {
    auto const b = std::ranges::lower_bound(all, length_of(pairs, i), {}, &bucket::target_length);
    if (b != all.end()) ++held[static_cast<std::size_t>(b - all.begin())];
  }
  auto const parts = [](std::int64_t n, std::int64_t of) { return (n + of - 1) / of; };
  for (std::size_t i = 0; i < all.size(); ++i)
    if (std::int64_t const batches = parts(held[i], all[i].rows); batches > 0)
      all[i].rows = parts(parts(held[i], batches), o.multiple) * o.multiple;
  return all;
}

}  // namespace meshtensor::datasets
