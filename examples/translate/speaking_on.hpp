// SPDX-License-Identifier: Apache-2.0
// Translates on one device. Similar lengths of source and translation share a program, which is made when first needed.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <meshtensor/inspect/profile.hpp>
#include <meshtensor/run/executable.hpp>
#include <meshtensor/run/one_store.hpp>

#include "beam_search.hpp"
#include "sizes.hpp"
#include "speaking.hpp"
#include "word_by_word.hpp"

namespace translation {

inline std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The programs that translate on a device, and the sentences that are being translated.
template <class Device>
class programs_on : public speaking::translator {
  template <class Program>
  using program = mt::executable<word_by_word, Program, translation::mesh, spoken_layout, Device>;
  static_assert(mt::one_store<program<read_source>, program<say_word>, program<sample_word>>);

 public:
  programs_on(mt::store& weights, options const& o, std::int64_t pieces, mt::datasets::special_tokens const& special)
      : weights_(weights),
        o_(o),
        pieces_(pieces),
        special_(special),
        width_(o.sample ? 1 : o.beam),
        fresh_(rounded_up(std::max<std::int64_t>(1, o.sentences / 8), o.mesh.at("data"))),
        rows_(static_cast<std::size_t>(o.sentences)),
        search_(rows_.size(), static_cast<std::size_t>(width_), static_cast<std::size_t>(o.limit), special.end,
                o.length_penalty),
        open_(new bool[static_cast<std::size_t>(o.sentences * width_ * width_ * o.limit)]) {
    // Each rank searches its part of the vocabulary for so many words and two more, because two words are never output.
    if (std::int64_t const most = pieces / o.mesh.at("model") - 2; wanted() > most)
      throw mt::error("R59", {o.sample ? "--top-k is " : "twice --beam is ", wanted(), ", but a rank has at most ",
                              most, " words to choose from"});
  }

  /// Begins with the longest sources, so that the last rows to finish are short. When a sentence is done, the next
  /// takes its row.
  std::vector<sentence> translate(std::span<std::span<std::int32_t const> const> sources) override {
    std::vector<std::size_t> waiting(sources.size());
    std::iota(waiting.begin(), waiting.end(), std::size_t{0});
    std::ranges::sort(waiting, {}, [&](std::size_t i) { return std::pair(sources[i].size(), i); });
    std::vector<sentence> found(sources.size());
    for (;;) {
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].taken && !search_.is_open(i)) found[rows_[i].sentence] = search_.best(i), rows_[i].taken = false;
      auto const unused = static_cast<std::size_t>(std::ranges::count(rows_, false, &place::taken));
      std::size_t const next = std::min({static_cast<std::size_t>(fresh_), rows_.size(), waiting.size()});
      if (next > 0 && unused >= next) {
        read(sources, std::span(waiting).last(next));
        waiting.resize(waiting.size() - next);
      } else if (search_.any_open()) {
        if (o_.sample) draw();
        else search();
      } else {
        break;
      }
    }
    return found;
  }
  std::string profile() const override {
    std::string all;
    auto const add = [&](auto const& made_so_far, char const* what) {
      for (auto const& [extents, each] : made_so_far)
        all += fmt::format("{}, sources of {} words, {} of the translation\n{}", what, extents.first, extents.second,
                           mt::profile(*each));
    };
    for (auto const& [used, each] : reads_)
      all += fmt::format("sources of {} words read\n{}", used, mt::profile(*each));
    add(says_, "words searched for"), add(samples_, "words drawn");
    return all;
  }

 private:
  struct place {
    bool taken = false;
    std::size_t sentence = 0;
    std::int64_t length = 1;  // of its source
  };

  /// The number of candidates for the next word.
  std::int64_t wanted() const { return o_.sample ? o_.top_k : 2 * width_; }

  /// Runs one step, which finds the next word of every hypothesis.
  template <class Program, class... Given>
  auto say(std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Program>>& all, Given const&... given) {
    std::int64_t longest = 1;
    for (place const& each : rows_) longest = std::max(longest, each.taken ? each.length : 1);
    std::int64_t const used = std::min(rounded_up(longest, 8), o_.longest);
    std::int64_t const positions = std::min(rounded_up(std::max(1, std::ranges::max(search_.position)), 16), o_.limit);
    auto& says = all[{used, positions}];
    if (!says) {
      std::int64_t const cut = o_.mesh.at("model");
      says = made<Program>(weights_, sizes(o_, pieces_, row(o_.sentences), length(used), all_source(o_.longest),
                                           beam(width_), said(width_ * positions), all_said(width_ * o_.limit),
                                           choices(wanted()), offered(wanted() + 2), part(cut), word(pieces_ / cut)));
      says->record(o_.profile);
      says->exclude_from_step_count();
    }
    std::span<bool> const open(open_.get(), static_cast<std::size_t>(o_.sentences * width_ * width_ * positions));
    search_.open_places(open, static_cast<std::size_t>(positions));
    return (*says)(mt::feed<"token">(search_.token), mt::feed<"open">(open), mt::feed<"position">(search_.position),
                   given...);
  }
  static auto all_of(auto const& a) { return std::span(a.data(), static_cast<std::size_t>(a.size())); }

  /// Puts sentences into free rows.
  void read(std::span<std::span<std::int32_t const> const> sources, std::span<std::size_t const> now) {
    auto const cut = [&](std::size_t i) {
      auto const pieces = sources[now[i]];
      return pieces.first(std::min(pieces.size(), static_cast<std::size_t>(o_.longest) - 1));
    };
    std::size_t longest = 1;
    for (std::size_t i = 0; i < now.size(); ++i) longest = std::max(longest, cut(i).size() + 1);
    std::int64_t const used = std::min(rounded_up(static_cast<std::int64_t>(longest), 8), o_.longest);
    source_.assign(static_cast<std::size_t>(fresh_ * used), special_.pad);
    into_.assign(static_cast<std::size_t>(fresh_), -1);
    std::size_t free = 0;
    for (std::size_t i = 0; i < into_.size(); ++i) {
      auto const to = source_.begin() + static_cast<std::ptrdiff_t>(i) * used;
      *(i < now.size() ? std::ranges::copy(cut(i), to).out : to) = special_.end;
      if (i >= now.size()) continue;
      while (rows_[free].taken) ++free;
      rows_[free] = {true, now[i], static_cast<std::int64_t>(cut(i).size()) + 1};
      search_.begin(free, special_.begin);
      into_[i] = static_cast<std::int32_t>(free);
    }
    auto& reads = reads_[used];
    if (!reads) {
      reads = made<program<read_source>>(
          weights_, sizes(o_, pieces_, batch(fresh_), row(o_.sentences), length(used), all_source(o_.longest)));
      reads->record(o_.profile);
      reads->exclude_from_step_count();  // because it only fills caches
    }
    (*reads)(mt::feed<"source">(source_), mt::feed<"into">(into_));
  }

  void search() {
    auto const next = say(says_, mt::feed<"score">(search_.score));
    auto const best = next.template get<"best">().gather();
    auto const from = next.template get<"way">().gather();
    auto const last = next.template get<"word">().gather();
    search_.follow(all_of(best), all_of(from), all_of(last));
  }

  /// Samples the next word of each sentence. Here the search has one hypothesis for each sentence.
  void draw() {
    auto const next = say(samples_, mt::set<"temperature">(o_.temperature), mt::set<"top_p">(o_.top_p));
    auto const drawn = next.template get<"word">().gather();
    std::vector<std::int32_t> choice(2 * search_.token.size(), special_.end), from(choice.size());
    std::vector<float> const same(choice.size());
    for (std::size_t i = 0; i < search_.token.size(); ++i) choice[2 * i] = drawn.data()[i];
    search_.follow(same, from, choice);
  }

  mt::store& weights_;
  options const& o_;
  std::int64_t pieces_;
  mt::datasets::special_tokens special_;
  std::int64_t width_, fresh_;  // hypotheses of a sentence, and sentences that are read at a time
  std::vector<place> rows_;
  beam_search search_;
  std::vector<std::int32_t> source_, into_;
  std::unique_ptr<bool[]> open_;
  std::map<std::int64_t, std::unique_ptr<program<read_source>>> reads_;  // by source length
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<program<say_word>>> says_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<program<sample_word>>> samples_;
};

}  // namespace translation
