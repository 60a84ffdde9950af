// SPDX-License-Identifier: Apache-2.0
// The part of a report about parameters or state: their layouts, and the bytes that a rank stores of them.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/emit/report/amounts.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

class variables_of_report : speller {
 public:
  variables_of_report(module const& m, binding const& numbers) : speller(m), numbers_(numbers) {}

  std::string text(char const* what, bool trainable) const {
    table t;
    std::int64_t local = 0, whole = 0, count = 0;
    std::string names, type_of_last;  // neighbours of one type and path share a line, for example an optimizer's slots
    std::int64_t together = 0;
    value_id last = no_id;
    auto const put = [&] {
      if (last != no_id) t.add({right_aligned(bytes_text(together)), names, type_of_last});
    };
    std::vector<bool> used(max_variables);
    for (int i = 0; i < m_.node_count; ++i)
      if (m_.nodes[i].kind == primitive::read || m_.nodes[i].kind == primitive::write)
        used[variable_of(m_.nodes[i])] = true;
    for (int i = 0; i < m_.variable_count; ++i) {
      variable const& v = m_.variables[i];
      if (v.trainable != trainable || !used[static_cast<std::size_t>(i)]) continue;
      value like{};
      like.type = v.type, like.dims = v.dims, like.layout = v.layout;
      std::int64_t const mine = numbers_.local_bytes(like);
      std::string const type_text = std::string(text_of(v.type)) + "[" + dims(v.dims, v.layout) + "]";
      if (last != no_id && m_.variables[last].type == v.type && type_text == type_of_last && v.path != no_id &&
          m_.paths[v.path].parent == m_.paths[m_.variables[last].path].parent) {
        names += ", " + label(m_.paths[v.path].label), together += mine;
      } else {
        put();
        names = path(v.path), together = mine;
      }
      last = static_cast<value_id>(i), type_of_last = type_text;
      local += mine, count += numbers_.size(v.dims);
      whole += numbers_.size(v.dims) * static_cast<std::int64_t>(bytes_of(v.type));
    }
    if (count == 0) return {};
    put();
    std::string r = "\n" + std::string(what) + ": " + quantity(count, "elements") + ", " + bytes_text(whole) + "; " +
                    bytes_text(local) + " a rank\n" + t.text();
    for (int i = 0; i < m_.variable_count; ++i)
      if (variable const& v = m_.variables[i];
          trainable && v.trainable && v.again != 0)  // states are shared on purpose
        r += "'" + path(v.path) + "' is declared " + std::to_string(v.again + 1) +
             " times by one program: one parameter, shared\n";
    return r;
  }

 private:
  binding const& numbers_;
};

}  // namespace meshtensor::detail
