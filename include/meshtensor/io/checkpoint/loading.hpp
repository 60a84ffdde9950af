// SPDX-License-Identifier: Apache-2.0
// Opens the files of a checkpoint, checks them on all processes, and fills a store from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/folder.hpp"
#include "meshtensor/io/checkpoint/index_reader.hpp"
#include "meshtensor/io/checkpoint/process_of.hpp"
#include "meshtensor/io/load.hpp"
#include "meshtensor/io/saved_values.hpp"
#include "meshtensor/job/agree.hpp"
#include "meshtensor/job/job.hpp"

namespace meshtensor {

namespace io {

/// Fills a store's values from files, and makes the files the source of its later values. It changes nothing before it
/// has checked that everything fits. All processes call it.
inline void take_all(store& weights, std::shared_ptr<saved_values> const& from, all_or_throw& all) {
  from->replicas.say = [&j = weights.runner()](std::string const& sentence) { warn(j, sentence); };
  all([&] {
    for (auto const& [label, s] : weights.values()) from->require_fits(label, s);
  });
  all([&] {
    try {
      for (auto& [label, s] : weights.values()) from->fill(label, s);
    } catch (error const& e) {
      throw error(e.code(), e.sentence() + "; the store has a part of these values now: load them again");
    }
  });
  weights.begin_from(from);
}

/// An opened checkpoint. One of the processes has checked each of its bytes.
struct opened_checkpoint {
  checkpoint_index index;
  std::shared_ptr<saved_values> values;
};
inline opened_checkpoint open_checkpoint(std::string const& path, process_of const& me, load_options const& how,
                                         file_opener const& open = open_file) {
  opened_checkpoint c;
  file const f = open(path + "/" + index_name);
  if (f.size() > longest_header) throw error("C04", {"'", f.path(), "' is not the index of a checkpoint: too long"});
  std::string text(static_cast<std::size_t>(f.size()), '\0');
  f.read(0, std::as_writable_bytes(std::span(text)));
  c.index = parse_index(text, f.path());
  std::vector<file_location> files;
  for (std::size_t i = 0; i < c.index.files.size(); ++i)
    files.push_back({path + "/" + file_name(i, c.index.files.size()), c.index.files[i]});
  c.values = std::make_shared<saved_values>("the checkpoint '" + path + "'", std::move(files), how, open);
  c.values->counted = {c.index.step, c.index.counts};
  c.values->replicas.mass = c.index.mass;
  for (auto const& [label, v] : c.index.values) c.values->values.emplace(label, named_value{v, label});
  c.values->check(me.rank, me.count);
  return c;
}

inline loaded take_checkpoint(store& weights, std::string const& path, opened_checkpoint const& c, all_or_throw& all) {
  take_all(weights, c.values, all);
  weights.set_seed(c.index.seed);
  weights.take_counts(c.index.step, c.index.counts ? &c.index.counts->steps : nullptr);
  return {path, c.index.step, c.index.more, c.values};
}

/// Loads the newest complete checkpoint of a run, or returns nothing if there is no checkpoint at all. Only the process
/// that prints for the job lists the folder, because others may see new files later. errors C06 there are checkpoints,
/// but none is complete and intact
inline std::optional<loaded> load_newest(store& weights, std::string const& folder, load_options const& how) {
  job_runner& j = weights.runner();
  all_or_throw all(j);
  agreement greatest(j);
  std::vector<checkpoint_name> there;
  all([&] {
    if (!j.is_root()) return;
    for (checkpoint_name const& n : checkpoints_in(folder))
      if (is_there(folder + "/" + n.text() + "/" + index_name)) there.push_back(n);
  });
  std::string first_problem;
  for (std::size_t k = 0;; ++k) {
    checkpoint_name n = k < there.size() ? there[k] : checkpoint_name{};
    n.number = static_cast<std::uint64_t>(greatest(static_cast<double>(n.number)));
    n.step = static_cast<std::uint64_t>(greatest(static_cast<double>(n.step)));
    if (n.number == 0) break;
    std::string const path = folder + "/" + n.text();
    opened_checkpoint c;
    try {
      all([&] { c = open_checkpoint(path, process_of(j), how); });
    } catch (error const& e) {
      if (!e.code().starts_with('C')) throw;
      warn(j, "C06: the checkpoint '" + path + "' is passed over: " + e.sentence());
      if (first_problem.empty()) first_problem = e.sentence();
      continue;
    }
    return take_checkpoint(weights, path, c, all);
  }
  if (!first_problem.empty()) throw error("C06", {"no checkpoint in '", folder, "' is whole: ", first_problem});
  return {};
}

}  // namespace io

template <class>
loaded load(store& weights, std::filesystem::path const& folder, load_options const& how) {
  std::string const path = folder.string();
  job_runner& j = weights.runner();
  bool alone = j.is_root() && io::is_there(path + "/" + io::index_name);
  alone = agreement(j)(alone ? 1 : 0) > 0;
  if (alone) {
    all_or_throw all(j);
    io::opened_checkpoint c;
    all([&] { c = io::open_checkpoint(path, io::process_of(j), how); });
    return io::take_checkpoint(weights, path, c, all);
  }
  auto found = io::load_newest(weights, path, how);
  if (!found) throw error("C06", {"there is no checkpoint in '", path, "'"});
  return *std::move(found);
}

}  // namespace meshtensor
