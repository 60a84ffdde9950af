// SPDX-License-Identifier: Apache-2.0
// Text as bytes: reads files, holds out a part for evaluation, and cuts the rest into training windows.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/philox.hpp"

namespace meshtensor::datasets {

namespace detail {
/// Passes the bytes of a file to `part`, 65,536 at a time. errors R40 it cannot be read
template <class F>
void read_parts(std::filesystem::path const& file, F part) {
  std::error_code none;
  if (std::filesystem::is_directory(file, none))
    throw error("R40", {"the text '", file.string(), "' is a folder: name a file"});
  auto const refuse = [&](int why) {
    throw error("R40", {"the text '", file.string(), "' cannot be read: ", std::generic_category().message(why)});
  };
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const in(std::fopen(file.c_str(), "rb"), &std::fclose);
  if (!in) refuse(errno);
  std::array<std::uint8_t, 65536> bytes;
  while (std::size_t const count = std::fread(bytes.data(), 1, bytes.size(), in.get()))
    part(std::span<std::uint8_t const>(bytes.data(), count));
  if (std::ferror(in.get()) != 0) refuse(errno);
}

/// Adds the files under a folder with one of `endings`. Links to folders are not followed, because they may lead back.
/// errors R40 a folder cannot be read
inline void add_files(std::filesystem::path const& folder, std::vector<std::string> const& endings,
                      std::vector<std::filesystem::path>& files) {
  std::error_code problem, ignored;
  for (std::filesystem::directory_iterator i(folder, problem), end; i != end; i.increment(problem)) {
    auto const& path = i->path();
    if (i->is_directory(ignored) && !i->is_symlink(ignored)) add_files(path, endings, files);
    else if (i->is_regular_file(ignored) &&
             std::find(endings.begin(), endings.end(), path.extension()) != endings.end())
      files.push_back(path);
  }
  if (problem)  // the iterator is then at its end
    throw error("R40", {"the folder '", folder.string(), "' cannot be read: ", problem.message()});
}
}  // namespace detail

/// The bytes of any file. errors R40 it cannot be read, or is empty
inline std::vector<std::uint8_t> read_bytes(std::filesystem::path const& file) {
  std::vector<std::uint8_t> bytes;
  detail::read_parts(file,
                     [&](std::span<std::uint8_t const> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  if (bytes.empty()) throw error("R40", {"the text '", file.string(), "' is empty: there is nothing to learn from"});
  return bytes;
}

/// The bytes of a text file in any encoding without zero bytes, such as UTF-8. The text need not be valid.
///
/// errors  R40 it cannot be read, is empty, or has a zero byte, as compressed and other binary files have
inline std::vector<std::uint8_t> read_text(std::filesystem::path const& file) {
  std::vector<std::uint8_t> bytes;
  detail::read_parts(file, [&](std::span<std::uint8_t const> part) {
    if (auto const zero = std::find(part.begin(), part.end(), 0); zero != part.end())
      throw error("R40", {"the text '", file.string(), "' is no text, for byte ",
                          static_cast<std::int64_t>(bytes.size()) + (zero - part.begin()),
                          " is zero: if it is compressed, unpack it first; if it is UTF-16, convert it to UTF-8"});
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  if (bytes.empty()) throw error("R40", {"the text '", file.string(), "' is empty: there is nothing to learn from"});
  return bytes;
}

/// All files under a folder with one of `endings`, concatenated in the order of their paths.
///
/// errors  R40 one of them cannot be read, or the folder or one below it, for example because it is absent or a file
inline std::vector<std::uint8_t> read_texts(std::filesystem::path const& folder,
                                            std::vector<std::string> const& endings) {
  std::vector<std::filesystem::path> files;
  detail::add_files(folder, endings, files);
  std::sort(files.begin(), files.end());
  std::vector<std::uint8_t> all;
  for (auto const& f : files)
    detail::read_parts(f, [&](std::span<std::uint8_t const> part) { all.insert(all.end(), part.begin(), part.end()); });
  return all;
}

/// Windows of a text, row-major. `text` has the shape [count, length], and `next` has the byte after each of its bytes.
struct text_batch {
  std::vector<std::uint8_t> text, next;
};

/// A text in blocks of 4,096 bytes, or of a tenth of a short text, but longer than a window. Every tenth block is held
/// out, so that the held-out part is like the rest. Windows never cross between the two parts.
class text_windows {
 public:
  /// errors  R41 the text is too short for windows of this length, or the length is not at least 1
  text_windows(std::vector<std::uint8_t> bytes, std::int64_t length) : bytes_(std::move(bytes)), length_(length) {
    if (length < 1) throw error("R41", {"windows of ", length, " bytes show nothing: a length is at least 1"});
    auto const size = static_cast<std::int64_t>(bytes_.size());
    std::int64_t const block = std::max(std::min<std::int64_t>(4096, size / parts), length + 1);
    if (size < parts * block)
      throw error("R41", {"the text has ", size, " bytes, but windows of ", length, " need at least ", parts * block,
                          ": give a longer text or shorter windows"});
    for (std::int64_t at = 0; at < size; at += parts * block) {
      std::int64_t const middle = std::min(size, at + (parts - 1) * block), end = std::min(size, at + parts * block);
      if (middle - at > length) stretches_.push_back({at, starts_ += middle - at - length});
      for (std::int64_t w = middle; w + length < end; w += length) held_out_.push_back(w);
      held_out_bytes_ += end - middle;
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  std::int64_t length() const { return length_; }
  std::int64_t held_out_bytes() const { return held_out_bytes_; }
  /// The number of batches of `count` windows that show every held-out window once. The last batch is filled up with
  /// the first windows. errors  R41 `count` is not at least 1
  std::int64_t held_out_batches(std::int64_t count) const {
    if (count < 1) throw error("R41", {"a batch of ", count, " windows shows nothing: give it 1 or more"});
    return (static_cast<std::int64_t>(held_out_.size()) + count - 1) / count;
  }

  /// Reads `count` random windows of the training part. They are a function of seed and step, so every rank reads the
  /// same.
  void training(std::uint64_t seed, std::uint64_t step, std::int64_t count, text_batch& to) const {
    random_stream const random({seed, 0x7465787477696e64ull, step}, 0);
    fill(count, to, [&](std::int64_t row) {
      auto const words = random.words(static_cast<std::uint64_t>(row));
      auto const n =
          static_cast<std::int64_t>((std::uint64_t{words[1]} << 32 | words[0]) % static_cast<std::uint64_t>(starts_));
      auto const s = std::upper_bound(stretches_.begin(), stretches_.end(), n,
                                      [](std::int64_t value, stretch const& x) { return value < x.end; });
      return s->begin + n - (s == stretches_.begin() ? 0 : std::prev(s)->end);
    });
  }
  /// Reads the held-out batch of this number.
  void held_out(std::int64_t number, std::int64_t count, text_batch& to) const {
    fill(count, to, [&](std::int64_t row) {
      return held_out_[static_cast<std::size_t>(number * count + row) % held_out_.size()];
    });
  }
  /// Calls f(byte, next byte) for all pairs of the training part.
  template <class F>
  void each_pair_learnt(F f) const {
    std::int64_t before = 0;
    for (stretch const& s : stretches_) {
      std::int64_t const end = s.begin + s.end - before + length_ - 1;
      for (std::int64_t i = s.begin; i < end; ++i) f(at(i), at(i + 1));
      before = s.end;
    }
  }

 private:
  static constexpr std::int64_t parts = 10;
  struct stretch {
    std::int64_t begin, end;  // its first byte, and the number of windows that begin in it or before it
  };
  std::uint8_t at(std::int64_t i) const { return bytes_[static_cast<std::size_t>(i)]; }
  template <class Start>
  void fill(std::int64_t count, text_batch& to, Start start) const {
    auto const size = static_cast<std::size_t>(count * length_);
    to.text.resize(size), to.next.resize(size);
    for (std::int64_t row = 0; row < count; ++row) {
      auto const from = bytes_.begin() + start(row);
      std::copy(from, from + length_, to.text.begin() + row * length_);
      std::copy(from + 1, from + 1 + length_, to.next.begin() + row * length_);
    }
  }

  std::vector<std::uint8_t> bytes_;
  std::int64_t length_, starts_ = 0, held_out_bytes_ = 0;
  std::vector<stretch> stretches_;
  std::vector<std::int64_t> held_out_;  // the first byte of each window
};

}  // namespace meshtensor::datasets
