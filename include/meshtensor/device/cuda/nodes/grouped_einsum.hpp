// SPDX-License-Identifier: Apache-2.0
// Runs grouped_einsum on the GPU by a loop over the summed dims for each element of the result, with the matrix that
// the index chooses. A sum for one group goes only through the rows of this group.
#pragma once

#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/nodes/sorted_rows.hpp"
#include "meshtensor/op/grouped_einsum.hpp"

namespace meshtensor::cuda {

namespace detail {

class grouped_product {
 public:
  grouped_product(node const& n, view const* operands, view const& result)
      : a_(operands[0]), b_(operands[1]), index_(operands[2]), y_(result) {
    groups_ = grouped_einsum_attributes::of(n).groups;
    in_a_ = a_.find(groups_), in_b_ = b_.find(groups_), in_y_ = y_.find(groups_);
    view const& table = in_a_ >= 0 ? a_ : in_b_ >= 0 ? b_ : y_;
    int const along = table.find(groups_);
    origin_ = table.origin[along], extent_ = table.extent[along], total_ = table.total[along];
    for (int i = 0; i < y_.count; ++i)
      outer_.add(y_.extent[i], {stride(a_, y_.dim[i]), stride(b_, y_.dim[i]), stride(index_, y_.dim[i]), y_.stride[i],
                                std::int64_t{i == in_y_}});
    add_summed();
  }

  node_work prepare(preparation& p) const {
    bool const by_group = in_y_ >= 0 && no_kept_index_;
    std::string const sum = joined({"sum<", type_text(y_.type), ">"});
    std::string t = joined({"if (i >= ", y_.size(), "ll) return;\n", outer_.text("i", "f", 5), "running<sums, ",
                            type_text(y_.type), "> r;\n"});
    std::string const step_a = joined({"at * ", in_a_ < 0 ? 0 : a_.stride[in_a_], "ll"}),
                      step_b = joined({"at * ", in_b_ < 0 ? 0 : b_.stride[in_b_], "ll"});
    std::string const term =
        joined({"r.add(do_multiply((", sum, ")get(((const ", type_text(a_.type), "*)a.p[0])[f0 + g0 + h0 + ", step_a,
                "]), (", sum, ")get(((const ", type_text(b_.type), "*)a.p[1])[f1 + g1 + h1 + ", step_b, "])));\n"});
    std::string const in_table = joined(
        {"i64 at = to<i64>(get(((const ", type_text(index_.type), "*)a.p[2])[f2 + h2]));\nif (at < 0 || at >= ", total_,
         "ll) at = -1; else { at -= ", origin_, "ll; if (at < 0 || at >= ", extent_, "ll) at = -1; }\n"});
    std::string const over_rest =
        joined({"for (i64 j = 0; j < ", rest_.count(), "ll; ++j) {\n", rest_.text("j", "g", 2), term, "}\n"});
    if (by_group)
      add(t, {"const u32* const first = (const u32*)a.p[", sorted_rows::first_of_group,
              "];\nfor (u32 k = first[f4]; k < first[f4 + 1]; ++k) {\nconst i64 at = 0, entry = ((const int*)a.p[",
              sorted_rows::order, "])[k];\n", entries_.text("entry", "h", 3), over_rest, "}\n"});
    else
      add(t,
          {"for (i64 k = 0; k < ", summed_entries_.count(), "ll; ++k) {\n", summed_entries_.text("k", "h", 3), in_table,
           "if (", in_y_ >= 0 ? "at == f4" : "at >= 0", ") {\n", in_y_ >= 0 ? "at = 0;\n" : "", over_rest, "}\n}\n"});
    add(t, {"((", type_text(y_.type), "*)a.p[", max_kernel_operands, "])[f3] = put<", type_text(y_.type), ">(to<",
            type_text(y_.type), ">(r.total()));\n"});
    prepared_kernel const multiply = p.over_elements(t, y_.size());
    if (!by_group)
      return [multiply](recording& to_do, evaluation const& e, address state, address) {
        to_do.launch(multiply, arguments_of(e, state));
      };
    sorted_rows const sorted(p, index_, 2, origin_, extent_, total_);
    p.reserve(static_cast<std::size_t>(sorted.bytes()));
    return [=](recording& to_do, evaluation const& e, address state, address workspace) {
      launch_arguments a = arguments_of(e, state);
      sorted.record(to_do, a, workspace);
      to_do.launch(multiply, a);
    };
  }

 private:
  std::int64_t stride(view const& v, int dim) const {
    int const p = v.find(dim);
    return p < 0 || (dim == groups_ && in_y_ < 0) ? 0 : v.stride[p];
  }
  /// Adds the summed dims, first those of the index and then the others, in the order of the operands.
  void add_summed() {
    std::vector<int> seen;
    for (bool const of_index : {true, false})
      for (view const* v : {&a_, &b_, &index_})
        for (int i = 0; i < v->count; ++i) {
          int const dim = v->dim[i];
          if (y_.find(dim) >= 0 || dim == groups_ || (index_.find(dim) >= 0) != of_index) continue;
          if (std::find(seen.begin(), seen.end(), dim) != seen.end()) continue;
          seen.push_back(dim);
          if (of_index) summed_entries_.add(v->extent[i], {stride(a_, dim), stride(b_, dim), stride(index_, dim)});
          else rest_.add(v->extent[i], {stride(a_, dim), stride(b_, dim)});
        }
    for (int i = 0; i < index_.count; ++i) {
      int const dim = index_.dim[i];
      no_kept_index_ = no_kept_index_ && y_.find(dim) < 0;
      entries_.add(index_.extent[i], {stride(a_, dim), stride(b_, dim), index_.stride[i]});
    }
  }

  view a_, b_, index_, y_;
  int groups_ = 0, in_a_ = -1, in_b_ = -1, in_y_ = -1;
  std::int64_t origin_ = 0, extent_ = 0, total_ = 0;
  index_text outer_, entries_, summed_entries_, rest_;
  bool no_kept_index_ = true;
};

}  // namespace detail

inline node_work grouped_einsum_of(node_setup const& s) {
  return detail::grouped_product(s.n, s.operands, s.result).prepare(s.p);
}

}  // namespace meshtensor::cuda
