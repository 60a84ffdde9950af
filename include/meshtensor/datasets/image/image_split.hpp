// SPDX-License-Identifier: Apache-2.0
// Splits a set of images into a set for training and a set for validation, by its folders or by a fraction.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "meshtensor/datasets/image/image_folder.hpp"
#include "meshtensor/datasets/image/image_set.hpp"

namespace meshtensor::datasets {

/// Some images of another set, with the classes of that set. The other set must outlive it.
class image_subset : public image_set {
 public:
  image_subset(image_set const& of, std::vector<std::int64_t> numbers) : of_(of), numbers_(std::move(numbers)) {}

  std::int64_t size() const override { return std::ssize(numbers_); }
  std::vector<std::string> const& classes() const override { return of_.classes(); }
  std::int32_t label(std::int64_t number) const override { return of_.label(at(number)); }
  std::string name(std::int64_t number) const override { return of_.name(at(number)); }
  std::string key(std::int64_t number) const override { return of_.key(at(number)); }
  int channels() const override { return of_.channels(); }
  void read(std::int64_t number, image& to) const override { of_.read(at(number), to); }

 private:
  std::int64_t at(std::int64_t number) const { return numbers_[static_cast<std::size_t>(number)]; }

  image_set const& of_;
  std::vector<std::int64_t> numbers_;
};

namespace detail {

/// A number from 0 to below 1 that depends only on the text and the seed, so that it is the same on every machine.
inline double drawn_for(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325ull ^ (seed * 0x9e3779b97f4a7c15ull);
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ull;  // FNV alone hardly mixes the last letters
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
  return static_cast<double>((hash ^ (hash >> 31)) >> 11) * 0x1p-53;
}

/// A folder that takes its labels from another set. It must not have a class that the other set lacks.
class relabelled_folder : public image_set {
 public:
  relabelled_folder(std::unique_ptr<image_folder> of, image_set const& like, std::string const& path)
      : of_(std::move(of)), like_(like) {
    for (std::string const& name : of_->classes()) {
      auto const found = std::ranges::find(like.classes(), name);
      if (found == like.classes().end())
        throw error("R67", {"'", path, "' has the class '", name, "', which the images to learn from lack: give both ",
                            "folders the same classes"});
      labels_.push_back(static_cast<std::int32_t>(found - like.classes().begin()));
    }
  }

  std::int64_t size() const override { return of_->size(); }
  std::vector<std::string> const& classes() const override { return like_.classes(); }
  std::int32_t label(std::int64_t number) const override {
    return labels_[static_cast<std::size_t>(of_->label(number))];
  }
  std::string name(std::int64_t number) const override { return of_->name(number); }
  std::string key(std::int64_t number) const override { return of_->key(number); }
  int channels() const override { return of_->channels(); }
  void read(std::int64_t number, image& to) const override { of_->read(number, to); }

 private:
  std::unique_ptr<image_folder> of_;
  image_set const& like_;
  std::vector<std::int32_t> labels_;
};

}  // namespace detail

struct image_split_options {
  /// The share of the images that are held out for validation, above 0 and below 1. It is needed if no folder has them.
  std::optional<double> validation = {};
  /// Another seed holds out other images.
  std::uint64_t seed = 0;
};

/// Splits the images of a folder, or of any set, into two sets: one for training and one for validation. For example:
///
///     mt::datasets::image_split const pets("pets", {.validation = 0.1});
///     mt::datasets::image_batches const learnt(pets.train(), …), judged(pets.validation(), …);
///
/// If the folder has `train` (or `training`) and `val` (or `valid`, `validation`) in it, these are the two sets.
/// Otherwise a hash of its class and file name decides for each image. Therefore the sets do not depend on the number
/// of ranks, and a new image moves no other image. For the same reason, a set has about the fraction of the images, not
/// exactly.
class image_split {
 public:
  /// errors  R67 the fraction is not between 0 and 1, there is neither a fraction nor a folder for validation, or both;
  /// a set has no image, or validation has a class that training lacks. Also the errors of image_folder
  explicit image_split(std::filesystem::path const& folder, image_split_options const& o = {}) {
    std::string const learnt = part_in(folder, {"train", "training", ""});
    std::string const held_out = part_in(folder, {"val", "valid", "validation"});
    if (!held_out.empty() && learnt.empty())
      throw error("R67", {"'", folder.string(), "' has a folder '", held_out, "' but no folder 'train': add one"});
    if (!held_out.empty() && o.validation)
      throw error("R67", {"'", folder.string(), "' has a folder '", held_out,
                          "' for validation, and a fraction is asked for, too: leave out one of them"});
    if (held_out.empty()) require_fraction(o, "'" + folder.string() + "'", true);
    all_ = std::make_unique<image_folder>(learnt.empty() ? folder : folder / learnt);
    if (held_out.empty()) draw(*all_, o, "'" + folder.string() + "'");
    else
      validation_ = std::make_unique<detail::relabelled_folder>(std::make_unique<image_folder>(folder / held_out),
                                                                *all_, (folder / held_out).string());
  }
  /// Splits a set by the fraction. The set must outlive it.
  image_split(image_set const& all, image_split_options const& o) {
    require_fraction(o, "the set", false);
    draw(all, o, "the set");
  }

  image_set const& train() const { return train_ ? *train_ : *all_; }
  image_set const& validation() const { return *validation_; }

 private:
  static std::string part_in(std::filesystem::path const& folder, std::array<char const*, 3> const& names) {
    std::error_code none;
    for (char const* const name : names)
      if (*name != 0 && std::filesystem::is_directory(folder / name, none)) return name;
    return {};
  }
  static void require_fraction(image_split_options const& o, std::string const& what, bool is_folder) {
    if (!o.validation)
      throw error("R67",
                  {what, " has no images for validation: ", is_folder ? "add a folder 'val' beside 'train', or " : "",
                   "ask for a fraction, image_split_options{.validation = 0.1}"});
    if (!(*o.validation > 0 && *o.validation < 1))
      throw error("R67", {"a fraction of ", std::to_string(*o.validation), " of the images cannot be held out for ",
                          "validation: it is above 0 and below 1"});
  }
  void draw(image_set const& all, image_split_options const& o, std::string const& what) {
    std::vector<std::int64_t> learnt, held_out;
    for (std::int64_t i = 0; i < all.size(); ++i)
      (detail::drawn_for(all.key(i), o.seed) < *o.validation ? held_out : learnt).push_back(i);
    if (learnt.empty() || held_out.empty())
      throw error("R67", {"none of the ", all.size(), " images of ", what, " is ",
                          learnt.empty() ? "left to learn from" : "held out for validation", " by the fraction ",
                          std::to_string(*o.validation), ": take a ", learnt.empty() ? "smaller" : "larger",
                          " one, or more images"});
    train_ = std::make_unique<image_subset>(all, std::move(learnt));
    validation_ = std::make_unique<image_subset>(all, std::move(held_out));
  }

  std::unique_ptr<image_folder> all_;
  std::unique_ptr<image_set> train_, validation_;
};

}  // namespace meshtensor::datasets
