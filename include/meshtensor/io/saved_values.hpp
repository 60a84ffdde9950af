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

#include "meshtensor/io/checkpoint/read_box.hpp"
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
      : what_(std::move(what)), how_(std::move(how)), files_(std::move(files), std::move(open)) {}

  std::map<std::string, named_value> values;
  /// The counts in a checkpoint. If it has no `counts`, all counts are its step.
  struct counts_of_checkpoint {
    std::uint64_t step;
    std::optional<program_counts> counts;
  };
  std::optional<counts_of_checkpoint> counted;

  std::optional<std::uint64_t> updates(std::string const& path) const override {
    if (!counted || !is_meant(path)) return {};
    if (!counted->counts) return counted->step;
    auto const found = counted->counts->updates.find(path);
    return found == counted->counts->updates.end() ? 0 : found->second;
  }
  bool has(std::string const& label) const override { return values.contains(label) && is_meant(label); }
  bool fill(std::string const& label, stored& s) override {
    if (!require_fits(label, s)) return false;
    named_value const& v = values.at(label);
    if (!s.blocks.empty() && !s.is_lost()) s.block_of(0);  // so that the value is unchanged if this fails
    std::vector<std::size_t> first;                        // one window of each distinct position
    for (std::size_t k = 0; k < s.windows.size(); ++k) {
      std::size_t same = 0;
      while (!is_same_place(s.windows[same], s.windows[k])) ++same;
      if (same == k) first.push_back(k);
    }
    std::vector<int> const places = places_of(v.value, s);
    for (std::size_t block = 0; block < v.value.files.size(); ++block) {
      saved_block const b = v.value.block(block);
      for (std::size_t const k : first) take(v, block, b, places, s.windows[k]);
    }
    s.replace([&](std::size_t k, std::byte* block) {
      for (std::size_t const j : first)
        if (j != k && is_same_place(s.windows[j], s.windows[k]) && s.windows[j].bytes() != 0)
          std::memcpy(block, s.blocks[j].data(), static_cast<std::size_t>(s.windows[j].bytes()));
    });
    taken_.insert(label);
    if (taken_.size() == values.size()) files_.close();
    return true;
  }

  std::vector<std::string> waiting() const override {
    auto all = left();
    std::erase_if(all, [&](std::string const& label) { return !is_meant(label); });
    return all;
  }

  /// Checks dtype and dims. Returns false if the program's initializer applies.
  bool require_fits(std::string const& label, stored const& s) const {
    if (!is_meant(label)) return false;
    auto const found = values.find(label);
    if (found == values.end()) {
      if (how_.begin_missing) return false;
      std::vector<std::string> known;
      for (auto const& [name, v] : values)
        if (!taken_.contains(name)) known.push_back(name);
      throw error("C07", {what_, " has no value '", label, "', ", s.text(), did_you_mean(label, known)});
    }
    saved_value const& v = found->second.value;
    bool fits = v.stored != nullptr && v.stored->type == s.type && v.dims.size() == s.dims.size();
    if (fits) {
      std::vector<int> const places = places_of(v, s);
      for (std::size_t i = 0; i < places.size(); ++i)
        fits = fits && places[i] >= 0 && v.dims[i].dim.extent == s.dims[static_cast<std::size_t>(places[i])].extent &&
               std::ranges::count(places, places[i]) == 1;
    }
    if (!fits) throw error("C08", {what_, " has '", label, "' as ", v.text(), ", but the program has ", s.text()});
    return true;
  }

  /// Checks this process's share of all bytes and headers. `of` processes together check all of them.
  void check(int part, int of) {
    for (std::size_t f = 0; f < files_.count(); ++f)
      if (static_cast<int>(f % static_cast<std::size_t>(of)) == part) files_.open(f);
    int turn = 0;
    for (auto const& [label, v] : values)
      for (std::size_t block = 0; can_be_here(v.value) && is_meant(label) && block < v.value.files.size(); ++block)
        for (std::int64_t piece = 0; piece < pieces_of(v.value.bytes_of(v.value.block(block))); ++piece)
          if (turn++ % of == part) check_piece(files_.find(v, block), piece, how_.nan, label);
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
    return what_ + " has '" + (some.empty() ? "" : some[0]) + "'" + more + " that no program has";
  }
  /// Whether these are the files of a checkpoint.
  bool are_known() const { return files_.are_known(); }

 private:
  bool is_meant(std::string const& label) const { return !how_.only || how_.only(label); }
  static bool can_be_here(saved_value const& v) { return v.stored != nullptr && v.stored->type; }

  static bool is_same_place(view const& a, view const& b) {
    return std::equal(a.origin, a.origin + a.count, b.origin) && std::equal(a.extent, a.extent + a.count, b.extent);
  }
  /// For each saved dim, the index of the store's dim. Dims are matched by name if they have one, and otherwise by
  /// position.
  static std::vector<int> places_of(saved_value const& v, stored const& s) {
    std::vector<int> places;
    for (std::size_t i = 0; i < v.dims.size(); ++i)
      places.push_back(v.dims[i].dim.label.empty() ? static_cast<int>(i)
                                                   : meshtensor::detail::position_of(s.dims, v.dims[i].dim.label));
    return places;
  }
  /// Reads the intersection of a block and a rank's window.
  void take(named_value const& v, std::size_t block, saved_block const& b, std::vector<int> const& places,
            view const& window) {
    file_box box;
    std::int64_t to = 0;
    for (; box.count < window.count; ++box.count) {
      int const i = box.count, at = places[static_cast<std::size_t>(i)];
      std::int64_t const first = std::max(b.origin[i], window.origin[at]);
      std::int64_t const last = std::min(b.origin[i] + b.extent[i], window.origin[at] + window.extent[at]);
      if (first >= last) return;
      box.whole[i] = b.extent[i], box.first[i] = first - b.origin[i], box.extent[i] = last - first;
      box.stride[i] = window.stride[at];
      to += (first - window.origin[at]) * window.stride[at];
    }
    block_in_file const from = files_.find(v, block);
    std::int64_t const element = v.value.stored->bytes;
    read_box(from.from, from.offset, element, box, window.as<std::byte>() + to * element);
  }

  std::string what_;
  load_options how_;
  saved_files files_;
  std::set<std::string> taken_;
};

}  // namespace meshtensor::io
