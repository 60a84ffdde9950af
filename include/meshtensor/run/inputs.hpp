// SPDX-License-Identifier: Apache-2.0
// Buffers of a session's inputs. Each input has a name, and one part for each rank that this process holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/array/array.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/run/engine.hpp"
#include "meshtensor/run/lent_values.hpp"
#include "meshtensor/run/port.hpp"

namespace meshtensor {

/// Inputs by name. Whole arrays are copied, part by part, into buffers of this object. One rank's part is read in
/// place, by one step. Arrays for a step are offered first, and then taken together if no argument was refused.
class fed_inputs {
 public:
  /// All arguments must outlive this object. `external` gets the address of each rank's part. A step writes `outputs`.
  fed_inputs(module const& m, dynamic_array<rank_context> const& ranks, dynamic_array<external_buffers>& external,
             lent_values const& lent, dynamic_array<port> const& outputs)
      : m_(m), contexts_(ranks), external_(external), lent_(lent), outputs_(outputs) {}

  /// Adds the input of node `input_node`.
  void add(node_id input_node) {
    ports_.push_back({m_.names[name_of(m_.nodes[input_node])].text(), input_node});
    offers_.push_back({});
  }
  dynamic_array<port> const& ports() const { return ports_; }
  value_id value_of(port const& p) const { return m_.result(m_.nodes[p.node]); }
  /// The part that was fed to the `k`-th rank held here.
  view part(port const& p, std::size_t k) const {
    view v = contexts_[k].windows()[value_of(p)];
    v.data = external_[k].fed[p.node];
    return v;
  }
  /// errors  R02 an input has neither been fed nor offered
  void require_all() const {
    for (std::size_t i = 0; i < ports_.size(); ++i)
      if (!ports_[i].fed && offers_[i].kind == offer_kind::none) refuse_unfed(i);
  }

  /// The dense window of a whole input, without an address. errors R02 no input has this name
  view window(std::string_view label) const { return window_at(index_of(label)); }
  /// The dense window on an input of the only rank that this process holds, without an address.
  ///
  /// errors  R02 no input has this name; R06 this process holds several ranks
  view local_window(std::string_view label) const { return local_window_at(index_of(label)); }

  /// Offers a whole array, which must stay valid until it is taken. `elements` is -1 if the number is unknown.
  ///
  /// errors  R02 no input has this name; R11 another number of elements
  void offer(std::string_view label, void const* whole, std::int64_t elements = -1) {
    std::size_t const i = index_of(label);
    view from = window_at(i);
    if (elements >= 0 && elements != from.size()) refuse(label, std::to_string(elements) + " elements were");
    from.data = const_cast<void*>(whole);
    offer_at(i, from, offer_kind::whole);
  }
  /// The same for an array with its dims in any order.
  void offer(std::string_view label, view const& whole) { offer_at(index_of(label), whole, offer_kind::whole); }
  /// errors  R11 the array, for example `12 elements were`, is not the whole of an input
  template <class = lazy>
  [[noreturn]] void refuse(std::string_view label, std::string const& given) const;
  /// Offers the part of this process's only rank, which must stay valid until the step is over. `elements` is -1 if the
  /// number is unknown.
  ///
  /// errors  those of `local_window`; R11 another number of elements
  void offer_local(std::string_view label, void const* part, std::int64_t elements = -1) {
    std::size_t const i = index_of(label);
    view from = local_window_at(i);
    if (elements >= 0 && elements != from.size())
      throw error("R11", {"this rank's part of the input '", label, "' has ", from.size(), " elements, but ", elements,
                          " were fed"});
    from.data = const_cast<void*>(part);
    offer_at(i, from, offer_kind::part);
  }
  /// The same for a view with the input's dims. A view that is not dense is copied when it is taken.
  void offer_local(std::string_view label, view const& part) {
    std::size_t const i = index_of(label);
    view const dense = local_window_at(i);
    bool is_dense = true;
    for (int d = 0; d < part.count; ++d)
      is_dense = is_dense && (part.extent[d] == 1 || part.stride[d] == dense.stride[d]);
    offer_at(i, part, is_dense ? offer_kind::part : offer_kind::strided_part);
  }
  /// Takes all offers.
  void take() {
    for (std::size_t i = 0; i < ports_.size(); ++i)
      if (offers_[i].kind != offer_kind::none) take_at(i);
  }
  /// Discards all offers.
  void drop() {
    for (offered& o : offers_) o.kind = offer_kind::none;
  }
  /// Forgets the parts that `feed_local` gave the step that is over, because their memory may end.
  void end_step() {
    if (!has_parts_) return;
    has_parts_ = false;
    for (std::size_t i = 0; i < ports_.size(); ++i)
      if (offers_[i].is_part) ports_[i].fed = false;
  }

  /// Offers and takes an array between steps. See `offer`.
  template <class... From>
  void feed(std::string_view label, From const&... from) {
    offer(label, from...);
    take_at(index_of(label));
  }
  /// See `offer_local`.
  template <class... From>
  void feed_local(std::string_view label, From const&... from) {
    offer_local(label, from...);
    take_at(index_of(label));
  }

  /// Bytes copied so far.
  std::int64_t copied_bytes() const { return copied_; }

 private:
  enum class offer_kind : std::uint8_t { none, whole, part, strided_part };
  /// An offer to an input. `is_part` says that the input last got a part, for one step.
  struct offered {
    view from;
    offer_kind kind = offer_kind::none;
    bool is_part = false;
  };

  std::size_t index_of(std::string_view label) const {
    return static_cast<std::size_t>(&port_of(ports_, label, "R02", "input") - ports_.data());
  }
  view window_at(std::size_t i) const {
    view whole = contexts_[0].windows()[value_of(ports_[i])];
    for (int d = 0; d < whole.count; ++d) whole.extent[d] = whole.total[d], whole.origin[d] = 0;
    whole.densify();
    return whole;
  }
  view local_window_at(std::size_t i) const {
    if (contexts_.size() != 1)
      throw error("R06", {"feed_local gives one rank's part, but this process holds ", contexts_.size(),
                          ": feed the whole array"});
    return contexts_[0].windows()[value_of(ports_[i])];
  }
  /// Whether a step writes to this memory, a variable that it updates or an output of the step before.
  bool is_written(view const& part) const;
  template <class = lazy>
  void offer_at(std::size_t i, view const& from, offer_kind kind);
  template <class = lazy>
  void take_at(std::size_t i);
  [[noreturn]] void refuse_unfed(std::size_t i) const;

  meshtensor::module const& m_;
  dynamic_array<rank_context> const& contexts_;
  dynamic_array<external_buffers>& external_;
  lent_values const& lent_;
  dynamic_array<port> const& outputs_;
  dynamic_array<port> ports_;
  dynamic_array<offered> offers_;  // one for each port
  std::int64_t copied_ = 0;
  bool has_parts_ = false;
};

template <class>
void fed_inputs::offer_at(std::size_t i, view const& from, offer_kind kind) {
  port& p = ports_[i];
  // A part that the step overwrites is copied, because the step may read the input after that.
  if (kind == offer_kind::part && is_written(from)) kind = offer_kind::strided_part;
  if (kind != offer_kind::part) {  // finds the memory now, so that nothing is refused when it is taken
    p.memory.resize(contexts_.size());
    for (std::size_t k = 0; k < contexts_.size(); ++k) p.buffer(k, contexts_[k].windows()[value_of(p)].bytes());
  }
  offers_[i].from = from, offers_[i].kind = kind;
}
template <class>
void fed_inputs::take_at(std::size_t i) {
  port& p = ports_[i];
  offered& o = offers_[i];
  p.fed = true, o.is_part = o.kind != offer_kind::whole;
  has_parts_ = has_parts_ || o.is_part;
  if (o.kind == offer_kind::part) {
    external_[0].fed[p.node] = o.from.as<std::byte>();
  } else {
    for (std::size_t k = 0; k < contexts_.size(); ++k) {
      view to = contexts_[k].windows()[value_of(p)];
      std::int64_t first = 0;
      for (int d = 0; d < to.count && !o.is_part; ++d) first += o.from.stride[o.from.find(to.dim[d])] * to.origin[d];
      to.data = external_[k].fed[p.node] = p.buffer(k, to.bytes());
      detail::copy_by_name(o.from, first, to, 0, no_id, no_id, to.extent);
      copied_ += to.bytes();
    }
  }
  o.kind = offer_kind::none;
}
template <class>
void fed_inputs::refuse(std::string_view label, std::string const& given) const {
  view const wanted = window(label);
  std::vector<dim_extent> dims;
  for (int i = 0; i < wanted.count; ++i) dims.push_back({m_.dim_name(wanted.dim[i]), wanted.extent[i]});
  throw error("R11", {"the input '", label, "' is ", detail::text_of(dims), ", ", wanted.size(), " elements, but ",
                      given, " fed"});
}
#if MESHTENSOR_COMPILED
extern template void fed_inputs::offer_at<lazy>(std::size_t, view const&, offer_kind);
extern template void fed_inputs::take_at<lazy>(std::size_t);
extern template void fed_inputs::refuse<lazy>(std::string_view, std::string const&) const;
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline bool fed_inputs::is_written(view const& part) const {
  if (lent_.overlap(part) == lent_values::written) return true;
  memory_range const read(part);
  for (port const& p : outputs_)
    for (std::vector<double> const& m : p.memory)
      if (read.overlaps({reinterpret_cast<std::byte const*>(m.data()), std::ssize(m) * 8})) return true;
  return false;
}

inline void fed_inputs::refuse_unfed(std::size_t i) const {
  throw error("R02", {"the input '", ports_[i].label, "' was not fed",
                      offers_[i].is_part ? ": feed_local gives a part to one step, so feed it in each step" : ""});
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
