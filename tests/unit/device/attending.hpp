// SPDX-License-Identifier: Apache-2.0
// Programs of attention for tests: run whole by a device, and left to kernels and products, against the oracle.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <span>
#include <string>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/emit/print.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/compare.hpp"
#include "support/layouts.hpp"

namespace attending {

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length"> {} length;
inline constexpr struct memory : mt::dim<"memory"> {} memory;
inline constexpr struct heads : mt::dim<"heads"> {} heads;
inline constexpr struct head : mt::dim<"head"> {} head;
inline constexpr struct value : mt::dim<"value", head + 3> {} value;

struct sizes {
  std::int64_t batch, length, memory, heads, head;
  std::vector<mt::dim_extent> list() const {
    return {{"batch", batch}, {"length", length}, {"memory", memory}, {"heads", heads}, {"head", head}};
  }
};

/// The result and the three gradients, with dims in the orders of the projections of a layer.
template <mt::dtype Type, bool Causal, bool OtherOrder = false>
struct attends {
  static constexpr char const* inputs[] = {"q", "k", "v", "weights"};
  static constexpr char const* outputs[] = {"y", "dq", "dk", "dv"};
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const q = s.input("q", type, batch, length, heads, head);
    if constexpr (OtherOrder) {
      mix(s, q, s.input("k", type, heads, batch, head, memory), s.input("v", type, value, heads, memory, batch));
    } else {
      mix(s, q, s.input("k", type, batch, memory, heads, head), s.input("v", type, batch, memory, heads, head));
    }
  }
  constexpr void mix(mt::scope auto s, auto q, auto k, auto v) const {
    auto const y = [&] {
      if constexpr (Causal) return mt::nn::causal_dot_product_attention(q, k, v, length, memory, head);
      else return mt::nn::dot_product_attention(q, k, v, length, memory, head);
    }();
    auto const weights = s.input("weights", mt::dtype_constant<Type>{}, batch, length, heads);
    auto const [dq, dk, dv] = mt::gradient(sum(mt::cast<mt::dtype::f32>(y * weights)), q, k, v);
    s.output("y", y), s.output("dq", dq), s.output("dk", dk), s.output("dv", dv);
  }
};

/// The result and the three gradients; the mask has these dims and `memory`.
template <mt::dtype Type, auto const&... MaskDims>
struct attends_to_some {
  static constexpr char const* inputs[] = {"q", "k", "v", "visible", "weights"};
  static constexpr char const* outputs[] = {"y", "dq", "dk", "dv"};
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const q = s.input("q", type, batch, length, heads, head);
    auto const k = s.input("k", type, batch, memory, heads, head);
    auto const v = s.input("v", type, batch, memory, heads, head);
    auto const visible = s.input("visible", mt::boolean, MaskDims..., memory);
    auto const y = mt::nn::dot_product_attention(q, k, v, length, memory, head, visible);
    auto const weights = s.input("weights", type, batch, length, heads);
    auto const [dq, dk, dv] = mt::gradient(sum(mt::cast<mt::dtype::f32>(y * weights)), q, k, v);
    s.output("y", y), s.output("dq", dq), s.output("dk", dk), s.output("dv", dv);
  }
};

/// A program, lowered with and without composites of the device's own.
/// Attention in bf16 to keys that are all alike, with scores of 256 if a head has one element.
struct attends_to_equals {
  static constexpr char const* inputs[] = {"q", "k", "v"};
  static constexpr char const* outputs[] = {"y", "dv", "others"};
  constexpr void operator()(mt::scope auto s) const {
    auto const q = s.input("q", mt::bf16, batch, length, heads, head) * 0 + 16;
    auto const k = s.input("k", mt::bf16, batch, memory, heads, head) * 0 + 16;
    auto const v = s.input("v", mt::bf16, batch, memory, heads, head);
    auto const y = mt::nn::dot_product_attention(q, k, v, length, memory, head);
    auto const [dq, dk, dv] = mt::gradient(sum(mt::cast<mt::dtype::f32>(y)), q, k, v);
    s.output("y", y), s.output("dv", dv);
    s.output("others",
             sum(dq * 0) + sum(dk * 0));  // they cancel, and are read so that a device runs the gradient whole
  }
};
inline constexpr sizes equals{1, 3, 4, 2, 1};
/// The elements of dv in this attention: each of the keys has a fourth of the weight of three queries.
inline bool has_weights_of_equals(mt::block const& dv) {
  bool all = dv.size() == equals.memory * equals.heads;
  for (std::int64_t i = 0; i < dv.size(); ++i) all = all && dv.number_at(i) == 0.75;
  return all;
}

template <class Program>
class subject {
 public:
  /// `largest`: of the queries. `spoilt`: the input whose first text has a nan at its last position, which no mask
  /// lets through, or at its first.
  explicit subject(sizes const& z, double largest = 1, char const* spoilt = "", bool at_first = false)
      : sizes_(z), largest_(largest), spoilt_(spoilt), at_first_(at_first) {
    auto const plain = lower({}, {}, {});
    auto const job = mt::job::in_lockstep();
    mt::store store(job);
    mt::session<mt::reference_device> run(store, plain->graph, plain->planned, {}, plain->entry);
    feed(run);
    run.step();
    for (char const* label : Program::outputs) expected_.insert_or_assign(label, run.whole(label));
  }

  /// What is not as the oracle has it.
  std::string fault(mt::mesh_shape const& mesh, mt::layout_rules const& rules, int threads, bool whole,
                    double tolerance, std::map<std::string, mt::block>* bits = nullptr) {
    auto const low = counted(lower(mesh, rules, whole ? mt::cpu_device::capabilities : mt::device_capabilities{true}));
    auto const job = mt::job::in_lockstep();
    mt::store store(job);
    mt::session<mt::cpu_device> run(store, low->graph, low->planned, mesh, low->entry, mt::cpu_device(threads));
    feed(run);
    run.step();
    if (auto const d = difference(run, tolerance); !d.empty()) return d + "\n" + mt::text_of(low->graph);
    if (bits != nullptr)
      for (auto const& [label, _] : expected_) bits->insert_or_assign(label, run.whole(label));
    return "";
  }
  /// What is not as the oracle has it on another device, after any of some steps; `before` is called with the number of
  /// each.
  template <class Device, class Before>
  std::string fault_on(mt::mesh_shape const& mesh, mt::layout_rules const& rules, double tolerance, int steps,
                       Before before) {
    auto const low = counted(lower(mesh, rules, Device::capabilities));
    auto const job = mt::job::in_lockstep();
    mt::store store(job);
    mt::session<Device> run(store, low->graph, low->planned, mesh, low->entry);
    std::map<std::string, mt::block> first;
    for (int i = 0; i < steps; ++i) {
      before(i);
      feed(run);
      run.step();
      std::string const number = "step " + std::to_string(i) + ", ";
      if (auto const d = difference(run, tolerance); !d.empty()) return number + d;
      for (auto const& [label, _] : expected_)
        if (i == 0) first.insert_or_assign(label, run.whole(label));
        else if (auto const d = meshtensor_test::difference(run.whole(label).window(), first.at(label)); !d.empty())
          return number + "other bits of " + label + ": " + d;
    }
    return "";
  }
  mt::block const& expected(char const* label) const { return expected_.at(label); }
  int composites() const { return composites_; }
  int windows() const { return windows_; }  // slices that are no copies

 private:
  std::unique_ptr<mt::lowering> lower(mt::mesh_shape const& mesh, mt::layout_rules const& rules,
                                      mt::device_capabilities const& capabilities) const {
    return mt::lower(mt::detail::traced<Program>, mt::entry_name<Program>(), mesh, rules, sizes_.list(), capabilities);
  }
  std::unique_ptr<mt::lowering> counted(std::unique_ptr<mt::lowering> low) {
    composites_ = windows_ = 0;
    for (int i = 0; i < low->graph.node_count; ++i) composites_ += mt::is_whole(low->graph.nodes[i]);
    for (int v = 0; v < low->graph.value_count; ++v) windows_ += low->planned.where[v] == mt::place::strided_slice;
    return low;
  }
  template <class Session>
  std::string difference(Session const& run, double tolerance) const {
    for (auto const& [label, whole_value] : expected_)
      for (std::size_t k = 0; k < run.held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run.local(label, k), whole_value, tolerance); !d.empty())
          return label + ": " + d;
    return "";
  }
  template <class Session>
  void feed(Session& run) {
    meshtensor_test::rng c{5};
    for (char const* label : Program::inputs) {
      mt::view v = run.inputs().window(label);
      std::vector<double> bytes(static_cast<std::size_t>(v.size()) + 1);
      mt::with_element(v.type, [&]<class E>() {
        auto* const to = reinterpret_cast<E*>(bytes.data());
        for (std::int64_t i = 0; i < v.size(); ++i) {
          double const x = c.below(2001) / 1000.0 - 1;
          if constexpr (std::is_same_v<E, bool>) to[i] = is_seen(i / v.extent[v.count - 1], i % v.extent[v.count - 1]);
          else to[i] = static_cast<E>(static_cast<float>(*label == 'q' ? x * largest_ : x));
        }
        if constexpr (!std::is_same_v<E, bool>)
          if (label == spoilt_) to[at_first_ ? 0 : v.size() / v.extent[0] - 1] = static_cast<E>(std::nanf(""));
      });
      run.feed(label, bytes.data());
    }
  }
  /// Of three rows of a mask the second has nothing open, the first has its last position hidden.
  bool is_seen(std::int64_t row, std::int64_t position) const {
    return row % 3 != 1 && (position + row) % 5 != 3 && position != sizes_.memory - 1;
  }

  sizes sizes_;
  double largest_;
  std::string spoilt_;
  bool at_first_;
  std::map<std::string, mt::block> expected_;
  int composites_ = 0, windows_ = 0;
};

inline constexpr sizes shapes[] = {{1, 1, 1, 1, 1},     {2, 5, 3, 3, 7},      {1, 64, 64, 2, 16}, {1, 65, 130, 1, 9},
                                   {3, 130, 65, 2, 17}, {1, 200, 200, 1, 33}, {2, 96, 97, 3, 8},  {1, 257, 5, 1, 64}};

/// Whole in any number of threads, with the same bits, and by kernels and products.
template <class Program>
void hold(double tolerance, std::span<sizes const> of = shapes, int composites = 2) {
  for (sizes const& z : of) {
    CAPTURE(z.length);
    CAPTURE(z.memory);
    subject<Program> s(z);
    std::map<std::string, mt::block> one, three;
    CHECK(s.fault({}, {}, 1, true, tolerance, &one) == "");
    CHECK(s.composites() == composites);
    CHECK(s.fault({}, {}, 3, true, tolerance, &three) == "");
    for (auto const& [label, b] : one) CHECK(meshtensor_test::difference(three.at(label).window(), b) == "");
    CHECK(s.fault({}, {}, 2, false, tolerance) == "");
    CHECK(s.composites() == 0);
  }
}

}  // namespace attending
