// SPDX-License-Identifier: Apache-2.0
// Shuffles an epoch by a function of seed and epoch, so that any batch can be found without the batches before it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "meshtensor/base/philox.hpp"

namespace meshtensor::datasets {

/// Shuffles elements uniformly.
///
/// Source: Durstenfeld, Algorithm 235: random permutation, Communications of the ACM, 1964.
template <class T>
void shuffle(std::vector<T>& all, random_stream const& random) {
  for (std::size_t i = all.size(); i > 1; --i) {
    auto const words = random.words(i);
    std::swap(all[i - 1], all[static_cast<std::size_t>((std::uint64_t{words[1]} << 32 | words[0]) % i)]);
  }
}

/// The batches of an epoch, each with elements of one of several sets.
struct epoch_order {
  struct batch {
    std::size_t set;
    std::int64_t first;  // the index of its first element in elements[set]
  };
  std::int64_t epoch = 0;
  std::vector<std::vector<std::int64_t>> elements;  // of each set, in this epoch's order
  std::vector<batch> batches;
};

/// The orders of all epochs. Each epoch has every element once, but in other batches and with the batches in another
/// order. Without a seed, elements and batches keep their order. Several threads may call it at once.
class epoch_orders {
 public:
  /// `sizes` gives the batch size of each set. The last batch of a set may have fewer elements.
  epoch_orders(std::vector<std::vector<std::int64_t>> sets, std::vector<std::int64_t> sizes,
               std::optional<std::uint64_t> seed)
      : sets_(std::move(sets)), sizes_(std::move(sizes)), seed_(seed) {}

  std::shared_ptr<epoch_order const> operator()(std::int64_t epoch) const {
    if (!seed_) epoch = 0;
    std::lock_guard const one_at_a_time(making_);
    for (auto const& known : last_)
      if (known && known->epoch == epoch) return known;
    auto made = std::make_shared<epoch_order>(epoch_order{epoch, sets_, {}});
    random_key const key{seed_.value_or(0), 0x65706f6368ull, static_cast<std::uint64_t>(epoch)};
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (seed_) shuffle(made->elements[s], random_stream(key, s));
      for (std::int64_t first = 0; first < static_cast<std::int64_t>(sets_[s].size()); first += sizes_[s])
        made->batches.push_back({s, first});
    }
    if (seed_) shuffle(made->batches, random_stream(key, sets_.size()));
    std::swap(last_[0], last_[1]);
    return last_[0] = std::move(made);
  }

 private:
  std::vector<std::vector<std::int64_t>> sets_;
  std::vector<std::int64_t> sizes_;
  std::optional<std::uint64_t> seed_;
  mutable std::mutex making_;
  // The last two orders, because some threads may still be in one epoch while others are in the next.
  mutable std::array<std::shared_ptr<epoch_order const>, 2> last_;
};

}  // namespace meshtensor::datasets
