// SPDX-License-Identifier: Apache-2.0
// The oracle against a count of indices, its order of sums, and the lockstep exchange against the oracle.
#include "meshtensor/comm/reference.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "unit/comm/calls.hpp"

namespace mt = meshtensor;
using calls::bytes;

TEST_CASE("every kind, dtype and number of members, split and joined anywhere") {
  calls::generator g(1);
  for (auto kind : calls::kinds)
    for (auto type : calls::types)
      for (int p : {1, 2, 3, 4, 6, 8})
        for (int trial = 0; trial < 6; ++trial) {
          mt::movement moves;
          auto const call = calls::any_call(g, kind, type, p, moves);
          auto const blocks = calls::blocks_of(call, g(), p);
          auto const inputs = calls::pointers_to(blocks);
          for (int m = 0; m < p; ++m) {
            bytes out(static_cast<std::size_t>(mt::result_bytes_of(call, p, m)), std::byte{0xee});
            mt::reference(call, p, inputs.data(), m, out.data());
            CHECK_MESSAGE(calls::is_right(call, m, out, calls::expected(call, p, blocks, m)), mt::text_of(call));
          }
        }
}

TEST_CASE("exchange gives every rank of every group what the oracle gives it") {
  calls::generator g(2);
  for (auto kind : calls::kinds)
    for (auto type : calls::types)
      for (int p : {1, 2, 3, 4}) {
        mt::movement moves;
        auto const call = calls::any_call(g, kind, type, p, moves);
        // Two groups of p, even and odd ranks, in falling order.
        std::vector<int> members[2];
        for (int r = 2 * p - 1; r >= 0; --r) members[r % 2].push_back(r);
        mt::group const groups[] = {{members[0].data(), p, 0}, {members[1].data(), p, 0}};
        std::vector<mt::collective_call> own;  // by rank, as what follows
        std::vector<bytes> blocks, out;
        std::vector<void*> to;
        std::uint64_t const seed = g();
        for (int r = 0; r < 2 * p; ++r) {
          int const m = (2 * p - 1 - r) / 2;
          own.push_back(mt::of_member(call, p, m));
          blocks.push_back(calls::block_of(own.back(), seed, r));
          out.emplace_back(static_cast<std::size_t>(mt::result_bytes_of(call, p, m)));
        }
        for (bytes& b : out) to.push_back(b.data());
        auto const calls_of = [&](int r) -> mt::collective_call const& { return own[static_cast<std::size_t>(r)]; };
        mt::run_collective(calls_of, groups, calls::pointers_to(blocks).data(), to.data());

        auto in_place = blocks;
        if (kind == mt::collective::all_reduce || kind == mt::collective::broadcast) {
          std::vector<void*> self;
          for (bytes& b : in_place) self.push_back(b.data());
          mt::run_collective(calls_of, groups, calls::pointers_to(in_place).data(), self.data());
          CHECK(in_place == out);
        }
        for (auto const& ranks : members) {
          std::vector<bytes> mine;
          for (int r : ranks) mine.push_back(blocks[static_cast<std::size_t>(r)]);
          for (int m = 0; m < p; ++m)
            CHECK(calls::is_right(call, m, out[static_cast<std::size_t>(ranks[static_cast<std::size_t>(m)])],
                                  calls::expected(call, p, mine, m)));
        }
      }
}

namespace {
template <class E, std::size_t P>
E reduced(mt::reduction op, mt::dtype type, std::array<E, P> const& values) {
  mt::collective_call call;
  call.op = op, call.type = type;
  void const* inputs[P];
  for (std::size_t j = 0; j < P; ++j) inputs[j] = &values[j];
  E out;
  mt::reference(call, static_cast<int>(P), inputs, 0, &out);
  return out;
}
}  // namespace

TEST_CASE("small sums go as a tree, large ones from member 0 upwards") {
  using op = mt::reduction;
  CHECK(reduced<float, 3>(op::sum, mt::f32, {1e8f, 1.0f, -1e8f}) == 1.0f);
  CHECK(reduced<float, 3>(op::sum, mt::f32, {1e8f, -1e8f, 1.0f}) == 0.0f);
  mt::collective_call with_others;  // in a message that is large
  float const terms[] = {1e8f, 1.0f, -1e8f};
  void const* const inputs[] = {&terms[0], &terms[1], &terms[2]};
  float out = -1;
  with_others.together = 1 << 20;
  mt::reference(with_others, 3, inputs, 0, &out);
  CHECK(out == 0.0f);
  CHECK(std::signbit(reduced<float, 2>(op::sum, mt::f32, {-0.0f, -0.0f})));
  // bf16 holds 8 bits: 256 + 1 rounds back to 256 each time, but the sum is made in f32 and rounded once.
  CHECK(reduced<mt::bf16_t, 5>(op::sum, mt::bf16, {256.0f, 1.0f, 1.0f, 1.0f, 1.0f}) == 260.0f);
  CHECK(reduced<std::uint8_t, 2>(op::sum, mt::u8, {200, 100}) == 44);
  CHECK(reduced<std::int64_t, 2>(op::sum, mt::i64, {std::numeric_limits<std::int64_t>::max(), 1}) ==
        std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("max and min let no NaN disappear; on bool they are or and and") {
  using op = mt::reduction;
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (op o : {op::max, op::min}) {
    CHECK(std::isnan(reduced<float, 3>(o, mt::f32, {nan, 1.0f, 2.0f})));
    CHECK(std::isnan(reduced<float, 3>(o, mt::f32, {1.0f, nan, 2.0f})));
    CHECK(std::isnan(reduced<float, 3>(o, mt::f32, {1.0f, 2.0f, nan})));
    CHECK(std::isnan(static_cast<float>(reduced<mt::bf16_t, 2>(o, mt::bf16, {nan, 2.0f}))));
  }
  CHECK(reduced<float, 3>(op::max, mt::f32, {1.0f, 3.0f, 2.0f}) == 3.0f);
  CHECK(reduced<std::int32_t, 3>(op::min, mt::i32, {1, -3, 2}) == -3);
  CHECK(reduced<bool, 2>(op::max, mt::boolean, {false, true}));
  CHECK_FALSE(reduced<bool, 2>(op::min, mt::boolean, {false, true}));
}

TEST_CASE("empty blocks and scalars") {
  mt::collective_call call;
  call.dims = 2, call.extent[0] = 0, call.extent[1] = 4;
  void const* const inputs[] = {nullptr, nullptr};
  CHECK_NOTHROW(mt::reference(call, 2, inputs, 0, nullptr));
  call.kind = mt::collective::all_to_all, call.split = 0, call.join = 1;
  CHECK_NOTHROW(mt::reference(call, 2, inputs, 1, nullptr));
}

TEST_CASE("sums of many members keep their digits") {
  for (int const p : {33, 64, 1000})
    for (auto const kind : {mt::collective::all_reduce, mt::collective::reduce_scatter}) {
      std::vector<float> const x(static_cast<std::size_t>(p) * 4, 0.1f);  // equal numbers are the worst case
      mt::collective_call call;
      call.kind = kind, call.dims = 1, call.extent[0] = p * 4, call.split = kind == mt::collective::all_reduce ? -1 : 0;
      std::vector<void const*> const inputs(static_cast<std::size_t>(p), x.data());
      std::vector<float> out(x.size());
      mt::reference(call, p, inputs.data(), 0, out.data());
      CHECK(std::abs(out[0] / (p * double(0.1f)) - 1) < 0x1p-24 * std::log2(p));
    }
}
