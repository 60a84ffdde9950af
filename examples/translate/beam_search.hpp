// SPDX-License-Identifier: Apache-2.0
// Which of the likeliest ways to go on are followed, and when a translation is complete.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace translation {

/// The ways of one batch of sentences. Of each sentence `width` are followed; a complete one is ranked by its log
/// probability, divided by its length to the power of `penalty`, and a sentence is done when it has as many complete
/// ones as are followed.
class beam_search {
 public:
  beam_search(std::size_t sentences, std::size_t width, std::int32_t ending, double penalty = 1)
      : width_(width),
        end_(ending),
        penalty_(penalty),
        all_(sentences),
        token(sentences * width),
        score(sentences * width) {
    for (sentence& s : all_) s.live.resize(width);
  }

  /// Before the first word: one way, and none that could be taken for it.
  void begin(std::int32_t first, std::size_t used) {
    step_ = 0, used_ = used;
    std::fill(token.begin(), token.end(), first);
    for (std::size_t i = 0; i < score.size(); ++i) score[i] = i % width_ == 0 ? 0 : -1e9f;
    for (sentence& s : all_) {
      s.done.clear();
      for (way& one : s.live) one = {};
    }
  }

  /// Takes the best ways to go on, of each sentence twice as many as are followed, the best first: what each scores,
  /// which way it continues, and its word. Whether sentences are left that are not complete.
  bool follow(std::span<float const> best, std::span<std::int32_t const> from, std::span<std::int32_t const> last) {
    ++step_;
    bool left = false;
    std::size_t const offered = 2 * width_;
    auto const length = static_cast<float>(std::pow(static_cast<double>(step_), penalty_));
    for (std::size_t s = 0; s < used_; ++s) {
      std::vector<way> next;
      next.reserve(width_);
      for (std::size_t c = 0; c < offered; ++c) {
        std::size_t const at = s * offered + c;
        auto const place = static_cast<std::size_t>(from[at]) / offered;
        way const& before = all_[s].live[place];
        if (last[at] == end_) {  // one of the best ends here, or is not good enough to
          if (c < width_ && all_[s].done.size() < width_) all_[s].done.push_back({best[at] / length, before.text});
          continue;
        }
        if (next.size() == width_) continue;
        std::size_t const to = s * width_ + next.size();
        token[to] = last[at], score[to] = best[at];
        next.push_back(before);
        next.back().text.push_back(last[at]);
        next.back().places.push_back(static_cast<std::int32_t>(place));
      }
      next.resize(width_);
      all_[s].live = std::move(next);
      left = left || all_[s].done.size() < width_;
    }
    return left;
  }

  /// Where the words of each way were kept: `open` [sentence, way, place, position] holds at the place that the way, or
  /// the one that it goes on from, had as its word of a position was said.
  void open_places(std::span<bool> open, std::size_t positions) const {
    std::ranges::fill(open, false);
    for (std::size_t s = 0; s < used_; ++s)
      for (std::size_t w = 0; w < width_; ++w) {
        auto const& places = all_[s].live[w].places;
        for (std::size_t p = 0; p < places.size(); ++p)
          open[((s * width_ + w) * width_ + static_cast<std::size_t>(places[p])) * positions + p] = true;
      }
  }

  /// The best complete translation of a sentence; none: nothing was complete.
  std::vector<std::int32_t> const& best(std::size_t s) const {
    static std::vector<std::int32_t> const none;
    auto const at = std::ranges::max_element(all_[s].done, {}, &complete::score);
    return at == all_[s].done.end() ? none : at->text;
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
    std::vector<way> live;
    std::vector<complete> done;
  };
  std::size_t width_, step_ = 0, used_ = 0;
  std::int32_t end_;
  double penalty_;
  std::vector<sentence> all_;

 public:  // what the next step is fed: of each way its last word, and what it scores
  std::vector<std::int32_t> token;
  std::vector<float> score;
};

}  // namespace translation
