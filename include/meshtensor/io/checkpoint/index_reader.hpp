// SPDX-License-Identifier: Apache-2.0
// Reads the index of a checkpoint, and refuses anything else.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/io/checkpoint/index.hpp"
#include "meshtensor/io/safetensors.hpp"

namespace meshtensor::io {

namespace detail {

inline saved_dim read_dim(json_reader& r) {
  saved_dim d{};
  std::int64_t sum = 0;
  auto const name_of = [&] {
    std::string const label = r.string();
    if (label.empty() || label.size() > name::capacity) r.refuse("a dim's name has 1 to 32 characters");
    return name::of(label);
  };
  auto const part = [&] {
    std::int64_t const n = r.extent();
    if (n < 1 || n > d.dim.extent - sum) r.refuse("the parts of a dim are not those of its extent");
    d.parts.push_back(n), sum += n;
  };
  r.members({{"name", [&] { d.dim.label = name_of(); }},
             {"extent", [&] { d.dim.extent = r.extent(); }},
             {"over", [&] { d.over = r.string(); }},
             {"parts", [&] { r.array(part); }}});
  if (sum != d.dim.extent || d.parts.empty()) r.refuse("the parts of a dim are not those of its extent");
  return d;
}

inline saved_value read_value(json_reader& r, std::size_t files, bool has_replicas) {
  saved_value v;
  std::optional<std::int64_t> bytes = 1;
  std::size_t blocks = 1;
  auto const dim = [&] {
    saved_dim const d = read_dim(r);
    for (saved_dim const& other : v.dims)
      if (other.dim.label == d.dim.label) r.refuse("two dims of a value have one name");
    bytes = product(bytes, d.dim.extent);
    blocks *= std::min(d.parts.size(), files + 1);  // each file has at most one of them
    if (v.dims.size() == max_dims_of_one || blocks > files)
      r.refuse(
          "a value has at most 10 dims, cut into as many "
          "blocks as there are files");
    v.dims.push_back(d);
  };
  auto const type = [&] {
    v.stored = storage_of(r.string());
    if (v.stored == nullptr || !v.stored->type) r.refuse("there is no such dtype");
  };
  std::vector<bool> used(files);
  auto const file = [&] {
    std::uint64_t const f = r.count();
    if (f >= files || used[f]) r.refuse("each block of a value is in a file of its own");
    used[f] = true, v.files.push_back(static_cast<int>(f));
  };
  bool may_lack = true;
  auto const replicas = [&] {
    std::string const label = r.string();
    for (std::size_t i = 0; i < v.dims.size(); ++i)
      if (v.dims[i].dim.label.text() == label) v.replica_dim = static_cast<int>(i);
    if (!has_replicas || v.replica_dim < 0) r.refuse("the value has no such dim of replicas");
    may_lack = false;
  };
  auto const rule = [&] {
    std::string const label = r.string();
    auto const* const found = std::ranges::find(merge_rule_names, label);
    auto const k = static_cast<std::size_t>(found - merge_rule_names);
    if (v.replica_dim < 0 || k == 0 || k == std::size(merge_rule_names)) r.refuse("there is no such rule for replicas");
    v.merge = static_cast<merge_rule>(k);
  };
  bool may_share = true;
  auto const shared = [&] {
    std::string const label = r.string();
    auto const k = static_cast<std::size_t>(std::ranges::find(names_of_shared, label) - names_of_shared);
    if (v.replica_dim < 0 || k == 0 || k == std::size(names_of_shared)) r.refuse("replicas share no such thing");
    v.shared = static_cast<shared_by_replicas>(k);
  };
  r.members({{"dtype", type},
             {"dims", [&] { r.array(dim); }},
             {"replicas", replicas, &may_lack},
             {"merge", rule, &may_lack},
             {"shared", shared, &may_share},
             {"files", [&] { r.array(file); }}});
  if (!product(bytes, v.stored->bytes)) r.refuse("a value of more than 2^63 bytes");
  if (v.files.size() != blocks) r.refuse("a value has one file for each of its blocks");
  return v;
}

}  // namespace detail

/// Parses an index. `path` is its name in error sentences. errors C04 it is no index, is damaged, or has a newer
/// version
inline checkpoint_index parse_index(std::string_view text, std::string const& path) {
  std::string const what = "'" + path + "' is not the index of a checkpoint";
  json_reader r(text, "C04", what);
  std::size_t const tail = 16 + detail::after_checksum.size();
  std::string_view const body = text.substr(0, text.size() - std::min(tail, text.size()));
  if (!body.ends_with(detail::before_checksum) || !text.ends_with(detail::after_checksum))
    throw error("C04", {what, ", or not the whole of it: it does not end with a checksum"});
  if (checksum_in(text.substr(body.size(), 16)) != checksum_of(body))
    throw error("C04", {"'", path, "' is damaged: its checksum is not that of what it says"});

  checkpoint_index index;
  bool is_old = false, is_plain = true;
  auto const version = [&] {
    std::uint64_t const n = r.count();
    if (n < 1 || n > detail::version_of_index)
      throw error("C04", {"'", path, "' is of version ", std::to_string(n), ", but this program reads versions 1 to ",
                          detail::version_of_index, ": it was written by another meshtensor"});
    is_old = n == 1, is_plain = n < 3;
    if (!is_old) index.counts.emplace();
  };
  auto const counts = [&](counts_by_name program_counts::* which) {
    if (!index.counts) r.refuse("an index of version 1 has one count, its step");
    r.object([&](std::string const& label) { (*index.counts.*which)[label] = r.count(); });
  };
  auto const file = [&] {
    saved_file f;
    auto const header = [&] {
      auto const c = checksum_in(r.string());
      if (!c) r.refuse("a checksum has 16 hexadecimal digits");
      f.header = *c;
    };
    r.members({{"bytes", [&] { f.bytes = r.extent(); }}, {"header", header}});
    index.files.push_back(f);
  };
  auto const value = [&](std::string const& label) {
    index.values.emplace(label, detail::read_value(r, index.files.size(), !is_plain));
  };
  bool lacks_mass = true;
  auto const mass = [&] {
    index.mass = r.string(), lacks_mass = false;
    if (is_plain || index.mass.empty()) r.refuse("only replicas have a mass");
  };
  auto const format = [&] {
    if (r.string() != detail::format_of_index) r.refuse("the format is another one");
  };
  r.members({{"format", format},
             {"version", version},
             {"step", [&] { index.step = r.count(); }},
             {"seed", [&] { index.seed = r.count(); }},
             {"steps", [&] { counts(&program_counts::steps); }, &is_old},
             {"updates", [&] { counts(&program_counts::updates); }, &is_old},
             {"notes", [&] { index.more = read_notes(r); }},
             {"files", [&] { r.array(file); }},
             {"mass", mass, &lacks_mass},
             {"values", [&] { r.object(value); }},
             {"checksum", [&] { r.string(); }}});
  r.end();
  if (auto const found = index.values.find(index.mass); !index.mass.empty() && found != index.values.end())
    if (saved_value const& v = found->second; v.dims.size() != 1 || v.replica_dim != 0 || !is_float(*v.stored->type))
      throw error("C04", {what, ": its mass '", index.mass, "' is not one float for each replica"});
  return index;
}

}  // namespace meshtensor::io
