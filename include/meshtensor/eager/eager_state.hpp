// SPDX-License-Identifier: Apache-2.0
// Defines the state that all records of an eager scope share: the scope's arguments, and its variables.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/eager/argument_log.hpp"
#include "meshtensor/eager/given_value.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor::detail {

/// The arguments of an eager scope, its variables, and the outputs of the program that it ran last. Values have named
/// dims, because each record has a module of its own with its own numbers of dims.
struct eager_state {
  settings set;
  store* weights = nullptr;
  std::map<std::string, given_value> inputs, variables, outputs;
  std::set<std::string> unread;                  // the paths of assigned values that no record has read yet
  std::map<std::string, declared_start> starts;  // of each variable that was read
  std::vector<dim_extent> extents;
  program_counts counts;
  argument_log arguments;  // of `set`, `weights`, `inputs` and `extents`

  void bind(dim_extent const& e) {
    for (dim_extent const& d : extents)
      if (d.label == e.label && d.extent != e.extent)
        throw error("R11",
                    {"the dim '", e.label, "' is ", d.extent, " long in one array and ", e.extent, " in another"});
    if (position_of(extents, e.label) < 0) arguments.append(extents, e);
  }
  void assign(std::string const& path, given_value value) {
    variables.insert_or_assign(path, std::move(value));
    unread.insert(path);
  }
  /// Whether a record has read this variable, or the store has it.
  bool knows(std::string const& path) const {
    return starts.contains(path) || (weights != nullptr && weights->values().contains(path));
  }

  /// The value that the store has for a variable with this dtype and these dims, if it has one.
  std::optional<given_value> stored_value(std::string const& path, dtype type, std::vector<dim_extent> const& dims) {
    if (weights == nullptr) return {};
    if (auto const at = weights->values().find(path); at != weights->values().end()) {
      given_value g = given_value::of_zeros(at->second.type, at->second.dims);
      weights->copy_out(path, g.bytes.data());
      return g;
    }
    given_value g = given_value::of_zeros(type, dims);
    if (!weights->copy_waiting(path, type, dims, g.bytes.data())) return {};
    return g;
  }

  /// The initial counts are those of the store.
  std::uint64_t& steps_of(std::string const& label) {
    return counts.steps.try_emplace(label, weights == nullptr ? 0 : weights->steps_of(label)).first->second;
  }
  std::uint64_t& updates_of(std::string const& label) {
    return counts.updates.try_emplace(label, weights == nullptr ? 0 : weights->updates_of(label)).first->second;
  }
};

}  // namespace meshtensor::detail
