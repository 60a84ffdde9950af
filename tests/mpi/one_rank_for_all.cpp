// SPDX-License-Identifier: Apache-2.0
// Four replicas on one rank train as they do on two and four ranks of MPI. Widened operations compute for each replica
// what a rank of its own computes, so under gossip all bits are equal. A mean over all replicas adds in another order.
// ranks: 2 4
// needs: mpi
// passes: start-up
// timeout: 300
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct replica_of_four : mt::dim<"replica", 4> {} replica;
inline constexpr struct images_of_replica : mt::dim<"batch", 2> {} batch;
inline constexpr struct rows_of_image : mt::dim<"rows", 8> {} rows;
inline constexpr struct cols_of_image : mt::dim<"cols", 8> {} cols;
inline constexpr struct kernel_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct kernel_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct one_colour : mt::dim<"colours", 1> {} colours;
inline constexpr struct edges_of_image : mt::dim<"edges", 4> {} edges;
inline constexpr struct digits_dim : mt::dim<"digit", 10> {} digit;
inline constexpr struct ranks_axis : mt::axis<"ranks"> {} on_ranks;
struct mesh_of_ranks : mt::mesh<on_ranks> {};
struct replicas_on_ranks : mt::layout<mt::shard<replica, on_ranks>> {};

struct nothing {};

/// A network like that of the example digits: a convolution, a norm, and a product with all that is left.
struct learn_digits {
  constexpr void operator()(mt::scope auto s) const {
    constexpr mt::window_options each{.padding = mt::centred_padding};
    auto const image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto const seen = mt::nn::convolution(s / "conv", image, colours, edges, mt::window(rows, rows, k_rows, each),
                                          mt::window(cols, cols, k_cols, each), mt::nn::no_bias);
    auto const found = relu(mt::nn::batch_norm(s / "norm", seen, edges, mt::nn::batch_statistics::of_batch));
    auto const weight = s.parameter("last", rows, cols, edges, digit, mt::normal(0.02));
    auto const logits = einsum(found, weight, mt::to(batch, digit)) + s.parameter("bias", digit, mt::zeros);
    auto const loss = mean(mt::nn::cross_entropy(logits, s.input("label", mt::i32, batch), digit));
    mt::momentum{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

template <class Policy, class Device>
std::map<std::string, std::string> trained(mt::job const& job, int ranks, int steps) {
  mt::store weights(job, 3);
  mt::executable<mt::replicas<learn_digits, replica, Policy>, mesh_of_ranks, replicas_on_ranks, Device> step(
      weights, on_ranks(ranks));
  std::uint64_t drawn = 1;
  auto const next = [&] { return (drawn = drawn * 6364136223846793005u + 1442695040888963407u) >> 40; };
  for (int k = 0; k < steps; ++k) {
    std::vector<float> images(4 * 2 * 8 * 8);
    std::vector<std::int32_t> labels(4 * 2);
    for (float& x : images) x = static_cast<float>(next()) * 0x1p-24f;
    for (std::int32_t& one : labels) one = static_cast<std::int32_t>(next() % 10);
    step(mt::feed<"image">(images), mt::feed<"label">(labels));
  }
  std::map<std::string, std::string> all;
  for (auto& [label, s] : weights.values()) {
    all[label].resize(static_cast<std::size_t>(s.bytes()));
    weights.copy_out(label, all[label].data());
  }
  return all;
}
/// The largest difference between the floats of two states.
double largest_difference(std::string const& a, std::string const& b) {
  double most = 0;
  for (std::size_t i = 0; i + sizeof(float) <= a.size(); i += sizeof(float)) {
    float x = 0, y = 0;
    std::memcpy(&x, &a[i], sizeof x), std::memcpy(&y, &b[i], sizeof y);
    most = std::max(most, static_cast<double>(std::abs(x - y)));
  }
  return most;
}
/// After the first mean over all replicas, in the last of the steps, values may differ by a rounding.
template <class Policy, class Device>
void compare_means(char const* what, int steps) {
  INFO(std::string(what));
  mt::job const many(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  auto const apart = trained<Policy, Device>(many, ranks::count(), steps),
             together = trained<Policy, Device>(alone, 1, steps);
  REQUIRE(apart.size() == together.size());
  for (auto const& [label, bytes] : apart)
    if (label != "regime/examples") CHECK(largest_difference(bytes, together.at(label)) < 1e-6);
}
template <class Policy, class Device>
void compare(char const* what) {
  INFO(std::string(what));
  mt::job const many(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  auto const apart = trained<Policy, Device>(many, ranks::count(), 20),
             together = trained<Policy, Device>(alone, 1, 20);
  REQUIRE(apart.size() == together.size());
  int different = 0;
  for (auto const& [label, bytes] : apart) different += together.at(label) != bytes;
  CHECK(different == 0);
}
template <class Device>
void compare_all() {
  compare<mt::stochastic_gradient_push<>, Device>("push");
  compare<mt::overlapped_gradient_push<>, Device>("overlapped push");
  compare<mt::decentralized_sgd<>, Device>("decentralized");
  compare<nothing, Device>("no exchange");
  compare_means<mt::synchronous, Device>("synchronous", 1);
  compare_means<mt::local_sgd<4>, Device>("local", 4);
  compare_means<mt::diloco<4>, Device>("diloco", 4);
  compare_means<mt::federated_averaging<4, 2>, Device>("federated", 4);
}

}  // namespace

TEST_CASE("four replicas on one rank are those of several ranks, on the reference device") {
  compare_all<mt::reference_device>();
}
TEST_CASE("four replicas on one rank are those of several ranks, on the default device") {
  compare_all<mt::default_device>();
}
