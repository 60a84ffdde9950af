// SPDX-License-Identifier: Apache-2.0
// Finds out the form of a folder of images, and makes synthetic images if no folder is given.
#include "images.hpp"

#include <filesystem>

#include <meshtensor/datasets/image/cifar.hpp>
#include <meshtensor/datasets/image/idx.hpp>
#include <meshtensor/datasets/image/image_folder.hpp>
#include <meshtensor/datasets/image/synthetic_images.hpp>

namespace resnet {

namespace fs = std::filesystem;

namespace {

bool is_there(fs::path const& path) {
  std::error_code none;
  return fs::exists(path, none);
}
/// The path of a file of an IDX set, or of its gzip version if only that exists.
fs::path packed_or_not(fs::path const& path) {
  fs::path const packed = path.string() + ".gz";
  return !is_there(path) && is_there(packed) ? packed : path;
}

/// Opens a part of a folder, which has the files of MNIST or of CIFAR, a tar file, or a folder for each class.
std::unique_ptr<mt::datasets::image_set> part_of_folder(fs::path const& folder, std::string const& part, bool learns) {
  char const* const name = learns ? "train" : "t10k";
  fs::path const idx = packed_or_not(folder / (std::string(name) + "-images-idx3-ubyte"));
  if (is_there(idx))
    return std::make_unique<mt::datasets::idx_images>(
        idx, packed_or_not(folder / (std::string(name) + "-labels-idx1-ubyte")));
  if (is_there(folder / "data_batch_1.bin") || is_there(folder / "train.bin"))
    return std::make_unique<mt::datasets::cifar_images>(folder, learns ? "train" : "test");
  fs::path const archive = folder / (part + ".tar");
  return std::make_unique<mt::datasets::image_folder>(is_there(archive) ? archive : folder / part);
}

/// A range of synthetic images. Another range has the same patches but other noise, so that it can serve as held-out
/// data.
class behind : public mt::datasets::image_set {
 public:
  behind(mt::datasets::synthetic_images::options o, std::int64_t first, std::int64_t count)
      : all_(o), first_(first), count_(count) {}
  std::int64_t size() const override { return count_; }
  std::vector<std::string> const& classes() const override { return all_.classes(); }
  std::int32_t label(std::int64_t number) const override { return all_.label(first_ + number); }
  std::string name(std::int64_t number) const override { return all_.name(first_ + number); }
  void read(std::int64_t number, mt::datasets::image& to) const override { all_.read(first_ + number, to); }

 private:
  mt::datasets::synthetic_images all_;
  std::int64_t first_, count_;
};

}  // namespace

images::images(options const& o) {
  if (o.data == "synthetic") {
    std::int64_t const held_out = (o.count + 7) / 8;
    mt::datasets::synthetic_images::options const all{o.count + held_out, o.classes, o.size, o.size, o.seed};
    train = std::make_unique<behind>(all, 0, o.count);
    valid = std::make_unique<behind>(all, o.count, held_out);
  } else {
    if (!o.evaluate) train = part_of_folder(o.data, o.train, true);
    valid = part_of_folder(o.data, o.valid, false);
    if (train && train->classes() != valid->classes())
      throw mt::error("R94", {"'", o.data, "' has ", train->classes().size(), " classes in '", o.train, "' and ",
                              valid->classes().size(), " in '", o.valid, "', or others: give both parts the same"});
  }
  judged.rows = o.batch, judged.height = judged.width = o.size, judged.channels = 3,
  judged.skip_damaged = o.skip_damaged;
  if (o.data == "synthetic") judged.shorter = o.size;
  learnt = judged;
  learnt.seed = o.seed;
  if (o.data == "synthetic") learnt.crop = mt::datasets::image_crop::moved, learnt.flip = false;
}

}  // namespace resnet
