// SPDX-License-Identifier: Apache-2.0
// Reads the parts of a folder of aligned texts as subwords.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <meshtensor/datasets/text/learn_subwords.hpp>
#include <meshtensor/datasets/text/pair_batches.hpp>
#include <meshtensor/datasets/text/pairs.hpp>

#include "command_line.hpp"

namespace translation {

namespace mt = meshtensor;

struct corpus {
  mt::datasets::text_pairs text;
  mt::datasets::token_pairs tokens;
};

/// The texts of a run. A training has the first two parts, and a run that is not interactive has the test part.
struct texts {
  mt::datasets::subwords vocabulary;
  corpus train, valid, test;
  std::vector<mt::datasets::bucket> buckets;

  explicit texts(options const& o) : vocabulary(vocabulary_of(o)) {
    if (o.trains()) {
      train = read(o, o.train), valid = read(o, o.valid);
      buckets = mt::datasets::choose_buckets(train.tokens,
                                             {.count = o.buckets,
                                              .tokens = o.batch_tokens,
                                              .longest = o.longest,
                                              .multiple = std::lcm(std::int64_t{8}, o.microbatches * o.mesh.at("data")),
                                              .length_multiple = o.length_multiple});
    }
    if (!o.interactive) test = read(o, o.test);
  }

 private:
  static mt::datasets::subwords vocabulary_of(options const& o) {
    if (!o.vocabulary.empty()) return mt::datasets::subwords(o.vocabulary);
    auto const learnt = mt::datasets::pair_folder(o.data, o.from, o.into).read(o.train);
    return mt::datasets::cached_subwords(o.keep, {learnt.source, learnt.target},
                                         {.kind = "bpe", .pieces = static_cast<int>(o.pieces)});
  }
  corpus read(options const& o, std::string const& part) const {
    corpus c;
    c.text = mt::datasets::pair_folder(o.data, o.from, o.into).read(part);
    c.tokens = vocabulary.encode(c.text);
    return c;
  }
};

}  // namespace translation
