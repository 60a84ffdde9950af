// SPDX-License-Identifier: Apache-2.0
// Runs attention on the GPU as one kernel, and its gradients as two. Scores stay in registers and shared memory.
#pragma once

#include <charconv>
#include <cmath>

#include "meshtensor/device/attention_form.hpp"
#include "meshtensor/device/cuda/attention/kernels_text.hpp"
#include "meshtensor/device/cuda/attention/tile_shape.hpp"
#include "meshtensor/device/cuda/fused/shape.hpp"
#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/device/cuda/text/index.hpp"

namespace meshtensor::cuda {

constexpr bool is_attention(module const& m, node const& n) { return attention_form_of(m, n).found; }

namespace detail {

/// Writes the kernels of one attention, or of its gradient.
class attention_writer {
 public:
  /// `alignment` has the alignment of each operand's and result's address, in bytes.
  attention_writer(preparation& p, node const& n, view const* operands, view const* results, int const* alignment)
      : p_(p), form_(attention_form_of(p.m, n)), operands_(n.operands.count), aligned_(alignment) {
    for (int i = 0; i < n.operands.count; ++i) tensors_.push_back(operands[i]);
    for (int i = 0; i < n.results.count; ++i) tensors_.push_back(results[i]);
    view const &q = tensors_[0], &k = tensors_[1], &v = tensors_[2];
    type_ = q.type;
    head_ = q.extent[q.find(form_.head)], value_ = v.extent[v.find(form_.value_head)];
    queries_ = q.extent[q.find(form_.length)], keys_ = k.extent[k.find(form_.memory)];
    ahead_ = q.origin[q.find(form_.length)] - k.origin[k.find(form_.memory)];
    for (int i = 0; i < q.count; ++i) {
      if (q.dim[i] == form_.length || q.dim[i] == form_.head) continue;
      std::vector<std::int64_t> strides;
      for (view const& x : tensors_) strides.push_back(x.find(q.dim[i]) < 0 ? 0 : x.stride[x.find(q.dim[i])]);
      outer_.add(q.extent[i], std::move(strides));
    }
    p.kernels.require(tiles_text), p.kernels.require(attention_text);
  }

  node_work write() {
    std::vector<prepared_kernel> made;
    if (!form_.backward) {
      made.push_back(kernel(attention_use::forward, queries_, true));
    } else {
      made.push_back(kernel(attention_use::to_queries, queries_, true));
      made.push_back(kernel(attention_use::to_keys, keys_, false));
    }
    return [made, ahead = ahead_](recording& to_do, evaluation const& e, address state, address workspace) {
      launch_arguments a = arguments_of(e, state);
      a.n[0] = ahead, a.p[workspace_pointer] = workspace;
      for (prepared_kernel const& k : made) to_do.launch(k, a);
    };
  }

 private:
  /// Makes a kernel with one block for each tile of `rows`. For causal attention, the tiles with the most work come
  /// first.
  prepared_kernel kernel(attention_use use, std::int64_t rows, bool last_is_longest) {
    tile_shape const how = tile_shape::of(use, type_, head_, value_, rows,
                                          use == attention_use::to_keys ? queries_ : keys_, p_.block(), p_.device);
    std::int64_t const tiles = (rows + how.rows - 1) / how.rows, all = outer_.count();
    std::int64_t const deltas = form_.backward ? (all * queries_ * bytes_of_number() + 255) / 256 * 256 : 0;
    p_.reserve(static_cast<std::size_t>(deltas + (how.in_workspace ? tiles * all * how.bytes : 0)));
    std::string t = "const i64 b = blockIdx.x;\n";
    if (form_.causal)
      add(t, {"const i64 one = b % ", all, "ll, tile = ", last_is_longest ? joined({tiles - 1, "ll - "}) : "", "b / ",
              all, "ll;\n"});
    else add(t, {"const i64 one = b / ", tiles, "ll, tile = b % ", tiles, "ll;\n"});
    t += outer_.text("one", "f", tensors_.size());
    add(t, {"const attention_sizes s = {", queries_, "ll, ", keys_, "ll, a.n[0], ",
            number(1 / std::sqrt(static_cast<double>(head_))), ", ", number(least()), "};\n"});
    t += "key_mask h = {};\n";
    if (form_.masked)
      add(t, {"h.visible = a.p[3] + f3; h.query = ", form_.each ? stride(3, form_.length) : 0,
              "ll; h.key = ", stride(3, form_.memory), "ll;\n"});
    if (how.in_workspace)
      add(t, {"unsigned char* const room = a.p[", workspace_pointer, "] + ", deltas, "ll + b * ", how.bytes, "ll;\n"});
    else t += "unsigned char* const room = shared_room();\n";
    if (form_.backward)
      add(t, {"typename G::number* const deltas = (typename G::number*)a.p[", workspace_pointer, "] + one * ", queries_,
              "ll;\n"});
    int const y = form_.masked ? 4 : 3, first_result = operands_;
    std::string const options =
        joined({head_, ", ", value_, form_.causal ? ", true" : ", false", form_.masked ? ", true" : ", false"});
    std::string const inputs = rows_of(0, form_.length, form_.head) + ", " + rows_of(1, form_.memory, form_.head) +
                               ", " + rows_of(2, form_.memory, form_.value_head) + ", h, ";
    std::string const first = joined({"tile * ", how.rows, ", room);\n"});
    if (use == attention_use::forward)
      add(t, {"attend<G, ", options, ">(s, ", inputs, rows_of(first_result, form_.length, form_.value_head), ", ",
              rows_of(first_result + 1, form_.length, -1), ", ", first});
    else if (use == attention_use::to_queries)
      add(t, {"attend_back_to_queries<G, ", options, ">(s, ", inputs, rows_of(y, form_.length, form_.value_head), ", ",
              rows_of(y + 1, form_.length, -1), ", ", rows_of(y + 2, form_.length, form_.value_head), ", ",
              rows_of(first_result, form_.length, form_.head), ", deltas, ", first});
    else
      add(t, {"attend_back_to_keys<G, ", options, ">(s, ", inputs, rows_of(y + 1, form_.length, -1), ", ",
              rows_of(y + 2, form_.length, form_.value_head), ", ", rows_of(first_result + 1, form_.memory, form_.head),
              ", ", rows_of(first_result + 2, form_.memory, form_.value_head), ", deltas, ", first});
    return {p_.kernels.add("typedef " + how.text + " G;\n" + t, how.threads),
            {tiles * all, how.threads, how.in_workspace ? 0 : static_cast<std::size_t>(how.bytes)}};
  }

  std::int64_t bytes_of_number() const { return type_ == dtype::f64 ? 8 : 4; }
  std::int64_t stride(int tensor, int dim) const {
    view const& x = tensors_[static_cast<std::size_t>(tensor)];
    return x.stride[x.find(dim)];
  }
  double least() const {
    return with_element(type_, []<class E>() { return static_cast<double>(least_finite<E>); });
  }
  static std::string number(double x) {
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, x).ptr};
  }
  /// The rows of one batch and head along the dim `row`. If `column` is -1, each row has one element.
  std::string rows_of(int tensor, int row, int column) const {
    view const& x = tensors_[static_cast<std::size_t>(tensor)];
    bool const is_result = tensor >= operands_;
    std::int64_t const down = x.stride[x.find(row)], across = column < 0 ? 1 : x.stride[x.find(column)];
    std::string const type = joined({is_result ? "" : "const ", type_text(x.type)});
    return joined({"rows_of<", type, ", ", column < 0 || is_result ? 1 : at_once(tensor, x, column), ", ",
                   across != 1 && down == 1 ? "true" : "false", ">{(", type, "*)a.p[",
                   is_result ? max_kernel_operands + tensor - operands_ : tensor, "] + f", tensor, ", ", down, "ll, ",
                   across, "ll}"});
  }
  /// The number of contiguous elements that are loaded at once. It divides the row's length and strides, and matches
  /// the alignment of the address.
  int at_once(int tensor, view const& x, int column) const {
    auto const size = static_cast<std::int64_t>(bytes_of(type_));
    std::int64_t n = x.stride[x.find(column)] == 1 ? 16 / size : 1;
    for (int i = 0; i < x.count; ++i)
      while (n > 1 && (x.dim[i] == column ? x.extent[i] : x.extent[i] == 1 ? 0 : x.stride[i]) % n != 0) n /= 2;
    while (n > 1 && aligned_[tensor] % (n * size) != 0) n /= 2;
    return static_cast<int>(n);
  }

  preparation& p_;
  attention_form form_;
  int operands_;
  int const* aligned_;
  std::vector<view> tensors_;
  index_text outer_;  // the dims of batches and heads
  dtype type_ = dtype::f32;
  std::int64_t head_ = 0, value_ = 0, queries_ = 0, keys_ = 0, ahead_ = 0;
};

}  // namespace detail

/// The work of an attention or its gradient that the device has claimed, or none if the node is another one.
inline node_work attention_of(preparation& p, node const& n, view const* operands, view const* results,
                              int const* alignment) {
  if (!is_whole(n)) return {};
  return detail::attention_writer(p, n, operands, results, alignment).write();
}

}  // namespace meshtensor::cuda
