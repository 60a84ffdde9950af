// SPDX-License-Identifier: Apache-2.0
// Opens the images of a run, which come from a folder in one of several forms or are synthetic.
#pragma once

#include <memory>

#include <meshtensor/datasets/image/image_batches.hpp>

#include "command_line.hpp"

namespace resnet {

namespace mt = meshtensor;

struct images {
  std::unique_ptr<mt::datasets::image_set> train, valid;
  mt::datasets::image_options learnt, judged;  // how images are cropped and batched to learn, and to be evaluated

  /// errors  those of the sets; R94 the parts have other classes
  explicit images(options const& o);
};

}  // namespace resnet
