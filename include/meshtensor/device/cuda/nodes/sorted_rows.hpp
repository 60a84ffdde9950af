// SPDX-License-Identifier: Apache-2.0
// Sorts the elements of an index by group on the GPU, and keeps their order within each group. It counts in chunks,
// adds the counts up, and places each element after the earlier ones of its group. No two threads write to one place,
// so that the places are the same each time.
#pragma once

#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/device/cuda/text/index.hpp"

namespace meshtensor::cuda::detail {

class sorted_rows {
 public:
  /// The positions of the results among a launch's pointers. `places` has the place of each element, or -1 if it has no
  /// group. `order` has the elements in the order of their places. `first_of_group` has the first place of each group,
  /// and at the end the number of all placed elements. All have 32 bits.
  static constexpr int places = 31, order = 32, first_of_group = 33;

  /// `pointer` is the position of the index among the pointers. The groups here are `groups` of `total` groups, from
  /// `origin` on.
  sorted_rows(preparation& p, view const& index, int pointer, std::int64_t origin, std::int64_t groups,
              std::int64_t total)
      : entries_(index.size()), groups_(groups), chunks_((entries_ + chunk - 1) / chunk) {
    require(entries_ < 0x7fffffff, "an index has at most 2^31 elements");
    std::string const hist = "((u32*)a.p[30])", begins = joined({"((u32*)a.p[", first_of_group, "])"});
    auto const group_at = [&](char const* entry) { return group_text(index, pointer, origin, groups, total, entry); };
    count_ = p.over_elements(
        joined({"if (i >= ", chunks_ * groups, "ll) return;\nconst i64 chunk = i / ", std::max<std::int64_t>(1, groups),
                "ll, group = i % ", std::max<std::int64_t>(1, groups), "ll;\nconst i64 end = chunk == ", chunks_ - 1,
                "ll ? ", entries_, "ll : (chunk + 1) * ", chunk, "ll;\nu32 many = 0;\nfor (i64 e = chunk * ", chunk,
                "ll; e < end; ++e) {\n", group_at("e"), "many += at == group ? 1u : 0u;\n}\n", hist, "[i] = many;\n"}),
        chunks_ * groups);
    std::string const each_group = joined({"for (i64 g = threadIdx.x; g < ", groups, "ll; g += ", p.block(), ") {\n"});
    std::string const each_chunk = joined({"for (i64 c = 0; c < ", chunks_, "ll; ++c) "});
    begin_ = {p.kernels.add(joined({each_group,
                                    "u32 all = 0;\n",
                                    each_chunk,
                                    "all += ",
                                    hist,
                                    "[c * ",
                                    groups,
                                    "ll + g];\n",
                                    begins,
                                    "[g + 1] = all;\n}\n__syncthreads();\nif (threadIdx.x == 0) ",
                                    "{\n",
                                    begins,
                                    "[0] = 0;\nfor (i64 g = 0; g < ",
                                    groups,
                                    "ll; ++g) ",
                                    begins,
                                    "[g + 1] += ",
                                    begins,
                                    "[g];\n}\n__syncthreads();\n",
                                    each_group,
                                    "u32 at = ",
                                    begins,
                                    "[g];\n",
                                    each_chunk,
                                    "{\nconst u32 many = ",
                                    hist,
                                    "[c * ",
                                    groups,
                                    "ll + g];\n",
                                    hist,
                                    "[c * ",
                                    groups,
                                    "ll + g] = at;\nat += many;\n}\n}\n"}),
                            p.block()),
              {1, p.block()}};
    place_ = p.over_elements(joined({"if (i >= ",
                                     entries_,
                                     "ll) return;\nconst i64 chunk = i / ",
                                     chunk,
                                     "ll;\ni64 own = -1;\n{\n",
                                     group_at("i"),
                                     "own = at;\n}\nif (own < 0) { ((int*)a.p[",
                                     places,
                                     "])[i] = -1; return; }\nu32 place = ",
                                     hist,
                                     "[chunk * ",
                                     groups,
                                     "ll + own];\nfor (i64 e = chunk * ",
                                     chunk,
                                     "ll; e < i; ++e) {\n",
                                     group_at("e"),
                                     "place += at == own ? 1u : 0u;\n}\n((int*)a.p[",
                                     places,
                                     "])[i] = (int)place;\n((int*)a.p[",
                                     order,
                                     "])[place] = (int)i;\n"}),
                             entries_);
  }

  std::int64_t bytes() const { return room(chunks_ * groups_) + 2 * room(entries_) + room(groups_ + 1); }
  /// Records the kernels. `a` has the address of the index, and gets the addresses of the results.
  void record(recording& to_do, launch_arguments& a, address workspace) const {
    a.p[30] = workspace, a.p[places] = a.p[30] + room(chunks_ * groups_), a.p[order] = a.p[places] + room(entries_);
    a.p[first_of_group] = a.p[order] + room(entries_);
    to_do.launch(count_, a), to_do.launch(begin_, a), to_do.launch(place_, a);
  }
  /// Writes `i64 at`, the group of an element among the groups here, or -1 if it has none of them.
  static std::string group_text(view const& index, int pointer, std::int64_t origin, std::int64_t groups,
                                std::int64_t total, char const* entry) {
    index_text walk;
    for (int i = 0; i < index.count; ++i) walk.add(index, i, {&index});
    return walk.text(entry, "x", 1) +
           joined({"i64 at = to<i64>(get(((const ", type_text(index.type), "*)a.p[", pointer,
                   "])[x0]));\nif (at < 0 || at >= ", total, "ll) at = -1; else { at -= ", origin,
                   "ll; if (at < 0 || at >= ", groups, "ll) at = -1; }\n"});
  }

 private:
  static constexpr std::int64_t chunk = 64;  // elements of a chunk

  static std::int64_t room(std::int64_t numbers) { return (numbers * 4 + 255) / 256 * 256; }

  std::int64_t entries_, groups_, chunks_;
  prepared_kernel count_, begin_, place_;
};

}  // namespace meshtensor::cuda::detail
