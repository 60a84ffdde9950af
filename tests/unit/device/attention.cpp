// SPDX-License-Identifier: Apache-2.0
// Attention and its gradients run whole by the cpu device: as the oracle has them, for every form, length, layout,
// dtype and number of threads; and left to kernels and products, the same.
//
// needs: cpu
// arch: baseline native
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/graph/print.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/compare.hpp"
#include "support/layouts.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {
} batch;
inline constexpr struct length : mt::dim<"length"> {
} length;
inline constexpr struct memory : mt::dim<"memory"> {
} memory;
inline constexpr struct heads : mt::dim<"heads"> {
} heads;
inline constexpr struct head : mt::dim<"head"> {
} head;
inline constexpr struct value : mt::dim<"value", head + 3> {
} value;

/// The result and the three gradients, with dims in the orders of the projections of a layer.
template <mt::dtype Type, bool Causal, bool OtherOrder = false>
struct attends {
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

struct sizes {
  std::int64_t batch, length, memory, heads, head;
  std::vector<mt::dim_extent> list() const {
    return {{"batch", batch}, {"length", length}, {"memory", memory}, {"heads", heads}, {"head", head}};
  }
};

/// A program, lowered with and without composites of the device's own.
template <class Program>
class subject {
 public:
  explicit subject(sizes const& z, double largest = 1) : sizes_(z), largest_(largest) {
    auto const plain = lower({}, {}, {});
    auto const job = mt::processors::in_lockstep();
    mt::store store(job);
    mt::session<mt::reference_device> run(store, plain->graph, plain->planned, {}, plain->entry);
    feed(run);
    run.step();
    for (char const* label : {"y", "dq", "dk", "dv"}) expected_.insert_or_assign(label, run.whole(label));
  }

  /// What is not as the oracle has it.
  std::string fault(mt::mesh_shape const& mesh, mt::layout_rules const& rules, int threads, bool whole,
                    double tolerance, std::map<std::string, mt::block>* bits = nullptr) {
    auto const low = lower(mesh, rules, whole ? mt::cpu_device::wishes : mt::device_wishes{true});
    int composites = 0;
    for (int i = 0; i < low->graph.node_count; ++i) composites += mt::is_whole(low->graph.nodes[i]);
    composites_ = composites;
    auto const job = mt::processors::in_lockstep();
    mt::store store(job);
    mt::session<mt::cpu_device> run(store, low->graph, low->planned, mesh, low->entry, mt::cpu_device(threads));
    feed(run);
    run.step();
    for (auto const& [label, whole_value] : expected_)
      for (std::size_t k = 0; k < run.held().size(); ++k)
        if (auto const d = meshtensor_test::difference(run.local(label, k), whole_value, tolerance); !d.empty())
          return label + ": " + d + "\n" + mt::text_of(low->graph);
    if (bits != nullptr)
      for (auto const& [label, _] : expected_) bits->insert_or_assign(label, run.whole(label));
    return "";
  }
  int composites() const { return composites_; }

 private:
  std::unique_ptr<mt::lowering> lower(mt::mesh_shape const& mesh, mt::layout_rules const& rules,
                                      mt::device_wishes const& wishes) const {
    return mt::lower(mt::detail::traced<Program>, mt::entry_name<Program>(), mesh, rules, sizes_.list(), wishes);
  }
  template <class Session>
  void feed(Session& run) {
    meshtensor_test::chance c{5};
    for (char const* label : {"q", "k", "v", "weights"}) {
      mt::view v = run.input(label);
      std::vector<double> bytes(static_cast<std::size_t>(v.size()) + 1);
      mt::with_element(v.type, [&]<class E>() {
        for (std::int64_t i = 0; i < v.size(); ++i) {
          double const x = c.below(2001) / 1000.0 - 1;
          reinterpret_cast<E*>(bytes.data())[i] = static_cast<E>(static_cast<float>(*label == 'q' ? x * largest_ : x));
        }
      });
      run.feed(label, bytes.data());
    }
  }
  sizes sizes_;
  double largest_;
  std::map<std::string, mt::block> expected_;
  int composites_ = 0;
};

constexpr sizes shapes[] = {{1, 1, 1, 1, 1},     {2, 5, 3, 3, 7},      {1, 64, 64, 2, 16}, {1, 65, 130, 1, 9},
                            {3, 130, 65, 2, 17}, {1, 200, 200, 1, 33}, {2, 96, 97, 3, 8},  {1, 257, 5, 1, 64}};

template <class Program>
void hold(double tolerance) {
  for (sizes const& z : shapes) {
    CAPTURE(z.length);
    CAPTURE(z.memory);
    subject<Program> s(z);
    std::map<std::string, mt::block> one, three;
    CHECK(s.fault({}, {}, 1, true, tolerance, &one) == "");
    CHECK(s.composites() == 2);
    CHECK(s.fault({}, {}, 3, true, tolerance, &three) == "");
    for (auto const& [label, b] : one) CHECK(meshtensor_test::difference(three.at(label).window(), b) == "");
    CHECK(s.fault({}, {}, 2, false, tolerance) == "");
    CHECK(s.composites() == 0);
  }
}

}  // namespace

TEST_CASE("f32") { hold<attends<mt::dtype::f32, false>>(1e-4); }
TEST_CASE("f32, causal") { hold<attends<mt::dtype::f32, true>>(1e-4); }
TEST_CASE("f64, causal") { hold<attends<mt::dtype::f64, true>>(1e-12); }
TEST_CASE("bf16, causal") { hold<attends<mt::dtype::bf16, true>>(0.03); }
TEST_CASE("dims in other orders, a dim of its own for values") { hold<attends<mt::dtype::f64, false, true>>(1e-12); }

/// A composite of the program's own, with the form of attention and another meaning.
struct namesake {
  constexpr void operator()(mt::scope auto s) const {
    auto const q = s.input("q", mt::f64, batch, length, heads, head);
    auto const k = s.input("k", mt::f64, batch, memory, heads, head);
    auto const v = s.input("v", mt::f64, batch, memory, heads, head);
    auto const [y, total] = mt::composite_with_gradient(
        "attention",
        [](auto a, auto b, auto c) {
          auto const scores = einsum(a, b, mt::to(batch, length, heads, memory));
          return std::tuple(einsum(scores, c, mt::to(batch, length, heads, head)), sum(scores, memory));
        },
        [](auto a, auto b, auto c, auto, auto, auto dy, auto d_total) {
          auto const scores = einsum(a, b, mt::to(batch, length, heads, memory));
          auto const slopes = einsum(dy, c, mt::to(batch, length, heads, memory)) + d_total;
          return std::tuple(einsum(slopes, b, mt::to(batch, length, heads, head)),
                            einsum(slopes, a, mt::to(batch, memory, heads, head)),
                            einsum(scores, dy, mt::to(batch, memory, heads, head)));
        },
        q, k, v);
    auto const weights = s.input("weights", mt::f64, batch, length, heads);
    auto const [dq, dk, dv] = mt::gradient(sum(y * weights) + sum(total), q, k, v);
    s.output("y", y), s.output("dq", dq), s.output("dk", dk), s.output("dv", dv);
  }
};

TEST_CASE("a composite of the same name is the program's own") {
  subject<namesake> s({2, 5, 3, 3, 7});
  CHECK(s.fault({}, {}, 1, true, 1e-12) == "");
  CHECK(s.composites() == 0);
}

TEST_CASE("scores of any size") {
  for (double largest : {1e4, 1e-40}) {
    CHECK(subject<attends<mt::dtype::f32, true>>({1, 70, 70, 2, 8}, largest).fault({}, {}, 1, true, 1e-2) == "");
    CHECK(subject<attends<mt::dtype::f64, false>>({1, 70, 70, 2, 8}, largest).fault({}, {}, 1, true, 1e-9) == "");
  }
}

TEST_CASE("under every layout; where parts must be brought together within, by kernels and products") {
  subject<attends<mt::dtype::f64, true>> s({2, 12, 12, 6, 4});
  int whole = 0, half = 0, other = 0;
  for (std::int64_t size : {2, 3}) {
    mt::mesh_shape mesh{};
    mesh.add("ax", size);
    meshtensor_test::each_assignment({"batch", "length", "memory", "heads", "head"}, mesh, [&](auto const& rules) {
      CAPTURE(meshtensor_test::text_of(rules));
      try {
        auto const fault = s.fault(mesh, rules, 1, true, 1e-12);
        CHECK(fault == "");
        ++(s.composites() == 2 ? whole : s.composites() == 1 ? half : other);
      } catch (mt::error const& e) { CHECK(e.code()[0] == 'S'); }  // 3 does not divide batch or head
    });
  }
  CHECK(whole == 7);  // nothing spread; length, heads; batch over two processors
  CHECK(half == 2);   // memory: each processor has the slopes by its answers
  CHECK(other == 1);  // head
}
