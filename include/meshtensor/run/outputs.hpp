// SPDX-License-Identifier: Apache-2.0
// Outputs of a session. For each name, a step writes each rank's part into memory of the session or of the caller.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/run/inputs.hpp"

namespace meshtensor {
namespace detail {

/// Whether the elements of a view are contiguous, in the order of its dims.
inline bool is_dense(view const& x) {
  view dense = x;
  dense.densify();
  for (int i = 0; i < x.count; ++i)
    if (x.extent[i] != 1 && x.stride[i] != dense.stride[i]) return false;
  return true;
}
/// Copies a view to dense memory.
inline void copy_dense(view const& x, void* to) {
  view dense = x;
  dense.densify();
  dense.data = to;
  if (is_dense(x)) copy_bytes(to, x.data, x.bytes());
  else copy_by_name(x, 0, dense, 0, no_id, no_id, x.extent);
}

}  // namespace detail

/// Outputs by name. A step writes them into memory of this object, or directly into arrays of the caller. `begin_step`
/// and `end_step` are no-ops while the caller fetches nothing.
class written_outputs {
 public:
  /// `m`, `ranks`, `external` and `lent` must outlive this object. `external` gets the address of each rank's part.
  written_outputs(module const& m, dynamic_array<rank_context> const& ranks, dynamic_array<external_buffers>& external,
                  lent_values const& lent)
      : m_(m), ranks_(ranks), external_(external), lent_(lent) {}

  /// Adds the output of node `output_node`.
  void add(node_id output_node) {
    ports_.push_back({label_of_output(m_, m_.nodes[output_node]), output_node});
    ports_.back().memory.resize(ranks_.size());
    callers_.push_back({});
    callers_.back().parts.resize(ranks_.size());
  }
  dynamic_array<port> const& ports() const { return ports_; }
  value_id value_of(port const& p) const { return m_.operand(m_.nodes[p.node], 0); }
  /// The value that an output returns. errors R08 no output has this name
  value_id value_of(std::string_view label) const { return value_of(port_of(ports_, label, "R08", "output")); }

  /// The part of an output of the last step that the `k`-th rank held here has. errors R08 no output has this name
  view part(std::string_view label, std::size_t k);
  /// Whether the last step wrote an output into the caller's array. errors R08 no output has this name
  bool is_callers(std::string_view label) const {
    return callers_[index_of(port_of(ports_, label, "R08", "output"))].is_written;
  }

  /// The dense window, without an address, of an output on this process. It is the part of its rank, or the whole if
  /// the process holds all ranks.
  ///
  /// errors  R08 no output has this name
  view local_window(std::string_view label) const;
  /// Lets the next step write an output into the caller's array, which has the extents of `local_window`.
  ///
  /// errors  R08 no output has this name; R87 the array is a variable that the step updates
  void fetch(std::string_view label, view const& to) {
    caller& c = callers_[index_of(port_of(ports_, label, "R08", "output"))];
    if (lent_.overlap(to) == lent_values::written) refuse_variable(label);
    c.wanted = to, c.is_wanted = true, is_settled_ = false;
  }

  /// Chooses where the next step writes. If a caller's array is not dense, the engine writes its elements one by one if
  /// it can (`writes_strided`), and otherwise `end_step` copies them. It also copies them if the step reads an input or
  /// a variable from the same array.
  void begin_step(fed_inputs const& inputs, bool writes_strided) {
    if (!is_settled_) choose(inputs, writes_strided);
  }
  /// Completes the caller's arrays.
  void end_step() {
    if (!is_settled_) complete();
  }
  /// Discards the caller's arrays of a step that did not run, or failed.
  void drop_step();

 private:
  /// An output and its memory of the caller. `parts` are the parts of the ranks held here, in the caller's array.
  struct caller {
    view wanted{}, written{};
    dynamic_array<view> parts = {};
    bool is_wanted = false, is_written = false, is_copied = false;
  };

  void choose(fed_inputs const& inputs, bool writes_strided);
  void complete();
  std::size_t index_of(port const& p) const { return static_cast<std::size_t>(&p - ports_.data()); }
  bool holds_all() const { return static_cast<std::int64_t>(ranks_.size()) == ranks_[0].mesh().size(); }
  /// The part of a rank in the caller's array.
  view part_of(view const& all, value_id v, std::size_t k) const;
  /// Whether an earlier rank held here has the same part.
  bool is_repeated(value_id v, std::size_t k) const;
  /// Whether a step reads an input or a variable from this memory.
  bool is_read(fed_inputs const& inputs, view const& to) const;
  [[noreturn]] static void refuse_variable(std::string_view label);

  meshtensor::module const& m_;
  dynamic_array<rank_context> const& ranks_;
  dynamic_array<external_buffers>& external_;
  lent_values const& lent_;
  dynamic_array<port> ports_;
  dynamic_array<caller> callers_;  // one for each port
  bool runs_ = false;
  bool is_settled_ = false;  // every output has memory of its own, and the next step writes there
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline view written_outputs::local_window(std::string_view label) const {
  view v = ranks_[0].windows()[value_of(label)];
  if (ranks_.size() > 1)
    for (int i = 0; i < v.count; ++i) v.extent[i] = v.total[i], v.origin[i] = 0;
  v.densify();
  return v;
}

inline view written_outputs::part_of(view const& all, value_id v, std::size_t k) const {
  view part = ranks_[k].windows()[v];
  std::int64_t first = 0;
  for (int i = 0; i < part.count; ++i) {
    part.stride[i] = all.stride[i];
    if (ranks_.size() > 1) first += part.stride[i] * part.origin[i];
  }
  part.data = all.data;
  if (part.size() != 0) part.data = all.as<std::byte>() + first * static_cast<std::int64_t>(bytes_of(part.type));
  return part;
}

inline bool written_outputs::is_repeated(value_id v, std::size_t k) const {
  view const mine = ranks_[k].windows()[v];
  for (std::size_t j = 0; j < k; ++j) {
    view const other = ranks_[j].windows()[v];
    bool same = true;
    for (int i = 0; i < mine.count; ++i)
      same = same && mine.origin[i] == other.origin[i] && mine.extent[i] == other.extent[i];
    if (same) return true;
  }
  return false;
}

inline bool written_outputs::is_read(fed_inputs const& inputs, view const& to) const {
  if (lent_.overlap(to) != lent_values::none) return true;
  memory_range const written(to);
  for (port const& p : inputs.ports())
    for (std::size_t k = 0; k < ranks_.size(); ++k)
      if (view const read = inputs.part(p, k); written.overlaps({read.as<std::byte>(), read.bytes()})) return true;
  return false;
}

inline void written_outputs::refuse_variable(std::string_view label) {
  throw error("R87", {"the output '", label,
                      "' is fetched into the memory of a variable that the step updates: fetch it "
                      "into other memory"});
}

inline void written_outputs::choose(fed_inputs const& inputs, bool writes_strided) {
  runs_ = is_settled_ = true;
  for (port& p : ports_) {
    caller& c = callers_[index_of(p)];
    value_id const v = value_of(p);
    if (c.is_wanted) is_settled_ = false;
    c.is_written = c.is_wanted, c.written = c.wanted, c.is_wanted = c.is_copied = false;
    bool dense = true;
    if (c.is_written) {
      c.is_copied = is_read(inputs, c.written);
      for (std::size_t k = 0; k < ranks_.size(); ++k) {
        c.parts[k] = part_of(c.written, v, k);
        dense = dense && detail::is_dense(c.parts[k]);
      }
      c.is_copied = c.is_copied || (!dense && !writes_strided);
    }
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      std::byte*& to = external_[k].given[p.node];
      external_[k].strided[p.node] = nullptr;
      if (!c.is_written || c.is_copied) to = p.buffer(k, ranks_[k].bytes(v));
      else if (is_repeated(v, k)) to = nullptr;
      else if (dense) to = c.parts[k].as<std::byte>();
      else to = nullptr, external_[k].strided[p.node] = &c.parts[k];
    }
  }
}

inline void written_outputs::complete() {
  runs_ = false;
  for (port& p : ports_) {
    caller const& c = callers_[index_of(p)];
    if (!c.is_copied) continue;
    for (std::size_t k = 0; k < ranks_.size(); ++k) {
      view made = ranks_[k].windows()[value_of(p)];
      made.data = external_[k].given[p.node];
      detail::copy_by_name(made, 0, c.parts[k], 0, no_id, no_id, made.extent);
    }
  }
}

inline void written_outputs::drop_step() {
  for (caller& c : callers_) {
    c.is_wanted = false;
    if (runs_) c.is_written = c.is_copied = false;
  }
  if (runs_) is_settled_ = false;
  runs_ = false;
}

inline view written_outputs::part(std::string_view label, std::size_t k) {
  port& p = port_of(ports_, label, "R08", "output");
  caller const& c = callers_[index_of(p)];
  if (c.is_written) return c.parts[k];
  view v = ranks_[k].windows()[value_of(p)];
  v.data = p.buffer(k, v.bytes());  // also before the first step
  return v;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
