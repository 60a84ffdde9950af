// SPDX-License-Identifier: Apache-2.0
// Values in files. The ranks of a store read their parts from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "meshtensor/io/checkpoint/replica_merger.hpp"
#include "meshtensor/io/loaded.hpp"
#include "meshtensor/io/saved_files.hpp"

namespace meshtensor::io {

/// The saved values of a store, by name. Files are opened when they are first read, and they stay open, so that they
/// may be removed meanwhile.
///
/// errors  C02, C03, C05 a file is not as it was saved; C07 there is no such value; C08 it has another dtype or other
/// dims; C09 NaN
class saved_values : public loaded_values {
 public:
  saved_values(std::string what, std::vector<file_location> files, load_options how, file_opener open)
      : what_(std::move(what)), how_(std::move(how)), files_(std::move(files), std::move(open)) {
    replicas.what = what_;
  }

  std::map<std::string, named_value> values;
  /// The counts in a checkpoint. If it has no `counts`, all counts are its step.
  struct counts_of_checkpoint {
    std::uint64_t step;
    std::optional<program_counts> counts;
  };
  std::optional<counts_of_checkpoint> counted;
  /// Fills values for another number of replicas.
  replica_merger replicas{files_, values};

  std::optional<std::uint64_t> updates(std::string const& path) const override {
    if (!counted || !is_meant(path)) return {};
    if (!counted->counts) return counted->step;
    auto const found = counted->counts->updates.find(path);
    if (found != counted->counts->updates.end()) return found->second;
    // Values that the files lack stay as they are or come from an earlier load, and so does the count of their updates.
    if (how_.begin_missing && !has_any_of(path)) return {};
    return 0;
  }
  bool has(std::string const& label) const override { return values.contains(label) && is_meant(label); }
  bool fill(std::string const& label, stored& s) override { return read(label, s, true); }
  bool copy(std::string const& label, stored& s) override { return read(label, s, false); }

  std::vector<std::string> waiting() const override {
    auto all = left();
    std::erase_if(all, [&](std::string const& label) { return !is_meant(label); });
    return all;
  }

  /// Checks dtype and dims. Returns false if the program's initializer applies.
  bool require_fits(std::string const& label, stored const& s) {
    if (!is_meant(label)) return false;
    auto const found = values.find(label);
    if (found == values.end()) {
      if (how_.begin_missing) return false;
      if (counts_alike(s)) return true;
      std::vector<std::string> known;
      for (auto const& [name, v] : values)
        if (!taken_.contains(name)) known.push_back(name);
      throw error("C07", {what_, " has no value '", label, "', ", s.text(), did_you_mean(label, known)});
    }
    saved_value const& v = found->second.value;
    bool const is_same_type = v.stored != nullptr && v.stored->type == s.type;
    replica_match const match = matched(v, s);
    if (!is_same_type || !match.fits)
      throw error("C08", {what_, " has '", label, "' as ", v.text(), ", but the program has ", s.text(),
                          is_same_type ? about_replicas(v, s) : ""});
    if (match.differs()) replicas.require_merges(label, v, s);
    return true;
  }

  /// Checks this process's share of all bytes and headers. `of` processes together check all of them.
  void check(int part, int of) {
    for (std::size_t f = 0; f < files_.count(); ++f)
      if (static_cast<int>(f % static_cast<std::size_t>(of)) == part) files_.open(f);
    int turn = 0;
    for (auto const& [label, v] : values) {
      if (!can_be_here(v.value) || !(is_meant(label) || label == replicas.mass)) continue;
      for (std::size_t block = 0; block < v.value.files.size(); ++block)
        for (std::int64_t piece = 0; piece < pieces_of(v.value.bytes_of(v.value.block(block))); ++piece)
          if (turn++ % of == part) check_piece(files_.find(v, block), piece, how_.nan, label);
    }
  }

  std::vector<std::string> left() const override {
    std::vector<std::string> all;
    for (auto const& [label, v] : values)
      if (!taken_.contains(label)) all.push_back(label);
    return all;
  }
  std::string about_left() const override {
    auto const some = left();
    std::string const more = some.size() < 2 ? "" : " and " + std::to_string(some.size() - 1) + " more";
    return what_ + " has '" + (some.empty() ? "" : some[0]) + "'" + more + " that no executable has";
  }
  /// Whether these are the files of a checkpoint.
  bool are_known() const { return files_.are_known(); }

 private:
  replica_match matched(saved_value const& v, stored const& s) {
    replica_match match = match_of(v, s, steps_of(s.counted_program));
    if (!match.fits || v.replica_dim < 0 || s.replica_dim < 0) return match;
    // Numerators without their weights are no model. Values that are read later are merged like the first one.
    drops_weights_ = drops_weights_ || (s.sharing.is_known && !s.sharing.is_weighted && replicas.count_unequally());
    match.drops_weights = drops_weights_;
    return match;
  }
  /// The steps of a program before the save, or all steps if its name is empty.
  std::uint64_t steps_of(std::string const& program) const {
    if (!counted) return 0;
    if (program.empty() || !counted->counts) return counted->step;
    auto const found = counted->counts->steps.find(program);
    return found == counted->counts->steps.end() ? 0 : found->second;
  }
  bool is_meant(std::string const& label) const { return !how_.only || how_.only(label); }
  static bool can_be_here(saved_value const& v) { return v.stored != nullptr && v.stored->type; }

  /// Whether the files have a value of this path, or one below it, such as the moments of a parameter.
  bool has_any_of(std::string const& path) const {
    auto const below = values.lower_bound(path + "/");
    return values.contains(path) || (below != values.end() && below->first.starts_with(path + "/"));
  }

  static bool is_same_place(view const& a, view const& b) {
    return std::equal(a.origin, a.origin + a.count, b.origin) && std::equal(a.extent, a.extent + a.count, b.extent);
  }
  /// Whether a value is the weight of replicas, and the files have none: then all their replicas count alike, by 1.
  bool counts_alike(stored const& s) const {
    if (s.replica_dim < 0 || s.merge != merge_rule::mass || !replicas.mass.empty()) return false;
    name const along = s.dims[static_cast<std::size_t>(s.replica_dim)].label;
    for (auto const& [label, v] : values)  // of an older version, which does not say whether there are weights
      for (saved_dim const& d : v.value.dims)
        if (d.dim.label == along && v.value.replica_dim < 0) return false;
    return true;
  }
  /// Why a value with another number of replicas does not fit, or an empty text.
  static std::string about_replicas(saved_value const& v, stored const& s) {
    if (s.replica_dim < 0 || v.replica_dim >= 0 || v.dims.size() != s.dims.size()) return "";
    return "; it was saved without a word on how replicas are merged, so it needs as many replicas";
  }
  /// Fills the blocks of a value. If the store `takes` it, the value no longer waits.
  bool read(std::string const& label, stored& s, bool takes) {
    if (!require_fits(label, s)) return false;
    auto const found = values.find(label);
    replica_match const match = found == values.end() ? replica_match{} : matched(found->second.value, s);
    if (!s.blocks.empty() && !s.is_lost()) s.block_of(0);  // so that the value is unchanged if this fails
    std::vector<std::size_t> first;                        // one window of each distinct position
    std::vector<view> windows;
    for (std::size_t k = 0; k < s.windows.size(); ++k) {
      std::size_t same = 0;
      while (!is_same_place(s.windows[same], s.windows[k])) ++same;
      if (same == k) first.push_back(k), windows.push_back(s.windows[k]);
    }
    if (found == values.end()) {
      for (view const& window : windows) meshtensor::detail::fill_elements(window, 1);
    } else if (match.differs()) {
      replicas.fill(label, found->second, match, s, windows);
    } else {
      read_all(found->second, match, windows);
    }
    s.replace([&](std::size_t k, std::byte* block) {
      for (std::size_t const j : first)
        if (j != k && is_same_place(s.windows[j], s.windows[k]) && s.windows[j].bytes() != 0)
          std::memcpy(block, s.blocks[j].data(), static_cast<std::size_t>(s.windows[j].bytes()));
    });
    bool const are_as_saved = found != values.end() && found->second.value.replica_dim >= 0 && !match.differs();
    s.shared = are_as_saved ? found->second.value.shared : shared_by_replicas::parameters;
    if (!takes) return true;
    if (found != values.end()) taken_.insert(label);
    if (match.differs() && (s.replica_dim < 0 || match.drops_weights) && values.contains(replicas.mass))
      taken_.insert(replicas.mass);  // the mean has it
    if (taken_.size() == values.size()) files_.close();
    return true;
  }
  /// Fills windows with parts of a value whose extents are those of the files.
  void read_all(named_value const& v, replica_match const& match, std::vector<view> const& windows) {
    for (std::size_t block = 0; block < v.value.files.size(); ++block) {
      saved_block const b = v.value.block(block);
      for (view window : windows) {
        if (int const more = window.count; static_cast<int>(match.places.size()) > more)  // the dim of one replica
          window.extent[more] = 1, window.origin[more] = 0, window.stride[more] = 0;
        read_part(files_, v, block, b, match.places, window);
      }
    }
  }

  std::string what_;
  load_options how_;
  saved_files files_;
  std::set<std::string> taken_;
  bool drops_weights_ = false;
};

}  // namespace meshtensor::io
