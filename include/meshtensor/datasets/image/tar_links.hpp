// SPDX-License-Identifier: Apache-2.0
// Resolves the names and links in a tar archive to the state after unpacking.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshtensor::datasets {

/// A file in a tar archive, or a link that leads to one.
struct tar_member {
  std::string name;
  std::int64_t at = 0, bytes = 0;  // of its content in the archive
  /// The target of a symbolic link that may lead to a folder or out of the archive. Such a link has no content.
  /// Otherwise empty.
  std::string link = {};
};

namespace detail {

/// A path without `.`, `..` and empty parts. For example, `./a/../b//c` is `b/c`. tar unpacks names that begin with `/`
/// or `../` without these parts. `leaves` becomes true for such a path.
inline std::string unpacked_path(std::string_view path, bool* leaves = nullptr) {
  std::string r;
  if (path.starts_with('/') && leaves != nullptr) *leaves = true;
  for (bool more = true; more;) {
    std::size_t const slash = path.find('/');
    std::string_view const part = path.substr(0, slash);
    if (part == "..") {
      if (r.empty() && leaves != nullptr) *leaves = true;
      r.resize(r.rfind('/') == r.npos ? 0 : r.rfind('/'));
    } else if (part != "." && !part.empty()) {
      if (!r.empty()) r += '/';
      r += part;
    }
    more = slash != path.npos;
    path.remove_prefix(more ? slash + 1 : path.size());
  }
  return r;
}

/// Collects the entries of an archive, and finds the files to which its links lead.
class tar_links {
 public:
  void add_file(std::string name, std::int64_t at, std::int64_t bytes) {
    all_.push_back({.member = {std::move(name), at, bytes}});
  }
  /// Adds a hard link. Its target is a name in the archive.
  void add_hard_link(std::string name, std::string_view target) {
    all_.push_back({.member = {std::move(name)}, .is_link = true, .target = unpacked_path(target)});
  }
  /// Adds a symbolic link. Its target is a path from the folder of the link.
  void add_symbolic_link(std::string name, std::string_view target) {
    bool leaves = false;
    bool const from_root = target.starts_with('/');
    std::string const folder = from_root ? "" : name.substr(0, name.rfind('/') + 1);
    std::string path = unpacked_path(from_root ? std::string(target) : folder + std::string(target), &leaves);
    all_.push_back({.member = {std::move(name), 0, 0, std::string(target)},
                    .is_link = true,
                    .target = std::move(path),
                    .leaves = leaves});
  }

  /// The members in the archive's order. If several have the same name, the last one counts, because unpacking leaves
  /// that one. Links to files have the content of the file. Symbolic links that lead nowhere in a folder of the archive
  /// are left out. `refuse` is called with the name of a hard link that leads nowhere.
  template <class Refuse>
  std::vector<tar_member> members(Refuse const& refuse) {
    for (std::size_t i = 0; i < all_.size(); ++i) by_name_.push_back(i);
    std::sort(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) {
      int const order = all_[a].member.name.compare(all_[b].member.name);
      return order != 0 ? order < 0 : a > b;
    });
    auto const repeated = std::unique(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) {
      return all_[a].member.name == all_[b].member.name;
    });
    by_name_.erase(repeated, by_name_.end());
    std::vector<std::size_t> order = by_name_;
    std::sort(order.begin(), order.end());
    std::vector<tar_member> r;
    for (std::size_t const i : order) {
      entry const& e = all_[i];
      entry const* const file = file_of(e);
      if (file != nullptr) r.push_back({e.member.name, file->member.at, file->member.bytes});
      else if (e.member.link.empty()) refuse(e.member.name);
      else if (e.leaves || !is_folder(e.target.substr(0, e.target.rfind('/') + 1)) || is_folder(e.target + "/"))
        r.push_back(e.member);
    }
    return r;
  }

 private:
  struct entry {
    tar_member member;
    bool is_link = false;
    std::string target = {};  // the name that a link leads to in the archive
    bool leaves = false;      // out of the archive, if there is no such name
  };
  static constexpr int most_hops = 40;  // the limit of Linux

  std::vector<std::size_t>::const_iterator from(std::string_view name) const {
    return std::lower_bound(by_name_.begin(), by_name_.end(), name,
                            [&](std::size_t i, std::string_view n) { return all_[i].member.name < n; });
  }
  entry const* file_of(entry const& e) const {
    entry const* at = &e;
    for (int hop = 0; hop < most_hops && at->is_link; ++hop) {
      auto const found = from(at->target);
      if (found == by_name_.end() || all_[*found].member.name != at->target) return nullptr;
      at = &all_[*found];
    }
    return at->is_link ? nullptr : at;
  }
  /// Whether something is in a folder. The name of the folder ends in `/`, and the top folder's name is empty.
  bool is_folder(std::string const& name) const {
    auto const found = from(name);
    return found != by_name_.end() && all_[*found].member.name.starts_with(name);
  }

  std::vector<entry> all_;
  std::vector<std::size_t> by_name_;
};

}  // namespace detail

}  // namespace meshtensor::datasets
