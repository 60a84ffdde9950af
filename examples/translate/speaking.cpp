// SPDX-License-Identifier: Apache-2.0
#include "speaking.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include <meshtensor/device/default.hpp>
#include <meshtensor/run/executable.hpp>
#include <meshtensor/run/one_store.hpp>

#include "beam_search.hpp"
#include "sizes.hpp"
#include "word_by_word.hpp"

namespace translation {

namespace {
template <class Program>
using program = mt::executable<word_by_word, Program, translation::mesh, spoken_layout, mt::default_device>;
static_assert(mt::one_store<program<read_source>, program<say_word>, program<sample_word>>);

std::int64_t rounded_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }
}  // namespace

class speaking::programs {
 public:
  programs(mt::store& weights, options const& o, std::int64_t pieces, mt::special_tokens const& special)
      : weights_(weights),
        o_(o),
        pieces_(pieces),
        special_(special),
        width_(o.sample ? 1 : o.beam),
        search_(static_cast<std::size_t>(o.sentences), static_cast<std::size_t>(width_), special.end, o.length_penalty),
        source_(static_cast<std::size_t>(o.sentences * o.longest)),
        open_(new bool[static_cast<std::size_t>(o.sentences * width_ * width_ * o.limit)]) {}

  std::vector<sentence> translate(std::span<std::span<std::int32_t const> const> sources) {
    std::uint64_t const step = weights_.step();  // of the training: what translating keeps counts as no step
    weights_.set_step(step + said_);             // yet what is drawn is drawn with other numbers each time
    std::vector<std::size_t> order(sources.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(sources[i].size(), i); });
    std::vector<sentence> found(sources.size());
    auto const rows = static_cast<std::size_t>(o_.sentences);
    for (std::size_t first = 0; first < order.size(); first += rows) {
      auto const now = std::span(order).subspan(first, std::min(rows, order.size() - first));
      std::int64_t const used = read(sources, now);
      if (o_.sample) draw(now, used, found);
      else search(now, used, found);
    }
    said_ = weights_.step() - step;
    weights_.set_step(step);
    return found;
  }

 private:
  /// One word of every way, at position t.
  template <class Program, class... Given>
  auto say(std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Program>>& all, std::int64_t wanted,
           std::int64_t t, std::int64_t used, Given const&... given) {
    std::int64_t const positions = t <= 16   ? std::min<std::int64_t>(16, o_.limit)
                                   : t <= 32 ? std::min<std::int64_t>(32, o_.limit)
                                             : o_.limit;
    auto& says = all[{used, positions}];
    if (!says) {
      std::int64_t const cut = o_.mesh.at("model");
      says = made<Program>(weights_,
                           sizes(o_, pieces_, batch(o_.sentences), length(used), all_source(o_.longest), beam(width_),
                                 said(positions), all_said(o_.limit), choices(wanted), part(cut), word(pieces_ / cut)));
    }
    std::span<bool> const open(open_.get(), static_cast<std::size_t>(o_.sentences * width_ * width_ * positions));
    search_.open_places(open, static_cast<std::size_t>(positions));
    return (*says)(mt::feed<"token">(search_.token), mt::feed<"open">(open),
                   mt::set<"position">(static_cast<double>(t)), given...);
  }
  static auto all_of(auto const& a) { return std::span(a.data(), static_cast<std::size_t>(a.size())); }

  /// Reads the sentences of a batch; how long the longest of them is, rounded up.
  std::int64_t read(std::span<std::span<std::int32_t const> const> sources, std::span<std::size_t const> now) {
    auto const longest = static_cast<std::size_t>(o_.longest);
    std::size_t used = 1;
    std::ranges::fill(source_, special_.pad);
    for (std::size_t i = 0; i < static_cast<std::size_t>(o_.sentences); ++i) {
      auto pieces = i < now.size() ? sources[now[i]] : std::span<std::int32_t const>();
      pieces = pieces.first(std::min(pieces.size(), longest - 1));
      *std::ranges::copy(pieces, source_.begin() + static_cast<std::ptrdiff_t>(i * longest)).out = special_.end;
      used = std::max(used, pieces.size() + 1);
    }
    if (!reads_)
      reads_ = made<program<read_source>>(
          weights_, sizes(o_, pieces_, batch(o_.sentences), length(o_.longest), all_source(o_.longest)));
    (*reads_)(mt::feed<"source">(source_));
    return std::min(rounded_up(static_cast<std::int64_t>(used), 8), o_.longest);
  }

  void search(std::span<std::size_t const> now, std::int64_t used, std::vector<sentence>& found) {
    search_.begin(special_.begin, now.size());
    bool more = true;
    for (std::int64_t t = 0; more && t < o_.limit; ++t) {
      auto const next = say(says_, 2 * width_, t, used, mt::feed<"score">(search_.score),
                            mt::set<"ending">(t + 1 == o_.limit ? 1 : 0));
      auto const best = next.template get<"best">().gather();
      auto const from = next.template get<"way">().gather();
      auto const last = next.template get<"word">().gather();
      more = search_.follow(all_of(best), all_of(from), all_of(last));
    }
    for (std::size_t i = 0; i < now.size(); ++i) found[now[i]] = search_.best(i);
  }

  /// Draws word after word of each sentence, which the search follows as its one way.
  void draw(std::span<std::size_t const> now, std::int64_t used, std::vector<sentence>& found) {
    search_.begin(special_.begin, now.size());
    std::vector<bool> done(now.size());
    std::size_t left = now.size();
    std::vector<float> const same(2 * search_.token.size());
    std::vector<std::int32_t> const from(same.size());
    for (std::int64_t t = 0; left > 0 && t < o_.limit; ++t) {
      auto const next =
          say(samples_, o_.top_k, t, used, mt::set<"temperature">(o_.temperature), mt::set<"top_p">(o_.top_p));
      auto const drawn_words = next.template get<"word">().gather();
      std::vector<std::int32_t> offered(same.size(), special_.end);
      for (std::size_t i = 0; i < now.size(); ++i) {
        std::int32_t const drawn = drawn_words.data()[i];
        offered[2 * i] = drawn == special_.end ? special_.unknown : drawn;
        if (done[i]) continue;
        if (drawn == special_.end) done[i] = true, --left;
        else found[now[i]].push_back(drawn);
      }
      search_.follow(same, from, offered);
    }
  }

  mt::store& weights_;
  options const& o_;
  std::int64_t pieces_;
  mt::special_tokens special_;
  std::int64_t width_;
  std::uint64_t said_ = 0;  // steps of these programs
  beam_search search_;
  std::vector<std::int32_t> source_;
  std::unique_ptr<bool[]> open_;
  std::unique_ptr<program<read_source>> reads_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<program<say_word>>> says_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<program<sample_word>>> samples_;
};

speaking::speaking(mt::store& weights, options const& o, std::int64_t pieces, mt::special_tokens const& special)
    : all_(std::make_unique<programs>(weights, o, pieces, special)) {}
speaking::~speaking() = default;

std::vector<sentence> speaking::translate(std::span<std::span<std::int32_t const> const> sources) {
  return all_->translate(sources);
}

}  // namespace translation
