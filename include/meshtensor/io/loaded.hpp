// SPDX-License-Identifier: Apache-2.0
// A checkpoint or file that was loaded, and the options of loading.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/notes.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor {

/// Options of loading.
struct load_options {
  /// Whether elements may be NaN.
  bool nan = false;
  /// If true, values that the files lack keep their contents, come from an earlier load, or get their initializers, and
  /// so do the counts of their updates. Otherwise such values are an error.
  bool begin_missing = false;
  /// Selects the store's values to load, by name. If it is empty, all are loaded. The others keep their contents, or
  /// get their initializers.
  std::function<bool(std::string const&)> only = {};
};

namespace io {
/// Values from which a store is filled. It also knows which of them the store has not asked for. The implementation is
/// in saved_values.hpp.
class loaded_values : public value_source {
 public:
  /// The names of values that no executable has asked for.
  virtual std::vector<std::string> left() const = 0;
  /// A sentence such as `'model.safetensors' has 'x' and 2 more that no executable has`.
  virtual std::string about_left() const = 0;
};
}  // namespace io

/// A loaded checkpoint or file.
class loaded {
 public:
  loaded(std::string path, std::uint64_t step, notes more, std::shared_ptr<io::loaded_values> values)
      : path_(std::move(path)), step_(step), more_(std::move(more)), values_(std::move(values)) {}

  /// The checkpoint's own folder, or the path of the file.
  std::string const& path() const { return path_; }
  std::uint64_t step() const { return step_; }
  notes const& more() const { return more_; }
  template <class T>
  T get(std::string const& label) const {
    return more_.get<T>(label);
  }
  /// The names of values that no executable has asked for yet. An eager scope only copies values, so they are left.
  std::vector<std::string> left() const { return values_->left(); }
  /// Throws if a value was not used. It must be called when all executables are made. errors C10 the files have values
  /// that no executable asked for
  void require_all() const {
    if (!left().empty()) throw error("C10", values_->about_left());
  }

 private:
  std::string path_;
  std::uint64_t step_;
  notes more_;
  std::shared_ptr<io::loaded_values> values_;
};

}  // namespace meshtensor
