// SPDX-License-Identifier: Apache-2.0
// Buffers of a session's inputs. Each input has a name, and one part for each rank that this process holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/array/array.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/run/engine.hpp"

namespace meshtensor {

/// A named input or output of a program.
struct port {
  std::string label;
  node_id node;
  bool fed = false;
  dynamic_array<std::vector<double>> memory = {};  // one for each rank held here
  std::byte* buffer(std::size_t k, std::int64_t bytes) {
    memory[k].resize(static_cast<std::size_t>(bytes + 7) / 8 + 1);
    return reinterpret_cast<std::byte*>(memory[k].data());
  }
};

namespace detail {
[[noreturn]] void refuse_port(dynamic_array<port> const& ports, std::string_view label, char const* code,
                              char const* what);
}

/// Finds a port by name. errors `code` no port has this name
inline port const& port_of(dynamic_array<port> const& ports, std::string_view label, char const* code,
                           char const* what) {
  for (port const& p : ports)
    if (p.label == label) return p;
  detail::refuse_port(ports, label, code, what);
}
inline port& port_of(dynamic_array<port>& ports, std::string_view label, char const* code, char const* what) {
  return const_cast<port&>(port_of(std::as_const(ports), label, code, what));
}

/// Inputs by name. Whole arrays are copied, part by part, into buffers of this object. One rank's part is read in
/// place.
class fed_inputs {
 public:
  /// `m`, `ranks` and `external` must outlive this object. `external` gets the address of each rank's part.
  fed_inputs(module const& m, dynamic_array<rank_context> const& ranks, dynamic_array<external_buffers>& external)
      : m_(m), contexts_(ranks), external_(external) {}

  /// Adds the input of node `input_node`.
  void add(node_id input_node) { ports_.push_back({m_.names[name_of(m_.nodes[input_node])].text(), input_node}); }
  dynamic_array<port> const& ports() const { return ports_; }
  value_id value_of(port const& p) const { return m_.result(m_.nodes[p.node]); }
  /// The part that was fed to the `k`-th rank held here.
  view part(port const& p, std::size_t k) const {
    view v = contexts_[k].windows()[value_of(p)];
    v.data = external_[k].fed[p.node];
    return v;
  }
  /// errors  R02 an input has not been fed
  void require_all() const {
    for (port const& p : ports_)
      if (!p.fed) throw error("R02", {"the input '", p.label, "' was not fed"});
  }

  /// The dense window of a whole input, without an address. errors R02 no input has this name
  view window(std::string_view label) const {
    value_id const v = value_of(port_of(ports_, label, "R02", "input"));
    view whole = contexts_[0].windows()[v];
    for (int i = 0; i < whole.count; ++i) whole.extent[i] = whole.total[i], whole.origin[i] = 0;
    whole.densify();
    return whole;
  }
  /// Copies each rank's part from a whole array. `elements` is -1 if the number is unknown.
  ///
  /// errors  R02 no input has this name; R11 another number of elements
  void feed(std::string_view label, void const* whole, std::int64_t elements = -1) {
    view from = window(label);
    if (elements >= 0 && elements != from.size()) refuse(label, std::to_string(elements) + " elements were");
    from.data = const_cast<void*>(whole);
    feed(label, from);
  }
  /// The same from an array with its dims in any order.
  template <class = lazy>
  void feed(std::string_view label, view const& whole);
  /// errors  R11 the array, for example `12 elements were`, is not the whole of an input
  template <class = lazy>
  [[noreturn]] void refuse(std::string_view label, std::string const& given) const;
  /// The dense window on an input of the only rank that this process holds, without an address.
  ///
  /// errors  R02 no input has this name; R06 this process holds several ranks
  view local_window(std::string_view label) const {
    if (contexts_.size() != 1)
      throw error("R06", {"feed_local gives one rank's part, but this process holds ", contexts_.size(),
                          ": feed the whole array"});
    return contexts_[0].windows()[value_of(port_of(ports_, label, "R02", "input"))];
  }
  /// Reads the part of this process's only rank in place. `elements` is -1 if the number is unknown.
  ///
  /// errors  those of `local_window`; R11 another number of elements
  void feed_local(std::string_view label, void const* part, std::int64_t elements = -1) {
    std::int64_t const wanted = local_window(label).size();
    port& p = port_of(ports_, label, "R02", "input");
    if (elements >= 0 && elements != wanted)
      throw error("R11", {"this rank's part of the input '", p.label, "' has ", wanted, " elements, but ", elements,
                          " were fed"});
    external_[0].fed[p.node] = static_cast<std::byte*>(const_cast<void*>(part));
    p.fed = true;
  }
  /// The same for a view with the input's dims. A view that is not dense is copied at once.
  void feed_local(std::string_view label, view const& part) {
    view to = local_window(label);
    bool dense = true;
    for (int i = 0; i < part.count; ++i) dense = dense && (part.extent[i] == 1 || part.stride[i] == to.stride[i]);
    if (dense) return feed_local(label, part.data);
    port& p = port_of(ports_, label, "R02", "input");
    p.memory.resize(1);
    to.data = p.buffer(0, to.bytes());
    detail::copy_by_name(part, 0, to, 0, no_id, no_id, to.extent);
    copied_ += to.bytes();
    feed_local(label, to.data);
  }

  /// Bytes copied so far.
  std::int64_t copied_bytes() const { return copied_; }

 private:
  meshtensor::module const& m_;
  dynamic_array<rank_context> const& contexts_;
  dynamic_array<external_buffers>& external_;
  dynamic_array<port> ports_;
  std::int64_t copied_ = 0;
};

template <class>
void fed_inputs::feed(std::string_view label, view const& whole) {
  port& p = port_of(ports_, label, "R02", "input");
  p.memory.resize(contexts_.size());
  for (std::size_t k = 0; k < contexts_.size(); ++k) {
    view to = contexts_[k].windows()[value_of(p)];
    std::int64_t first = 0;
    for (int i = 0; i < to.count; ++i) first += whole.stride[whole.find(to.dim[i])] * to.origin[i];
    to.data = external_[k].fed[p.node] = p.buffer(k, to.bytes());
    detail::copy_by_name(whole, first, to, 0, no_id, no_id, to.extent);
    copied_ += to.bytes();
  }
  p.fed = true;
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
extern template void fed_inputs::feed<lazy>(std::string_view, view const&);
extern template void fed_inputs::refuse<lazy>(std::string_view, std::string const&) const;
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

[[noreturn]] inline void refuse_port(dynamic_array<port> const& ports, std::string_view label, char const* code,
                                     char const* what) {
  std::string known;
  for (port const& p : ports) known += (known.empty() ? "" : ", ") + p.label;
  throw error(code, {"the program has no ", what, " '", label, "'; it has: ", known});
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
