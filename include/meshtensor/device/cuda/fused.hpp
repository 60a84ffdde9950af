// SPDX-License-Identifier: Apache-2.0
// Writes a fused kernel as CUDA text from its descriptor and its extents. Each row has a group of threads, and
// neighbouring threads have neighbouring elements. Sums over rows are made in chunks, and a second kernel adds the
// chunks up in their order.
#pragma once

#include "meshtensor/device/cuda/fused/row.hpp"
#include "meshtensor/device/cuda/fused/sums.hpp"

namespace meshtensor::cuda {

/// One kernel that does the work and, if sums were cut into chunks, others that add the chunks up.
struct fused_text {
  std::vector<prepared_kernel> kernels;
  std::int64_t base[max_kernel_steps] = {};  // first indices of positions and random numbers
};

namespace detail {

class fused_writer {
 public:
  explicit fused_writer(fused_shape const& s) : s_(s), n_(s), row_(s), sums_(s) {}

  fused_text write(kernel_library& library) {
    fused_text made;
    for (int i = 0; i < s_.d.step_count; ++i)
      if (s_.space.walks(i)) made.base[s_.slot[i]] = s_.space.base[first_step + i];
    bool const sums = s_.has_sums();
    std::int64_t const units = sums ? s_.kept * s_.chunks : (s_.kept * s_.reduced + s_.rows - 1) / s_.rows;
    std::string const body = body_text();
    made.kernels.push_back({library.add(body, s_.threads()), {units * s_.tiles, s_.threads()}});
    for (bool const wide : {true, false}) {
      std::string const end = sums_.finish_text(wide);
      if (end.empty()) continue;
      std::int64_t const n = wide ? (s_.kept * s_.space.width + s_.block - 1) / s_.block : s_.kept;
      made.kernels.push_back({library.add(end, s_.block), {n, s_.block}});
    }
    return made;
  }

 private:
  std::string body_text() const {
    bool const sums = s_.has_sums();
    std::string t;
    add(t, {"__shared__ __align__(16) unsigned char shared[", shared_bytes(), "];\n(void)shared;\n"});
    add(t,
        {"const int tx = threadIdx.x % ", s_.across, "u, ty = threadIdx.x / ", s_.across, "u;\n(void)tx; (void)ty;\n"});
    for (int i = 0; i < s_.d.number_count; ++i)
      add(t, {"const ", register_text(static_cast<dtype>(s_.d.numbers[i])), " c", i, " = number<",
              type_text(static_cast<dtype>(s_.d.numbers[i])), ">(a, a.n[", first_number + i, "]);\n"});
    for (int i = 0; i < s_.d.step_count; ++i)
      if (is_random(s_.d.step(i).kind))
        add(t, {"const stream stream", s_.slot[i], " = stream_of(a, a.n[", first_identity + s_.slot[i], "]);\n"});
    for (int i = 0; i < s_.d.operand_count; ++i)
      if (s_.d.operand_class(i) == extent_class::uniform)
        add(t, {"const ", register_text(s_.d.operand_type(i)), " x", i, " = get(*",
                n_.pointer(i, s_.d.operand_type(i), true), ");\n"});
    std::vector<bool> done(max_kernel_steps);
    for (int i = 0; i < s_.d.step_count; ++i)  // positions and random numbers of tensors without dims
      if (s_.space.walks(i) && s_.d.step(i).level == extent_class::uniform)
        add(t, {"const i64 at", i, " = a.n[", s_.slot[i], "];\n"});
    row_.scalars(t, extent_class::uniform, 0, done);
    t += "i64 unit = blockIdx.x;\n";
    if (s_.tiles > 1) add(t, {"const i64 tile = unit % ", s_.tiles, "; unit /= ", s_.tiles, ";\n"});
    else t += "constexpr int tile = 0; (void)tile;\n";
    if (sums) {
      add(t, {"const i64 chunk = unit % ", s_.chunks, "; i64 k = unit / ", s_.chunks,
              "; const i64 kept = k; (void)kept;\n"});
      n_.decode(t, "k", 0, s_.space.kept_loops);
      for (int i = 0; i < s_.d.step_count; ++i) {
        if (!s_.is_sum(i)) continue;
        std::string const many = s_.is_wide(i) ? joined({"[", s_.times * s_.at_once, "]"}) : "";
        add(t, {n_.running(i, s_.terms_of(i)), " r", i, many, ";\n"});
      }
      add(t, {"const i64 end = ", s_.reduced, "ll * (chunk + 1) / ", s_.chunks, ";\nfor (i64 row = ", s_.reduced,
              "ll * chunk / ", s_.chunks, " + ty; row < end; row += ", s_.rows, ") {\ni64 m = row; (void)m;\n"});
      n_.decode(t, "m", s_.space.kept_loops, s_.space.loops);
    } else {
      add(t, {"const i64 row = unit * ", s_.rows, " + ty;\nif (row < ", s_.kept * s_.reduced,
              "ll) {\ni64 m = row; (void)m;\n"});
      n_.decode(t, "m", 0, s_.space.loops);
    }
    row_.write(t, done);
    t += "}\n";
    if (sums) sums_.end_text(t);
    return t;
  }
  std::int64_t shared_bytes() const {
    std::int64_t const lanes = std::int64_t{s_.rows} * s_.across * s_.at_once * 8;
    return std::max<std::int64_t>(256, s_.rows > 1 && s_.has_sums() ? lanes : 0);
  }

  fused_shape const& s_;
  fused_names n_;
  fused_row row_;
  fused_sums sums_;
};

}  // namespace detail

}  // namespace meshtensor::cuda
