// SPDX-License-Identifier: Apache-2.0
// The kernels of a program on a GPU. This prepares each node that is launched, and records its work in a step.
#pragma once

#include "meshtensor/device/cuda/attention.hpp"
#include "meshtensor/device/cuda/device_collective.hpp"
#include "meshtensor/device/cuda/fused.hpp"
#include "meshtensor/device/cuda/memory.hpp"
#include "meshtensor/device/cuda/nccl_communicators.hpp"
#include "meshtensor/device/cuda/nodes/product_epilogue.hpp"
#include "meshtensor/device/cuda/nodes/table.hpp"
#include "meshtensor/device/device.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/pass/plan_memory/liveness.hpp"

namespace meshtensor::cuda {

class program_kernels {
 public:
  using memory = device_memory;
  using host_block = host_memory;
  using recorder = recording;
  using work = node_work;
  using device_collective = cuda::device_collective;
  using captured = captured_step;

  program_kernels(gpu& g, module const& m, plan const& p)
      : m_(m), p_(p), preparation_{m, g, library_}, copier_(preparation_), communicators_(g) {}
  program_kernels(program_kernels const&) = delete;
  program_kernels& operator=(program_kernels const&) = delete;

  /// Prepares the work of a node, or returns none if there is nothing to compute.
  ///
  /// errors  R84 the node does not run on this device
  node_work prepare(node const& n, node_views const& v) {
    bool const gives = std::any_of(v.results, v.results + n.results.count, [](view const& y) { return y.size() != 0; });
    if (!gives && !n.effect) return {};
    if (n.kind == primitive::kernel) return fused(n, v);
    if (epilogue_form_of(m_, n).found) return with_epilogue(n, v);
    if (is_whole(n)) return attention(n, v);
    auto const of_operand = [&](int i) { return i < n.operands.count ? alignment(m_.operand(n, i), v) : 16; };
    node_work made = work_of({preparation_,
                              copier_,
                              n,
                              v.operands,
                              v.results[0],
                              {of_operand(0), of_operand(1), alignment(m_.result(n), v)}});
    refuse_unless(made != nullptr, n);
    return made;
  }
  void prepare_sum(dtype type) {
    std::string const t = type_text(type);
    sum_[static_cast<int>(type)] = preparation_.over_elements(
        joined({"if (i < a.n[0]) ((", t, "*)a.p[0])[i] = put<", t, ">(to<", t, ">(do_add(get(((", t,
                "*)a.p[0])[i]), get(((const ", t, "*)a.p[1])[i]))));\n"}),
        1);
  }
  device_collective prepare_collective(node const&, collective_call const& call, int members) {
    return device_collective(preparation_, copier_, call, members);
  }
  /// Whether a collective among several processes goes directly from GPU to GPU. All members get the same answer.
  bool takes_remote_collective(collective_call const& call, int members) const {
    return communicators_.takes(call, members);
  }
  /// Is called once, on all ranks, with the groups of these collectives.
  void join_remote_groups(std::vector<std::vector<int>> const& groups) { communicators_.join(groups); }
  void record_remote_collective(recording& to_do, collective_call const& call, group const& with, address in,
                                address out) const {
    communicators_.record(to_do, call, with, in, out);
  }
  /// Whether any collective goes directly from GPU to GPU, and the bits that all ranks of such a program give.
  ///
  /// errors  R21, R22
  bool has_remote_groups() const { return communicators_.any(); }
  unsigned common_bits(unsigned bits) const { return communicators_.common_bits(bits); }
  /// Loads the kernels. Call it when all nodes are prepared. errors R83
  void load() {
    library_.load(preparation_.device);
    workspace_ = device_memory(preparation_.device, preparation_.workspace);
  }

  address workspace() const { return workspace_.at(); }
  std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(workspace_.bytes()); }

  /// Copies the tables of addresses to the GPU. Call it when everything is recorded.
  void finish(recording& to_do) const { to_do.place_tables(preparation_.device); }
  void play(recording const& to_do) const { to_do.give_to(preparation_.device, library_); }

  /// Copies a box of `x` that begins at its element `first` to all of `y`.
  void copy_part(recording& to_do, view const& x, std::int64_t first, view const& y) const {
    copier_.by_name(to_do, x, first, y, 0, no_id, no_id, y.extent);
  }
  /// Adds the dense block `term` to `total`.
  void accumulate(recording& to_do, view const& total, view const& term) const {
    launch_arguments a;
    std::memset(&a, 0, sizeof a);
    a.p[0] = total.as<std::byte>(), a.p[1] = term.as<std::byte>(), a.n[0] = total.size();
    int const block = preparation_.block();
    to_do.launch({sum_[static_cast<int>(total.type)].number, {(a.n[0] + block - 1) / block, block}}, a);
  }

 private:
  void refuse_unless(bool can, node const& n) const {
    if (can) return;
    throw error(
        "R84", {text_of(n.kind), n.kind == primitive::call ? " of a C++ function" : "", located(n),
                " does not run on mt::cuda_device: take mt::pjrt_device with a plugin for the GPU, or mt::cpu_device"});
  }
  std::string located(node const& n) const {
    if (n.site >= m_.site_count || m_.sites[n.site].line == 0) return "";
    return " (" + std::string(file_name(m_.sites[n.site])) + ":" + std::to_string(m_.sites[n.site].line) + ")";
  }
  /// The greatest power of two up to 16 that divides all addresses of a value, in bytes.
  int alignment(value_id v, node_views const& views) const {
    switch (p_.where[p_.root[v]]) {
      case place::slice:
      case place::stack_slice:
      case place::double_buffer: {
        int bytes = 16;
        while (views.inside[p_.root[v]].bytes() % bytes != 0) bytes /= 2;
        return bytes;
      }
      case place::strided_slice: return static_cast<int>(bytes_of(m_.values[v].type));
      default: return 16;
    }
  }
  node_work with_epilogue(node const& n, node_views const& v) {
    int aligned[most_product_operands + 1] = {};
    for (int i = 0; i < n.operands.count; ++i) aligned[i] = alignment(m_.operand(n, i), v);
    aligned[most_product_operands] = alignment(m_.result(n), v);
    return product_epilogue_of(preparation_, copier_, n, v.operands, v.results[0], aligned);
  }
  node_work attention(node const& n, node_views const& v) {
    int aligned[max_kernel_operands] = {};
    for (int i = 0; i < n.operands.count; ++i) aligned[i] = alignment(m_.operand(n, i), v);
    return attention_of(preparation_, n, v.operands, v.results, aligned);
  }
  node_work fused(node const& n, node_views const& v) {
    kernel_reading const reading = read_kernel(m_, n);
    int aligned[max_kernel_operands + max_kernel_results] = {};
    for (int i = 0; i < n.operands.count; ++i) aligned[i] = alignment(m_.operand(n, i), v);
    for (int i = 0; i < n.results.count; ++i) aligned[first_result + i] = alignment(m_.result(n, i), v);
    detail::fused_shape const shape(m_, reading, v.operands, v.results, v.inside, aligned, preparation_.block(),
                                    preparation_.device.enough_blocks());
    refuse_unless(!shape.has_too_many_indices(), n);
    fused_text const made = detail::fused_writer(shape).write(library_);
    preparation_.reserve(shape.workspace);
    launch_arguments words;
    std::memset(&words, 0, sizeof words);
    std::copy_n(made.base, most_walking_steps, words.n);
    int slot = 0;
    for (int i = 0; i < reading.key.step_count; ++i) {
      step_kind const kind = reading.key.step(i).kind;
      if (kind != step_kind::position && !is_random(kind)) continue;
      if (is_random(kind))
        words.n[first_identity + slot] = static_cast<std::int64_t>(identity_of(m_, m_.nodes[reading.makers[i]]));
      ++slot;
    }
    for (int i = 0; i < reading.key.number_count; ++i) words.n[first_number + i] = reading.numbers[i];
    return [made, words](recording& to_do, evaluation const& e, address state, address workspace) {
      launch_arguments a = arguments_of(e, state);
      std::copy(words.n, words.n + max_words, a.n);
      a.p[workspace_pointer] = workspace;
      for (prepared_kernel const& k : made.kernels) to_do.launch(k, a);
    };
  }
  meshtensor::module const& m_;
  plan const& p_;
  kernel_library library_;
  preparation preparation_;
  box_copier copier_;
  nccl_communicators communicators_;
  prepared_kernel sum_[7];
  device_memory workspace_;
};

}  // namespace meshtensor::cuda
