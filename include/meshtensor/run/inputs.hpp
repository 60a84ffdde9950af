// SPDX-License-Identifier: Apache-2.0
// Buffers of a session's inputs: of each, by name, the parts of the processors that this process holds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/run/engine.hpp"

namespace meshtensor {

/// A named end of a program.
struct port {
  std::string label;
  id node_id;
  bool fed = false;
  std::vector<std::vector<double>> memory = {};  // of each processor held here
  std::byte* buffer(std::size_t k, std::int64_t bytes) {
    memory[k].resize(static_cast<std::size_t>(bytes + 7) / 8 + 1);
    return reinterpret_cast<std::byte*>(memory[k].data());
  }
};

/// The port of a name. errors `code` there is none
template <class Ports>
auto& port_of(Ports& ports, std::string_view label, char const* code, char const* what) {
  for (auto& p : ports)
    if (p.label == label) return p;
  std::string known;
  for (port const& p : ports) known += (known.empty() ? "" : ", ") + p.label;
  throw error(code, {"the program has no ", what, " '", label, "'; it has: ", known});
}

/// Whole arrays are cut into parts of its own memory; parts are read where they lie.
class fed_inputs {
 public:
  /// `m`, `processors` and `around`, which says where each of these finds its parts, must outlive it.
  fed_inputs(module const& m, std::vector<rank_context> const& processors, std::vector<external_buffers>& external)
      : m_(m), processors_(processors), external_(external) {}

  /// One more: node `input_node`.
  void add(id input_node) { ports_.push_back({m_.names[m_.nodes[input_node].attribute[0]].text(), input_node}); }
  std::vector<port> const& ports() const { return ports_; }
  id value_of(port const& p) const { return m_.result(m_.nodes[p.node_id]); }
  /// What the `k`-th processor held here has been fed.
  view part(port const& p, std::size_t k) const {
    view v = processors_[k].windows()[value_of(p)];
    v.data = external_[k].fed[p.node_id];
    return v;
  }
  /// errors  R02 an input has not been fed
  void require_all() const {
    for (port const& p : ports_)
      if (!p.fed) throw error("R02", {"the input '", p.label, "' was not fed"});
  }

  /// The window of a whole input, dense in the order of its dims, without memory. errors R02 no input has this name
  view window(std::string_view label) const {
    id const v = value_of(port_of(ports_, label, "R02", "input"));
    view whole = processors_[0].windows()[v];
    for (int i = 0; i < whole.count; ++i) whole.extent[i] = whole.total[i], whole.origin[i] = 0;
    whole.densify();
    return whole;
  }
  /// Copies each processor's part of a whole array into its input. errors R02 no input has this name
  void feed(std::string_view label, void const* whole) {
    view from = window(label);
    from.data = const_cast<void*>(whole);
    feed(label, from);
  }
  /// The same of an array whose dims stand in any order.
  void feed(std::string_view label, view const& whole) {
    port& p = port_of(ports_, label, "R02", "input");
    p.memory.resize(processors_.size());
    for (std::size_t k = 0; k < processors_.size(); ++k) {
      view to = processors_[k].windows()[value_of(p)];
      std::int64_t first = 0;
      for (int i = 0; i < to.count; ++i) first += whole.stride[whole.find(to.dim[i])] * to.origin[i];
      to.data = external_[k].fed[p.node_id] = p.buffer(k, to.bytes());
      detail::copy_by_name(whole, first, to, 0, no_id, no_id, to.extent);
      copied_ += to.bytes();
    }
    p.fed = true;
  }
  /// The window of this process's one processor on an input, dense in the order of its dims, without memory.
  ///
  /// errors  R02 no input has this name; R06 this process holds several processors
  view local_window(std::string_view label) const {
    if (processors_.size() != 1)
      throw error("R06", {"feed_local gives one processor's part, but this process holds ", processors_.size(),
                          ": feed the whole array"});
    return processors_[0].windows()[value_of(port_of(ports_, label, "R02", "input"))];
  }
  /// Lets this process's one processor read its part where it lies; `elements` 0: not known.
  ///
  /// errors  those of `local_window`; R11 another number of elements
  void feed_local(std::string_view label, void const* part, std::int64_t elements = 0) {
    std::int64_t const wanted = local_window(label).size();
    port& p = port_of(ports_, label, "R02", "input");
    if (elements != 0 && elements != wanted)
      throw error("R11", {"this processor's part of the input '", p.label, "' has ", wanted, " elements, but ",
                          elements, " were fed"});
    external_[0].fed[p.node_id] = static_cast<std::byte*>(const_cast<void*>(part));
    p.fed = true;
  }
  /// The same of a part with the input's dims; one whose elements lie apart is copied now.
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

  /// Bytes that were copied so far.
  std::int64_t copied_bytes() const { return copied_; }

 private:
  meshtensor::module const& m_;
  std::vector<rank_context> const& processors_;
  std::vector<external_buffers>& external_;
  std::vector<port> ports_;
  std::int64_t copied_ = 0;
};

}  // namespace meshtensor
