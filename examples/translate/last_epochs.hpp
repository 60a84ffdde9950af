// SPDX-License-Identifier: Apache-2.0
// Keeps the parameters of the last epochs in files, and averages them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <meshtensor/io/export.hpp>
#include <meshtensor/io/import.hpp>

#include "sizes.hpp"

namespace translation {

/// Each epoch has a safetensors file, as `epoch-0017.safetensors`, so that a resumed training finds the earlier ones.
class last_epochs {
 public:
  last_epochs(mt::store& weights, std::filesystem::path folder, std::int64_t most)
      : weights_(weights), folder_(std::move(folder)), most_(most) {}

  /// Saves the parameters after an epoch, and removes the file that no mean needs any more. A failure only gives a
  /// warning, so that the training continues.
  void keep(std::int64_t epoch) {
    try {
      if (weights_.runner().is_root()) {
        std::error_code ignored;
        std::filesystem::create_directories(folder_, ignored);
      }
      mt::export_safetensors(weights_, file_of(epoch), {.only = is_model});
    } catch (mt::error const& e) {
      mt::warn(weights_.runner(), std::string("the parameters of an epoch are not kept: ") + e.what());
      return;
    }
    std::error_code ignored;
    if (weights_.runner().is_root()) std::filesystem::remove(file_of(epoch - most_), ignored);
  }

  /// Sets the parameters to the mean of the last epochs up to `last`. Returns how many epochs were found.
  std::int64_t average(std::int64_t last) {
    std::vector<std::vector<float>> sums;
    std::int64_t count = 0;
    for (std::int64_t epoch = std::max<std::int64_t>(1, last - most_ + 1); epoch <= last; ++epoch) {
      if (!std::filesystem::exists(file_of(epoch))) continue;
      mt::import_safetensors(weights_, file_of(epoch), {.only = is_model});
      ++count;
      std::size_t n = 0;
      each_block([&](std::span<float> block) {
        if (n == sums.size()) sums.emplace_back(block.size());
        for (std::size_t i = 0; i < block.size(); ++i) sums[n][i] += block[i];
        ++n;
      });
    }
    std::size_t n = 0;
    if (count != 0)
      each_block([&](std::span<float> block) {
        for (std::size_t i = 0; i < block.size(); ++i) block[i] = sums[n][i] / static_cast<float>(count);
        ++n;
      });
    return count;
  }

 private:
  std::filesystem::path file_of(std::int64_t epoch) const {
    return folder_ / fmt::format("epoch-{:04}.safetensors", epoch);
  }
  /// Calls `f` for each block of the parameters that this process holds.
  template <class F>
  void each_block(F f) {
    for (auto& [name, value] : weights_.values()) {
      if (!is_model(name)) continue;
      for (std::size_t k = 0; k < value.blocks.size(); ++k)
        f(std::span(reinterpret_cast<float*>(value.block_of(k)),
                    static_cast<std::size_t>(value.windows[k].bytes()) / sizeof(float)));
    }
  }

  mt::store& weights_;
  std::filesystem::path folder_;
  std::int64_t most_;
};

}  // namespace translation
