// SPDX-License-Identifier: Apache-2.0
// What the translating example says word by word, from keys and values that it keeps, is what it says when every prefix
// is read anew: greedily and by beam search, with any length penalty.
//
// passes: start-up
// needs: cpu
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "../../../examples/translate/beam_search.hpp"
#include "../../../examples/translate/word_by_word.hpp"
#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/run/session.hpp"

namespace mt = meshtensor;
using namespace translation;

namespace {

constexpr std::int64_t rows = 4, words = 12, limit = 7, most_ways = 3, longest = 8;
using sentence = std::vector<std::int32_t>;

/// The logits of a whole sentence, every position read at once.
struct read_anew {
  constexpr void operator()(mt::scope auto s) const {
    auto const from = s.input("source", mt::i32, batch, length);
    s.output("logits", logits_of(s / "model", from, s.input("target", mt::i32, batch, length)));
  }
};

struct all_programs : mt::programs<read_source, say_word, read_anew> {};

/// One program on one processor.
template <class Program, class Device>
struct running {
  std::unique_ptr<mt::lowering> low;
  mt::session<Device> step;

  running(mt::store& store, std::vector<mt::dim_extent> more, mt::device_capabilities const& capabilities,
          Device device)
      : low(lowered(std::move(more), capabilities)),
        step(store, low->graph, low->planned, {}, low->entry, std::move(device)) {}
  static std::unique_ptr<mt::lowering> lowered(std::vector<mt::dim_extent> more,
                                               mt::device_capabilities const& capabilities) {
    for (mt::dim_extent const& e : {vocab(words), layers(2), d_model(16), heads(2), d_head(8), d_ff(24)})
      more.push_back(e);
    return mt::lower(mt::detail::traced<all_programs>, mt::entry_name<Program>(), {}, {}, more, capabilities);
  }
};

sentence padded(sentence s) {
  s.resize(longest, padding);
  return s;
}

/// Sources of several lengths, each closed by its ending.
sentence const sources[rows] = {{4, 5, 6, end}, {7, end}, {9, 8, 11, 10, 4, 4, 6, end}, {5, 5, 8, 1, end}};

/// The search as it is defined: all ways to go on of every way, each prefix read anew.
class plain_search {
 public:
  struct way {
    sentence text;
    double score = 0;
  };
  std::vector<way> live[rows], done[rows];
  bool open[rows];

  plain_search(mt::store& store, std::int64_t width, double penalty)
      : width_(static_cast<std::size_t>(width)),
        penalty_(penalty),
        model_(store, {batch(rows * most_ways), length(longest)}, {}, {}) {
    for (int r = 0; r < rows; ++r) live[r] = {way{}}, open[r] = true;
  }
  void say_a_word() {
    ++position_;
    sentence from, into;
    for (int r = 0; r < rows; ++r)
      for (std::size_t w = 0; w < most_ways; ++w) {
        sentence text{begin};
        if (w < live[r].size()) text.insert(text.end(), live[r][w].text.begin(), live[r][w].text.end());
        for (std::int32_t token : padded(sources[r])) from.push_back(token);
        for (std::int32_t token : padded(text)) into.push_back(token);
      }
    model_.step.feed("source", from.data()), model_.step.feed("target", into.data());
    model_.step.step();
    mt::block const logits = model_.step.whole("logits");
    for (int r = 0; r < rows; ++r)
      if (open[r]) follow(r, logits);
  }
  sentence best(int r) const { return std::ranges::max_element(done[r], {}, &way::score)->text; }

 private:
  void follow(int r, mt::block const& logits) {
    std::vector<way> all;
    for (std::size_t w = 0; w < live[r].size(); ++w) {
      auto const at = [&](std::int64_t word) {
        std::int64_t const text = r * most_ways + static_cast<std::int64_t>(w);
        return logits.number_at((text * longest + position_ - 1) * words + word);
      };
      double sum = 0;
      for (int v = 0; v < words; ++v) sum += std::exp(at(v));
      for (std::int32_t v = 0; v < words; ++v) {
        if (v == padding || v == begin) continue;
        all.push_back(live[r][w]);
        all.back().text.push_back(v), all.back().score += at(v) - std::log(sum);
      }
    }
    std::ranges::sort(all, std::greater(), &way::score);
    all.resize(2 * width_);
    live[r].clear();
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (all[c].text.back() != end) {
        if (live[r].size() < width_) live[r].push_back(all[c]);
      } else if (c < width_ && done[r].size() < width_) {
        all[c].text.pop_back();
        finish(r, all[c], position_);
      }
    }
    if (position_ + 1 >= limit)
      for (way const& each : live[r])
        if (done[r].size() < width_) finish(r, each, position_ + 1);
    open[r] = done[r].size() < width_;
  }
  void finish(int r, way const& each, int length) {
    done[r].push_back({each.text, each.score / std::pow(length, penalty_)});
  }

  std::size_t width_;
  double penalty_;
  int position_ = 0;
  running<read_anew, mt::reference_device> model_;
};

/// The example's programs and its search.
class kept_search {
 public:
  beam_search search;

  kept_search(mt::store& store, std::int64_t width, double penalty)
      : search(rows, static_cast<std::size_t>(width), limit, end, penalty),
        width_(width),
        reads_(store, {row(rows), batch(rows), length(longest), all_source(longest)}, mt::cpu_device::capabilities,
               mt::cpu_device(1)),
        says_(store,
              {row(rows), length(longest), all_source(longest), beam(width), said(width * limit),
               all_said(width * limit), choices(2 * width), offered(2 * width + 2), part(1), word(words)},
              mt::cpu_device::capabilities, mt::cpu_device(1)) {
    sentence from, into;
    for (int r = 0; r < rows; ++r) {
      for (std::int32_t token : padded(sources[r])) from.push_back(token);
      into.push_back(r);
      search.begin(static_cast<std::size_t>(r), begin);
    }
    reads_.step.feed("source", from.data()), reads_.step.feed("into", into.data());
    reads_.step.step();
  }
  void say_a_word() {
    std::unique_ptr<bool[]> const open(new bool[static_cast<std::size_t>(rows * width_ * width_ * limit)]);
    search.open_places({open.get(), static_cast<std::size_t>(rows * width_ * width_ * limit)}, limit);
    says_.step.feed("token", search.token.data()), says_.step.feed("open", open.get());
    says_.step.feed("position", search.position.data()), says_.step.feed("score", search.score.data());
    says_.step.step();
    mt::block const best = says_.step.whole("best"), way = says_.step.whole("way"), last = says_.step.whole("word");
    auto const count = static_cast<std::size_t>(best.size());
    search.follow({best.as<float>(), count}, {way.as<std::int32_t>(), count}, {last.as<std::int32_t>(), count});
  }

 private:
  std::int64_t width_;
  running<read_source, mt::cpu_device> reads_;
  running<say_word, mt::cpu_device> says_;
};

}  // namespace

TEST_CASE("word by word as read anew") {
  int ended_early = 0, other_by_penalty = 0;
  for (std::int64_t width : {1, 3}) {
    std::vector<sentence> found[2];
    for (double penalty : {0.0, 2.0}) {
      CAPTURE(width);
      CAPTURE(penalty);
      auto const job = mt::job::in_lockstep();
      mt::store store(job, 2);
      kept_search kept(store, width, penalty);
      plain_search plain(store, width, penalty);
      for (int position = 1; kept.search.any_open(); ++position) {
        REQUIRE(position < limit);
        kept.say_a_word(), plain.say_a_word();
        for (int r = 0; r < rows; ++r) {
          auto const at = static_cast<std::size_t>(r);
          REQUIRE(kept.search.is_open(at) == plain.open[r]);
          for (std::size_t w = 0; plain.open[r] && w < plain.live[r].size(); ++w) {
            std::size_t const here = at * static_cast<std::size_t>(width) + w;
            CHECK(kept.search.token[here] == plain.live[r][w].text.back());
            CHECK(kept.search.score[here] == doctest::Approx(plain.live[r][w].score).epsilon(1e-5));
          }
          if (!plain.open[r]) ended_early += position + 1 < limit;
        }
      }
      for (int r = 0; r < rows; ++r) {
        CHECK(kept.search.best(static_cast<std::size_t>(r)) == plain.best(r));
        found[penalty > 0].push_back(plain.best(r));
      }
    }
    for (std::size_t r = 0; r < rows; ++r) other_by_penalty += found[0][r] != found[1][r];
  }
  CHECK(ended_early > 0);
  CHECK(other_by_penalty > 0);
}
