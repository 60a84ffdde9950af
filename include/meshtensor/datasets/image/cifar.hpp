// SPDX-License-Identifier: Apache-2.0
// Reads CIFAR-10 and CIFAR-100 in their binary form.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "meshtensor/datasets/image/image_set.hpp"
#include "meshtensor/datasets/packed.hpp"

namespace meshtensor::datasets {

/// Images of 32 x 32 pixels. A file consists of records. Each record has the label, then all red bytes, all green bytes
/// and all blue bytes. In CIFAR-100, a coarse label comes before the label.
class cifar_images : public image_set {
 public:
  /// `part` is "train" or "test". A folder with `train.bin` or `test.bin` is CIFAR-100's, with 100 classes. Otherwise
  /// the files are CIFAR-10's, such as `data_batch_1.bin`.
  ///
  /// errors  R64 a file has another form than CIFAR's; R68 a file is missing; R69 there is no such part; C02 a file
  /// cannot be read
  cifar_images(std::filesystem::path const& folder, std::string_view part) {
    bool const train = part == "train";
    if (!train && part != "test") throw error("R69", {"CIFAR has no part '", part, "': it has 'train' and 'test'"});
    std::error_code none;
    if (std::filesystem::exists(folder / (train ? "train.bin" : "test.bin"), none)) {
      use(100);
      add_file(folder / (train ? "train.bin" : "test.bin"));
      return;
    }
    use(10);
    if (!train) add_file(folder / "test_batch.bin");
    for (int i = 1; train && i <= 5; ++i) add_file(folder / ("data_batch_" + std::to_string(i) + ".bin"));
  }
  /// Takes records from memory, with 10 or 100 classes. `file` is the name in error sentences.
  cifar_images(std::span<std::uint8_t const> records, int classes, std::string const& file) {
    use(classes);
    add(records, file);
  }

  std::int64_t size() const override { return std::ssize(records_) / record_; }
  std::vector<std::string> const& classes() const override { return classes_; }
  std::int32_t label(std::int64_t number) const override {
    return records_[static_cast<std::size_t>(number * record_ + labels_ - 1)];
  }
  std::string name(std::int64_t number) const override { return "image " + std::to_string(number) + " of CIFAR"; }
  void read(std::int64_t number, image& to) const override {
    to.resize(side, side);
    std::uint8_t const* plane = records_.data() + number * record_ + labels_;
    for (std::size_t i = 0; i < to.pixels.size(); ++i) to.pixels[i] = plane[i % 3 * side * side + i / 3];
  }

 private:
  static constexpr std::int64_t side = 32;

  void use(int classes) {
    classes_ = numbered_classes(classes);
    labels_ = classes == 100 ? 2 : 1, record_ = labels_ + side * side * 3;
  }
  void add_file(std::filesystem::path const& file) {
    std::error_code none;
    if (!std::filesystem::exists(file, none))
      throw error("R68",
                  {"there is no '", file.string(), "': name the folder with the files of CIFAR's binary version"});
    add(read_unpacked(file), file.string());
  }
  void add(std::span<std::uint8_t const> records, std::string const& file) {
    auto const bytes = static_cast<std::int64_t>(records.size());
    if (bytes == 0 || bytes % record_ != 0)
      throw error("R64", {"'", file, "' has ", bytes, " bytes, which are not records of ", record_, ": copy it again, ",
                          "from CIFAR's binary version"});
    for (std::int64_t i = 0; i < bytes; i += record_)
      if (int const label = records[static_cast<std::size_t>(i + labels_ - 1)]; label >= std::ssize(classes_))
        throw error("R64", {"'", file, "' has the label ", label, " at byte ", i + labels_ - 1, ", of ",
                            classes_.size(), " classes: copy it again"});
    records_.insert(records_.end(), records.begin(), records.end());
  }

  std::vector<std::string> classes_;
  std::int64_t labels_ = 1, record_ = 0;  // the bytes of a record, and those of its labels
  std::vector<std::uint8_t> records_;
};

}  // namespace meshtensor::datasets
