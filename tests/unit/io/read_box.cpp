// SPDX-License-Identifier: Apache-2.0
// A box of an array in a file, read into memory of any strides: the same as element by element; and little else is
// read.
#include "meshtensor/io/checkpoint/read_box.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "support/faults.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;

namespace {

std::int64_t size_of(mt::io::file_box const& b, std::int64_t const* extents) {
  std::int64_t n = 1;
  for (int i = 0; i < b.count; ++i) n *= extents[i];
  return n;
}

}  // namespace

TEST_CASE("boxes made at random") {
  meshtensor_test::own_folder const folder;
  std::mt19937 random(3);
  auto const below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n)); };
  std::vector<std::uint16_t> all(5000);
  std::iota(all.begin(), all.end(), std::uint16_t{1});
  meshtensor_test::set_content(folder / "f", std::string(reinterpret_cast<char const*>(all.data()), 10000));
  mt::io::file const f(folder / "f");
  for (int round = 0; round < 3000; ++round) {
    mt::io::file_box b;
    b.count = static_cast<int>(below(5));
    int order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (round % 2 == 1) std::shuffle(order, order + b.count, random);
    for (int i = 0; i < b.count; ++i) {
      b.whole[i] = 1 + below(6), b.first[i] = below(b.whole[i]), b.extent[i] = 1 + below(b.whole[i] - b.first[i]);
      if (round % 3 == 0) b.first[i] = 0, b.extent[i] = b.whole[i];
    }
    std::int64_t room = 1;
    for (int k = b.count; k-- > 0;) b.stride[order[k]] = room, room *= b.extent[order[k]] + (round % 5 == 0 ? 1 : 0);
    std::int64_t const first = below(1000);
    std::vector<std::uint16_t> got(static_cast<std::size_t>(room)), wanted(got.size());
    mt::io::read_box(f, first * 2, 2, b, reinterpret_cast<std::byte*>(got.data()));
    for (std::int64_t k = 0; k < size_of(b, b.extent); ++k) {
      std::int64_t from = 0, to = 0, rest = k, behind = 1;
      for (int i = b.count; i-- > 0; behind *= b.whole[i]) {
        std::int64_t const at = rest % b.extent[i];
        rest /= b.extent[i];
        from += (b.first[i] + at) * behind, to += at * b.stride[i];
      }
      wanted[static_cast<std::size_t>(to)] = all[static_cast<std::size_t>(first + from)];
    }
    REQUIRE(got == wanted);
  }
}

TEST_CASE("long runs are read where they belong, short ones at once, and far gaps are left out") {
  meshtensor_test::own_folder const folder;
  std::int64_t const rows = 64, columns = 1 << 15;
  {
    std::vector<float> all(static_cast<std::size_t>(rows * columns));
    std::iota(all.begin(), all.end(), 0.0f);
    mt::io::new_file f(folder / "f");
    f.write(std::as_bytes(std::span(all)));
    f.commit();
  }
  mt::io::file const f(folder / "f");
  struct part {
    std::int64_t first[2], extent[2], most_calls, most_bytes;
  };
  for (part const& p : {part{{0, 0}, {rows, columns}, 1, rows * columns * 4},          // all of it
                        part{{3, 0}, {5, columns}, 1, 5 * columns * 4},                // rows
                        part{{0, 7}, {rows, 16}, rows, rows * 64},                     // a few columns, far apart
                        part{{0, 0}, {rows, columns - 64}, 9, rows * columns * 4}}) {  // nearly all
    mt::io::file_box b;
    b.count = 2, b.whole[0] = rows, b.whole[1] = columns;
    for (int i : {0, 1}) b.first[i] = p.first[i], b.extent[i] = p.extent[i];
    b.stride[0] = p.extent[1], b.stride[1] = 1;
    std::vector<float> got(static_cast<std::size_t>(p.extent[0] * p.extent[1]));
    faults::begin({faults::kind::none, faults::counts});
    mt::io::read_box(f, 0, 4, b, reinterpret_cast<std::byte*>(got.data()));
    faults::end();
    bool same = true;
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(got.size()); ++k)
      same = same && got[static_cast<std::size_t>(k)] ==
                         static_cast<float>((p.first[0] + k / p.extent[1]) * columns + p.first[1] + k % p.extent[1]);
    CHECK(same);
    CHECK(faults::calls <= p.most_calls);
    CHECK(faults::bytes_read <= p.most_bytes);
  }
}
