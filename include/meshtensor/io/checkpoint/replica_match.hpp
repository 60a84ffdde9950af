// SPDX-License-Identifier: Apache-2.0
// Matches the dims of a saved value with those of a store's value, which may have another number of replicas.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/io/saved_value.hpp"
#include "meshtensor/run/stored.hpp"

namespace meshtensor::io {

/// How a saved value fills a store's value. A value without a dim of replicas is that of one replica.
struct replica_match {
  /// For each saved dim, the index of the store's dim. The dim of saved replicas that the store's value lacks has the
  /// index behind the store's last dim.
  std::vector<int> places;
  bool fits = false;
  std::int64_t saved = 1, now = 1;  // numbers of replicas, both 1 if neither has a dim of them
  bool must_agree = false;          // whether a policy needs equal replicas, and the saved ones may differ
  bool drops_weights = false;       // whether saved replicas have unequal weights, which the policy lacks

  /// Whether values of replicas must be merged or copied.
  bool differs() const { return saved != now || must_agree || drops_weights; }
};

/// Matches dims by name if the files have names, and otherwise by position. All extents must be equal, except those of
/// the dims of replicas: the files must say which dim that is, and so must the program. If their number changes, a
/// value that starts anew may have other extents, because nothing of the files is read.
/// `steps` is the number of steps before the save.
inline replica_match match_of(saved_value const& v, stored const& s, std::uint64_t steps) {
  replica_match match;
  int const count = static_cast<int>(s.dims.size());
  auto const saved_count = static_cast<int>(v.dims.size());
  bool const is_spread = v.replica_dim < 0 && s.replica_dim >= 0 && saved_count + 1 == count;  // one becomes several
  bool const is_joined = v.replica_dim >= 0 && s.replica_dim < 0 && saved_count == count + 1;  // several become one
  if (saved_count != count && !is_spread && !is_joined) return match;
  match.fits = true;
  bool is_found = is_spread, is_alike = true;
  for (int i = 0; i < saved_count; ++i) {
    dim_extent const& d = v.dims[static_cast<std::size_t>(i)].dim;
    int at = i + (is_spread && i >= s.replica_dim);
    if (is_joined && i == v.replica_dim) at = count;
    else if (!d.label.empty()) at = meshtensor::detail::position_of(s.dims, d.label);
    match.fits =
        match.fits && at >= 0 && (!is_spread || at != s.replica_dim) && std::ranges::count(match.places, at) == 0;
    match.places.push_back(at);
    if (!match.fits) return match;
    bool const are_replicas = i == v.replica_dim && (at == s.replica_dim || is_joined);
    if (are_replicas) match.saved = d.extent, is_found = true;
    else is_alike = is_alike && d.extent == s.dims[static_cast<std::size_t>(at)].extent;
  }
  if (match.fits && s.replica_dim >= 0) {
    match.now = s.dims[static_cast<std::size_t>(s.replica_dim)].extent;
    if (!is_found) match.saved = match.now;  // the files do not say which dim it is, but it has the same extent
    match.must_agree = is_found && v.replica_dim >= 0 && match.now > 1 && v.shared < s.sharing.needed(steps);
  }
  match.fits = match.fits && (is_alike || (match.differs() && s.replica_dim >= 0 && s.merge == merge_rule::restart));
  return match;
}

}  // namespace meshtensor::io
