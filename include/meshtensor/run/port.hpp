// SPDX-License-Identifier: Apache-2.0
// A named input or output of a session, with memory for the part of each rank that this process holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/graph/module.hpp"

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
