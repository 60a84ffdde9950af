// SPDX-License-Identifier: Apache-2.0
// Fills values of another number of replicas than the files have, and says what it did.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/merge_replicas.hpp"
#include "meshtensor/io/checkpoint/read_part.hpp"
#include "meshtensor/io/checkpoint/replica_match.hpp"

namespace meshtensor::io {

/// Merges saved replicas. All new replicas get the same values, but for sums of integers. Therefore the mean of all
/// replicas, which `consensus` computes, stays as it was. Each rank reads, piece by piece, the parts of all saved
/// replicas that its own part needs.
///
/// errors  C19 the weights of the saved replicas are missing or have no positive sum, or a value has the rule `restart`
///         and no constant to start with
class replica_merger {
 public:
  using named_values = std::map<std::string, named_value>;

  replica_merger(saved_files& files, named_values const& values) : files_(files), values_(values) {}

  std::string what;                             // the checkpoint or file, for sentences
  std::string mass;                             // the name of the weights by which saved replicas count, or empty
  std::function<void(std::string const&)> say;  // gets one sentence about what was done

  /// The rule for a value. It is `automatic` if one model becomes several, so that each gets a copy.
  static merge_rule rule_of(saved_value const& v, stored const& s) {
    merge_rule const rule = s.replica_dim >= 0 ? s.merge : v.merge;
    bool const is_special = rule == merge_rule::mass || rule == merge_rule::sum || rule == merge_rule::restart;
    return v.replica_dim < 0 && !is_special ? merge_rule::automatic : rule;
  }

  /// Whether the saved replicas have weights that are not all equal.
  bool count_unequally() {
    auto const found = values_.find(mass);
    if (found == values_.end()) return false;
    std::vector<double> const& all = weights(found->second.value.dims[0].dim.extent, mass);
    return std::ranges::any_of(all, [&](double w) { return w != all[0]; });
  }

  /// Checks that a value can be merged, before anything is changed.
  void require_merges(std::string const& label, saved_value const& v, stored const& s) {
    merge_rule const rule = rule_of(v, s);
    if (rule == merge_rule::weighted_mean) weights(v.dims[static_cast<std::size_t>(v.replica_dim)].dim.extent, label);
    if (rule == merge_rule::restart && s.start.kind != initializer_kind::constant)
      throw error("C19", {what, " has '", label, "' of replicas with the rule restart, but the program starts it with ",
                          s.start.text, ": give it a constant"});
  }

  /// Fills the windows `to`, which are at distinct places.
  void fill(std::string const& label, named_value const& v, replica_match const& match, stored const& s,
            std::vector<view> const& to) {
    merging how{rule_of(v.value, s), match.saved, match.now, {}};
    if (how.rule == merge_rule::mass || how.rule == merge_rule::restart) {
      number_value const start = how.rule == merge_rule::mass ? number_value(1) : s.start.argument;
      for (view const& window : to) meshtensor::detail::fill_elements(window, start);
    } else if (how.rule == merge_rule::automatic) {
      for (view const& window : to) copy(v, match.places, s.replica_dim, window);
    } else {
      if (how.rule == merge_rule::weighted_mean) how.weights = weights(match.saved, label);
      int const along = s.replica_dim >= 0 ? s.replica_dim : static_cast<int>(s.dims.size());
      for (std::size_t k = 0; k < to.size(); ++k) merge(v, match.places, how, along, to, k);
    }
    tell(match);
  }

 private:
  static constexpr std::int64_t elements_at_once = 1 << 18;

  /// The saved replicas' weights, or nothing if all count alike.
  std::vector<double> const& weights(std::int64_t replicas, std::string const& label) {
    if (mass.empty() || !weights_.empty()) return weights_;
    auto const found = values_.find(mass);
    if (found == values_.end() || found->second.value.dims[0].dim.extent != replicas)
      throw error("C19", {what, " lacks '", mass, "' of its ", replicas, " replicas, by which the mean of '", label,
                          "' is weighted: save it with the parameters, or load with as many replicas"});
    std::vector<double> all(static_cast<std::size_t>(replicas));
    named_value const& v = found->second;
    with_element(*v.value.stored->type, [&]<class E>() {
      std::vector<std::byte> bytes(all.size() * sizeof(E));
      view whole{bytes.data(), *v.value.stored->type, 1, {}, {replicas}, {1}, {}, {replicas}};
      for (std::size_t b = 0; b < v.value.files.size(); ++b) read_part(files_, v, b, v.value.block(b), {0}, whole);
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<double>(whole.as<E>()[i]);
    });
    bool good = true;
    for (double const w : all) good = good && w >= 0, mass_sum_ += w;
    if (!good || !(mass_sum_ > 0) || !std::isfinite(mass_sum_))
      throw error("C19", {what, " has weights of replicas, '", mass, "', that are negative or have the sum ",
                          io::detail::text_of(mass_sum_), ": no mean can be weighted by them"});
    weights_ = std::move(all);
    return weights_;
  }

  /// Gives each replica of a window the value of one model.
  void copy(named_value const& v, std::vector<int> const& places, int along, view const& window) {
    view one = window;
    if (one.size() == 0) return;
    one.extent[along] = 1;
    for (std::size_t b = 0; b < v.value.files.size(); ++b) read_part(files_, v, b, v.value.block(b), places, one);
    for (std::int64_t j = 1; j < window.extent[along]; ++j)
      meshtensor::detail::copy_by_name(one, 0, window, j * window.stride[along], no_id, no_id, one.extent);
  }

  static bool is_same_part(view const& a, view const& b, int along) {
    for (int i = 0; i < a.count; ++i)
      if (i != along && (a.origin[i] != b.origin[i] || a.extent[i] != b.extent[i])) return false;
    return true;
  }
  /// Merges the part of window `k` for all windows that have this part of other replicas, unless one before it did.
  void merge(named_value const& v, std::vector<int> const& places, merging const& how, int along,
             std::vector<view> const& to, std::size_t k) {
    for (std::size_t j = 0; j < k; ++j)
      if (is_same_part(to[j], to[k], along) && to[j].size() != 0) return;
    std::vector<view> all;
    for (std::size_t j = k; j < to.size(); ++j)
      if (is_same_part(to[j], to[k], along)) all.push_back(to[j]);
    view part = to[k];
    if (part.size() == 0) return;
    if (along == part.count) ++part.count;
    part.extent[along] = 1, part.origin[along] = 0;
    std::vector<saved_block> blocks;
    for (std::size_t b = 0; b < v.value.files.size(); ++b) blocks.push_back(v.value.block(b));
    int const saved_along = v.value.replica_dim;
    auto const read = [&](std::int64_t replica, view const& piece) {
      view here = piece;
      here.origin[along] = replica;
      for (std::size_t b = 0; b < blocks.size(); ++b) {
        bool const has = saved_along < 0 || (replica >= blocks[b].origin[saved_along] &&
                                             replica < blocks[b].origin[saved_along] + blocks[b].extent[saved_along]);
        if (has) read_part(files_, v, b, blocks[b], places, here);
      }
    };
    for_each_piece(part, elements_at_once, [&](view const& piece) {
      with_element(piece.type, [&]<class E>() { merge_piece<E>(piece, along, how, all, read); });
    });
  }

  /// Says once what became of the replicas.
  void tell(replica_match const& match) {
    if (!say) return;
    std::string text = "C18: ";
    if (is_plain()) {
      text += what + " has one model: each of the " + std::to_string(match.now) + " replicas starts with it";
    } else {
      if (values_.contains(mass)) weights(match.saved, mass);
      text += (match.saved == 1 ? "the replica of " : "the " + std::to_string(match.saved) + " replicas of ") + what;
      text += match.saved != match.now ? " became " + std::to_string(match.now)
              : match.must_agree       ? " may differ, but the policy begins with equal ones"
                                       : " count by weights, which the policy lacks";
      text += ": " + what_became(match.now);
    }
    std::exchange(say, nullptr)(text);
  }
  bool is_plain() const {
    for (auto const& [label, v] : values_)
      if (v.value.replica_dim >= 0) return false;
    return true;
  }
  std::string what_became(std::int64_t now) const {
    auto const has = [&](merge_rule rule) {
      for (auto const& [label, v] : values_)
        if (v.value.replica_dim >= 0 && v.value.merge == rule) return true;
      return false;
    };
    std::string text = "parameters start at the mean";
    if (!weights_.empty()) {
      char sum[32];
      std::snprintf(sum, sizeof sum, "%.6g", mass_sum_);
      text += " weighted by '" + mass + "', whose sum goes from " + sum + " to " + std::to_string(now);
    }
    if (has(merge_rule::mean)) text += std::string(weights_.empty() ? "" : ",") + " and moments and states at the mean";
    if (has(merge_rule::largest)) text += "; counts at the largest";
    if (has(merge_rule::sum)) text += "; states with the rule sum at their share of it";
    if (has(merge_rule::restart)) text += "; states with the rule restart anew";
    return text;
  }

  saved_files& files_;
  named_values const& values_;
  std::vector<double> weights_;
  double mass_sum_ = 0;
};

}  // namespace meshtensor::io
