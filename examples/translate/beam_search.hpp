// SPDX-License-Identifier: Apache-2.0
// Which of the likeliest ways to go on are followed, and when a translation is complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace translation {

/// The ways of one batch of sentences. Of each sentence `width` are followed; a complete one is ranked by its log
/// probability for each word, and a sentence is done when it has as many complete ones as are followed.
class beam_search {
 public:
  beam_search(std::size_t sentences, std::size_t width, std::int32_t ending)
      : width_(width),
        end_(ending),
        all_(sentences),
        token(sentences * width),
        parent(sentences * width),
        score(sentences * width) {
    for (sentence& s : all_) s.live.resize(width);
  }

  /// Before the first word: one way, and none that could be taken for it.
  void begin(std::int32_t first, std::size_t used) {
    step_ = 0, used_ = used;
    std::fill(token.begin(), token.end(), first);
    std::fill(parent.begin(), parent.end(), 0);
    for (std::size_t i = 0; i < score.size(); ++i) score[i] = i % width_ == 0 ? 0 : -1e9f;
    for (sentence& s : all_) {
      s.done.clear();
      for (auto& one : s.live) one.clear();
    }
  }

  /// Takes the best ways to go on, of each sentence twice as many as are followed, the best first: what each scores,
  /// which way it continues, and its word. Whether sentences are left that are not complete.
  bool follow(std::span<float const> best, std::span<std::int32_t const> way, std::span<std::int32_t const> last) {
    ++step_;
    bool left = false;
    std::size_t const offered = 2 * width_;
    for (std::size_t s = 0; s < used_; ++s) {
      std::vector<std::vector<std::int32_t>> next;
      for (std::size_t c = 0; c < offered; ++c) {
        std::size_t const at = s * offered + c;
        auto const from = static_cast<std::size_t>(way[at]) / offered;
        if (last[at] == end_) {  // one of the best ends here, or is not good enough to
          if (c < width_ && all_[s].done.size() < width_)
            all_[s].done.push_back({best[at] / static_cast<float>(step_), all_[s].live[from]});
          continue;
        }
        if (next.size() == width_) continue;
        std::size_t const to = s * width_ + next.size();
        token[to] = last[at], parent[to] = static_cast<std::int32_t>(from), score[to] = best[at];
        next.push_back(all_[s].live[from]);
        next.back().push_back(last[at]);
      }
      next.resize(width_);
      all_[s].live = std::move(next);
      left = left || all_[s].done.size() < width_;
    }
    return left;
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
  struct sentence {
    std::vector<std::vector<std::int32_t>> live;
    std::vector<complete> done;
  };
  std::size_t width_, step_ = 0, used_ = 0;
  std::int32_t end_;
  std::vector<sentence> all_;

 public:  // what the next step is fed: of each way its last word, which way it continues, what it scores
  std::vector<std::int32_t> token, parent;
  std::vector<float> score;
};

}  // namespace translation
