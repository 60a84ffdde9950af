// SPDX-License-Identifier: Apache-2.0
// Reads a box of a dense array in a file into strided memory. The box is the part of a block that a rank needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "meshtensor/base/config.hpp"
#include "meshtensor/io/file.hpp"

namespace meshtensor::io {

/// A box of an array: the array's extents, the box's origin and extents, and its strides in memory, in elements.
struct file_box {
  int count = 0;  // number of dims
  std::int64_t whole[max_dims_of_one] = {}, first[max_dims_of_one] = {}, extent[max_dims_of_one] = {};
  std::int64_t stride[max_dims_of_one] = {};
};

/// Reads runs of bytes in ascending order. Runs with small gaps between them are read together.
class run_reader {
 public:
  explicit run_reader(file const& f) : file_(f) {}

  void add(std::int64_t offset, std::byte* to, std::int64_t bytes) {
    if (!runs_.empty() && (offset - end_ > gap || offset + bytes - begin_ > most)) flush();
    if (bytes >= most) return file_.read(offset, {to, static_cast<std::size_t>(bytes)});
    if (runs_.empty()) begin_ = offset;
    runs_.push_back({offset, to, bytes});
    end_ = offset + bytes;
  }
  void flush() {
    if (runs_.size() == 1) {
      file_.read(begin_, {runs_[0].to, static_cast<std::size_t>(runs_[0].bytes)});
    } else if (!runs_.empty()) {
      buffer_.resize(static_cast<std::size_t>(end_ - begin_));
      file_.read(begin_, buffer_);
      for (run const& r : runs_)
        std::memcpy(r.to, buffer_.data() + (r.offset - begin_), static_cast<std::size_t>(r.bytes));
    }
    runs_.clear();
  }

 private:
  static constexpr std::int64_t gap = 1 << 14;   // a few pages: skipping fewer is slower than reading them
  static constexpr std::int64_t most = 1 << 20;  // at most so many bytes in one read

  struct run {
    std::int64_t offset;
    std::byte* to;
    std::int64_t bytes;
  };
  file const& file_;
  std::vector<run> runs_;
  std::int64_t begin_ = 0, end_ = 0;
  std::vector<std::byte> buffer_;
};

/// Reads a box of the array that begins at byte `offset` of a file. The first element of the box goes to `to`.
///
/// errors  C02
inline void read_box(file const& f, std::int64_t offset, std::int64_t element_bytes, file_box const& box,
                     std::byte* to) {
  for (int i = 0; i < box.count; ++i)
    if (box.extent[i] == 0) return;
  std::int64_t in_file[max_dims_of_one];  // strides in the file, in elements
  for (std::int64_t n = 1, i = box.count; i-- > 0; n *= box.whole[i]) in_file[i] = n;
  for (int i = 0; i < box.count; ++i) offset += box.first[i] * in_file[i] * element_bytes;

  // The inner dims that are contiguous both in the file and in memory make one run.
  int outer = box.count;
  std::int64_t run = 1;
  for (; outer > 0; --outer) {
    int const i = outer - 1;
    if (box.extent[i] != 1 && (box.stride[i] != run || in_file[i] != run)) break;
    run *= box.extent[i];
  }

  run_reader runs(f);
  std::int64_t index[max_dims_of_one] = {};
  for (std::int64_t from = 0, at = 0;;) {
    runs.add(offset + from * element_bytes, to + at * element_bytes, run * element_bytes);
    int i = outer;
    while (i-- > 0) {
      from += in_file[i], at += box.stride[i];
      if (++index[i] < box.extent[i]) break;
      from -= in_file[i] * box.extent[i], at -= box.stride[i] * box.extent[i];
      index[i] = 0;
    }
    if (i < 0) break;
  }
  runs.flush();
}

}  // namespace meshtensor::io
