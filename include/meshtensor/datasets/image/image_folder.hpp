// SPDX-License-Identifier: Apache-2.0
// A folder of images by class, as in ImageNet: FOLDER/CLASS/FILE, or the same files in tar archives.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "meshtensor/datasets/image/archive_classes.hpp"
#include "meshtensor/datasets/image/decode_image.hpp"
#include "meshtensor/datasets/image/image_channels.hpp"
#include "meshtensor/datasets/image/image_set.hpp"
#include "meshtensor/datasets/image/tar_index.hpp"

namespace meshtensor::datasets {

/// The images of a folder. They are files that end in .jpg, .jpeg or .png, in a folder for each class or in any folders
/// in it. The folder may also have tar archives, or one archive may stand instead of it. Archives are read in place and
/// count as if they were unpacked together. The class of their images is the first folder below the folders that all of
/// them share. If an archive has images without a folder, the class is the archive's name. Classes are sorted by their
/// names, and images by class and file. Therefore the numbers do not depend on the file system, and an archive of a
/// folder has the same numbers as the folder.
class image_folder : public image_set {
 public:
  /// errors  R62 it cannot be read, or has no image; R63 a tar file is damaged
  explicit image_folder(std::filesystem::path path) : path_(std::move(path)) {
    std::vector<file> found;
    std::error_code problem;
    if (path_.extension() == ".tar" && !std::filesystem::is_directory(path_, problem))
      find_in_archives({path_}, true, found);
    else find_in_folder(found);
    if (found.empty())
      throw error("R62",
                  {"'", path_.string(), "' has no images: name a folder with a folder for each class, with files ",
                   ".jpg, .jpeg or .png, or tar files of such"});
    number_classes(found);
    std::sort(found.begin(), found.end());
    for (file const& f : found) {
      name_begins_.push_back(names_.size());
      names_ += f.name;
      places_.push_back({f.at, f.bytes, f.label, f.archive});
    }
    name_begins_.push_back(names_.size());
  }

  std::int64_t size() const override { return std::ssize(places_); }
  std::vector<std::string> const& classes() const override { return classes_; }
  std::int32_t label(std::int64_t number) const override { return place_of(number).label; }
  std::string name(std::int64_t number) const override {
    place const& p = place_of(number);
    std::string const in_class = classes_[static_cast<std::size_t>(p.label)] + "/" + std::string(file_name(number));
    return p.archive < 0 ? (path_ / in_class).string()
                         : archives_[static_cast<std::size_t>(p.archive)].path() + ": " + in_class;
  }
  std::string key(std::int64_t number) const override {
    return classes_[static_cast<std::size_t>(place_of(number).label)] + "/" + std::string(file_name(number));
  }
  /// Looks at the first bytes of each file, so it takes as long as opening all of them. A file whose bytes do not tell
  /// counts as a file with colours.
  int channels() const override {
    std::int64_t grey = -1, coloured = -1, count = 0;  // examples of both
    for (std::int64_t i = 0; i < size(); ++i) {
      bool const is_grey = channels_of(i) == 1;
      (is_grey ? grey : coloured) = i, count += is_grey;
    }
    if (grey >= 0 && coloured >= 0)
      throw error("R66", {"of the images of '", path_.string(), "', ", count, " are grey, such as '", key(grey),
                          "', and ", size() - count, " have colours, such as '", key(coloured),
                          "': ask for image_options{.channels = 3}, or 1 for grey"});
    return grey >= 0 ? 1 : 3;
  }
  void read(std::int64_t number, image& to) const override { decode_image(bytes_of(number), name(number), to); }

 private:
  /// The file of an image, or its first bytes.
  std::vector<std::uint8_t> bytes_of(std::int64_t number, std::int64_t most = std::int64_t{1} << 62) const {
    place const& p = place_of(number);
    if (p.archive >= 0) return read_part(archives_[static_cast<std::size_t>(p.archive)], p.at, std::min(p.bytes, most));
    io::file const f(name(number));
    return read_part(f, 0, std::min(f.size(), most));
  }
  int channels_of(std::int64_t number) const {
    constexpr std::int64_t first = 1 << 16;  // longer than the data that most cameras write before the frame
    std::optional<int> const told = channels_in_file(bytes_of(number, first));
    return told ? *told : channels_in_file(bytes_of(number)).value_or(3);
  }

  struct place {
    std::int64_t at, bytes;       // in an archive
    std::int32_t label, archive;  // −1: a file of its own
  };
  struct file {
    std::int32_t label;
    std::string name;
    std::int32_t archive = -1;
    std::int64_t at = 0, bytes = 0;
    bool operator<(file const& o) const {
      return std::tie(label, name, archive, at) < std::tie(o.label, o.name, o.archive, o.at);
    }
  };

  place const& place_of(std::int64_t number) const { return places_[static_cast<std::size_t>(number)]; }
  std::string_view file_name(std::int64_t number) const {
    auto const i = static_cast<std::size_t>(number);
    return std::string_view(names_).substr(name_begins_[i], name_begins_[i + 1] - name_begins_[i]);
  }

  static bool is_image(std::string_view path) {
    std::string ending(path.substr(std::min(path.rfind('.'), path.size())));
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
  }

  void find_in_folder(std::vector<file>& found) {
    std::error_code problem;
    std::vector<std::filesystem::path> archives;
    for (std::filesystem::directory_iterator i(path_, problem), end; i != end && !problem; i.increment(problem)) {
      std::error_code leads_nowhere;
      if (i->path().filename().string().starts_with('.')) continue;
      if (i->is_directory(leads_nowhere)) find_in_class(i->path(), found);
      else if (i->path().extension() == ".tar") archives.push_back(i->path());
    }
    if (problem)
      throw error("R62", {"the folder '", path_.string(), "' cannot be read, ", problem.message(),
                          ": name one with a folder of images for each class"});
    std::sort(archives.begin(), archives.end());
    find_in_archives(archives, false, found);
  }
  void find_in_class(std::filesystem::path const& folder, std::vector<file>& found) {
    std::error_code problem, leads_nowhere;
    std::size_t const before = folder.string().size() + 1;
    for (std::filesystem::recursive_directory_iterator i(folder, problem), end; i != end && !problem;
         i.increment(problem))
      if (std::string path = i->path().string().substr(before);
          is_image(path) && !detail::is_hidden(path) && i->is_regular_file(leads_nowhere))
        found.push_back({label_of(folder.filename().string()), std::move(path)});
    if (problem) throw error("R62", {"the folder '", folder.string(), "' cannot be read, ", problem.message()});
  }
  void find_in_archives(std::vector<std::filesystem::path> const& paths, bool is_whole, std::vector<file>& found) {
    detail::set_of_archives set{.is_whole = is_whole, .has_classes = !found.empty()};
    std::vector<detail::archived_image> images;
    std::vector<std::pair<tar_member, std::size_t>> links;
    for (auto const& path : paths) {
      archives_.emplace_back(path.string());
      for (tar_member& m : tar_members(archives_.back()))
        if (!m.link.empty()) links.push_back({std::move(m), set.names.size()});
        else if (is_image(m.name)) images.push_back({std::move(m.name), set.names.size(), m.at, m.bytes});
      set.names.push_back(path.stem().string());
    }
    std::optional<std::string> const folder_of_classes = detail::find_classes(images, set);
    for (auto const& [m, archive] : links) {
      bool const is_class = images.empty() || m.name.substr(0, detail::folder_length(m.name)) == folder_of_classes;
      if (!detail::is_hidden(m.name) && (is_image(m.name) || is_class))
        throw error("R63", {"the archive '", archives_[archive].path(), "': '", m.name, "' is a link to '", m.link,
                            "', which is no file of the archive: pack with tar's --dereference"});
    }
    for (detail::archived_image& i : images)
      found.push_back({label_of(i.class_name), std::move(i.path), static_cast<std::int32_t>(i.archive), i.at, i.bytes});
  }

  /// Numbers classes in the order in which they are found. `number_classes` sorts them later.
  std::int32_t label_of(std::string const& name) {
    return known_.try_emplace(name, static_cast<std::int32_t>(known_.size())).first->second;
  }
  void number_classes(std::vector<file>& found) {
    std::vector<std::int32_t> sorted(known_.size());
    for (auto const& [name, as_found] : known_) {
      sorted[static_cast<std::size_t>(as_found)] = static_cast<std::int32_t>(classes_.size());
      classes_.push_back(name);
    }
    for (file& f : found) f.label = sorted[static_cast<std::size_t>(f.label)];
    known_.clear();
  }

  std::filesystem::path path_;
  std::vector<std::string> classes_;
  std::vector<io::file> archives_;
  std::map<std::string, std::int32_t> known_;  // used while the images are found
  std::vector<place> places_;
  std::string names_;  // of all files, one after the other, because a set has millions
  std::vector<std::size_t> name_begins_;
};

}  // namespace meshtensor::datasets
