// SPDX-License-Identifier: Apache-2.0
// Makes one checkpoint: the files that this process writes, and the index that completes it.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/folder.hpp"
#include "meshtensor/io/checkpoint/process_of.hpp"
#include "meshtensor/io/checkpoint/rank_file.hpp"
#include "meshtensor/io/checkpoint/save_plan.hpp"

namespace meshtensor::io {

/// One save. All processes make it with the same values. Only `take` reads the store, so a thread may do the rest.
class saving {
 public:
  saving() = default;
  /// errors  C12 `only` selects no value; C13 a note has no valid name; C15, C16 as of `plan_save`
  saving(store& weights, notes more, std::function<bool(std::string const&)> const& only = {}) {
    index_.step = weights.step(), index_.seed = weights.seed(), index_.more = std::move(more);
    index_.counts = weights.counts();
    if (only) std::erase_if(index_.counts->updates, [&](auto const& count) { return !only(count.first); });
    static_cast<void>(text_of(index_.more));
    save_plan plan = plan_save(weights, only);
    index_.values = std::move(plan.values);
    index_.files.resize(plan.files);
  }

  std::uint64_t step() const { return index_.step; }
  void set_place(std::string folder, checkpoint_name const& name) { folder_ = std::move(folder), name_ = name; }
  std::string path() const { return folder_ + "/" + name_.text(); }

  /// Finds the blocks that this process writes. They point into the store until `copy_to` copies them.
  void take(store& weights, process_of const& me) {
    for (std::size_t f = 0; f < index_.files.size(); ++f)
      if (me.count == 1 || f == static_cast<std::size_t>(me.rank))
        mine_.push_back({f, blocks_of(weights, f, me.count > 1)});
  }
  void copy_to(arena& memory) {
    constexpr std::size_t apart = 64;
    auto const room = [](block_in_memory const& b) { return (b.bytes.size() + apart - 1) / apart * apart; };
    std::size_t bytes = 0;
    for (auto const& [f, parts] : mine_)
      for (block_in_memory const& b : parts) bytes += room(b);
    if (memory.size() < bytes) memory = arena(bytes);
    std::byte* to = memory.data();
    for (auto& [f, parts] : mine_)
      for (block_in_memory& b : parts) {
        if (!b.bytes.empty()) std::memcpy(to, b.bytes.data(), b.bytes.size());
        b.bytes = {to, b.bytes.size()};
        to += room(b);
      }
  }
  /// errors  C01 a file cannot be written, C09 a value has NaN
  void write(bool nan) {
    for (auto const& [f, parts] : mine_)
      index_.files[f] = write_rank_file(path() + "/" + file_name(f, index_.files.size()), parts, nan);
  }

  /// The entry of the file that this process, one of several, has written.
  saved_file written() const { return mine_.empty() ? saved_file{} : index_.files[mine_[0].first]; }
  void set_written(std::vector<std::uint64_t> const& bytes, std::vector<std::uint64_t> const& headers) {
    for (std::size_t f = 0; f < index_.files.size(); ++f)
      index_.files[f] = {static_cast<std::int64_t>(bytes[f]), headers[f]};
  }

  /// Writes the index when all files are written, then removes old checkpoints. One process does this.
  ///
  /// errors  C01, C02 a file; C17 the file of a rank is not as that rank has written it
  void commit(int keep) const {
    for (std::size_t f = 0; f < index_.files.size(); ++f)
      if (file const there(path() + "/" + file_name(f, index_.files.size())); there.size() != index_.files[f].bytes)
        throw error("C17",
                    {"'", there.path(),
                     "' is not as its rank has written it: is the folder on a file system that all ranks share?"});
    sync_folder(folder_);
    new_file f(path() + "/" + index_name);
    f.write(text_of(index_));
    f.commit();
    remove_old(folder_, name_, keep);
  }

 private:
  std::vector<block_in_memory> blocks_of(store& weights, std::size_t f, bool alone) const {
    std::vector<block_in_memory> all;
    for (auto const& [label, v] : index_.values) {
      stored& s = weights.values().at(label);
      if (static_cast<std::int64_t>(f) >= s.mesh.size()) continue;
      auto const k = block_held(s, grid_of(s), static_cast<std::int64_t>(f));
      if (!k || v.files[*k] != static_cast<int>(f)) continue;
      saved_block const b = v.block(*k);
      all.push_back({label,
                     v.stored,
                     {b.extent, b.extent + v.dims.size()},
                     {s.read_block(alone ? 0 : f), static_cast<std::size_t>(v.bytes_of(b))}});
    }
    return all;
  }

  std::string folder_;
  checkpoint_name name_;
  checkpoint_index index_;
  std::vector<std::pair<std::size_t, std::vector<block_in_memory>>> mine_;  // by index of their file
};

}  // namespace meshtensor::io
