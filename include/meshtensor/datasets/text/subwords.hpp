// SPDX-License-Identifier: Apache-2.0
// Encodes text as numbers of subwords, and decodes it, with sentencepiece. It needs the component sentencepiece.
#pragma once

#include <sentencepiece_processor.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "meshtensor/base/cores.hpp"
#include "meshtensor/datasets/text/pairs.hpp"
#include "meshtensor/datasets/text/subword_tables.hpp"
#include "meshtensor/datasets/text/tokens.hpp"

namespace meshtensor::datasets {

namespace detail {

/// The sentence of a sentencepiece error, or an empty string if there is no error. The position in sentencepiece's
/// sources is left out unless the message has nothing else.
inline std::string reason(sentencepiece::util::Status const& status) {
  if (status.ok()) return {};
  std::string_view all = status.message();
  if (std::size_t const end = all.rfind("] "); end != all.npos && end + 2 < all.size()) all.remove_prefix(end + 2);
  while (all.ends_with(' ') || all.ends_with('.')) all.remove_suffix(1);
  return std::string(all);
}

}  // namespace detail

/// A vocabulary of subwords. Several threads may use it at once.
class subwords {
 public:
  /// Reads a model written by sentencepiece.
  ///
  /// errors  R40 it cannot be read; R53 it is no model, or lacks a special token
  explicit subwords(std::filesystem::path const& file) {
    auto const bytes = read_bytes(file);
    load({reinterpret_cast<char const*>(bytes.data()), bytes.size()}, file.string());
  }
  /// Takes a model in memory. `name` is its name in error sentences.
  subwords(std::string_view model, std::string const& name) { load(model, name); }

  std::int32_t size() const { return model_->GetPieceSize(); }
  special_tokens const& special() const { return special_; }

  std::vector<std::int32_t> encode(std::string_view sentence) const {
    std::vector<int> pieces;
    auto const problem = detail::reason(model_->Encode(sentence, &pieces));
    if (!problem.empty()) throw error("R53", {"a sentence cannot be cut into subwords: ", problem});
    return pieces;
  }
  /// Encodes all pairs on all cores that this process may use. The pairs keep their order.
  ///
  /// errors  R50 there is not one translation for each sentence
  token_pairs encode(text_pairs const& pairs) const {
    if (pairs.source.size() != pairs.target.size())
      throw error("R50", {"there are ", pairs.source.size(), " sentences, but ", pairs.target.size(), " translations"});
    std::size_t const all = pairs.source.size();
    std::size_t const parts = std::clamp<std::size_t>(all / 1000, 1, std::max<std::size_t>(1, usable_cores().count()));
    auto const encoded = [&](std::size_t part) {
      token_pairs r;
      for (std::size_t i = all * part / parts; i < all * (part + 1) / parts; ++i)
        r.add(encode(pairs.source[i]), encode(pairs.target[i]));
      return r;
    };
    std::vector<std::future<token_pairs>> others;
    try {
      for (std::size_t part = 1; part < parts; ++part) others.push_back(std::async(std::launch::async, encoded, part));
    } catch (std::system_error const&) {}  // no more threads start, so this one does the rest
    token_pairs r = encoded(0);
    for (std::size_t part = 1; part < parts; ++part) {
      token_pairs const more = part <= others.size() ? others[part - 1].get() : encoded(part);
      for (std::int64_t i = 0; i < more.size(); ++i) r.add(more.source(i), more.target(i));
    }
    return r;
  }
  /// Decodes tokens. Special tokens have no text. errors R53 there is no such token
  std::string decode(std::span<std::int32_t const> tokens) const {
    for (std::int32_t t : tokens)
      if (t < 0 || t >= size())
        throw error("R53", {"there is no subword ", t, ": the vocabulary has ", size(), ", counted from 0"});
    std::string text;
    auto const problem = detail::reason(model_->Decode(std::vector<int>(tokens.begin(), tokens.end()), &text));
    if (!problem.empty()) throw error("R53", {"the tokens cannot be decoded: ", problem});
    return text;
  }

 private:
  void load(std::string_view model, std::string const& name) {
    std::string problem = "its tables are damaged";
    if (detail::sound_model(model)) {
      try {
        problem = detail::reason(model_->LoadFromSerializedProto(model));
      } catch (std::exception const& e) { problem = e.what(); }  // sentencepiece throws for some errors
    }
    if (!problem.empty())
      throw error("R53", {"'", name, "' is no model of sentencepiece (", problem,
                          "): name another, or delete the file so that it is made again"});
    special_ = {model_->pad_id(), model_->unk_id(), model_->bos_id(), model_->eos_id()};
    for (auto const& [token, what] :
         {std::pair(special_.pad, "pad"), {special_.unknown, "unk"}, {special_.begin, "bos"}, {special_.end, "eos"}})
      if (token < 0)
        throw error("R53", {"the model '", name, "' has no special token '", what, "': train it with --", what,
                            "_id set to a number of its own"});
  }

  std::unique_ptr<sentencepiece::SentencePieceProcessor> model_ =
      std::make_unique<sentencepiece::SentencePieceProcessor>();
  special_tokens special_;
};

}  // namespace meshtensor::datasets
