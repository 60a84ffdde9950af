// SPDX-License-Identifier: Apache-2.0
// Beam search, which follows the likeliest hypotheses and decides when a translation is complete.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace translation {

/// The hypotheses of the sentences that are being translated. Each sentence has a row with `width` live hypotheses.
/// Complete hypotheses are ranked by log probability, divided by the length to the power of `penalty`. A sentence is
/// done when it has `width` complete hypotheses, or when the live ones have `limit` words, the ending included. Then
/// its row is free for another sentence.
class beam_search {
 public:
  beam_search(std::size_t rows, std::size_t width, std::size_t limit, std::int32_t ending, double penalty = 1)
      : width_(width),
        limit_(limit),
        end_(ending),
        penalty_(penalty),
        all_(rows),
        token(rows * width, ending),
        position(rows),
        score(rows * width) {
    for (sentence& s : all_) s.live.resize(width);
  }

  /// Begins a sentence. Before its first word it has one live hypothesis, because the others score so low that they are
  /// never chosen.
  void begin(std::size_t row, std::int32_t first) {
    sentence& s = all_[row];
    s.open = true, position[row] = 0;
    s.done.clear();
    for (std::size_t w = 0; w < width_; ++w) {
      token[row * width_ + w] = first, score[row * width_ + w] = w == 0 ? 0 : -1e9f;
      s.live[w] = {};
    }
    end_at_limit(row);
  }
  bool is_open(std::size_t row) const { return all_[row].open; }
  bool any_open() const {
    return std::ranges::any_of(all_, [](sentence const& s) { return s.open; });
  }

  /// Takes the best continuations of each sentence, twice `width` of them with the best first. `best` has their scores,
  /// `from` the hypotheses that they continue, and `last` their words.
  void follow(std::span<float const> best, std::span<std::int32_t const> from, std::span<std::int32_t const> last) {
    for (std::size_t row = 0; row < all_.size(); ++row)
      if (all_[row].open) follow(row, best, from, last);
  }

  /// Writes the mask of the cached words of each hypothesis. `open` [row, way, position, place] is true at the place
  /// where the word of that position was written, by this hypothesis or by an earlier one that it continues.
  void open_places(std::span<bool> open, std::size_t positions) const {
    std::ranges::fill(open, false);
    for (std::size_t s = 0; s < all_.size(); ++s)
      for (std::size_t w = 0; w < width_ && all_[s].open; ++w) {
        auto const& places = all_[s].live[w].places;
        for (std::size_t p = 0; p < places.size(); ++p)
          open[((s * width_ + w) * positions + p) * width_ + static_cast<std::size_t>(places[p])] = true;
      }
  }

  /// The best complete translation of a sentence, or an empty one if there is none.
  std::vector<std::int32_t> const& best(std::size_t row) const {
    static std::vector<std::int32_t> const none;
    auto const at = std::ranges::max_element(all_[row].done, {}, &complete::score);
    return at == all_[row].done.end() ? none : at->text;
  }

 private:
  struct complete {
    float score;
    std::vector<std::int32_t> text;
  };
  struct way {
    std::vector<std::int32_t> text, places;
  };
  struct sentence {
    bool open = false;
    std::vector<way> live;
    std::vector<complete> done;
  };

  void follow(std::size_t row, std::span<float const> best, std::span<std::int32_t const> from,
              std::span<std::int32_t const> last) {
    sentence& s = all_[row];
    auto const divisor = length_of(++position[row]);
    std::size_t const offered = 2 * width_;
    std::vector<way> next;
    next.reserve(width_);
    for (std::size_t c = 0; c < offered; ++c) {
      std::size_t const at = row * offered + c;
      auto const place = static_cast<std::size_t>(from[at]) / (offered + 2);
      way const& before = s.live[place];
      if (last[at] == end_) {  // complete if it is one of the `width` best
        if (c < width_ && s.done.size() < width_) s.done.push_back({best[at] / divisor, before.text});
        continue;
      }
      if (next.size() == width_) continue;
      std::size_t const to = row * width_ + next.size();
      token[to] = last[at], score[to] = best[at];
      next.push_back(before);
      next.back().text.push_back(last[at]);
      next.back().places.push_back(static_cast<std::int32_t>(place));
    }
    next.resize(width_);
    s.live = std::move(next);
    if (s.done.size() < width_) end_at_limit(row);
    else close(row);
  }
  /// At the limit, the live hypotheses count as complete, the best first.
  void end_at_limit(std::size_t row) {
    sentence& s = all_[row];
    if (static_cast<std::size_t>(position[row]) + 1 < limit_) return;
    for (std::size_t w = 0; w < width_ && s.done.size() < width_; ++w)
      if (float const of = score[row * width_ + w]; of > -1e9f)
        s.done.push_back({of / length_of(position[row] + 1), s.live[w].text});
    close(row);
  }
  void close(std::size_t row) { all_[row].open = false, position[row] = 0; }
  float length_of(std::int32_t count) const {
    return static_cast<float>(std::pow(static_cast<double>(count), penalty_));
  }

  std::size_t width_, limit_;
  std::int32_t end_;
  double penalty_;
  std::vector<sentence> all_;

 public:  // inputs of the next step: each hypothesis's last word and score, each row's number of words
  std::vector<std::int32_t> token, position;
  std::vector<float> score;
};

}  // namespace translation
