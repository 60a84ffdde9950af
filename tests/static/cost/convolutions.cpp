// SPDX-License-Identifier: Apache-2.0
// A small network of convolutions whose images are cut into rows: what it costs a compiler is held by
// tests/static/compile_cost.py. The numbers hold for g++ 12.
// operations: 3588986
// functions: 5744
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace images {

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows : mt::dim<"rows", 16> {} rows;
inline constexpr struct cols : mt::dim<"cols", 16> {} cols;
inline constexpr struct half_rows : mt::dim<"half_rows", 8> {} half_rows;
inline constexpr struct half_cols : mt::dim<"half_cols", 8> {} half_cols;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct colour : mt::dim<"colour", 3> {} colour;
inline constexpr struct fine : mt::dim<"fine", 8> {} fine;
inline constexpr struct coarse : mt::dim<"coarse", 16> {} coarse;
inline constexpr struct classes : mt::dim<"classes", 10> {} classes;
inline constexpr struct across : mt::axis<"across", 2> {} across;
struct mesh : mt::mesh<across> {};
struct layout : mt::layout<mt::shard<rows, across>, mt::shard<half_rows, across>> {};

inline constexpr mt::layer convolved = [](mt::scope auto s, auto x, auto from, auto to, auto... windows) {
  return relu(mt::nn::batch_norm(s / "norm", mt::nn::convolution(s / "conv", x, from, to, windows...), to));
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const image = s.input("image", mt::f32, batch, rows, cols, colour);
    auto const here = [](auto dim, auto kernel) {
      return mt::window(dim, dim, kernel, {.padding = mt::centred_padding});
    };
    auto const halved = [](auto dim, auto half, auto kernel) {
      return mt::window(dim, half, kernel, {.stride = 2, .padding = mt::centred_padding});
    };
    auto const x = convolved(s / "first", image, colour, fine, here(rows, k_rows), here(cols, k_cols));
    auto const y =
        convolved(s / "second", x, fine, coarse, halved(rows, half_rows, k_rows), halved(cols, half_cols, k_cols));
    auto const logits = mt::nn::linear(s / "last", mean(y, half_rows, half_cols), coarse, classes);
    auto const loss = mean(mt::nn::cross_entropy(logits, s.input("label", mt::i32, batch), classes));
    mt::adam{}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

float train(mt::job const& job, mt::array<float, batch, rows, cols, colour> const& image,
            mt::array<std::int32_t, batch> const& label) {
  mt::store weights(job);
  mt::executable<train_step, mesh, layout> step(weights);
  return step(mt::feed<"image">(image), mt::feed<"label">(label)).get<"loss">();
}

}  // namespace images
