// SPDX-License-Identifier: Apache-2.0
// Any bytes as arrays of IDX, one with the labels of another, and as records of CIFAR: sets of which every image can be
// read, or a sentence.
#include <vector>

#include "fuzz.hpp"
#include "meshtensor/datasets/image/cifar.hpp"
#include "meshtensor/datasets/image/idx.hpp"

namespace mt = meshtensor;

namespace {

template <class F>
void refused_or_good(F const& f) {
  try {
    f();
  } catch (mt::error const& e) { fuzz::require(e.code() == "R64" || e.code() == "R89"); }
}
void check(mt::datasets::image_set const& all) {
  mt::datasets::image i;
  for (std::int64_t n = 0; n < all.size() && n < 50; ++n) {
    all.read(n, i);
    fuzz::require(std::ssize(i.pixels) == i.height * i.width * 3);
    fuzz::require(all.label(n) >= 0 && all.label(n) < std::ssize(all.classes()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::vector<std::uint8_t> const bytes(data, data + size);
  refused_or_good([&] {
    mt::datasets::idx_array const a = mt::datasets::idx_of(bytes, "x");
    std::size_t count = 1;
    for (std::int64_t extent : a.extents) count *= static_cast<std::size_t>(extent);
    fuzz::require(count == a.bytes.size() && count <= size);
  });
  if (size < 2) return 0;
  // The second byte says where the labels begin.
  auto const middle = static_cast<std::ptrdiff_t>(2 + std::size_t{data[1]} * (size - 2) / 256);
  refused_or_good([&] {
    check(mt::datasets::idx_images(mt::datasets::idx_of({bytes.begin() + 2, bytes.begin() + middle}, "x"),
                                   mt::datasets::idx_of({bytes.begin() + middle, bytes.end()}, "y"), "x", "y"));
  });
  // A record is longer than what is tried: it is repeated.
  refused_or_good([&] {
    int const classes = data[0] % 2 != 0 ? 100 : 10;
    std::vector<std::uint8_t> records(static_cast<std::size_t>(data[1] % 4) * (classes == 100 ? 3074 : 3073));
    for (std::size_t i = 0; i < records.size(); ++i) records[i] = bytes[i % size];
    check(mt::datasets::cifar_images(records, classes, "z"));
  });
  return 0;
}
