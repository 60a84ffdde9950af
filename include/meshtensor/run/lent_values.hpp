// SPDX-License-Identifier: Apache-2.0
// Finds out whether memory of the caller is that of a variable, which `store::local` lends.
#pragma once

#include <cstddef>
#include <functional>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/run/store.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// The bytes from the first to the last element of a view, and those of others between them.
struct memory_range {
  std::byte const *first, *last;

  explicit memory_range(view const& v) : first(v.as<std::byte>()), last(first) {
    auto const bytes = static_cast<std::int64_t>(bytes_of(v.type));
    bool is_empty = false;
    for (int i = 0; i < v.count; ++i) {
      is_empty = is_empty || v.extent[i] == 0;
      (v.stride[i] < 0 ? first : last) += (v.extent[i] - 1) * v.stride[i] * bytes;
    }
    last = is_empty ? first : last + bytes;
  }
  memory_range(std::byte const* data, std::int64_t bytes) : first(data), last(data + bytes) {}

  bool overlaps(memory_range const& other) const {
    std::less<> const less;
    return less(first, last) && less(other.first, other.last) && less(first, other.last) && less(other.first, last);
  }
};

/// The variables of a program whose memory the caller may have.
class lent_values {
 public:
  enum overlap_kind { none, read, written };

  /// `values` must outlive this object.
  explicit lent_values(store const& values) : store_(values) {}

  /// Adds a variable that the program reads or writes.
  void add(stored const& s, bool is_written) {
    for (used& u : all_)
      if (u.value == &s) {
        u.is_written = u.is_written || is_written;
        return;
      }
    all_.push_back({&s, is_written});
  }
  /// How the program uses a variable that has some of this memory. It costs nothing while the store lends none.
  overlap_kind overlap(view const& memory) const { return store_.has_lent() ? among_lent(memory) : none; }

 private:
  struct used {
    stored const* value;
    bool is_written;
  };
  overlap_kind among_lent(view const& memory) const;

  store const& store_;
  dynamic_array<used> all_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline lent_values::overlap_kind lent_values::among_lent(view const& memory) const {
  overlap_kind found = none;
  memory_range const range(memory);
  for (used const& u : all_) {
    if (!u.value->is_lent) continue;
    if (!range.overlaps({u.value->blocks[0].data(), u.value->windows[0].bytes()})) continue;
    if (u.is_written) return written;
    found = read;
  }
  return found;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
