// SPDX-License-Identifier: Apache-2.0
// A reader's copies of a block are made by its second read, last until the block changes, and are those of the address
// that is read.
#include "meshtensor/base/kept_copies.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <utility>

using meshtensor::copies_of_reader;
using meshtensor::kept_copies;
using meshtensor::unchanged_blocks;

namespace {

struct reader {
  copies_of_reader own;
  int filled = 0;

  /// The first byte of the copy; -1: none is kept.
  int read(std::byte const* from, unchanged_blocks const* unchanged) {
    std::byte const* const copy = own.find(from, 100, unchanged, [&](std::byte* to) {
      ++filled;
      std::memcpy(to, from, 100);
    });
    return copy == nullptr ? -1 : std::to_integer<int>(*copy);
  }
};

}  // namespace

TEST_CASE("a copy is made by the second read and lasts until the block changes") {
  std::byte block[300]{}, other[100]{};
  block[0] = std::byte{1}, block[100] = std::byte{2}, block[200] = std::byte{3};
  kept_copies copies, of_other;
  unchanged_blocks unchanged;
  unchanged.add(other, 100, of_other), unchanged.add(block, 300, copies);
  reader r;
  for (int at : {0, 100, 200}) CHECK(r.read(block + at, &unchanged) == -1);
  CHECK(copies.bytes(unchanged) == 0);
  for (int round = 0; round < 3; ++round)
    for (int at : {0, 100, 200}) CHECK(r.read(block + at, &unchanged) == 1 + at / 100);
  for (int at : {200, 0, 100}) CHECK(r.read(block + at, &unchanged) == 1 + at / 100);  // in another order, too
  CHECK(r.filled == 3);
  CHECK(copies.bytes(unchanged) == 300);
  CHECK(unchanged.bytes_of_copies() == 300);

  copies.drop();
  CHECK(copies.bytes(unchanged) == 0);
  block[0] = std::byte{7};
  CHECK(r.read(block, &unchanged) == -1);
  copies.drop();  // no read since then makes two in a row
  CHECK(r.read(block, &unchanged) == -1);
  CHECK(r.read(block, &unchanged) == 7);
  CHECK(r.filled == 4);

  copies.forbid();
  for (int i = 0; i < 3; ++i) CHECK(r.read(block, &unchanged) == -1);
  CHECK(copies.bytes(unchanged) == 0);
  CHECK(!copies.is_permitted());
  CHECK(of_other.is_permitted());
}

TEST_CASE("what lies in no unchanged block is not kept") {
  std::byte block[300]{};
  kept_copies of_low, of_high;
  reader r;
  unchanged_blocks unchanged;
  for (int i = 0; i < 3; ++i) CHECK(r.read(block, nullptr) == -1);
  for (int i = 0; i < 3; ++i) CHECK(r.read(block, &unchanged) == -1);
  unchanged.add(block, 100, of_low), unchanged.add(block + 200, 100, of_high);
  CHECK(unchanged.find(block) == &of_low);
  CHECK(unchanged.find(block + 99) == &of_low);
  CHECK(unchanged.find(block + 100) == nullptr);
  CHECK(unchanged.find(block + 199) == nullptr);
  CHECK(unchanged.find(block + 200) == &of_high);
  CHECK(unchanged.find(block + 300) == nullptr);
  CHECK(r.read(block + 100, &unchanged) == -1);
  CHECK(r.read(block + 100, &unchanged) == -1);
}

TEST_CASE("a reader that is gone has no copies, and two readers have one each") {
  std::byte block[100]{};
  kept_copies copies;
  unchanged_blocks unchanged;
  unchanged.add(block, 100, copies);
  reader stays;
  for (int round = 0; round < 20; ++round) {
    reader goes;
    goes.read(block, &unchanged), goes.read(block, &unchanged);
    CHECK(goes.filled == 1);
  }
  stays.read(block, &unchanged), stays.read(block, &unchanged);
  CHECK(copies.bytes(unchanged) == 100);
  {
    reader moved = std::move(stays);
    CHECK(moved.read(block, &unchanged) == 0);
    CHECK(moved.filled == 1);
  }
  CHECK(copies.bytes(unchanged) == 0);
  copies.drop();
}

TEST_CASE("a program counts the copies that it keeps, not those of others") {
  std::byte block[100]{};
  kept_copies copies;
  unchanged_blocks of_one, of_two;
  of_one.add(block, 100, copies), of_two.add(block, 100, copies);
  reader one, two;
  for (int i = 0; i < 2; ++i) one.read(block, &of_one);
  CHECK(of_one.bytes_of_copies() == 100);
  CHECK(of_two.bytes_of_copies() == 0);
  for (int i = 0; i < 2; ++i) two.read(block, &of_two);
  CHECK(of_one.bytes_of_copies() == 100);
  CHECK(of_two.bytes_of_copies() == 100);
}
