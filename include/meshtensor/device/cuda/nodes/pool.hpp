// SPDX-License-Identifier: Apache-2.0
// Pools on the GPU by one thread for each element of the result, which goes through the elements of its window.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/text/window.hpp"
#include "meshtensor/op/pool.hpp"

namespace meshtensor::cuda {

namespace detail {

class pooling {
 public:
  pooling(module const& m, node const& n, view const* operands, view const& y)
      : m_(m), a_(pool_attributes::of(n)), step_(pool_rule::step_of(n)), x_(operands), y_(y) {
    for (int k = 0; k < a_.count; ++k) sizes_.push_back(m.dims[m.windows[a_.first + k].kernel].value);
  }

  std::string text() const {
    std::vector<std::int64_t> const extents(y_.extent, y_.extent + y_.count);
    std::string t = joined({"if (i >= ", y_.size(), "ll) return;\n"}) + indices_text("i", "y", extents) +
                    paddings_text(m_, a_.first, a_.count);
    std::string const type = type_text(x_[0].type), number = register_text(x_[0].type);
    bool const one_only = step_ == pool_step::pick, greatest = step_ == pool_step::position;
    if (greatest) add(t, {"int r = ", pool_rule::nowhere, ";\n", number, " best = 0;\n"});
    else if (one_only) add(t, {number, " r = 0;\n"});
    else add(t, {"running<sums, ", type, "> r;\n"});
    if (one_only) add(t, {"const int position = ", position_at_result(), ";\nif (position >= 0) {\n"});
    else
      add(t, {"for (int position = 0; position < ", static_cast<std::int64_t>(pool_rule::elements(m_, a_)),
              "; ++position) {\n"});
    t += indices_text("position", "w", sizes_) + "bool meets = true;\n" + windows_text();
    std::string const element = joined({"get(((const ", type, "*)a.p[0])[0", offset(x_[0]), "])"});
    t += "if (meets) {\n";
    if (one_only) add(t, {"r = ", element, ";\n"});
    else if (greatest)
      add(t, {"const ", number, " own = ", element, ";\nif (r < 0 || stands_before<", number,
              ">(own, best)) r = position, best = own;\n"});
    else if (step_ == pool_step::unpool)
      add(t, {"if (((const int*)a.p[1])[0", offset(x_[1]), "] == position) r.add((sum<", type, ">)", element, ");\n"});
    else add(t, {"r.add((sum<", type, ">)", element, ");\n"});
    t += "}\n}\n";
    std::string to;
    for (int i = 0; i < y_.count; ++i) add_offset(to, "y" + std::to_string(i), y_.stride[i]);
    std::string const given = greatest ? "int" : type;
    add(t, {"((", given, "*)a.p[", max_kernel_operands, "])[0", to, "] = put<", given, ">(",
            one_only || greatest ? "r" : "to<" + given + ">(r.total())", ");\n"});
    return t;
  }

 private:
  bool leads_back() const { return pool_rule::leads_back(step_); }
  /// The position of a window's dim, which is the same in operands and result.
  int place(int k) const {
    window_row const& row = m_.windows[a_.first + k];
    return x_[0].find(leads_back() ? row.output : row.input);
  }
  std::string windows_text() const {
    std::string t;
    for (int k = 0; k < a_.count; ++k) {
      window_row const& row = m_.windows[a_.first + k];
      int const at = place(k);
      t += meeting_text(k,
                        {{row.stride, row.dilation, 0, sizes_[static_cast<std::size_t>(k)]},
                         leads_back(),
                         x_[0].origin[at],
                         x_[0].extent[at],
                         y_.origin[at]},
                        "y" + std::to_string(at), "w" + std::to_string(k));
    }
    return t;
  }
  /// Writes the offset of a window's element in an operand with the same order of dims as operand 0.
  std::string offset(view const& x) const {
    std::string t;
    for (int i = 0; i < x.count; ++i) {
      std::string index = "y" + std::to_string(i);
      for (int k = 0; k < a_.count; ++k)
        if (place(k) == i) index = "x" + std::to_string(k);
      add_offset(t, index, x.stride[i]);
    }
    return t;
  }
  std::string position_at_result() const {
    std::string t;
    for (int i = 0; i < y_.count; ++i) add_offset(t, "y" + std::to_string(i), x_[1].stride[i]);
    return "((const int*)a.p[1])[0" + t + "]";
  }

  meshtensor::module const& m_;
  pool_attributes a_;
  pool_step step_;
  view const* x_;
  view const& y_;
  std::vector<std::int64_t> sizes_;
};

}  // namespace detail

inline node_work pool_of(node_setup const& s) {
  std::string const text = detail::pooling(s.p.m, s.n, s.operands, s.result).text();
  return detail::just(s.p.over_elements(text, s.result.size()));
}

}  // namespace meshtensor::cuda
