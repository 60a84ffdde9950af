// SPDX-License-Identifier: Apache-2.0
// Writes the values of a store as the tensors of a safetensors file, under other names if they are given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/io/checkpoint/block_check.hpp"
#include "meshtensor/io/export.hpp"
#include "meshtensor/io/safetensors_format.hpp"
#include "meshtensor/job/agree.hpp"

namespace meshtensor {

namespace io {

/// A value, or a slice of one, with its dims in the file's order.
struct exported {
  std::string label;
  new_tensor tensor;
  std::vector<dim_extent> dims;
  int along = -1;  // the dim of the value that the slice lacks, and its index there
  std::int64_t index = 0;
};

/// The tensors of a value: one tensor, or one for each index of the dim along which the value is split.
inline std::vector<exported> exported_as(std::string const& label, stored const& s, tensor_names const& names) {
  exported e{label, {label, storage_of(s.type), {}}, s.dims};
  std::int64_t count = 1;
  tensor_name const* const n = find(names, label);
  if (n != nullptr) {
    auto const refuse = [&](char const* why) { throw error("C08", {"'", label, "' is ", s.text(), ": ", why}); };
    if (!n->along.empty()) {
      e.along = meshtensor::detail::position_of(s.dims, name::of(n->along));
      if (e.along < 0) refuse("it lacks the dim along which it is to be split");
      if (n->tensor.find("{}") == n->tensor.npos) refuse("the name of its parts has no {} for their numbers");
      count = e.dims[static_cast<std::size_t>(e.along)].extent;
      e.dims.erase(e.dims.begin() + e.along);
    }
    std::size_t const own = e.dims.size();
    if (!n->dims.empty()) e.dims.clear();
    for (std::string const& d : n->dims)
      if (int const i = meshtensor::detail::position_of(s.dims, name::of(d)); i >= 0 && i != e.along)
        e.dims.push_back(s.dims[static_cast<std::size_t>(i)]);
    if (e.dims.size() != own || std::set(n->dims.begin(), n->dims.end()).size() != n->dims.size())
      refuse("the dims that it is to have in the file are not these");
  }
  for (dim_extent const& d : e.dims) e.tensor.extents.push_back(d.extent);
  std::vector<exported> all(static_cast<std::size_t>(count), e);
  for (std::int64_t i = 0; n != nullptr && i < count; ++i) {
    exported& one = all[static_cast<std::size_t>(i)];
    one.tensor.label = tensor_at(*n, i), one.index = i;
    if (e.along >= 0) one.tensor.beside = tensor_at(*n, 0), one.tensor.slice = i;
  }
  return all;
}

/// The names of dims as in `d_model,d_ff`. The text is empty if a name has a comma or is empty, because a reader would
/// take it for other dims.
inline std::string dims_text(std::vector<dim_extent> const& dims) {
  std::string text;
  for (dim_extent const& d : dims) {
    std::string const label = d.label.text();
    if (label.empty() || label.find(',') != label.npos) return "";
    text += (text.empty() ? "" : ",") + label;
  }
  return text;
}

}  // namespace io

template <class>
void export_safetensors(store& weights, std::filesystem::path const& file, export_options const& how) {
  job_runner& j = weights.runner();
  all_or_throw all(j);
  std::string const path = file.string();
  std::map<std::string, io::exported> written;  // by tensor name
  std::vector<io::new_tensor> tensors;
  auto metadata = how.metadata;
  for (auto const& [label, s] : weights.values()) {
    if (how.only && !how.only(label)) continue;
    for (io::exported& e : io::exported_as(label, s, how.names)) {
      if (std::string const dims = io::dims_text(e.dims); !dims.empty())
        metadata.emplace(io::dims_key(e.tensor.label), dims);
      tensors.push_back(e.tensor);
      if (!written.emplace(e.tensor.label, std::move(e)).second)
        throw error("C14", {"'", path, "' cannot be written: two values would be called '", tensors.back().label, "'"});
    }
  }
  for (tensor_name const& n : how.names)
    if (!weights.values().contains(n.value))
      throw error("C07", {"the store has no value '", n.value, "' to export", did_you_mean(n.value, weights.names())});

  std::optional<io::new_file> to;
  all([&] {
    std::string const head = io::format_safetensors(tensors, metadata, path);
    if (!j.is_root()) return;
    to.emplace(path);
    to->write(head);
  });
  std::vector<std::byte> whole, transposed;
  for (io::new_tensor const& t : tensors) {
    io::exported const& e = written.at(t.label);
    stored const& s = weights.values().at(e.label);
    bool const is_new = e.index == 0;  // the slices of a value come one after the other
    if (is_new) {
      whole.resize(
          static_cast<std::size_t>(t.bytes() * (e.along < 0 ? 1 : s.dims[static_cast<std::size_t>(e.along)].extent)));
      weights.copy_out(e.label, whole.data());
    }
    all([&] {
      if (!j.is_root()) return;
      if (std::int64_t const at = how.nan || !is_new ? -1 : io::first_nan(s.type, whole); at >= 0)
        throw error("C09", {"'", path, "' is not written: '", e.label, "' has NaN, first as element ", at});
      transposed.resize(static_cast<std::size_t>(t.bytes()));
      view from = detail::dense_view(whole.data(), s.type, s.dims),
           in = detail::dense_view(transposed.data(), s.type, e.dims);
      for (int i = 0; i < in.count; ++i)
        in.dim[i] = static_cast<std::uint16_t>(detail::position_of(s.dims, e.dims[static_cast<std::size_t>(i)].label));
      std::int64_t const first = e.along < 0 ? 0 : e.index * from.stride[e.along];
      detail::copy_by_name(from, first, in, 0, no_id, no_id, in.extent);
      to->write(transposed);
    });
  }
  all([&] {
    if (j.is_root()) to->commit();
  });
}

}  // namespace meshtensor
