// SPDX-License-Identifier: Apache-2.0
// Runs the composites `nn.attention`, `nn.causal_attention` and `nn.masked_attention` and their gradients whole, so
// that memory grows with the length and not with its square.
#pragma once

#include <memory>
#include <vector>

#include "meshtensor/device/attention_form.hpp"
#include "meshtensor/device/cpu/attention/backward.hpp"
#include "meshtensor/device/cpu/attention/blocks.hpp"
#include "meshtensor/device/cpu/attention/forward.hpp"
#include "meshtensor/device/cpu/attention/of_few.hpp"
#include "meshtensor/device/cpu/attention/problem.hpp"
#include "meshtensor/device/cpu/nodes/node_kernel.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/op/detail/copy.hpp"
#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

constexpr bool is_attention(module const& m, node const& n) { return attention_form_of(m, n).found; }

/// Attention, or its gradient, of elements E, computed in T, the type of its logarithms. Each task computes some blocks
/// of one batch and head. Its results do not depend on how blocks are shared among tasks, so any number of threads
/// gives the same bits.
template <class T, class E>
class attention final : public node_kernel {
  using blocks = attention_blocks<T, E>;
  using few = attention_of_few<T>;

 public:
  attention(module const& m, node const& n, view const* operands, int threads)
      : form_(attention_form_of(m, n)), threads_(threads) {
    view const &q = operands[0], &k = operands[1], &v = operands[2];
    auto const extent = [](view const& x, int d) { return x.extent[x.find(d)]; };
    int const at = q.find(form_.length);
    sizes_ = {q.extent[at],
              extent(k, form_.memory),
              extent(q, form_.head),
              extent(v, form_.value_head),
              q.origin[at] - k.origin[k.find(form_.memory)],
              form_.causal,
              form_.masked,
              form_.each,
              1 / std::sqrt(static_cast<double>(extent(q, form_.head)))};
    heads_ = 1;
    for (int i = 0; i < q.count; ++i)
      if (q.dim[i] != form_.length && q.dim[i] != form_.head)
        outer_.push_back({q.dim[i], q.extent[i]}), heads_ *= q.extent[i];
    std::int64_t const count =
        blocks::blocks_of(form_.backward ? std::min(sizes_.length, sizes_.memory) : sizes_.length);
    bool const enough = heads_ % threads == 0 || heads_ >= 4 * threads;
    parts_ = enough ? 1 : std::min(count, (4 * threads + heads_ - 1) / heads_);
    if constexpr (std::is_same_v<T, E>)
      few_ = !form_.backward &&
             few::takes(sizes_, rows(q, 0, form_.length, form_.head), rows(k, 0, form_.memory, form_.head),
                        rows(v, 0, form_.memory, form_.value_head));
  }

  std::int64_t workspace_bytes() const override { return threads_ * each_bytes(); }

  void run(evaluation const& e, std::byte* workspace, thread_team& team) override {
    view const *const operands = e.operands, *const results = e.results;
    if (heads_ == 0 || sizes_.length == 0 || sizes_.memory == 0) return attend_to_nothing(results);
    std::int64_t const kinds = form_.backward && parts_ > 1 ? 2 : 1;
    team.parallel_for(heads_ * parts_ * kinds, 1, [&](std::int64_t first, std::int64_t last) {
      std::byte* const own = workspace + team.here() * each_bytes();
      for (std::int64_t task = first; task < last; ++task) {
        std::int64_t const head = task / (parts_ * kinds), part = task / kinds % parts_;
        if (!form_.backward) forward(operands, results, head, part, own);
        else if (kinds == 1) backward(operands, results, head, 0, sizes_.memory, 0, sizes_.length, own);
        else if (task % kinds == 0)
          backward(operands, results, head, start(part, sizes_.memory), start(part + 1, sizes_.memory), -1, -1, own);
        else backward(operands, results, head, -1, -1, start(part, sizes_.length), start(part + 1, sizes_.length), own);
      }
    });
  }

 private:
  std::int64_t each_bytes() const {
    if (few_) return few(sizes_).bytes();
    std::int64_t const bytes =
        form_.backward ? attention_backward<T, E>(sizes_).bytes() : attention_forward<T, E>(sizes_).bytes();
    return (bytes + 63) / 64 * 64;
  }
  /// Writes the results of a rank without queries or without keys, so that the results of other ranks can be added to
  /// them.
  void attend_to_nothing(view const* results) const {
    for (int i = 0; i < (form_.backward ? 3 : 2); ++i) {
      bool const is_log_sum = !form_.backward && i == 1;
      meshtensor::detail::fill_elements(results[i], is_log_sum ? static_cast<double>(blocks::least_score) : 0.0);
    }
  }
  /// The first row of a part of `all` rows, a multiple of the block size.
  std::int64_t start(std::int64_t part, std::int64_t all) const {
    return std::min(all, blocks::blocks_of(all) * part / parts_ * blocks::block);
  }
  /// The rows of one batch and head, along dim `row`. If `column` is -1, a row has one element. A tensor that lacks a
  /// batch or head dim is broadcast along it.
  template <class Of = E>
  attention_rows rows(view const& x, std::int64_t head, int row, int column) const {
    std::int64_t offset = 0;
    for (std::size_t i = outer_.size(); i-- > 0; head /= outer_[i].extent)
      if (int const at = x.find(outer_[i].dim); at >= 0) offset += head % outer_[i].extent * x.stride[at];
    return {x.as<Of>() + offset, x.stride[x.find(row)], column < 0 ? 1 : x.stride[x.find(column)]};
  }
  /// The mask of visible keys, which is empty if there is no mask.
  attention_rows visible(view const* in, std::int64_t head) const {
    return form_.masked ? rows<bool>(in[3], head, form_.memory, form_.each ? form_.length : -1) : attention_rows{};
  }

  void forward(view const* in, view const* out, std::int64_t head, std::int64_t part, std::byte* own) const {
    auto const q = rows(in[0], head, form_.length, form_.head), k = rows(in[1], head, form_.memory, form_.head),
               v = rows(in[2], head, form_.memory, form_.value_head),
               y = rows(out[0], head, form_.length, form_.value_head),
               log_sum = rows<T>(out[1], head, form_.length, -1);
    if (few_) {
      auto const next_k = rows(in[1], std::min(head + 1, heads_ - 1), form_.memory, form_.head);
      return few(sizes_).run(q, k, v, visible(in, head), y, log_sum, next_k, own);
    }
    attention_forward<T, E> b(sizes_);
    b.prepare(k, v, visible(in, head), own);
    std::int64_t const end = start(part + 1, sizes_.length);
    for (std::int64_t i = start(part, sizes_.length); i < end; i += blocks::block)
      b.run(q, y, log_sum, i, std::min(blocks::block, end - i));
  }
  /// Computes the gradients of keys [first, last) from all queries, and the gradients of queries [from, to) from all
  /// keys. If a range starts at -1, it computes no such gradients.
  void backward(view const* in, view const* out, std::int64_t head, std::int64_t first, std::int64_t last,
                std::int64_t from, std::int64_t to, std::byte* own) const {
    bool const keys = first >= 0, queries = from >= 0;
    if (!keys) first = 0, last = sizes_.memory;
    if (!queries) from = 0, to = sizes_.length;
    auto const k = rows(in[1], head, form_.memory, form_.head), v = rows(in[2], head, form_.memory, form_.value_head);
    auto const dk = rows(out[1], head, form_.memory, form_.head),
               dv = rows(out[2], head, form_.memory, form_.value_head);
    attention_backward<T, E> b(sizes_);
    view const *const y = in + (form_.masked ? 4 : 3), *const log_sum = y + 1, *const dy = y + 2;
    b.prepare(rows(in[0], head, form_.length, form_.head), rows(*y, head, form_.length, form_.value_head),
              rows<T>(*log_sum, head, form_.length, -1), rows(*dy, head, form_.length, form_.value_head),
              visible(in, head), own);
    for (std::int64_t m = first; m < last; m += blocks::block)
      b.run(k, v, keys ? &dk : nullptr, keys ? &dv : nullptr, m, std::min(blocks::block, last - m), from, to, queries);
    if (queries) b.store_query_gradients(rows(out[0], head, form_.length, form_.head), from, to);
  }

  attention_form form_;
  attention_sizes sizes_;
  int threads_;
  struct outer_dim {
    int dim;
    std::int64_t extent;
  };
  std::vector<outer_dim> outer_;  // batch and head dims
  std::int64_t heads_ = 1, parts_ = 1;
  bool few_ = false;
};

/// `mask_of` is a dtype as a bit of a mask, and `attention_types` are the dtypes of a module's attentions.
constexpr unsigned mask_of(dtype t) { return 1u << static_cast<unsigned>(t); }
constexpr unsigned attention_types(module const& m) {
  unsigned all = 0;
  for (int i = 0; i < m.node_count; ++i)
    if (is_whole(m.nodes[i]) && m.names[name_of(m.nodes[i])] != epilogue_name)
      all |= mask_of(m.operand_value(m.nodes[i], 0).type);
  return all;
}

/// The kernel for a composite that `is_attention`, of one of the dtypes in the mask.
template <unsigned Types>
std::unique_ptr<node_kernel> make_attention(module const& m, node const& n, view const* operands, int threads) {
  dtype const type = operands[0].type;
  if constexpr ((Types & mask_of(f32)) != 0)
    if (type == f32) return std::make_unique<attention<float, float>>(m, n, operands, threads);
  if constexpr ((Types & mask_of(f64)) != 0)
    if (type == f64) return std::make_unique<attention<double, double>>(m, n, operands, threads);
  if constexpr ((Types & mask_of(bf16)) != 0)
    if (type == bf16) return std::make_unique<attention<float, bf16_t>>(m, n, operands, threads);
  throw error("R31", {"attention of ", text_of(type), " has no kernel here"});
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
