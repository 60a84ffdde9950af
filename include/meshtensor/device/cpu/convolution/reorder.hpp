// SPDX-License-Identifier: Apache-2.0
// Copies a tensor between two of oneDNN's formats, in parts that the threads of a team copy at the same time.
#pragma once

#include "meshtensor/device/cpu/onednn.hpp"

#if MESHTENSOR_WITH_ONEDNN

#  include <vector>

#  include "meshtensor/device/cpu/library_threads.hpp"
#  include "meshtensor/device/cpu/threads.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace onednn {

/// Returns a primitive that copies a whole tensor on one thread.
inline primitive reorder(dnnl::memory::desc const& from, dnnl::memory::desc const& to) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  dnnl::reorder::primitive_desc const described(engine(), from, engine(), to, attributes);
  return primitive::make<dnnl::reorder>(described, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

}  // namespace onednn

class parallel_reorder {
 public:
  parallel_reorder(dnnl::memory::desc const& from, dnnl::memory::desc const& to, int threads) {
#  if DNNL_VERSION_MAJOR >= 3
    dnnl::memory::dims const extents = from.get_dims();
#  else
    dnnl::memory::dims const extents = from.dims();
#  endif
    // `grain` is a multiple of every format's block, and `worth_a_thread` counts elements.
    constexpr std::int64_t grain = 64, worth_a_thread = 1 << 14;
    std::int64_t elements = 1;
    for (auto const extent : extents) elements *= extent;
    std::int64_t const wanted = std::min<std::int64_t>(threads, elements / worth_a_thread);
    std::int64_t const grains = extents[0] / grain;
    std::int64_t const count = extents[0] % grain == 0 ? std::min(wanted, grains) : 1;
    for (std::int64_t i = 0; i < count; ++i) {
      auto first = dnnl::memory::dims(extents.size()), size = extents;
      first[0] = grains * i / count * grain;
      size[0] = grains * (i + 1) / count * grain - first[0];
      if (count == 1) first[0] = 0, size[0] = extents[0];
      parts_.push_back(count == 1 ? onednn::reorder(from, to)
                                  : onednn::reorder(from.submemory_desc(size, first), to.submemory_desc(size, first)));
    }
    if (parts_.empty()) parts_.push_back(onednn::reorder(from, to));
  }

  void run(void const* from, void* to, thread_team* team) {
    auto const some = [&](std::int64_t first, std::int64_t end) {
      libraries_on_one_thread const quiet;
      for (std::int64_t i = first; i < end; ++i) parts_[static_cast<std::size_t>(i)].execute({from, to}, nullptr);
    };
    auto const count = static_cast<std::int64_t>(parts_.size());
    if (team == nullptr) some(0, count);
    else team->parallel_for(count, 1, some);
  }

 private:
  std::vector<onednn::primitive> parts_;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#endif
