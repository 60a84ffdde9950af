// SPDX-License-Identifier: Apache-2.0
// A folder of images by class, as ImageNet has it: FOLDER/CLASS/FILE, or the same in tar files.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "meshtensor/data/image/decode_image.hpp"
#include "meshtensor/data/image/image_set.hpp"
#include "meshtensor/data/image/tar_index.hpp"

namespace meshtensor {

/// The images of a folder: files that end in .jpg, .jpeg or .png, in a folder for each class (and any folders in it).
/// tar files in the folder, or one instead of it, are read where they lie: there the class is the folder that a file
/// lies in, or, without folders, the archive's name. Classes are sorted by their names, images by class and file: the
/// numbers do not depend on the file system, and an archive of a folder has those of the folder.
class image_folder : public image_set {
 public:
  /// errors  R62 it cannot be read, or has no image; R63 a tar file is damaged
  explicit image_folder(std::filesystem::path path) : path_(std::move(path)) {
    std::vector<file> found;
    std::error_code problem;
    if (path_.extension() == ".tar" && !std::filesystem::is_directory(path_, problem)) find_in_archive(path_, found);
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
  void read(std::int64_t number, image& to) const override {
    place const& p = place_of(number);
    std::string const called = name(number);
    if (p.archive >= 0) {
      decode_image(read_part(archives_[static_cast<std::size_t>(p.archive)], p.at, p.bytes), called, to);
    } else {
      io::file const f(called);
      decode_image(read_part(f, 0, f.size()), called, to);
    }
  }

 private:
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

  /// Whether a path is an image's. Files and folders that begin with a point are other programs' own.
  static bool is_image(std::string_view path) {
    std::string ending(path.substr(std::min(path.rfind('.'), path.size())));
    for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (ending != ".jpg" && ending != ".jpeg" && ending != ".png") return false;
    if (path.starts_with("./")) path.remove_prefix(2);
    return !path.starts_with('.') && path.find("/.") == path.npos;
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
    for (auto const& a : archives) find_in_archive(a, found);
  }
  void find_in_class(std::filesystem::path const& folder, std::vector<file>& found) {
    std::error_code problem, leads_nowhere;
    std::size_t const before = folder.string().size() + 1;
    for (std::filesystem::recursive_directory_iterator i(folder, problem), end; i != end && !problem;
         i.increment(problem))
      if (std::string path = i->path().string().substr(before); is_image(path) && i->is_regular_file(leads_nowhere))
        found.push_back({label_of(folder.filename().string()), std::move(path)});
    if (problem) throw error("R62", {"the folder '", folder.string(), "' cannot be read, ", problem.message()});
  }
  void find_in_archive(std::filesystem::path const& path, std::vector<file>& found) {
    archives_.emplace_back(path.string());
    for (tar_member const& m : tar_members(archives_.back())) {
      if (!is_image(m.name)) continue;
      std::size_t const name = m.name.rfind('/') + 1;  // 0 where there is no folder
      std::string folder = m.name.substr(0, name == 0 ? 0 : name - 1);
      folder.erase(0, folder.rfind('/') + 1);
      if (folder.empty() || folder == ".") folder = path.stem().string();
      found.push_back(
          {label_of(folder), m.name.substr(name), static_cast<std::int32_t>(archives_.size()) - 1, m.at, m.bytes});
    }
  }

  /// Numbers classes as they come; `number_classes` sorts them.
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
  std::map<std::string, std::int32_t> known_;  // while they are found
  std::vector<place> places_;
  std::string names_;  // of all files, one after the other: a set has millions
  std::vector<std::size_t> name_begins_;
};

}  // namespace meshtensor
