// SPDX-License-Identifier: Apache-2.0
// Reads the options of replicas from the words of a small example's command line.
#pragma once

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "regime_options.hpp"

namespace examples {

/// The number that the text says, or 0 if the text is not a whole number.
inline std::int64_t number_of(std::string_view text) {
  std::int64_t n = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  return problem == std::errc{} && end == text.data() + text.size() ? n : 0;
}
/// `ring, torus`
inline std::string listed(std::vector<std::string> const& names) {
  std::string text;
  for (std::string const& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

inline constexpr char const* regime_usage =
    "[--regime POLICY --replicas N [--topology NAME] [--period STEPS] [--clients C] [--network NAME [--pauses P%]]]";
inline std::string regime_help() {
  return "POLICY is how replicas meet: " + listed(policy_names()) +
         ".\n--topology is for those that gossip: " + listed(topology_names()) +
         ".\n--period is for those that take means: any number of steps (16).\n--clients is for "
         "federated_averaging: the replicas that take part in a mean (half of them).\n--network predicts the time with "
         "a rank "
         "for each replica: " +
         listed(network_names()) + ". P is the share of steps before which a rank pauses.\n";
}

/// Removes options with values from the words, written as `--name value` or `--name=value`, and takes their values.
/// Returns a sentence about a mistake, or an empty text.
inline std::string take_options(std::vector<std::string>& words, std::map<std::string, std::string*> const& into) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto const equals = std::min(words[i].find('='), words[i].size());
    std::string const option = words[i].substr(0, equals);
    auto const found = into.find(option);
    if (found == into.end()) {
      rest.push_back(words[i]);
    } else if (equals < words[i].size()) {
      *found->second = words[i].substr(equals + 1);
    } else {
      if (++i == words.size()) return option + " needs a value";
      *found->second = words[i];
    }
  }
  words = rest;
  return "";
}

/// The same for the options of replicas.
inline std::string take_regime_words(std::vector<std::string>& words, regime_options& into) {
  std::string replicas, period, clients;
  auto const mistake = take_options(words, {{"--regime", &into.regime},
                                            {"--topology", &into.topology},
                                            {"--period", &period},
                                            {"--clients", &clients},
                                            {"--replicas", &replicas},
                                            {"--network", &into.network},
                                            {"--pauses", &into.pauses}});
  if (!mistake.empty()) return mistake;
  auto const refused = [](char const* option, std::string const& word, std::vector<std::string> const& names) {
    bool const known = word.empty() || std::find(names.begin(), names.end(), word) != names.end();
    return known ? "" : std::string(option) + ": '" + word + "' is none of " + listed(names);
  };
  for (auto const& why :
       {refused("--regime", into.regime, policy_names()), refused("--topology", into.topology, topology_names()),
        refused("--network", into.network, network_names())})
    if (!why.empty()) return why;
  if (into.regime.empty() != replicas.empty()) return "--regime and --replicas are given together";
  if (into.regime.empty() && !(into.topology.empty() && period.empty() && clients.empty() && into.network.empty()))
    return "--topology, --period, --clients and --network need --regime";
  if (into.network.empty() && !into.pauses.empty()) return "--pauses needs --network";
  if (!into.pauses.empty() && probability_of(into.pauses) < 0) return "--pauses: '" + into.pauses + "' is not like 1%";
  into.replicas = number_of(replicas);
  if (!replicas.empty() && (into.replicas < 1 || into.replicas > 4096))
    return "--replicas: '" + replicas + "' is not a number from 1 to 4096";
  into.period = number_of(period);
  if (!period.empty() && (into.period < 1 || into.period > 1'000'000))
    return "--period: '" + period + "' is not a number from 1 to 1000000";
  into.clients = number_of(clients);
  if (!clients.empty() && into.clients < 1) return "--clients: '" + clients + "' is not a number from 1 on";
  return into.complete();
}

/// The same for a `--regime` that may name several policies, with commas between them. `--topology`, `--period`
/// and `--clients` are for those that take them.
inline std::string take_compared_regimes(std::vector<std::string>& words, std::vector<regime_options>& into) {
  std::string names, topology, period, clients;
  auto const mistake = take_options(
      words, {{"--regime", &names}, {"--topology", &topology}, {"--period", &period}, {"--clients", &clients}});
  if (!mistake.empty()) return mistake;
  std::vector<std::string> all;
  for (std::size_t begin = 0; begin <= names.size(); begin += all.back().size() + 1)
    all.push_back(names.substr(begin, names.find(',', begin) - begin));
  auto const is_taken_by = [&](auto const& takes) {
    return std::any_of(std::begin(policy_rows), std::end(policy_rows), [&](policy_row const& row) {
      return takes(row) && std::find(all.begin(), all.end(), row.name) != all.end();
    });
  };
  bool const is_mixed = is_taken_by([](policy_row const& row) { return row.topology != nullptr; }),
             has_period = is_taken_by([](policy_row const& row) { return row.has_period; }),
             draws_clients = is_taken_by([](policy_row const& row) { return row.draws_clients; });
  std::vector<std::string> rest;
  for (std::string const& name : all) {
    if (std::count(all.begin(), all.end(), name) > 1) return "--regime: '" + name + "' is named twice";
    auto const row = std::find_if(std::begin(policy_rows), std::end(policy_rows),
                                  [&](policy_row const& one) { return one.name == name; });
    bool const is_known = row != std::end(policy_rows);
    std::vector<std::string> mine = words;
    auto const add = [&](char const* option, std::string const& value) {
      if (!value.empty()) mine.push_back(std::string(option) + "=" + value);
    };
    add("--regime", all.size() > 1 && name.empty() ? "," : name);
    if (!is_known || row->topology != nullptr || !is_mixed) add("--topology", topology);
    if (!is_known || row->has_period || !has_period) add("--period", period);
    if (!is_known || row->draws_clients || !draws_clients) add("--clients", clients);
    regime_options one;
    if (auto const why = take_regime_words(mine, one); !why.empty()) return why;
    if (all.size() > 1 && one.network.empty())
      return "--regime: several policies are compared by predicted times: give --network";
    if (one.trains_replicas()) into.push_back(one);
    rest = mine;
  }
  words = rest;
  return "";
}

}  // namespace examples
