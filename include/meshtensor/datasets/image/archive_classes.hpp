// SPDX-License-Identifier: Apache-2.0
// Finds the classes of the images in tar archives. They are the classes that the folders have after the archives are
// unpacked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace meshtensor::datasets {

namespace detail {

/// An image in an archive. `path` is its name in the archive, and the name below its class once the class is known.
struct archived_image {
  std::string path;
  std::size_t archive;
  std::int64_t at, bytes;
  std::string class_name = {};
};

/// Whether a part of a path begins with a dot. Such files and folders belong to other programs.
inline bool is_hidden(std::string_view path) { return path.starts_with('.') || path.find("/.") != path.npos; }

/// The number of bytes of a path up to the folder of its file, including the last `/`.
inline std::size_t folder_length(std::string_view path) { return path.rfind('/') + 1; }
/// The number of bytes of a path's first folder without its `/`, or 0 if there is no folder.
inline std::size_t first_folder(std::string_view path) { return path.find('/') == path.npos ? 0 : path.find('/'); }

/// The number of bytes of the folders with which all paths begin.
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

/// The archives of a set of images.
struct set_of_archives {
  std::vector<std::string> names = {};  // of each archive, without its ending
  bool is_whole = false;                // one archive is the set, otherwise they are in its folder …
  bool has_classes = false;             // … beside folders of images
};

/// Finds the class of each image. It is the first folder below the folders that all images share. If this would make
/// one class of all images, the class is the first folder of their paths instead. An archive makes a class of its own,
/// with the archive's name, in two cases: for images without a folder, and if several archives have only a single
/// class. Images beside the folders of classes are left out, as in a folder. If there are several classes, returns the
/// folder that holds their folders, with its last `/`.
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

}  // namespace meshtensor::datasets
