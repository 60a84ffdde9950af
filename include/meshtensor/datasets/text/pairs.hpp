// SPDX-License-Identifier: Apache-2.0
// Reads aligned texts. Each part of a folder has two files: sentences, and their translations line by line.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "meshtensor/datasets/text/lines.hpp"

namespace meshtensor::datasets {

/// Sentences and their translations: `target[i]` translates `source[i]`.
struct text_pairs {
  std::vector<std::string> source, target;
  std::int64_t size() const { return static_cast<std::int64_t>(source.size()); }
};

/// A folder of aligned texts, with one sentence on each line. For example, the part `train` consists of the files
/// `train.en` and `train.de`, or `train.en.gz` and `train.de.gz`. If a file exists plain and packed, the plain file is
/// read.
class pair_folder {
 public:
  /// errors  R50 there is no such folder, or it has no part in these languages
  pair_folder(std::filesystem::path folder, std::string source, std::string target)
      : folder_(std::move(folder)), source_("." + std::move(source)), target_("." + std::move(target)) {
    std::error_code problem, leads_nowhere;
    for (std::filesystem::directory_iterator i(folder_, problem), end; i != end && !problem; i.increment(problem))
      if (i->is_regular_file(leads_nowhere)) files_.push_back(i->path().filename().string());
    if (problem)
      throw error("R50", {"the folder '", folder_.string(), "' cannot be read, ", problem.message(),
                          ": name one with files like train", source_, " and train", target_});
    std::sort(files_.begin(), files_.end());
    for (std::string const& file : files_) {
      std::string_view name = file;
      if (name.ends_with(".gz")) name.remove_suffix(3);
      if (!name.ends_with(source_) || name.size() == source_.size()) continue;
      name.remove_suffix(source_.size());
      if (!has(name) && !file_of(name, target_).empty()) parts_.emplace_back(name);
    }
    if (parts_.empty())
      throw error("R50", {"the folder '", folder_.string(), "' has no two files like train", source_, " and train",
                          target_, ", plain or with .gz at the end; it has ", listed(files_)});
  }

  /// The names of all parts that exist in both languages.
  std::vector<std::string> const& parts() const { return parts_; }
  bool has(std::string_view part) const { return std::find(parts_.begin(), parts_.end(), part) != parts_.end(); }

  /// The pairs of one part. An empty line counts as a sentence, so that lines keep their numbers.
  ///
  /// errors  R50 there is no such part, or its texts have different numbers of lines; R40, R51, R52 a file cannot be
  /// read
  text_pairs read(std::string_view part) const {
    std::string const source = file_of(part, source_), target = file_of(part, target_);
    if (source.empty() || target.empty()) {
      std::string missing;
      for (std::string const& language : {source.empty() ? source_ : "", target.empty() ? target_ : ""})
        if (!language.empty())
          missing +=
              (missing.empty() ? "" : ", and no ") + named(part, language) + " or " + named(part, language) + ".gz";
      throw error("R50", {"the folder '", folder_.string(), "' has no ", missing, "; its parts are ", listed(parts_)});
    }
    text_pairs pairs{read_lines(folder_ / source), read_lines(folder_ / target)};
    if (pairs.source.size() != pairs.target.size())
      throw error("R50", {"'", source, "' has ", pairs.source.size(), " lines, but '", target, "' has ",
                          pairs.target.size(), ": each line must be the translation of the other's"});
    return pairs;
  }

 private:
  static std::string named(std::string_view part, std::string const& language) { return std::string(part) + language; }
  /// The file name of a part in one language, or an empty string if there is no such file.
  std::string file_of(std::string_view part, std::string const& language) const {
    for (std::string const& name : {named(part, language), named(part, language) + ".gz"})
      if (std::binary_search(files_.begin(), files_.end(), name)) return name;
    return {};
  }
  /// The names with commas between them: `a, b, c`. Of many names, it lists only the first ones.
  static std::string listed(std::vector<std::string> const& names) {
    std::size_t const shown = std::min<std::size_t>(names.size(), 8);
    std::string all = names.empty() ? "none" : "";
    for (std::size_t i = 0; i < shown; ++i) all += (i == 0 ? "" : ", ") + names[i];
    return all + (shown < names.size() ? " and " + std::to_string(names.size() - shown) + " more" : "");
  }

  std::filesystem::path folder_;
  std::string source_, target_;  // file endings, with the dot
  std::vector<std::string> files_, parts_;
};

}  // namespace meshtensor::datasets
