// SPDX-License-Identifier: Apache-2.0
// Finds elements that are not finite, without those of indices of an each that do not run a loop or branch.
// why: an index that takes no part computes with the operands of another index, which does (see
// pass/widen/decision.hpp). So a NaN of the other index is found at the first one, too, where the program computes
// nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::detail {

/// The number of infinite or NaN elements, and the index of the first.
struct not_finite {
  std::int64_t count = 0, first = -1;
};

/// Tests the bits, because a compiler that assumes finite numbers removes `isfinite`.
template <class Bits>
not_finite find_not_finite(void const* elements, std::int64_t size, Bits exponent) {
  auto const* const at = static_cast<Bits const*>(elements);
  not_finite found;
  for (std::int64_t i = 0; i < size; ++i) found.count += (at[i] & exponent) == exponent;
  for (std::int64_t i = 0; found.count != 0 && found.first < 0; ++i)
    if ((at[i] & exponent) == exponent) found.first = i;
  return found;
}
inline not_finite find_not_finite(view const& v) {
  switch (v.type) {
    case dtype::f64: return find_not_finite<std::uint64_t>(v.data, v.size(), 0x7ffull << 52);
    case dtype::f32: return find_not_finite<std::uint32_t>(v.data, v.size(), 0x7f800000u);
    case dtype::bf16: return find_not_finite<std::uint16_t>(v.data, v.size(), 0x7f80u);
    default: return {};
  }
}
/// Whether element `i` is infinite or NaN.
inline bool is_not_finite(view const& v, std::int64_t i) {
  view one = v;
  one.count = 0, one.data = v.as<std::byte>() + i * static_cast<std::int64_t>(bytes_of(v.type));
  return find_not_finite(one).count != 0;
}

/// The position along dim `d` of the whole tensor, for element `i` of a part without gaps.
inline std::int64_t position_along(view const& part, int d, std::int64_t i) {
  return part.origin[d] + (d == 0 ? i : i % part.stride[d - 1]) / part.stride[d];
}

/// The masks of a program: the values that say which indices take part in a region.
class participation {
 public:
  explicit participation(module const& m)
      : made_(static_cast<std::size_t>(m.value_count), value_id{no_id}),
        in_kernel_(static_cast<std::size_t>(m.region_count), value_id{no_id}),
        argument_(static_cast<std::size_t>(m.region_count), value_id{no_id}),
        stacks_(static_cast<std::size_t>(m.value_count), none) {
    for (bool changes = true; changes;) {
      changes = false;
      for (int i = 0; i < m.node_count; ++i) changes = find(m, m.nodes[i]) || changes;
    }
  }
  /// The mask of the indices that take part in the region of a node, if this node makes it itself or within a kernel.
  value_id made_by(module const& m, node const& n) const {
    return n.results.count == 0 ? value_id{no_id} : made_[m.result(n)];
  }
  /// The argument of a region that is its mask. For example, the gradient of a loop saves it from the loop.
  value_id argument_of(region_id r) const { return argument_[r]; }

 private:
  static constexpr int none = -1;

  // Whether something new is known of the results of a node.
  bool find(module const& m, node const& n) {
    bool changes = false;
    auto const is = [&](value_id v, int stacks) {
      if (stacks == none || stacks_[v] == stacks) return;
      stacks_[v] = stacks, changes = true;
    };
    if (is_mask_of_indices(n)) {
      is(m.result(n), 0);
      made_[m.result(n)] = in_kernel_[n.region] = m.result(n);
    }
    if (n.kind == primitive::kernel) {
      made_[m.result(n)] = in_kernel_[m.region_of(n, 0)];
      list const inner = m.regions[m.region_of(n, 0)].results;
      for (int i = 0; i < n.results.count; ++i) is(m.result(n, i), stacks_[m.link(inner, i)]);
    }
    if (n.kind == primitive::repeat) {
      loop const l = loop::of(n);
      region const& body = m.regions[m.region_of(n, 0)];
      for (int i = l.carries + l.sums; i < n.results.count; ++i)
        if (int const inside = stacks_[m.link(body.results, i)]; inside != none) is(m.result(n, i), inside + 1);
      for (int i = l.carries; i < l.carries + l.stacked; ++i) {
        value_id const argument = m.link(body.arguments, i);
        if (int const around = stacks_[m.operand(n, i)]; around > 0) is(argument, around - 1);
        if (stacks_[argument] == 0) argument_[m.region_of(n, 0)] = argument;
      }
    }
    return changes;
  }

  std::vector<value_id> made_;       // by the first result of a node
  std::vector<value_id> in_kernel_;  // by region of a kernel
  std::vector<value_id> argument_;   // by region
  std::vector<int> stacks_;          // by value: of how many loops a value is a stack of such values
};

/// Which indices take part in each region, in the current iteration of one rank.
class indices_taking_part {
 public:
  /// Copies the mask of a region, which is a bool for each index.
  void keep(region_id region, view const& mask) {
    kept& k = by_region_[region];
    k.bits.assign(mask.as<std::byte>(), mask.as<std::byte>() + mask.bytes());
    k.mask = mask, k.mask.data = k.bits.data();
  }
  /// The mask that was kept last for a region, or null.
  view const* of(region_id region) const {
    auto const found = by_region_.find(region);
    return found == by_region_.end() ? nullptr : &found->second.mask;
  }

 private:
  struct kept {
    view mask;
    std::vector<std::byte> bits;
  };

  std::map<region_id, kept> by_region_;
};

/// Whether the index to which element `i` of a value belongs takes part. A value without a dim of the mask is the same
/// for all indices along it, so it counts.
inline bool takes_part(view const& mask, view const& seen, std::int64_t i) {
  std::int64_t at = 0;
  for (int k = 0; k < mask.count; ++k) {
    int const d = seen.find(mask.dim[k]);
    std::int64_t const position = d < 0 ? -1 : position_along(seen, d, i) - mask.origin[k];
    if (position < 0 || position >= mask.extent[k]) return true;
    at += position * mask.stride[k];
  }
  return mask.as<std::byte>()[at] != std::byte{0};
}
/// The elements that are not finite, of indices that take part by all masks. `all` has those of any index.
inline not_finite of_those_taking_part(std::span<view const> masks, view const& seen, not_finite const& all) {
  if (masks.empty() || all.count == 0) return all;
  not_finite found;
  for (std::int64_t i = all.first; i < seen.size(); ++i) {
    if (!is_not_finite(seen, i)) continue;
    if (!std::ranges::all_of(masks, [&](view const& mask) { return takes_part(mask, seen, i); })) continue;
    if (found.count++ == 0) found.first = i;
  }
  return found;
}

}  // namespace meshtensor::detail
