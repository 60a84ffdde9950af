// SPDX-License-Identifier: Apache-2.0
// Takes the tensors of a safetensors file as values of a store, under other names if they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/loading.hpp"
#include "meshtensor/io/import.hpp"

namespace meshtensor {

namespace io {

/// A tensor as a saved value of one block. Its dims have the given names. If none are given, they have the names that
/// an export noted in the file, and otherwise no names.
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
                        "is said to have, or more than 10"});
  saved_value v;
  v.stored = t.stored, v.dtype = t.dtype, v.files = {0};
  for (std::size_t i = 0; i < t.extents.size(); ++i)
    v.dims.push_back({{dims.empty() ? name() : name::of(dims[i]), t.extents[i]}, "", {t.extents[i]}});
  return {std::move(v), tensor};
}

/// Joins the tensors of a split value to one value. Its first dim is the dim along which it was split, with a block for
/// each tensor.
inline named_value as_stack(tensor_name const& n, std::vector<std::string> const& tensors,
                            safetensors_header const& header, std::string const& path) {
  named_value all = as_value(tensors[0], header.tensors.at(tensors[0]), n.dims, header, path);
  auto const count = static_cast<std::int64_t>(tensors.size());
  all.value.dims.insert(all.value.dims.begin(),
                        {{name::of(n.along), count}, "", std::vector<std::int64_t>(tensors.size(), 1)});
  all.value.files.assign(tensors.size(), 0);
  all.slices = tensors;
  if (all.value.dims.size() > max_dims_of_one || all.value.dims[1 % all.value.dims.size()].dim.label.empty())
    throw error("C08",
                {"'", path, "' has '", tensors[0], "' without names of its dims, or with 10 already: name those ",
                 "that it has beside '", n.along, "'"});
  return all;
}

inline std::shared_ptr<saved_values> open_safetensors(std::string const& path, import_options const& how,
                                                      file_opener const& open) {
  safetensors_header const header = read_safetensors(open(path));
  auto values = std::make_shared<saved_values>(
      "'" + path + "'", std::vector<file_location>{{path, {}}},
      load_options{.nan = how.nan, .begin_missing = how.begin_missing, .only = how.only}, open);
  std::set<std::string> renamed;
  for (tensor_name const& n : how.names) {
    std::vector<std::string> tensors{tensor_at(n, 0)};
    auto const found = header.tensors.find(tensors[0]);
    if (found == header.tensors.end()) {
      if (how.begin_missing || (how.only && !how.only(n.value))) continue;
      std::vector<std::string> known;
      for (auto const& [tensor, t] : header.tensors) known.push_back(tensor);
      throw error("C07", {"'", path, "' has no tensor '", tensors[0], "'", did_you_mean(tensors[0], known)});
    }
    auto const next = [&] { return tensor_at(n, static_cast<std::int64_t>(tensors.size())); };
    while (next() != tensors[0] && header.tensors.contains(next())) tensors.push_back(next());
    values->values[n.value] = n.along.empty() ? as_value(tensors[0], found->second, n.dims, header, path)
                                              : as_stack(n, tensors, header, path);
    renamed.insert(tensors.begin(), tensors.end());
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

template <class>
loaded import_safetensors(store& weights, std::filesystem::path const& file, import_options const& how) {
  return io::import_by(io::open_file, weights, file.string(), how);
}

}  // namespace meshtensor
