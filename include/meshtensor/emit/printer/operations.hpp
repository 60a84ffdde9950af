// SPDX-License-Identifier: Apache-2.0
// Prints an operation as its declaration says, for example `gather(%3, %4) along vocab`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/graph/spell.hpp"
#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Writes operations, and the numbers of their operands, as text.
class operation_speller : protected speller {
 protected:
  using speller::speller;

  static std::string ref(value_id v) { return v == no_id ? "%?" : "%" + std::to_string(v); }
  std::string refs(list l, int first, int end) const {
    std::string r;
    for (int i = first; i < end; ++i) r += (i == first ? "" : ", ") + ref(m_.link(l, i));
    return r;
  }
  std::string refs(list l) const { return refs(l, 0, l.count); }

  // Prints an operation as its declaration says.
  [[gnu::cold]] std::string operation(node const& n) const {
    declaration const& d = declared(m_, n);
    name const* const own = own_name_of(m_, n);
    std::string const called = own == nullptr ? text_of(n) : own->text(), operands = refs(n.operands);
    switch (d.fusion) {
      case fusion_role::number: return called + "(" + number(constant_attributes::of(n).number) + ")";
      case fusion_role::random:
        return (n.function == 0 ? "uniform(" : "normal(") + path(n.path) + " #" + std::to_string(n.ordinal) + ")";
      case fusion_role::reduction: return kind_of_sum(n) + "(" + operands + ")" + lost(n);
      default: break;
    }
    std::string const more = words(d, n), given = operands + (operands.empty() || more.empty() ? "" : ", ") + more;
    return called + "(" + given + ")" + (d.work == work_kind::product ? lost(n) : "");
  }
  static std::string kind_of_sum(node const& n) { return text_of(static_cast<reduction>(n.function)); }

  // ` over embed`: the dims that the operands have and the result lacks.
  [[gnu::cold]] std::string lost(node const& n) const {
    std::vector<int> all;  // may be more than a shape holds
    bool const has_result = n.results.count != 0 && m_.result(n) < m_.value_count;
    for (int i = 0; i < n.operands.count; ++i) {
      if (m_.operand(n, i) >= m_.value_count) continue;
      shape const some = without(m_.operand_value(n, i).dims, has_result ? m_.result_value(n).dims : shape{});
      for (int k = 0; k < some.count; ++k)
        if (std::ranges::find(all, int{some.at[k]}) == all.end()) all.push_back(some.at[k]);
    }
    std::string r;
    for (int const d : all) r.append(r.empty() ? " over " : ", ").append(dim(d));
    return r;
  }

 private:
  // The declaration's text, such as `along {0}[ at {1}]`, with a node's attributes filled in.
  [[gnu::cold]] std::string words(declaration const& d, node const& n) const {
    std::string all;
    for (char const* c = d.text; *c != '\0'; ++c) {
      if (*c == '{') {
        all += attribute(d, n, c[1] - '0');
        c += 2;
      } else if (*c == '[') {
        char const* inner = c;
        while (*inner != '{') ++inner;
        if (n.attribute[inner[1] - '0'] != id{no_id}) continue;
        while (*c != ']') ++c;
      } else if (*c != ']') {
        all += *c;
      }
    }
    return all;
  }
  [[gnu::cold]] std::string attribute(declaration const& d, node const& n, int k) const {
    switch (d.attributes[k].kind) {
      case attribute_kind::dim: return dim(n.attribute[k]);
      case attribute_kind::number:
      case attribute_kind::place: return number(static_cast<number_id>(n.attribute[k]));
      case attribute_kind::name: return label(n.attribute[k]);
      case attribute_kind::request: return requested(n);
      case attribute_kind::windows: return windows(n.attribute[k], n.attribute[k + 1]);
      default: return std::to_string(n.attribute[k]);
    }
  }
  // `length/model, d_model whole`: the layout that a reshard asks for.
  [[gnu::cold]] std::string requested(node const& n) const {
    std::string r;
    reshard_attributes const rows = reshard_attributes::of(n);
    for (int i = rows.first; i < rows.first + rows.count && i < m_.request_count; ++i) {
      r += r.empty() ? "" : ", ";
      r += dim(m_.requests[i].dim);
      for (int a = 0; a < m_.requests[i].count; ++a) (r += '/') += label(m_.requests[i].axes[a]);
      if (m_.requests[i].count == 0) r += " whole";
    }
    return r;
  }
  // `rows -> rows_2 by 2 window kernel padded 1 + 1` for each window.
  [[gnu::cold]] std::string windows(int first, int count) const {
    std::string r;
    for (int i = first; i < first + count && i < m_.window_count; ++i) {
      window_row const& w = m_.windows[i];
      r += (i == first ? "" : ", ") + dim(w.input) + " -> " + dim(w.output) + " by " + std::to_string(w.stride) +
           " window " + dim(w.kernel) + (w.dilation == 1 ? "" : " x " + std::to_string(w.dilation)) + " padded " +
           number(w.low) + " + " + number(w.high);
    }
    return r;
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
