// SPDX-License-Identifier: Apache-2.0
// Writes causal self-attention as einsums, shards its heads over ranks, and compares it with the library's layer.
// Run it alone, with threads as ranks, or with mpirun -n 4.
//
// Prints:
//
//     the weights of the first head, a row for each query:
//      1.00 0.00 0.00 0.00 0.00 0.00
//      0.29 0.71 0.00 0.00 0.00 0.00
//      0.36 0.27 0.38 0.00 0.00 0.00
//      0.17 0.15 0.30 0.37 0.00 0.00
//      0.21 0.04 0.27 0.46 0.02 0.00
//      0.00 0.02 0.04 0.05 0.89 0.00
//     sharded, replicated and the library's attention agree
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/pass/cost.hpp>

namespace mt = meshtensor;

namespace transformer {
using mt::to;

inline constexpr struct batch : mt::dim<"batch", 2> {} batch;
inline constexpr struct length : mt::dim<"length", 6> {} length;  // position of a query
inline constexpr struct memory : mt::dim<"memory", 6> {} memory;  // position of a key
inline constexpr struct d_model : mt::dim<"d_model", 16> {} d_model;
inline constexpr struct heads : mt::dim<"heads", 4> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 4> {} d_head;

// Every head computes softmax(Q Kᵀ / √d_head) V, as in Vaswani et al., arXiv:1706.03762, section 3.2.
inline constexpr mt::layer attention = [](mt::scope auto s, auto x) {
  auto at_memory = rename(x, length, memory);
  auto in = mt::normal(1 / sqrt(extent(d_model))), out = mt::normal(1 / sqrt(extent(heads) * extent(d_head)));
  auto query = einsum(x, s.parameter("query", d_model, heads, d_head, in), to(batch, heads, length, d_head));
  auto key = einsum(at_memory, s.parameter("key", d_model, heads, d_head, in), to(batch, heads, memory, d_head));
  auto value = einsum(at_memory, s.parameter("value", d_model, heads, d_head, in), to(batch, heads, memory, d_head));

  auto scores = einsum(query, key, to(batch, heads, length, memory)) / sqrt(extent(d_head));
  auto is_past = iota(s, memory, mt::i32) <= iota(s, length, mt::i32);
  auto weights = softmax(select(is_past, scores, -1e30), memory);
  auto output = einsum(weights, value, to(batch, heads, length, d_head));
  return std::tuple(einsum(output, s.parameter("out", heads, d_head, d_model, out), to(batch, length, d_model)),
                    weights);
};

struct from_einsum {
  constexpr void operator()(mt::scope auto s) const {
    auto [y, weights] = attention(s / "attention", s.input("x", mt::f32, batch, length, d_model));
    s.output("y", y);
    s.output("weights", weights);
  }
};

struct from_library {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, d_model);
    s.output("y", mt::nn::causal_attention(s / "attention", x, length, memory, d_model, heads, d_head));
  }
};

inline constexpr struct model : mt::axis<"model", 4> {} model;
struct mesh : mt::mesh<model> {};
struct one_head_each : mt::layout<mt::shard<heads, model>> {};
// Each rank computes its own head. Only the output projection sums over heads, so it needs one all-reduce.
static_assert(mt::traffic<from_einsum, mesh, one_head_each>.collectives() == 1);

int compare(mt::job const& job) {
  // Both stores get the same values, because initial values depend only on the seed, a parameter's path and its dims.
  mt::store weights(job), same_weights(job);
  mt::executable<from_einsum, mesh, one_head_each> sharded(weights);
  mt::executable<from_library, mesh, one_head_each> library(weights);
  mt::executable<from_einsum, mesh, mt::layout<>> replicated(same_weights);

  mt::eager s;
  auto const x = s.value(normal(s / "x", mt::f32, to(batch, length, d_model)));
  auto const result = sharded(mt::feed<"x">(x));
  auto const y = result.get<"y">().gather();
  auto const attended = result.get<"weights">().gather();
  mt::print(job, "the weights of the first head, a row for each query:\n");
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      mt::print(job, "{:5.2f}{}", attended(batch(0), heads(0), length(i), memory(j)), j == 5 ? "\n" : "");

  float const of_layout = max(abs(y - replicated(mt::feed<"x">(x)).get<"y">().gather()));
  float const of_library = max(abs(y - library(mt::feed<"x">(x)).get<"y">().gather()));
  bool const agrees = of_layout < 1e-6f && of_library < 1e-6f;
  mt::print(job, "sharded, replicated and the library's attention {}\n", agrees ? "agree" : "differ");
  return agrees ? 0 : 1;
}
}  // namespace transformer

int main(int argc, char** argv) { return mt::run_main(argc, argv, transformer::compare); }
