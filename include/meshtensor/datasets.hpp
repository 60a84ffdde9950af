// SPDX-License-Identifier: Apache-2.0
// Includes the readers of data: texts, subwords, images and their batches. The core of the library does not need them.
#pragma once

#include "meshtensor/datasets/image/cifar.hpp"
#include "meshtensor/datasets/image/decode_image.hpp"
#include "meshtensor/datasets/image/idx.hpp"
#include "meshtensor/datasets/image/image_batches.hpp"
#include "meshtensor/datasets/image/image_folder.hpp"
#include "meshtensor/datasets/image/image_range.hpp"
#include "meshtensor/datasets/image/image_split.hpp"
#include "meshtensor/datasets/image/image_stream.hpp"
#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "meshtensor/datasets/prefetched.hpp"
#include "meshtensor/datasets/text/bigram.hpp"
#include "meshtensor/datasets/text/bleu.hpp"
#include "meshtensor/datasets/text/buckets.hpp"
#include "meshtensor/datasets/text/lines.hpp"
#include "meshtensor/datasets/text/pair_batches.hpp"
#include "meshtensor/datasets/text/pairs.hpp"
#include "meshtensor/datasets/text/sample.hpp"
#include "meshtensor/datasets/text/text.hpp"
#include "meshtensor/datasets/text/tokens.hpp"

#if MESHTENSOR_WITH_SENTENCEPIECE
#  include "meshtensor/datasets/text/learn_subwords.hpp"
#  include "meshtensor/datasets/text/subwords.hpp"
#endif
