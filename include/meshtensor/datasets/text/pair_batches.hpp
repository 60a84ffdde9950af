// SPDX-License-Identifier: Apache-2.0
// Batches of sentence pairs with the extents of their buckets. Their order depends only on the seed and the number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "meshtensor/base/parts.hpp"
#include "meshtensor/datasets/epoch_order.hpp"
#include "meshtensor/datasets/text/buckets.hpp"

namespace meshtensor::datasets {

/// A rank's share of a batch's rows: part `part` of `of` parts, as `part_of` cuts them and as a layout shards them.
struct batch_part {
  std::int64_t part = 0, of = 1;
};

/// A batch, or a rank's part of one, row-major. A sentence ends with the token `end`, and `pad` follows it. If the
/// pairs of a bucket do not fill its last batch, the last rows have no pair. Their source is `end` alone, and none of
/// their target tokens counts.
struct pair_batch {
  std::size_t bucket = 0;                 // the index of its bucket
  std::vector<std::int32_t> source;       // [rows, source_length]
  std::vector<std::int32_t> target;       // [rows, target_length]: `begin`, then the sentence, as the decoder's input
  std::vector<std::int32_t> target_next;  // [rows, target_length]: the sentence, then `end`, as the decoder's labels
  std::vector<std::int64_t> pairs;        // [rows]: the index of the pair, −1 in a row without one
  std::int64_t target_tokens = 0;         // of the whole batch, `end` included
};

/// Statistics of an epoch's batches.
struct batch_filling {
  std::int64_t batches = 0, pairs = 0, left_out = 0;  // left out: pairs too long for every bucket
  std::int64_t source_tokens = 0, target_tokens = 0, source_slots = 0, target_slots = 0;

  /// The share of the computed tokens that are padding or in rows without a pair.
  double source_padding() const { return 1 - static_cast<double>(source_tokens) / static_cast<double>(source_slots); }
  double target_padding() const { return 1 - static_cast<double>(target_tokens) / static_cast<double>(target_slots); }
};

/// Batches of all epochs, numbered from 0. Batch `number` is the batch with index number % per_epoch() of the epoch
/// number / per_epoch(). It does not depend on the batches that were read before, so that a training only needs to save
/// the number. Every epoch has each pair once, but in other batches and another order. Several threads may read at
/// once.
class pair_batches {
 public:
  /// A pair goes to the first bucket in which both sides fit. Without a seed, pairs and buckets keep their order.
  ///
  /// errors  R55 a bucket has no room, or no pair fits in one
  pair_batches(token_pairs pairs, std::vector<bucket> buckets, special_tokens const& special,
               std::optional<std::uint64_t> seed = {})
      : pairs_(std::move(pairs)), buckets_(std::move(buckets)), special_(special), order_(in_buckets(), rows(), seed) {
    if (filling_.batches == 0)
      throw error("R55", {"none of ", pairs_.size(), " pairs of sentences fits in one of ", buckets_.size(),
                          " buckets: allow longer ones"});
  }

  std::int64_t per_epoch() const { return filling_.batches; }
  std::vector<bucket> const& buckets() const { return buckets_; }
  batch_filling const& filling() const { return filling_; }

  /// Reads the batch of a number, or a part of its rows. errors R55 there is no such batch or part
  void read(std::int64_t number, pair_batch& to, batch_part const& mine = {}) const {
    if (number < 0 || mine.part < 0 || mine.part >= mine.of)
      throw error("R55", {"there is no part ", mine.part, " of ", mine.of, " of the batch ", number,
                          ": batches and parts count from 0"});
    auto const all = order_(number / per_epoch());
    auto const [place, first] = all->batches[static_cast<std::size_t>(number % per_epoch())];
    bucket const& b = buckets_[place];
    auto pairs = std::span(all->elements[place]).subspan(static_cast<std::size_t>(first));
    pairs = pairs.first(std::min(pairs.size(), static_cast<std::size_t>(b.rows)));
    to.bucket = place, to.target_tokens = 0;
    for (std::int64_t pair : pairs) to.target_tokens += length(pairs_.target(pair));

    interval const rows = part_of(b.rows, mine.of, mine.part);
    std::int64_t const begin = rows.begin, end = rows.begin + rows.count;
    to.source.assign(static_cast<std::size_t>((end - begin) * b.source_length), special_.pad);
    to.target.assign(static_cast<std::size_t>((end - begin) * b.target_length), special_.pad);
    to.target_next.assign(to.target.size(), special_.pad);
    to.pairs.assign(static_cast<std::size_t>(end - begin), -1);
    for (std::int64_t row = begin; row < end; ++row) {
      auto const source = to.source.begin() + (row - begin) * b.source_length;
      auto const target = to.target.begin() + (row - begin) * b.target_length;
      auto const next = to.target_next.begin() + (row - begin) * b.target_length;
      *source = special_.end, *target = special_.begin;
      if (row >= static_cast<std::int64_t>(pairs.size())) continue;
      std::int64_t const pair = pairs[static_cast<std::size_t>(row)];
      auto const from = pairs_.source(pair), into = pairs_.target(pair);
      *std::copy(from.begin(), from.end(), source) = special_.end;
      std::copy(into.begin(), into.end(), target + 1);
      *std::copy(into.begin(), into.end(), next) = special_.end;
      to.pairs[static_cast<std::size_t>(row - begin)] = pair;
    }
  }

 private:
  static std::int64_t length(std::span<std::int32_t const> sentence) {
    return static_cast<std::int64_t>(sentence.size()) + 1;
  }
  /// Assigns the pairs to buckets and counts them.
  std::vector<std::vector<std::int64_t>> in_buckets() {
    for (bucket const& b : buckets_)
      if (b.rows < 1 || b.source_length < 1 || b.target_length < 1)
        throw error("R55", {"a bucket of ", b.rows, " pairs of ", b.source_length, " and ", b.target_length,
                            " tokens is none: each of these is at least 1"});
    std::vector<std::vector<std::int64_t>> of(buckets_.size());
    for (std::int64_t i = 0; i < pairs_.size(); ++i) {
      auto const source = length(pairs_.source(i)), target = length(pairs_.target(i));
      auto const fits = [&](bucket const& b) { return source <= b.source_length && target <= b.target_length; };
      auto const b = std::find_if(buckets_.begin(), buckets_.end(), fits);
      if (b == buckets_.end()) {
        ++filling_.left_out;
        continue;
      }
      auto& mine = of[static_cast<std::size_t>(b - buckets_.begin())];
      if (static_cast<std::int64_t>(mine.size()) % b->rows == 0) {
        ++filling_.batches;
        filling_.source_slots += b->rows * b->source_length, filling_.target_slots += b->rows * b->target_length;
      }
      mine.push_back(i);
      ++filling_.pairs, filling_.source_tokens += source, filling_.target_tokens += target;
    }
    return of;
  }
  std::vector<std::int64_t> rows() const {
    std::vector<std::int64_t> of;
    for (bucket const& b : buckets_) of.push_back(b.rows);
    return of;
  }

  token_pairs pairs_;
  std::vector<bucket> buckets_;
  special_tokens special_;
  batch_filling filling_;
  epoch_orders order_;
};

}  // namespace meshtensor::datasets
