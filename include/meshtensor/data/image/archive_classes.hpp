// SPDX-License-Identifier: Apache-2.0
// Finds the classes of the images in tar archives: those that the archives' folders have once they are unpacked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace meshtensor {

namespace detail {

/// An image in an archive. `path` is its name in the archive, and below its class once that is known.
struct archived_image {
  std::string path;
  std::size_t archive;
  std::int64_t at, bytes;
  std::string class_name = {};
};

/// Whether some part of a path begins with a point: such files and folders are other programs' own.
inline bool is_hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != path.npos; }

/// The bytes of a path until the folder in which its file is, with the last `/`.
inline std::size_t folder_length(std::string_view path) { return path.rfind('/') + 1; }
/// The bytes of a path's first folder, without its `/`; 0: there is none.
inline std::size_t first_folder(std::string_view path) { return path.find('/') == path.npos ? 0 : path.find('/'); }

/// The bytes of the folders that all paths begin with.
inline std::size_t shared_folders(std::vector<archived_image> const& all) {
  std::size_t length = all.empty() ? 0 : folder_length(all[0].path);
  for (archived_image const& i : all) {
    std::size_t const most = std::min(length, folder_length(i.path));
    length = static_cast<std::size_t>(
        std::mismatch(all[0].path.begin(), all[0].path.begin() + std::ptrdiff_t(most), i.path.begin()).first -
        all[0].path.begin());
    length = length == 0 ? 0 : all[0].path.rfind('/', length - 1) + 1;
  }
  return length;
}

/// Archives of a set of images.
struct set_of_archives {
  std::vector<std::string> names = {};  // of each archive, without its ending
  bool is_whole = false;                // one archive is the set; else they are in its folder …
  bool has_classes = false;             // … beside folders of images
};

/// Finds the class of each image, which is the first folder below those that all images share. Where that would be one
/// class for all, the class is the first folder of all. Images without a folder make their archive a class, which is
/// called as the archive, as does a single class in several archives. Images beside the folders of classes are left
/// out, as in a folder. Gives the folder that has the folders of the classes, with its last `/`, if there are several.
inline std::optional<std::string> find_classes(std::vector<archived_image>& all, set_of_archives const& set) {
  auto const shared_by_all = shared_folders(all);
  std::erase_if(all, [&](auto const& i) { return is_hidden(std::string_view(i.path).substr(shared_by_all)); });

  std::set<std::size_t> classes_of_their_own;
  for (archived_image const& i : all)
    if (!set.is_whole && first_folder(i.path) == 0) classes_of_their_own.insert(i.archive);
  std::vector<archived_image> rest;
  for (archived_image& i : all)
    if (classes_of_their_own.contains(i.archive)) i.class_name = set.names[i.archive];
    else rest.push_back(std::move(i));
  std::erase_if(all, [](auto const& i) { return i.class_name.empty(); });

  std::size_t const shared = shared_folders(rest);
  std::string const folder_of_classes = rest.empty() ? "" : rest[0].path.substr(0, shared);
  std::set<std::string> classes;
  std::set<std::size_t> archives;
  for (archived_image const& i : rest) {
    std::string_view const below = std::string_view(i.path).substr(shared);
    archives.insert(i.archive);
    if (first_folder(below) != 0) classes.emplace(below.substr(0, first_folder(below)));
  }
  bool const is_one = classes.size() < 2;
  bool const by_archive = is_one && archives.size() > 1 && classes_of_their_own.empty() && !set.has_classes;
  for (archived_image& i : rest) {
    std::string_view const path = i.path, folders = path.substr(0, shared);
    std::size_t from = is_one ? 0 : shared;
    // The set's own folder may be packed with it, as in 'pets.tar' with 'pets/dog/a.png'.
    std::size_t const first = first_folder(folders);
    if (is_one && set.is_whole && folders.substr(0, first) == set.names[0] && first + 1 < shared) from = first + 1;
    std::string_view const below = path.substr(from);
    std::size_t const length = is_one ? first_folder(folders.substr(std::min(from, shared))) : first_folder(below);
    if (length == 0 && !is_one) continue;
    bool const is_archive = by_archive || length == 0;
    i.class_name = is_archive ? set.names[i.archive] : std::string(below.substr(0, length));
    i.path = std::string(is_archive ? path : below.substr(length + 1));
    all.push_back(std::move(i));
  }
  return is_one ? std::nullopt : std::optional(folder_of_classes);
}

}  // namespace detail

}  // namespace meshtensor
