// SPDX-License-Identifier: Apache-2.0
// Emits the selection of elements of a pool by positions, and its transpose.
#pragma once

#include <map>

#include "meshtensor/emit/stablehlo/pool_windows.hpp"

namespace meshtensor::hlo {

class picked_elements : pool_windows {
 public:
  using pool_windows::pool_windows;

  /// Emits one selection for each position. If the positions are those of the greatest elements, it emits one
  /// reduction.
  value picked() {
    for (emission::positions_of const& known : e_.greatest)
      if (known.of == e_.m.operand(n_, 0) && known.positions == e_.m.operand(n_, 1))
        return reduced(reduction::max, e_.operand(n_));
    value const all = padded(reached(0)), &positions = e_.operand(n_, 1);
    value y = constant(e_.w, to_, 0.0);
    for (std::int64_t position = 0; position < elements(); ++position)
      y = select(e_.w, {is_here(positions, position), taken(all, element_at(position)), y});
    return y;
  }

  /// Windows that are a stride apart reach inputs that are a stride apart. Therefore inputs are of several kinds, by
  /// their remainder by the stride. The terms of each kind are added, and then the sums of all kinds are interleaved.
  value unpooled() {
    value const x = widened(e_.w, reached(0)), positions = reached(1);
    value const none = constant(e_.w, x.type, 0.0);
    std::map<extents, value> sums;  // by remainders
    type kind = x.type;
    for (windowed_dim const& d : places_) {
      std::int64_t& extent = kind.shape[at(d.at)];
      extent = (to_.shape[at(d.at)] + d.local.stride - 1) / d.local.stride;
    }
    for (std::int64_t position = 0; position < elements(); ++position) {
      extents const element = element_at(position);
      extents low(kind.shape.size()), high = low, remainders;
      for (std::size_t k = 0; k < places_.size(); ++k) {
        local_window const& w = places_[k].local;
        std::size_t const i = at(places_[k].at);
        std::int64_t const first = w.dilation * element[k] - w.low;
        remainders.push_back((first % w.stride + w.stride) % w.stride);
        low[i] = (first - remainders[k]) / w.stride, high[i] = kind.shape[i] - low[i] - x.type.shape[i];
      }
      value const chosen = select(e_.w, {is_here(positions, position), x, none});
      value const term = pad(e_.w, chosen, low, high);
      auto const [sum, is_new] = sums.try_emplace(remainders, term);
      if (!is_new) sum->second = binary(e_.w, "add", {sum->second, term});
    }
    for (auto& [remainders, sum] : sums) sum = convert(e_.w, sum, to_.element);
    kind.element = to_.element;
    return joined(sums, kind, {});
  }

 private:
  value is_here(value const& positions, std::int64_t position) {
    return compare(e_.w, "EQ", {positions, like(e_.w, positions, position)});
  }
  /// The elements of all kinds with these remainders along the first dims.
  value joined(std::map<extents, value> const& sums, type const& kind, extents const& first) {
    std::size_t const k = first.size();
    if (k == places_.size()) {
      auto const sum = sums.find(first);
      return sum == sums.end() ? constant(e_.w, kind, 0.0) : sum->second;
    }
    std::size_t const i = at(places_[k].at);
    std::vector<value> parts;
    for (std::int64_t remainder = 0; remainder < places_[k].local.stride; ++remainder) {
      extents next = first;
      next.push_back(remainder);
      parts.push_back(joined(sums, kind, next));
    }
    if (parts.size() == 1) return parts[0];
    extents apart = parts[0].type.shape, together = apart, whole;
    apart.insert(apart.begin() + places_[k].at + 1, 1);
    for (value& part : parts) part = e_.w.op("reshape", {part}, {to_.element, apart});
    together[i] *= static_cast<std::int64_t>(parts.size());
    value const y = concatenate(e_.w, parts, i + 1);
    whole = together, whole[i] = to_.shape[i];
    value const r = e_.w.op("reshape", {y}, {to_.element, together});
    return whole == together ? r : slice(e_.w, r, extents(whole.size()), whole);
  }
};

}  // namespace meshtensor::hlo
