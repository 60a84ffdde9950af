// SPDX-License-Identifier: Apache-2.0
// Draws which scopes fill the arena during a step.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/emit/canvas.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/plan_memory.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The colours of scopes. A scope has the same colour in all plans of a page. Colours also differ in brightness, and
/// stand out on light and on dark pages.
class scope_colours {
 public:
  static constexpr char const* all_others = "all other scopes";

  std::string of(std::string const& scope) {
    constexpr char const* colours[] = {"#4477aa", "#ee8866", "#44bb99", "#aa3377", "#eedd88", "#99ddff",
                                       "#228833", "#ffaabb", "#994f00", "#aaaa00", "#7766cc"};
    if (scope == all_others) return "#aab2ba";
    auto const place = known_.try_emplace(scope, known_.size()).first->second;
    return colours[place % std::size(colours)];
  }

 private:
  std::map<std::string, std::size_t> known_;
};

/// The bytes of the arena's live values at some moments of a step, by the scope that made them.
class memory_curve : speller {
 public:
  struct band {
    std::string scope;
    std::vector<std::int64_t> bytes;  // at each moment
    std::int64_t most = 0;
  };

  memory_curve(module const& m, plan const& p) : speller(m), p_(p) {
    auto const again = std::make_unique<plan>();
    again->numbers = p.numbers, again->steps = p.steps;
    std::unique_ptr<planner> const planned(new planner(m, *again));
    int entry = 0;
    while (m.regions[entry].kind != region_kind::entry || m.regions[entry].removed) ++entry;
    planned->run(entry);
    choose_moments(planned->life);
    std::map<std::string, std::size_t> known;
    for (int v = 0; v < m.value_count; ++v) {
      if (!is_held(v)) continue;
      std::string const scope = scope_of(static_cast<value_id>(v));
      auto const [at, is_new] = known.try_emplace(scope, bands_.size());
      if (is_new) bands_.push_back({scope, std::vector<std::int64_t>(moments_.size()), 0});
      band& b = bands_[at->second];
      for (std::size_t k = 0; k < moments_.size(); ++k)
        if (planned->life.begin[v] <= moments_[k] && moments_[k] <= planned->life.end[v]) b.bytes[k] += bytes(v);
    }
    for (band& b : bands_) b.most = *std::ranges::max_element(b.bytes);
    std::ranges::sort(bands_, {}, [](band const& b) { return std::pair(-b.most, b.scope); });
    join_small();
  }

  std::vector<band> const& bands() const { return bands_; }
  /// The most bytes that live at once. Values of different sizes leave gaps, so the arena may be larger.
  std::int64_t most() const { return most_; }

  /// The bands on top of each other, as an image that a page may stretch.
  std::string image(scope_colours& colours) const {
    if (bands_.empty()) return "";
    canvas c;
    std::vector<std::int64_t> below(moments_.size());
    for (band const& b : bands_) {
      std::string upper, lower;
      for (std::size_t k = 0; k < moments_.size(); ++k) {
        std::string const x = std::to_string(across(k));
        lower = x + "," + std::to_string(down(below[k])) + (lower.empty() ? "" : " ") + lower;
        below[k] += b.bytes[k];
        upper += x + "," + std::to_string(down(below[k])) + " ";
      }
      c.area(upper + lower, colours.of(b.scope), b.scope + ": at most " + bytes_text(b.most));
    }
    c.frame(0, 0, width, height);
    return c.image_of_page();
  }

 private:
  static constexpr int width = 720, height = 220;
  static constexpr std::size_t most_moments = 180, most_bands = 11;

  bool is_held(int v) const { return p_.root[v] == v && is_in_arena(p_.where[v]); }
  std::int64_t bytes(int v) const {
    return p_.numbers.local_bytes(m_.values[v]) * (p_.where[v] == place::double_buffer ? 2 : 1);
  }
  /// Divides the step into many equal spans, and chooses from each span the moment with the most bytes.
  void choose_moments(liveness const& life) {
    std::vector<std::int64_t> held(static_cast<std::size_t>(life.now) + 2);
    for (int v = 0; v < m_.value_count; ++v) {
      if (!is_held(v)) continue;
      held[static_cast<std::size_t>(life.begin[v])] += bytes(v);
      held[static_cast<std::size_t>(std::min(life.end[v], life.now)) + 1] -= bytes(v);
    }
    for (std::size_t t = 1; t < held.size(); ++t) held[t] += held[t - 1];
    held.pop_back();
    most_ = *std::ranges::max_element(held);
    std::size_t const count = std::min(most_moments, held.size());
    for (std::size_t k = 0; k < count; ++k) {
      auto const begin = held.begin() + static_cast<std::ptrdiff_t>(k * held.size() / count);
      auto const end = held.begin() + static_cast<std::ptrdiff_t>((k + 1) * held.size() / count);
      moments_.push_back(static_cast<int>(std::max_element(begin, end) - held.begin()));
    }
  }
  /// The path of the node that makes a value, cut after its second component.
  std::string scope_of(value_id v) const {
    std::string const whole = path(node_computing(m_, v).path);
    std::size_t const first = whole.find('/'), second = first == whole.npos ? first : whole.find('/', first + 1);
    return whole.empty() ? "outside of scopes" : whole.substr(0, second);
  }
  void join_small() {
    if (bands_.size() <= most_bands) return;
    band rest{scope_colours::all_others, std::vector<std::int64_t>(moments_.size()), 0};
    for (std::size_t i = most_bands - 1; i < bands_.size(); ++i)
      for (std::size_t k = 0; k < moments_.size(); ++k) rest.bytes[k] += bands_[i].bytes[k];
    rest.most = *std::ranges::max_element(rest.bytes);
    bands_.resize(most_bands - 1), bands_.push_back(rest);
  }
  int across(std::size_t k) const {
    return static_cast<int>(k * static_cast<std::size_t>(width) / std::max<std::size_t>(1, moments_.size() - 1));
  }
  int down(std::int64_t bytes) const {
    double const share = static_cast<double>(bytes) / static_cast<double>(std::max<std::int64_t>(1, most_));
    return height - static_cast<int>(share * (height - 8));
  }

  plan const& p_;
  std::vector<int> moments_;
  std::vector<band> bands_;
  std::int64_t most_ = 0;
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
