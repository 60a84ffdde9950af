// SPDX-License-Identifier: Apache-2.0
// A safetensors file of PyTorch's, or of anybody's, as values of a store.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/io/load.hpp"
#include "meshtensor/io/tensor_names.hpp"

namespace meshtensor {

struct import_options {
  /// Other names, and other orders of dims.
  tensor_names names = {};
  /// Values of the store that the file lacks stay, or begin as the program says; else they are an error.
  bool begin_missing = false;
  /// Of the values of the store, by name, those that are in the file: all if it is empty. Say which, if the file has no
  /// state of an optimizer.
  std::function<bool(std::string const&)> only = {};
  bool nan = false;  ///< elements may be NaN
};

namespace io {

/// A tensor as a value of one block. Its dims have the names that are given, else those that an export has left in the
/// file, else none.
inline named_value as_value(std::string const& tensor, file_tensor const& t, std::vector<std::string> dims,
                            safetensors_header const& header, std::string const& path) {
  auto const noted = header.metadata.find(dims_key(tensor));
  if (dims.empty() && noted != header.metadata.end() && !t.extents.empty())
    for (std::string_view rest = noted->second;;) {
      auto const comma = rest.find(',');
      dims.emplace_back(rest.substr(0, comma));
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  bool fits = dims.empty() || dims.size() == t.extents.size();
  for (std::string const& d : dims) fits = fits && !d.empty() && d.size() <= name::capacity;
  if (!fits || t.extents.size() > max_dims_of_one)
    throw error("C08", {"'", path, "' has '", tensor, "' with ", t.extents.size(),
                        " dims, which are not those that it "
                        "is said to have, or more than 8"});
  saved_value v;
  v.stored = t.stored, v.files = {0};
  for (std::size_t i = 0; i < t.extents.size(); ++i)
    v.dims.push_back({{dims.empty() ? name() : name::of(dims[i]), t.extents[i]}, "", {t.extents[i]}});
  return {std::move(v), tensor};
}

inline std::shared_ptr<saved_values> open_safetensors(std::string const& path, import_options const& how,
                                                      file_opener const& open) {
  safetensors_header const header = read_safetensors(open(path));
  auto values = std::make_shared<saved_values>(
      "'" + path + "'", std::vector<file_location>{{path, {}}},
      load_options{.nan = how.nan, .begin_missing = how.begin_missing, .only = how.only}, open);
  std::set<std::string> renamed;
  for (tensor_name const& n : how.names) {
    auto const found = header.tensors.find(n.tensor);
    if (found == header.tensors.end()) {
      std::vector<std::string> known;
      for (auto const& [tensor, t] : header.tensors) known.push_back(tensor);
      throw error("C07", {"'", path, "' has no tensor '", n.tensor, "'", did_you_mean(n.tensor, known)});
    }
    values->values[n.value] = as_value(n.tensor, found->second, n.dims, header, path);
    renamed.insert(n.tensor);
  }
  for (auto const& [tensor, t] : header.tensors)
    if (!renamed.contains(tensor) && !find(how.names, tensor) && t.extents.size() <= max_dims_of_one)
      values->values.emplace(tensor, as_value(tensor, t, {}, header, path));
  return values;
}

inline loaded import_by(file_opener const& open, store& weights, std::string const& path, import_options const& how) {
  all_or_throw all(weights.runner());
  std::shared_ptr<saved_values> values;
  all([&] {
    values = open_safetensors(path, how, open);
    process_of const me(weights.runner());
    values->check(me.rank, me.count);
  });
  take_all(weights, values, all);
  return {path, weights.step(), {}, values};
}

}  // namespace io

/// Takes values from a safetensors file onto whatever mesh and layout the store has; each processor reads what it
/// holds. Nothing is converted: dtypes must be the same. Dims are matched by name where the file was exported by this
/// library or names are given, else by their place. Step and seed stay. Values that the store does not have yet wait
/// there until an executable names them. All processes call it. Where it fails, the store is as it was.
///
///     mt::import_safetensors(weights, "model.safetensors",
///                            {.names = {{"decoder/out/weight", "lm_head.weight", {"vocab", "d_model"}}}});
///
/// errors  C02 it cannot be read; C03 it is no such file; C07 a value or a tensor is not there; C08 it has another
/// dtype
///         or other dims; C09 NaN
inline loaded import_safetensors(store& weights, std::filesystem::path const& file, import_options const& how = {}) {
  return io::import_by(io::open_file, weights, file.string(), how);
}

}  // namespace meshtensor
