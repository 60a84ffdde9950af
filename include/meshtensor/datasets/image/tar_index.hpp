// SPDX-License-Identifier: Apache-2.0
// Lists the files in a tar archive, so that each can be read in place.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/datasets/image/tar_links.hpp"
#include "meshtensor/datasets/packed.hpp"
#include "meshtensor/io/file.hpp"

namespace meshtensor::datasets {

namespace detail {

/// Reads the headers of an archive: POSIX's (ustar, pax) and GNU's (long names, large sizes).
///
/// source  POSIX.1-2017, pax, section EXTENDED DESCRIPTION
class tar_reader {
 public:
  explicit tar_reader(io::file const& archive) : archive_(archive) {}

  std::vector<tar_member> members() {
    tar_links found;
    std::int64_t at = 0;
    for (; read_header(at); at += block + (size_ + block - 1) / block * block) {
      std::string name = unpacked_path(long_name_.empty() ? short_name() : long_name_);
      std::string_view const target = long_target_.empty() ? field(157, 100) : std::string_view(long_target_);
      if (carries_content() && size_ > archive_.size() - at - block)
        refuse("it ends in the middle of '" + name + "': copy it again");
      if (kind_ == 'L' || kind_ == 'K' || kind_ == 'x') {
        read_note(at + block);
        continue;
      }
      if (kind_ == 'S' || is_sparse_) refuse("'" + name + "' is packed as a sparse file: pack without tar's --sparse");
      if (kind_ == '0') found.add_file(std::move(name), at + block, size_);
      else if (kind_ == '1') found.add_hard_link(std::move(name), target);
      else if (kind_ == '2') found.add_symbolic_link(std::move(name), target);
      long_name_.clear(), long_target_.clear(), long_size_ = -1, is_sparse_ = false;
    }
    return found.members([&](std::string const& name) {
      refuse("'" + name + "' is a link to a file that the archive does not have: pack with tar's --hard-dereference");
    });
  }

 private:
  static constexpr std::int64_t block = 512;

  [[noreturn]] void refuse(std::string const& why) const {
    throw error("R63", {"the archive '", archive_.path(), "': ", why});
  }
  std::string_view field(std::size_t at, std::size_t length) const {
    std::string_view const all(reinterpret_cast<char const*>(header_.data()) + at, length);
    return all.substr(0, all.find('\0'));
  }
  /// A number in octal digits with optional blanks around it, or a binary number if the first bit is set.
  std::int64_t number(std::size_t at, std::size_t length) const {
    std::int64_t value = 0;
    if ((header_[at] & 0x80) != 0) {
      for (std::size_t i = 0; i < length; ++i) {
        std::int64_t const digit = i == 0 ? header_[at] & 0x3f : header_[at + i];
        if (value > (INT64_MAX >> 8)) return -1;
        value = value << 8 | digit;
      }
      return (header_[at] & 0x40) != 0 ? -1 : value;
    }
    std::string_view text = field(at, length);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    for (char c : text.substr(0, text.find(' '))) {
      if (c < '0' || c > '7') return -1;
      value = value * 8 + (c - '0');
    }
    return value;
  }
  bool carries_content() const { return kind_ < '1' || kind_ > '6'; }

  /// Whether there is a header. The end of the archive is a block of zeros.
  bool read_header(std::int64_t at) {
    if (at > archive_.size() - block) refuse("it ends without a mark of its end: copy it again");
    archive_.read(at, std::as_writable_bytes(std::span(header_)));
    if (std::all_of(header_.begin(), header_.end(), [](std::uint8_t b) { return b == 0; })) return false;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < header_.size(); ++i) sum += i >= 148 && i < 156 ? ' ' : header_[i];
    if (sum != number(148, 8))
      refuse("there is no header at byte " + std::to_string(at) + ": is it a tar file, unpacked, and copied whole?");
    kind_ = static_cast<char>(header_[156] == 0 || header_[156] == '7' ? '0' : header_[156]);
    size_ = !carries_content() ? 0 : long_size_ >= 0 && kind_ == '0' ? long_size_ : number(124, 12);
    if (size_ < 0) refuse("the header at byte " + std::to_string(at) + " has no size: copy it again");
    return true;
  }
  std::string short_name() const {
    std::string const name(field(0, 100));
    bool const posix = field(257, 6) == "ustar" && header_[263] == '0';
    std::string_view const folder = posix ? field(345, 155) : "";
    return folder.empty() ? name : std::string(folder) + "/" + name;
  }

  /// Reads a name, a link's target or a size that does not fit in the header of the next file.
  void read_note(std::int64_t at) {
    if (size_ > (1 << 20)) refuse("the name at byte " + std::to_string(at) + " has more than a million bytes");
    std::vector<std::uint8_t> const bytes = read_part(archive_, at, size_);
    std::string_view text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    if (kind_ != 'x') {
      (kind_ == 'L' ? long_name_ : long_target_) = text.substr(0, text.find('\0'));
      return;
    }
    while (!text.empty()) {  // `LENGTH KEY=VALUE\n`, where the length is that of the whole line
      std::size_t length = 0;
      auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), length);
      auto const digits = static_cast<std::size_t>(end - text.data());
      if (problem != std::errc() || length > text.size() || length < digits + 2 || text[digits] != ' ' ||
          text[length - 1] != '\n')
        refuse("the note at byte " + std::to_string(at) + " is not as pax writes it: copy it again");
      std::string_view const line = text.substr(digits + 1, length - digits - 2);
      text.remove_prefix(length);
      if (line.starts_with("path=")) long_name_ = line.substr(5);
      if (line.starts_with("linkpath=")) long_target_ = line.substr(9);
      if (line.starts_with("GNU.sparse.")) is_sparse_ = true;
      if (line.starts_with("size=")) {
        long_size_ = -1;
        std::from_chars(line.data() + 5, line.data() + line.size(), long_size_);
        if (long_size_ < 0) refuse("the note at byte " + std::to_string(at) + " has no size: copy it again");
      }
    }
  }

  io::file const& archive_;
  std::array<std::uint8_t, block> header_{};
  char kind_ = 0;
  std::int64_t size_ = 0, long_size_ = -1;
  std::string long_name_, long_target_;
  bool is_sparse_ = false;
};

}  // namespace detail

/// The files in a tar archive and the links to them, in the archive's order. Their names are as tar unpacks them,
/// without `/`, `./` and `../` at their start. Folders are left out. If several files have the same name, the last one
/// counts.
///
/// errors  R63 it is damaged, ends early, or has sparse files or hard links to nothing; C02 it cannot be read
inline std::vector<tar_member> tar_members(io::file const& archive) { return detail::tar_reader(archive).members(); }

}  // namespace meshtensor::datasets
