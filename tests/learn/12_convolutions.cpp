// SPDX-License-Identifier: Apache-2.0
// Lesson 12. You learn to convolve images. A window says how a kernel moves along a dim. If a layout shards this dim,
// each rank receives the elements next to its part, its halo, from its neighbours. Therefore the result stays the same.
// passes: start-up
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct cols : mt::dim<"cols", 6> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;  // half as many rows
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;  // the kernel has 3 x 3 elements
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct colors : mt::dim<"colors", 2> {} colors;
inline constexpr struct features : mt::dim<"features", 6> {} features;

// The convolution is an einsum with windows. A window names three dims. The kernel moves along the first one, the
// second one counts its positions, and the third one is the dim of the kernel itself. Here the kernel moves by two rows
// at a time, but by one column. Centred padding adds zeros at both ends, so that the centre of the kernel reaches the
// first element.
struct convolve {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, rows, cols, colors);
    auto kernel = s.input("kernel", mt::f32, k_rows, k_cols, colors, features);
    auto y = conv(image, kernel, to(batch, rows_2, cols, features),
                  mt::window(rows, rows_2, k_rows, {.stride = 2, .padding = mt::centred_padding}),
                  mt::window(cols, cols, k_cols, {.padding = mt::centred_padding}));
    s.output("y", y);
    s.output("slope", gradient(sum(y * y) / 2, kernel));
  }
};

inline constexpr struct first : mt::axis<"first"> {} first;
inline constexpr struct second : mt::axis<"second"> {} second;
struct mesh : mt::mesh<first, second> {};
// The result has `rows_2` in the place of `rows`. It has no rule of its own, so it follows the rule of `rows`.
struct by_batch : mt::layout<mt::shard<batch, first>> {};
struct by_rows : mt::layout<mt::shard<rows, first>> {};
struct by_rows_and_cols : mt::layout<mt::shard<rows, first>, mt::shard<cols, second>> {};
struct by_features : mt::layout<mt::shard<features, first>, mt::shard<batch, second>> {};

// All elements are small whole numbers. Therefore their sums are exact, and all results must be equal bit for bit.
mt::array<float, batch, rows, cols, colors> image;
mt::array<float, k_rows, k_cols, colors, features> kernel;
// The plain computation. Its six outer loops go over all elements of the result and of the kernel.
mt::array<float, batch, rows_2, cols, features> y;
mt::array<float, k_rows, k_cols, colors, features> slope;
bool const computed = [] {
  int n = 0;
  for (float& e : image) e = static_cast<float>(n++ * 5 % 7 - 3);
  for (float& e : kernel) e = static_cast<float>(n++ * 3 % 5 - 2);
  auto const over_kernel = [](int r, int c, auto const& f) {  // only elements inside of the image count
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        if (int const row = 2 * r + i - 1, col = c + j - 1; row >= 0 && row < 12 && col >= 0 && col < 6)
          for (int k = 0; k < 2; ++k) f(row, col, i, j, k);
  };
  for (int b = 0; b < 4; ++b)
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c)
        for (int f = 0; f < 6; ++f) {
          float& sum = y(batch(b), rows_2(r), cols(c), features(f));
          auto const pixel = [&](int row, int col, int k) { return image(batch(b), rows(row), cols(col), colors(k)); };
          over_kernel(r, c, [&](int row, int col, int i, int j, int k) {
            sum += pixel(row, col, k) * kernel(k_rows(i), k_cols(j), colors(k), features(f));
          });
          over_kernel(r, c, [&](int row, int col, int i, int j, int k) {
            slope(k_rows(i), k_cols(j), colors(k), features(f)) += sum * pixel(row, col, k);
          });
        }
  return true;
}();

// Runs the program on a mesh, compares it with the plain computation, and returns the collectives of the step.
template <class Layout>
mt::step_traffic run(std::int64_t along_first, std::int64_t along_second) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<convolve, mesh, Layout> step(weights, first(along_first), second(along_second));
  auto const result = step(mt::feed<"image">(image), mt::feed<"kernel">(kernel));
  CHECK(max(abs(result.template get<"y">().gather() - y)) == 0);
  CHECK(max(abs(result.template get<"slope">().gather() - slope)) == 0);
  return mt::traffic_of(step.graph(), step.planned());
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("the result is that of plain loops, under every layout of every mesh") {
  CHECK(max(abs(y)) > 0);
  for (int const ranks : {1, 2, 3, 4, 6, 8}) {
    run<by_batch>(ranks, 1);
    run<by_rows>(ranks, 1);
    run<by_features>(ranks, 1);
  }
  run<by_rows_and_cols>(2, 3);
  run<by_rows_and_cols>(4, 2);
  run<by_features>(2, 2);
}

TEST_CASE("ranks exchange halos only along the dims of windows") {
  // Sharded along the batch, each rank has whole images. Only the gradient is a sum over all of them, so it needs one
  // all-reduce. Sharded along the rows, each rank also needs the rows next to its part, and neighbours send them.
  mt::step_traffic const batches = run<by_batch>(4, 1), lines = run<by_rows>(4, 1);
  CHECK(batches.moves == 0);
  CHECK(batches.all_reduces == 1);
  CHECK(lines.moves > 0);
  CHECK(lines.all_reduces == 1);
  CHECK(lines.all_gathers == 0);  // nobody needs all rows
  CHECK(run<by_features>(4, 1).all_reduces == 0);
}
