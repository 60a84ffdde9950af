// SPDX-License-Identifier: Apache-2.0
// The sources of values that a store does not have yet, the latest one first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/run/store/blocks.hpp"
#include "meshtensor/run/value_source.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A chain of sources. If one lacks a value, the source before it is asked.
class value_sources {
 public:
  /// Adds a source. The previous source stays if it has a value that nobody has requested and that the new one lacks.
  void begin_from(std::shared_ptr<value_source> source) {
    auto const lacks = [&](std::string const& label) { return !source->has(label); };
    bool keeps = false;
    if (source && source != source_)
      for (value_source const* from = source_.get(); !keeps && from != nullptr; from = from->before.get())
        keeps = std::ranges::any_of(from->waiting(), lacks);
    if (keeps) source->before = source_;
    source_ = std::move(source);
  }
  std::shared_ptr<value_source> const& latest() const { return source_; }
  /// Fills the blocks of a value. Returns false if no source has it.
  bool fill(std::string const& label, stored& fresh) const {
    value_source* from = source_.get();
    while (from != nullptr && !from->fill(label, fresh)) from = from->before.get();
    return from != nullptr;
  }
  /// Copies a whole value, which still waits for an executable. Returns false if no source has it.
  bool copy(std::string const& label, dtype type, std::vector<dim_extent> const& dims, void* whole) const {
    value_source* const from = first_with(label);
    if (from == nullptr) return false;
    stored alone{};
    alone.type = type, alone.dims = dims, alone.axes.resize(dims.size()), alone.grains.assign(dims.size(), 1);
    detail::add_block(alone, detail::dense_view(nullptr, type, dims));
    if (!from->copy(label, alone)) return false;
    copy_bytes(whole, alone.block_of(0), alone.bytes());
    return true;
  }
  /// The first source that has a value, or null.
  value_source* first_with(std::string const& label) const {
    value_source* from = source_.get();
    while (from != nullptr && !from->has(label)) from = from->before.get();
    return from;
  }
  /// The number of updates saved under a path, if a source has one.
  std::optional<std::uint64_t> updates(std::string const& path) const {
    for (value_source const* from = source_.get(); from != nullptr; from = from->before.get())
      if (auto const n = from->updates(path)) return *n;
    return {};
  }

 private:
  std::shared_ptr<value_source> source_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
