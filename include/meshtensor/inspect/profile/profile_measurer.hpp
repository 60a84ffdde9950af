// SPDX-License-Identifier: Apache-2.0
// Measures the time, the floating-point operations and the bytes of each line of a profile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/inspect/node_words.hpp"
#include "meshtensor/inspect/profile/profile_line.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor::detail {

/// Measures the lines of a profile.
class profile_measurer : protected node_words {
 protected:
  profile_measurer(module const& m, binding const& numbers, timeline const& t, rates best)
      : node_words(m),
        numbers_(numbers),
        t_(t),
        best_(best),
        steps_(static_cast<double>(std::max<std::int64_t>(1, t.steps()))) {}

  std::vector<profile_line> gather() {
    std::vector<profile_line> all;
    for (int i = 0; i < m_.node_count; ++i) {
      timeline::total const& t = t_.totals()[static_cast<std::size_t>(i)];
      if (t.calls == 0 || t.own == 0) continue;
      node const& n = m_.nodes[i];
      spoken_node const name = named(n);
      std::string const line = line_of(n), type = n.results.count == 0 ? "" : this->type(m_.result(n));
      std::string const kind = profile_line::without_numbers(name.text());
      auto same = std::ranges::find_if(all, [&](profile_line const& o) {
        return o.line == line && profile_line::without_numbers(o.name.text()) == kind;
      });
      if (same == all.end()) same = all.insert(all.end(), {name, line, type, {name.scope}});
      if (same->type != type) same->type.clear();
      if (std::ranges::find(same->scopes, name.scope) == same->scopes.end()) same->scopes.push_back(name.scope);
      measure(*same, n, t);
    }
    return all;
  }

  binding const& numbers_;
  timeline const& t_;
  rates best_;
  double steps_;

 private:
  void measure(profile_line& l, node const& n, timeline::total const& t) const {
    double const calls = static_cast<double>(t.calls) / steps_;
    epilogue_form const joined = epilogue_form_of(m_, n);  // its rate is that of the product
    node const& works = joined.found ? m_.nodes[joined.product] : n;
    double const bytes = bytes_of_node(n);
    bool const is_first = l.calls == 0;
    bool const is_f32_product = declared(m_, works).work == work_kind::product &&
                                works.kind != primitive::grouped_einsum && m_.result_value(works).type == dtype::f32 &&
                                m_.operand_value(works, 0).type == dtype::f32;
    l.calls += t.calls, l.time += static_cast<double>(t.own) / steps_;
    l.is_collective = is_collective(n.kind);
    l.is_f32_product = is_f32_product && (is_first || l.is_f32_product);
    l.is_beyond_caches = bytes > 2 * best_.cache && best_.cache > 0 && (is_first || l.is_beyond_caches);
    if (declared(m_, works).work == work_kind::product)
      l.flops += calls * static_cast<double>(flops_of(m_, numbers_, works));
    l.bytes += calls * bytes;
  }
  /// The bytes that a node must at least read and write. A collective has the bytes that a rank receives.
  double bytes_of_node(node const& n) const {
    if (is_collective(n.kind)) return static_cast<double>(cost_of_collective(m_, numbers_, n).bytes);
    bool const is_port = n.kind < primitive::constant;  // its memory is handed on, not copied
    if (is_port || n.kind == primitive::wait || (n.regions.count != 0 && n.kind != primitive::kernel)) return 0;
    auto const bytes = [&](value_id v) { return static_cast<double>(numbers_.local_bytes(m_.values[v])); };
    auto const all = static_cast<double>(bytes_touched(m_, numbers_, n));
    // A lookup touches only some rows of its table. If a tensor is overwritten in part, only that part counts.
    if (n.kind == primitive::gather) return all - std::max(0.0, bytes(m_.operand(n, 0)) - bytes(m_.result(n)));
    if (declared(m_, n).buffer == buffer_use::update)
      return all - bytes(m_.operand(n, 0)) - bytes(m_.result(n)) + bytes(m_.operand(n, 1));
    return all;
  }
};

}  // namespace meshtensor::detail
