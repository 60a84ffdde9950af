// SPDX-License-Identifier: Apache-2.0
// Training steps of a Transformer and of a convolutional network that the compiler has written out, on ranks: the MPI
// calls of the plan, and no other; as many messages and bytes as the constants say.
// ranks: 2 4
// needs: mpi
// timeout: 300
// part: compiled
#include "mpi/sent_by_compiled_steps.hpp"

#include "../../examples/transformer.hpp"
#include "meshtensor/job/mpi_runner.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;
namespace net = transformer;

namespace {

inline constexpr struct pictures : mt::dim<"pictures", 4> {} pictures;
inline constexpr struct rows : mt::dim<"rows", 8> {} rows;
inline constexpr struct columns : mt::dim<"columns", 6> {} columns;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct columns_2 : mt::dim<"columns_2", mt::divided(columns, 2)> {} columns_2;
inline constexpr struct over_rows : mt::dim<"over_rows", 3> {} over_rows;
inline constexpr struct over_columns : mt::dim<"over_columns", 3> {} over_columns;
inline constexpr struct colours : mt::dim<"colours", 3> {} colours;
inline constexpr struct edges : mt::dim<"edges", 4> {} edges;
inline constexpr struct shapes : mt::dim<"shapes", 8> {} shapes;
inline constexpr struct classes : mt::dim<"classes", 10> {} classes;

/// Two convolutions with batch norms, a pool between them, and classes.
struct convolutions {
  constexpr void operator()(mt::scope auto s) const {
    using namespace mt::nn;
    constexpr mt::window_options centred{.padding = mt::centred_padding};
    auto image = s.input("image", mt::f32, pictures, rows, columns, colours);
    auto label = s.input("label", mt::i32, pictures);
    auto first = convolution(s / "edges", image, colours, edges, mt::window(rows, rows, over_rows, centred),
                             mt::window(columns, columns, over_columns, centred), no_bias);
    auto half = mean_pool(relu(batch_norm(s / "norm_1", first, edges)), mt::window(rows, rows_2, 2, {.stride = 2}),
                          mt::window(columns, columns_2, 2, {.stride = 2}));
    auto second = convolution(s / "shapes", half, edges, shapes, mt::window(rows_2, rows_2, over_rows, centred),
                              mt::window(columns_2, columns_2, over_columns, centred), no_bias);
    auto last = mean(relu(batch_norm(s / "norm_2", second, shapes)), rows_2, columns_2);
    auto loss = mean(cross_entropy(linear(s / "classes", last, shapes, classes), label, classes));
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

struct small : mt::sized<net::train_step, net::batch(8), net::length(8), net::layers(2), net::d_model(16),
                         net::heads(4), net::d_head(4), net::d_ff(32)> {};

template <std::int64_t Data, std::int64_t Model>
struct on {
  static constexpr struct data_axis : mt::axis<"data", Data> {
  } data{};
  static constexpr struct model_axis : mt::axis<"model", Model> {
  } model{};
  struct mesh : mt::mesh<data, model> {};
  struct of_text : mt::layout<mt::shard<net::batch, data>, mt::shard<net::heads, model>, mt::shard<net::d_ff, model>,
                              mt::shard<net::vocab, model>> {};
  struct by_rows : mt::layout<mt::shard<pictures, model>, mt::shard<rows, data>> {};
  struct by_channels : mt::layout<mt::shard<pictures, data>, mt::shard<shapes, model>> {};
};

template <class On>
void check(mt::job const& ranks) {
  std::vector<std::uint8_t> text(8 * 8), next(8 * 8);
  for (std::size_t k = 0; k < text.size(); ++k)
    text[k] = static_cast<std::uint8_t>('a' + k * 7 % 19), next[k] = static_cast<std::uint8_t>(text[k] + 1);
  traffic::check_calls<mt::compiled_step<small, typename On::mesh, typename On::of_text, mt::reference_device>>(
      ranks, [&](auto& step) { step(mt::feed<"text">(text), mt::feed<"next">(next)); });
  std::vector<float> image(4 * 8 * 6 * 3);
  for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<float>(k * 37 % 101) / 101.0f;
  std::vector<std::int32_t> const label{3, 1, 4, 1};
  auto const look = [&](auto& step) { step(mt::feed<"image">(image), mt::feed<"label">(label)); };
  traffic::check_calls<mt::compiled_step<convolutions, typename On::mesh, typename On::by_rows, mt::reference_device>>(
      ranks, [&](auto& step) {
        CHECK(mt::traffic_of(step.graph(), step.planned()).moves > 0);  // rows beside those of a rank
        look(step);
      });
  traffic::check_calls<
      mt::compiled_step<convolutions, typename On::mesh, typename On::by_channels, mt::reference_device>>(ranks, look);
}

}  // namespace

TEST_CASE("ranks") {
  mt::job const all(std::make_unique<mt::mpi_runner>(MPI_COMM_WORLD));
  switch (ranks::count()) {
    case 2: return check<on<2, 1>>(all);
    case 4: return check<on<2, 2>>(all);
    default: FAIL("no mesh for so many ranks");
  }
}
