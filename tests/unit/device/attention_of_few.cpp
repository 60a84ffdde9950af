// SPDX-License-Identifier: Apache-2.0
// Attention of a few queries, as one makes a text word by word: the oracle's mean and logarithm of the sum of
// weights, with masks of any dims, of keys and values that are slices of what a loop has, and no further than what is
// visible.
//
// passes: start-up
// needs: cpu
// arch: baseline native
// timeout: 300
#include "unit/device/attending.hpp"

using namespace attending;

namespace {

inline constexpr struct layers : mt::dim<"layers", 3> {} layers;
inline constexpr struct all_memory : mt::dim<"all_memory", memory + 5> {} all_memory;

/// Both results; the mask has these dims and `memory`; without dims there is none.
template <mt::dtype Type, auto const&... MaskDims>
struct asks {
  static constexpr char const* inputs[] = {"q", "k", "v", "visible"};
  static constexpr char const* outputs[] = {"y", "sum"};
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::dtype_constant<Type> type;
    auto const q = s.input("q", type, batch, length, heads, head);
    auto const k = s.input("k", type, batch, heads, memory, head);
    auto const v = s.input("v", type, batch, heads, memory, head);
    auto const visible = s.input("visible", mt::boolean, MaskDims..., memory);
    auto const [y, sum] = mt::nn::attention_with_log_sum(q, k, v, length, memory, head, visible);
    s.output("y", y), s.output("sum", sum);
  }
};
/// Of the layers of a loop each looks at some positions, from the second on, of what it keeps.
struct asks_each_layer {
  static constexpr char const* inputs[] = {"q", "keys", "values", "visible"};
  static constexpr char const* outputs[] = {"y"};
  constexpr void operator()(mt::scope auto s) const {
    auto const visible = s.input("visible", mt::boolean, batch, length, memory);
    auto const q = s.input("q", mt::f32, batch, length, heads, head);
    auto const keys = s.input("keys", mt::f32, layers, batch, heads, all_memory, head);
    auto const values = s.input("values", mt::f32, layers, batch, heads, all_memory, head);
    auto const [y, each] =
        scan(s / "layers", layers, q, std::tuple(keys, values), [&](mt::scope auto, auto x, auto k, auto v) {
          auto const next =
              x + mt::nn::dot_product_attention(x, slice(k, all_memory, memory, 1), slice(v, all_memory, memory, 2),
                                                length, memory, head, visible);
          return std::tuple(next, next);
        });
    s.output("y", y);
  }
};

// Heads that fill registers, on any machine or on some; up to eight queries, and one more.
constexpr sizes few[] = {{1, 1, 1, 1, 16},  {2, 5, 3, 3, 16},  {3, 8, 40, 2, 32}, {2, 2, 129, 3, 64},
                         {1, 7, 16, 2, 48}, {4, 3, 65, 1, 12}, {2, 9, 33, 2, 16}, {3, 6, 47, 1, 7}};

}  // namespace

TEST_CASE("f32, a mask for each query") { hold<asks<mt::dtype::f32, batch, length>>(1e-5, few, 1); }
TEST_CASE("f64, a mask for each query, which comes last") {
  hold<asks<mt::dtype::f64, length, heads, batch>>(1e-12, few, 1);
}
TEST_CASE("f32, one mask for all queries") { hold<asks<mt::dtype::f32, batch>>(1e-5, few, 1); }
TEST_CASE("bf16") { hold<asks<mt::dtype::bf16, batch, length>>(0.05, few, 1); }
TEST_CASE("f32, slices of what the layers of a loop keep, which are no copies") {
  hold<asks_each_layer>(1e-4, few, 1);
  subject<asks_each_layer> s({2, 3, 20, 2, 16});
  CHECK(s.fault({}, {}, 1, true, 1e-5) == "");
  CHECK(s.windows() == 2);
}

TEST_CASE("a nan that some query sees reaches what it reaches without the kernel") {
  for (char const* spoilt : {"q", "k", "v"}) {
    CAPTURE(spoilt);
    CHECK(subject<asks<mt::dtype::f64, length>>({3, 4, 12, 2, 16}, 1, spoilt, true).fault({}, {}, 1, true, 1e-12) ==
          "");
  }
}

TEST_CASE("scores of any size") {
  for (double largest : {1e4, 1e-40, 1e38})
    for (std::int64_t queries : {4, 70})
      CHECK(subject<asks<mt::dtype::f64, length>>({3, queries, 70, 2, 16}, largest).fault({}, {}, 1, true, 1e-9) == "");
}
